"""Lay out the pages of the documentation site, and list what they link elsewhere.

    python tools/docs_pages.py FOLDER

`make docs` runs this, and then the generator, which fails where a link between pages leads nowhere. It looks at no
picture and at no address elsewhere: pictures are looked at here, and the addresses are printed, not fetched.
"""

import re
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from reference_pages import pages

ROOT = Path(__file__).parents[1]
PAGES = ("*.md", "benchmarks/README.md", "docs/*.md", "src/genie_inspect/data/**/README.md")
FILES = ("benchmarks/*.svg", "docs/pictures/*", "docs/logs/*", "docs/register.yaml", "docs/site.css")
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def files(patterns: tuple[str, ...]) -> list[Path]:
    """The files of the repository that a pattern names, relative to it, in order."""
    return sorted(path.relative_to(ROOT) for pattern in patterns for path in ROOT.glob(pattern))


def links(page: Path) -> list[str]:
    """What a page links and shows, in order."""
    return _LINK.findall((ROOT / page).read_text(encoding="utf-8"))


def astray(page: Path) -> Iterator[str]:
    """The links of a page to files that are not on the site."""
    there = {ROOT / path for path in (*files(PAGES), *files(FILES))}
    for link in links(page):
        path = (ROOT / page).parent / link.split("#")[0]
        if "://" not in link and not link.startswith("#") and path.resolve() not in there:
            yield link


def lay_out(folder: Path) -> None:
    """Write the pages, those of the reference too, the pictures and the settings, in place of what was there."""
    shutil.rmtree(folder / "pages", ignore_errors=True)
    for path in (*files(PAGES), *files(FILES)):
        place = folder / "pages" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, place)
    for name, text in pages().items():
        (folder / "pages" / "docs" / f"{name}.md").write_text(text, encoding="utf-8")
    shutil.copyfile(ROOT / "zensical.toml", folder / "zensical.toml")
    (folder / "pages" / "llms.txt").write_text(for_models(), encoding="utf-8")


def for_models() -> str:
    """The site's pages in a list as llms.txt has it (llmstxt.org), in the order of the site's menu."""
    project = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]
    lines = [f"# {project['site_name']}", "", f"> {project['site_description']}", "", "## Pages", ""]
    for entry in project["nav"]:
        for title, below in entry.items():
            if isinstance(below, str):
                lines.append(f"- [{title}]({address(below)})")
            else:
                lines += ["", f"## {title}", ""]
                lines += [f"- [{name}]({address(page)})" for each in below for name, page in each.items()]
    return "\n".join(lines).replace("\n\n\n", "\n\n") + "\n"


def address(page: str) -> str:
    """Where the generator puts a page."""
    return re.sub(r"(README)?\.md$", lambda end: "index.html" if end[1] else ".html", page)


if __name__ == "__main__":
    lay_out(Path(sys.argv[1]))
    print("Links to elsewhere, which are not fetched:")
    for page in files(PAGES):
        for link in links(page):
            if "://" in link:
                print(f"  {page}: {link}")
    if lost := [f"{page}: {link} is not on the site" for page in files(PAGES) for link in astray(page)]:
        sys.exit("\n".join(lost))
