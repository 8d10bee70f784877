"""The pages for those who carry the project on: their code runs, and what they name is there."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.documented import ELSEWHERE, NOT_RUN, PAGES, SHELLS, every_command, run_pages
from tests.documented import blocks as documented_blocks
from tests.documented import commands as documented_commands
from tests.left_out import with_ci
from tests.processes import Commands
from tests.scripted import grading
from tests.served import Served, serving

from genie_inspect.cli import main
from genie_inspect.errors import UnreadableReplyError
from genie_inspect.logs.reading import read_logs
from genie_inspect.prompting.fence import unfenced

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "genie_inspect"
EXTENDING = ROOT / "docs" / "extending.md"
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
_CODE = re.compile(r"`([^`]+)`")
_FILE = re.compile(r"# (mylab/\w+\.py)\n")


def blocks(page: str) -> list[tuple[str, str, str]]:
    """Language and text of the blocks of a page in order, each with the block `text` that comes next, else nothing."""
    fenced = list(documented_blocks(page))
    after = [*fenced[1:], ("", "")]
    return [
        (language, text, following if kind == "text" else "")
        for (language, text), (kind, following) in zip(fenced, after, strict=True)
        if language != "text"
    ]


def replied(request: str) -> str:
    """What the models of the page say, whether they write, read or rate."""
    try:
        data = unfenced(request)
    except UnreadableReplyError:
        return "Swifts sleep on the wing."
    if "request" not in data:
        reply = grading().reply(request)
        assert isinstance(reply, str)
        return reply
    return "Moss remembers nothing of glaciers, happily." if "obvious" in data else "Birds fly."


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder in which a user works, with OpenAI's address on this machine."""
    with serving(Served(replied)) as served:
        setting = {"OPENAI_BASE_URL": served.url, "OPENAI_API_KEY": "none", "INSPECT_DISPLAY": "none"}
        # one cache for the scripts and the commands of the page
        for name, value in (setting | {"GENIE_CACHE_DIR": str(tmp_path / "cache")}).items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(tmp_path)
        yield tmp_path


def run(text: str, commands: Commands) -> str:
    """What a block of Python prints; one that begins with the name of a file is that file, and prints nothing.

    In a process of its own: Inspect reads how it shows a run once a process, and a mode that is added stays.
    """
    name = _FILE.match(text)
    path = commands.folder / (name[1] if name else "script.py")
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    if name:
        return ""
    ended = commands.run(program=path)
    assert ended.code == 0, ended.stderr
    return ended.stdout


@with_ci("what docs/extending.md shows, run as it stands")
def test_the_examples_of_the_page_run_and_print_what_it_says(folder: Path) -> None:
    page = blocks(EXTENDING.read_text(encoding="utf-8"))
    assert [language for language, _, _ in page].count("python") > 6
    assert sum(bool(printed) for _, _, printed in page) > 2
    with Commands(folder) as commands:
        for language, text, printed in page:
            if language == "python":
                assert run(text, commands) == printed
            for line in text.splitlines() if language == "sh" else []:
                done = CliRunner().invoke(main, line.split("#")[0].split()[1:])
                assert done.exit_code == 0, done.output
    logs = read_logs([folder / "logs"])
    assert len(logs) == 5
    for document in (document for log in logs for document in log.documents):
        assert [scores.reason for scores in document.scores.values()] == [""]


def section(page: str, heading: str) -> str:
    """What stands under a heading."""
    return page.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def table(text: str) -> list[list[str]]:
    """The cells of a table's rows, without its heads."""
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]
    return rows[2:]


def codes(cell: str) -> list[str]:
    """What stands in a cell as code."""
    return _CODE.findall(cell)


def layers() -> list[set[str]]:
    """The rooms of each layer, the highest first."""
    lines = PYPROJECT["tool"]["importlinter"]["contracts"][0]["layers"]
    return [set(re.findall(r"\w+", line)) for line in lines]


