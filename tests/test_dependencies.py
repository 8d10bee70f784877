"""What is imported is declared, each with its floor and its reason; and the plain install stays light."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib.metadata import packages_distributions, requires, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "genie_inspect"
PYPROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
PROJECT = tomllib.loads(PYPROJECT)["project"]
PLAIN = {canonicalize_name(required.name): required for required in map(Requirement, PROJECT["dependencies"])}
EXTRAS = {
    canonicalize_name(Requirement(text).name) for texts in PROJECT["optional-dependencies"].values() for text in texts
}
NEWER = {"compression"}  # of the standard library from Python 3.14 on
BESIDE_INSPECT = {"model2vec", "openai", "scipy"}
"""What a plain install brings that Inspect does not, with all that these bring in turn."""


def imported(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The top-level packages that import statements name, without the standard library and ours."""
    for node in nodes:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        tops = {name.split(".")[0] for name in names}
        yield from tops - set(sys.stdlib_module_names) - NEWER - {"genie_inspect"}


def at_once(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The statements that run when a module is imported: none of a function's, none for the type checker alone."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield node
        yield from at_once(ast.iter_child_nodes(node))


def distributions(packages: Iterable[str]) -> set[str]:
    """The distributions that bring packages; one that is not installed is taken to bear its package's name."""
    return {canonicalize_name(name) for package in packages for name in _bringing().get(package, [package])[:1]}


@lru_cache
def _bringing() -> Mapping[str, list[str]]:
    return packages_distributions()


@lru_cache
def modules() -> list[ast.Module]:
    """Every module of the package."""
    return [ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))]


def installed_with(names: Iterable[str]) -> set[str]:
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


def test_imports_are_seen_wherever_they_stand() -> None:
    source = "import os, click\nfrom rich.table import Table\nfrom . import x\ndef f():\n  import numpy.linalg\n"
    assert set(imported(ast.walk(ast.parse(source)))) == {"click", "rich", "numpy"}


def test_what_runs_at_import_is_told_from_what_runs_later() -> None:
    source = "try:\n  import click\nfinally:\n  pass\nif TYPE_CHECKING:\n  import numpy\ndef f():\n  import rich\n"
    assert set(imported(at_once(ast.iter_child_nodes(ast.parse(source))))) == {"click"}


def test_every_package_that_is_imported_is_declared() -> None:
    packages = {package for module in modules() for package in imported(ast.walk(module))}
    assert len(packages) > 20
    assert sorted(distributions(packages) - PLAIN.keys() - EXTRAS) == []


def test_what_an_extra_brings_is_imported_where_it_is_used() -> None:
    packages = {package for module in modules() for package in imported(at_once(ast.iter_child_nodes(module)))}
    assert len(packages) > 5
    assert sorted(distributions(packages) - PLAIN.keys()) == []


def test_nothing_is_declared_for_everybody_that_is_not_imported() -> None:
    packages = {package for module in modules() for package in imported(ast.walk(module))}
    assert sorted(PLAIN.keys() - distributions(packages)) == []


@pytest.mark.parametrize("name", PLAIN)
def test_a_dependency_has_a_floor_and_its_reason(name: NormalizedName) -> None:
    assert [clause.operator for clause in PLAIN[name].specifier] == [">="]
    assert re.search(rf'^  "{name}>=[^"]+", *# .{{10,}}$', PYPROJECT, re.MULTILINE)


def test_no_floor_is_below_what_the_oldest_inspect_accepts() -> None:
    (oldest,) = PLAIN[canonicalize_name("inspect-ai")].specifier
    if version("inspect-ai") != oldest.version:
        pytest.skip(f"what inspect-ai {oldest.version} asks for is only known where it is installed")
    needs = [need for need in map(Requirement, requires("inspect-ai") or []) if not need.marker]
    shared = [(need, PLAIN[name]) for need in needs if (name := canonicalize_name(need.name)) in PLAIN]
    assert len(shared) > 5
    floors = [(need, next(iter(ours.specifier)).version) for need, ours in shared]
    assert [f"{need} refuses {floor}" for need, floor in floors if floor not in need.specifier] == []


def test_a_plain_install_brings_three_libraries_that_inspect_does_not() -> None:
    inspects = installed_with(["inspect-ai"])
    assert not BESIDE_INSPECT & inspects
    assert sorted(PLAIN.keys() - installed_with(["inspect-ai", *BESIDE_INSPECT])) == []
