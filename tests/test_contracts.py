"""Layers are held by import-linter: a breach is noticed. How long files may be, and what tests tell of themselves."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from genie_inspect.cli import SHORT, VerbGroup, main

ROOT = Path(__file__).parents[1]


def linted(folder: Path) -> subprocess.CompletedProcess[str]:
    """What `lint-imports` says about a copy of the package."""
    program = (
        "import os, sys; sys.path.insert(0, 'src'); from importlinter.cli import lint_imports_command as run; run()"
    )
    return subprocess.run(
        [sys.executable, "-c", program, "--no-cache"], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("contracts")
    shutil.copy(ROOT / "pyproject.toml", folder)
    shutil.copytree(
        ROOT / "src" / "genie_inspect",
        folder / "src" / "genie_inspect",
        ignore=shutil.ignore_patterns("data", "__pycache__"),
    )
    return folder


def test_the_package_as_it_is_keeps_its_contracts(copy: Path) -> None:
    done = linted(copy)
    assert done.returncode == 0, done.stdout + done.stderr


BREACHES = {
    "graders": ("genie_inspect.scorers.genie", "import genie_inspect.scorers.genie"),
    "providers": ("genie_inspect.scorers.genie", "import genie_inspect.scorers.genie"),
    "reports": ("genie_inspect.agreement.raters", "import genie_inspect.agreement.raters"),
    "measures": ("inspect_ai", "import inspect_ai"),
    "prompting": ("openai", "def later():\n    import openai"),
    "engines": ("inspect_ai", "from inspect_ai.model import get_model"),
}


def test_every_breach_is_noticed(copy: Path) -> None:
    package = copy / "src" / "genie_inspect"
    breaches = {package / room / "breach.py": breach for room, (_, breach) in BREACHES.items()}
    # a folder that no layer has
    (package / "utils").mkdir()
    breaches[package / "utils" / "__init__.py"] = ""
    for path, breach in breaches.items():
        path.write_text(breach + "\n", encoding="utf-8")
    done = linted(copy)
    for path in breaches:
        path.unlink()
    (package / "utils").rmdir()
    assert (done.returncode, done.stdout.count("BROKEN")) == (1, 3)
    for room, (imported, _) in BREACHES.items():
        assert f"genie_inspect.{room}.breach -> {imported} " in done.stdout
    assert "utils" in done.stdout


def test_a_file_has_at_most_400_lines() -> None:
    sizes = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in (ROOT / "src").rglob("*.py")}
    assert [path.name for path, size in sizes.items() if size > 400] == []


def verbs(group: click.Command = main, path: str = "genie") -> Iterator[tuple[str, click.Command]]:
    assert isinstance(group, VerbGroup)
    for name in group.list_commands(click.Context(group)):
        verb = group.get_command(click.Context(group), name)
        assert isinstance(verb, click.Command)
        yield f"{path} {name}", verb
        if isinstance(verb, VerbGroup):
            yield from verbs(verb, f"{path} {name}")


VERBS = dict(verbs())


def test_every_verb_is_a_command_of_its_name_at_the_home_that_its_group_gives() -> None:
    assert all(verb.name == path.split()[-1] for path, verb in VERBS.items())
    assert {
        "genie demo",
        "genie population reference-scores",
        "genie batch status",
        "genie rater curiosity",
    } <= VERBS.keys()


@pytest.mark.parametrize("path", VERBS)
def test_the_help_of_every_command_and_option_is_a_sentence_that_names_the_default(path: str) -> None:
    first, *_ = (VERBS[path].help or "").splitlines()
    assert first.endswith(".")
    assert first[0].isupper()
    # cut off by no list of commands
    assert VERBS[path].get_short_help_str(SHORT) == first
    assert len(first) < 80
    for option in VERBS[path].params:
        if not isinstance(option, click.Option):
            continue
        said = option.help or ""
        assert said.endswith("."), option.opts
        assert said[0].isupper(), option.opts
        assert len(said.split()) > 1, option.opts
        if option.multiple:
            assert "epeatable" in said or "--blind" in said, option.opts
        elif not option.is_flag and not option.required:
            with click.Context(VERBS[path]) as context:
                value = option.get_default(context)
            shown = option.show_default and value not in (None, "")
            # a file that is written, or an addition: without it nothing is done
            off = isinstance(option.type, click.Path) or said.startswith(("Also", "Instead"))
            assert shown or off or re.search(r"Default: | with --|, if | instead", said), (option.opts, said)


@pytest.mark.parametrize(
    ("words", "meant"), [("sumary", "summary"), ("calibrte", "calibrate"), ("population buid", "build")]
)
def test_a_verb_that_is_spelled_wrong_gets_the_one_that_was_meant(words: str, meant: str) -> None:
    done = CliRunner().invoke(main, words.split())
    assert done.exit_code == 2
    assert done.output.endswith(f"Error: No such command '{words.split()[-1]}'. Did you mean {meant}?\n")
    assert "Did you mean" not in CliRunner().invoke(main, ["xyzzy"]).output


def test_the_help_of_genie_imports_no_verb() -> None:
    program = (
        "import sys; from click.testing import CliRunner; from genie_inspect.cli import main;"
        "assert CliRunner().invoke(main, ['--help']).exit_code == 0;"
        "print(*sorted(name for name in sys.modules if name.startswith('genie_inspect.cli.')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["genie_inspect.cli.terminal"]


TESTS = ROOT / "tests"


def test_no_test_asks_for_ci_in_a_way_of_its_own_that_the_end_of_a_run_would_not_tell() -> None:
    texts = [path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py") if path != Path(__file__)]
    assert not [text for text in texts if re.search(r"environ\S*\WCI\W", text)]


def test_every_file_with_fewer_tries_has_a_test_that_is_marked_as_repeated() -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py") if path != Path(__file__)}
    using = {name for name, text in texts.items() if "tries(" in text}
    assert using
    assert {name for name, text in texts.items() if "pytest.mark.repeated" in text} == using