def definitions(path: Path) -> set[str]:
    """Names of a module's functions and classes, and `Class.method`."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    tops = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, kinds)]
    inner = ((top, node) for top in tops for node in top.body if isinstance(node, kinds))
    return {top.name for top in tops} | {f"{top.name}.{node.name}" for top, node in inner}


def test_the_layers_have_every_room_once_and_the_picture_has_them_in_their_order() -> None:
    there = [path.parent.name for path in PACKAGE.glob("*/__init__.py")]
    there += [path.stem for path in PACKAGE.glob("*.py") if path.stem != "__init__"]
    assert sorted(there) == sorted(room for layer in layers() for room in layer)
    picture = section(ARCHITECTURE, "The packages").split("```")[1].splitlines()[1:]
    assert [set(line.split("   ")[0].split(" | ")) for line in picture] == layers()


def test_every_room_says_in_one_line_what_it_is_for() -> None:
    for path in PACKAGE.rglob("__init__.py"):
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        assert re.fullmatch(r"[^\n]+[.?]", docstring or ""), path


@pytest.mark.parametrize("heading", ["The way of a document", "The way of a rating"])
def test_every_step_of_a_way_is_where_the_page_says(heading: str) -> None:
    steps = table(section(ARCHITECTURE, heading))
    assert len(steps) > 10
    for _, files, names in steps:
        there = set.union(*(definitions(PACKAGE / file) for file in codes(files)))
        assert [name for name in codes(names) if name not in there] == [], files


def test_the_page_names_the_oldest_inspect_that_is_supported() -> None:
    (floor,) = (text for text in PYPROJECT["project"]["dependencies"] if text.startswith("inspect-ai"))
    assert f"`inspect-ai` {floor.split('>=')[1]} is the oldest" in section(ARCHITECTURE, "Inspect")


def test_every_file_that_is_to_be_edited_is_there() -> None:
    rows = table(section(EXTENDING.read_text(encoding="utf-8"), "When it becomes part of ours"))
    places = [code for row in rows for code in codes(row[1]) if "/" in code or code.endswith((".md", ".py"))]
    named = [place for place in places if "NAME" not in place]
    assert len(named) > 10
    roots = (PACKAGE, ROOT, PACKAGE / "prompting" / "templates")
    assert [place for place in named if not any((root / place).exists() for root in roots)] == []
    folders = [place.rpartition("/")[0] for place in places if "NAME" in place]
    assert [folder for folder in folders if not (PACKAGE / folder).is_dir()] == []


LANGUAGES = {"yaml", *SHELLS, "", "json", "python", "text", "toml"}
_COMMAND = re.compile(
    r"^(?:\$ )?((?:genie|genie-inspect|inspect|make|pip|uvx) [a-z'-].*?)(?: *\\| +#.*)?$", re.MULTILINE
)


@with_ci("minutes, of every page's commands (make commands)")
def test_the_commands_run_as_they_stand(tmp_path: Path) -> None:
    every = every_command(PAGES)
    ran = list(run_pages(every, tmp_path))
    assert len(ran) == sum(not command.reason for command in every) > 20
    assert [f"{one.command.page}: {one.command.shown}\n{one.output}" for one in ran if one.code] == []


@pytest.mark.parametrize("page", PAGES)
def test_no_command_of_a_page_is_overlooked(page: str) -> None:
    known = "\n".join(command.text for command in documented_commands(page))
    for language, text in documented_blocks((ROOT / page).read_text(encoding="utf-8")):
        assert language in LANGUAGES
        assert [line for line in _COMMAND.findall(text) if line not in known] == []


def test_every_command_is_run_or_has_its_reason_and_no_reason_is_idle() -> None:
    every = every_command(PAGES)
    assert sum(not command.reason for command in every) > 20
    given = {command.reason for command in every}
    assert {*NOT_RUN.values(), *ELSEWHERE.values()} <= given
    own = {command.text for command in every if not command.reason}
    assert [command for command in every if command.reason.endswith("has it too") and command.text not in own] == []
