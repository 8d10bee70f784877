"""What a release is made of agrees: version, changelog, citation, what is packed and what is tried on it."""

import ast
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.metadata import packages_distributions, requires
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name
from tests.processes import tool_named

from genie_inspect.files.writing import DATA
from genie_inspect.graders.embedding_judge import shipped_fit, shown

ROOT = Path(__file__).parents[1]
PYPROJECT_TEXT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
PROJECT = tomllib.loads(PYPROJECT_TEXT)["project"]
VERSION = PROJECT["version"]
needs_hatchling = pytest.mark.skipif(find_spec("hatchling") is None, reason="hatchling is not installed")


def test_changelog_and_citation_are_of_this_version_and_the_citation_names_the_paper_as_printed() -> None:
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert re.fullmatch(rf"{re.escape(VERSION)} \((unreleased|\d{{4}}-\d\d-\d\d)\)", headings[0])
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == VERSION
    (paper,) = citation["references"]
    authors = [author["family-names"] for author in paper["authors"]]
    assert paper["title"] == "Genie: A Fine-Grained Measure for Novelty"
    assert authors == ["Namuduri", "Wadhwa", "Zheng", "Durrett", "Li"]
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split("## Citing")[1].split())
    assert all(name in readme for name in (paper["title"], *authors))


def test_the_tag_is_of_this_version() -> None:
    if os.environ.get("GITHUB_REF_TYPE") != "tag":
        pytest.skip("no tag is being released")
    assert os.environ["GITHUB_REF_NAME"] == f"v{VERSION}"


def tracked() -> list[str]:
    if not (ROOT / ".git").exists():
        pytest.skip("an unpacked archive does not know what git knows")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.split("\0") if name and (ROOT / name).exists()]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source archive of the files that git knows, unpacked."""
    clone, out = tmp_path_factory.mktemp("clone"), tmp_path_factory.mktemp("out")
    for name in [*tracked(), ".env"]:
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).write_bytes((ROOT / name).read_bytes() if name != ".env" else b"OPENAI_API_KEY=secret")
    built(clone, "sdist", out, REPOSITORY_URL="https://example.org/we/genie/")
    (packed,) = out.glob("*.tar.gz")
    with tarfile.open(packed) as opened:
        opened.extractall(out, filter="data")
    return out / f"genie_inspect-{VERSION}"


def built(folder: Path, target: str, out: Path, **environment: str) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(out)]
    own = {name: value for name, value in os.environ.items() if name != "REPOSITORY_URL"} | environment
    subprocess.run(command, cwd=folder, env=own, capture_output=True, check=True)


@needs_hatchling
def test_the_source_archive_holds_every_file_that_git_knows_and_a_page_that_leads_to_the_files_of_the_tag(
    archive: Path,
) -> None:
    packed = {path.relative_to(archive).as_posix() for path in archive.rglob("*") if path.is_file()}
    assert packed == {*tracked(), "PKG-INFO"}
    page = (archive / "PKG-INFO").read_text(encoding="utf-8")
    address = f"https://example.org/we/genie/raw/v{VERSION}/docs/pictures/report.png"
    assert f"]({address})" in page
    assert f"](https://example.org/we/genie/blob/v{VERSION}/SECURITY.md)" in page
    assert "Project-URL: Source, https://example.org/we/genie\n" in page
    assert re.findall(r"\]\((?!https://)[^)]*\)", page) == []


@needs_hatchling
def test_two_wheels_of_the_archive_have_the_same_bytes_its_page_and_both_names_of_the_command(
    archive: Path, tmp_path: Path
) -> None:
    for number in "12":
        built(archive, "wheel", tmp_path / number, SOURCE_DATE_EPOCH="1767225600")
    first, second = sorted(tmp_path.rglob("*.whl"))
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as wheel:
        about = f"genie_inspect-{VERSION}.dist-info"
        assert f"blob/v{VERSION}/docs/judging.md)" in wheel.read(f"{about}/METADATA").decode()
        names = wheel.read(f"{about}/entry_points.txt").decode()
    assert re.findall(r"^(\S+) = genie_inspect.cli:main$", names, re.MULTILINE) == ["genie", "genie-inspect"]


PACKAGE = ROOT / "src" / "genie_inspect"
PLAIN = {canonicalize_name(required.name): required for required in map(Requirement, PROJECT["dependencies"])}
EXTRAS = {
    canonicalize_name(Requirement(text).name) for texts in PROJECT["optional-dependencies"].values() for text in texts
}
NEWER = {"compression"}  # of the standard library from Python 3.14 on
# what a plain install brings that Inspect does not, with all that these bring in turn
BESIDE_INSPECT = {"model2vec", "openai", "scipy"}


def imported(path: Path) -> Iterator[str]:
    """The top-level packages that a module's import statements name, without the standard library and ours."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom) and not getattr(node, "level", 0):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            yield from {name.split(".")[0] for name in names} - sys.stdlib_module_names - NEWER - {"genie_inspect"}


def test_what_is_imported_is_declared_and_what_everybody_gets_is_imported() -> None:
    packages = {package for path in PACKAGE.rglob("*.py") for package in imported(path)}
    assert len(packages) > 20
    bringing = packages_distributions()
    # one that is not installed is taken to bear its package's name
    every = {canonicalize_name(name) for package in packages for name in bringing.get(package, [package])[:1]}
    assert sorted(every - PLAIN.keys() - EXTRAS) == []
    assert sorted(PLAIN.keys() - every) == []


