"""What a release is made of agrees: version, changelog, citation, what is packed and what is tried on it."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
VERSION = PYPROJECT["project"]["version"]


def test_the_changelog_begins_with_this_version() -> None:
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert re.fullmatch(rf"{re.escape(VERSION)} \((unreleased|\d{{4}}-\d\d-\d\d)\)", headings[0])


def test_the_citation_is_of_this_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [VERSION]


def test_every_test_that_is_run_on_the_wheel_is_there() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    (listed,) = re.findall(r"^ON_THE_WHEEL := \$\(addprefix tests/,(.+)\)$", makefile, re.MULTILINE)
    assert len(listed.split()) > 5
    assert [name for name in listed.split() if not (ROOT / "tests" / name).exists()] == []


def test_the_source_archive_holds_what_its_tests_and_checks_read() -> None:
    packed = PYPROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert {*PYPROJECT["tool"]["mypy"]["files"], "docs", "CHANGELOG.md", "CITATION.cff", "Makefile"} <= set(packed)
    assert [name for name in packed if not (ROOT / name).exists()] == []