@pytest.mark.parametrize("name", PLAIN)
def test_a_dependency_has_a_floor_and_its_reason(name: NormalizedName) -> None:
    assert [clause.operator for clause in PLAIN[name].specifier] == [">="]
    assert re.search(rf'^  "{name}>=[^"]+", *# .{{10,}}$', PYPROJECT_TEXT, re.MULTILINE)


def installed_with(*names: str) -> set[str]:
    """What an installation of these distributions brings, themselves among it."""
    brought: set[str] = set()
    left = list(names)
    while left:
        name = canonicalize_name(left.pop())
        if name not in brought:
            brought.add(name)
            needed = map(Requirement, requires(name) or [])
            left += [need.name for need in needed if not need.marker or need.marker.evaluate({"extra": ""})]
    return brought


def test_a_plain_install_brings_three_libraries_that_inspect_does_not() -> None:
    assert not BESIDE_INSPECT & installed_with("inspect-ai")
    assert sorted(PLAIN.keys() - installed_with("inspect-ai", *BESIDE_INSPECT)) == []


TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def read(path: Path) -> dict[str, Any]:
    return {str(key): value for key, value in yaml.safe_load(path.read_text(encoding="utf-8")).items()}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_runs_what_the_makefile_has_may_only_read_and_names_what_it_uses(path: Path) -> None:
    workflow = read(path)
    every = [step for job in workflow["jobs"].values() for step in job["steps"]]
    ran = [step["run"] for step in every if "run" in step]
    assert ran
    assert set(ran) <= {f"make {target}" for target in TARGETS}
    assert workflow["True"]
    assert workflow["permissions"] == {"contents": "read"}
    assert all(job["runs-on"] for job in workflow["jobs"].values())
    # by commit, for a tag can be moved; behind it the version that it was
    used = re.findall(r"uses: (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(used) == len(every) - len(ran)
    assert [use for use in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use)] == []


def test_the_oldest_inspect_and_the_newest_are_tried_on_every_python_and_what_is_coming_every_week() -> None:
    path = ROOT / ".github/workflows/ci.yml"
    jobs = read(path)["jobs"]
    matrix = jobs["test"]["strategy"]["matrix"]
    (floor,) = (text for text in PROJECT["dependencies"] if text.startswith("inspect-ai"))
    assert matrix["inspect"] == [floor.replace(">=", "=="), "inspect-ai"]
    assert matrix["os"] == ["ubuntu-latest", "macos-latest"]
    assert PROJECT["requires-python"] == f">={matrix['python'][0]}"
    classified = [re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", text) for text in PROJECT["classifiers"]]
    assert matrix["python"] == [found[1] for found in classified if found]
    assert {"make check", "make test", "make test-wheel", "make docs", "make commands"} <= {
        step.get("run") for job in jobs.values() for step in job["steps"]
    }
    coming = jobs["inspect-main"]
    assert coming["env"]["INSPECT"].startswith("inspect-ai @ git+https://")
    assert "schedule" in coming["if"]


def test_the_lock_takes_everything_from_pypi_and_is_of_these_dependencies() -> None:
    text = (ROOT / "uv.lock").read_text(encoding="utf-8")
    assert set(re.findall(r"\w+://[^/\"]+", text)) == {"https://pypi.org", "https://files.pythonhosted.org"}
    (ours,) = (package for package in tomllib.loads(text)["package"] if package["name"] == PROJECT["name"])
    assert {need["name"] for need in ours["dependencies"]} == PLAIN.keys()
    locked = {need["name"]: need["specifier"] for need in ours["metadata"]["requires-dist"] if "marker" not in need}
    assert locked == {name: str(need.specifier) for name, need in PLAIN.items()}


def test_a_release_is_handed_to_pypi_without_a_secret_and_only_when_all_checks_have_passed() -> None:
    path = ROOT / ".github/workflows/release.yml"
    jobs = read(path)["jobs"]
    assert "secrets." not in path.read_text(encoding="utf-8")
    assert jobs["pypi"]["permissions"] == {"id-token": "write"}
    assert jobs["pypi"]["needs"] == "build"
    assert [step["run"] for step in jobs["build"]["steps"] if "run" in step][-2:] == ["make dist", "make audit"]


def test_the_fit_that_ships_is_what_the_tool_makes_of_the_ratings_and_the_card_has_its_table() -> None:
    tool = tool_named("measure_embedding_fit")
    fit, shipped = tool.measured(), shipped_fit()
    assert "\n".join(tool.table(shipped)) in (DATA / "starter" / "README.md").read_text(encoding="utf-8")
    for name, part in (shipped.features | {"": shipped.pooled}).items():
        anew = fit.features[name] if name else fit.pooled
        assert (anew.pairs, anew.answers) == (part.pairs, part.answers)
        # another processor rounds otherwise
        assert anew.kendall == pytest.approx(part.kendall, abs=0.01)


@pytest.mark.parametrize("page", ["docs/reference.md", "docs/judging.md"])
def test_a_page_that_names_the_judge_has_its_figures(page: str) -> None:
    whole = shipped_fit().pooled
    text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    assert f"Spearman {shown(whole.spearman)}, tau {shown(whole.kendall)}" in text
