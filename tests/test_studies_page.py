"""docs/studies.md: a row for every table and figure, and commands that run; those that ask nobody run here."""

import glob
import re
import shlex
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from inspect_ai import eval as evaluate
from tests.documented import ROOT, commands
from tests.published import second_data_set, ttcw_released
from tests.scripted import Script, saying

from genie_inspect.cli import main
from genie_inspect.cli.results import demo

PAGE = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
TTCW = PAGE.partition("## TTCW, reference-based")[2]
ROWS = [line for line in TTCW.splitlines() if line.startswith("|")]
COMMANDS = [command.text for command in commands("docs/studies.md")]
ASKING = ("genie plots", "genie prompts")
"""Beginnings of commands of ours that ask a model, or the hub."""
RUNS = {
    "logs/ways": {"stories": "ttcw_short_stories.json", "references": "fine.jsonl", "ways": "all"},
    "logs/confederacy": {"stories": "confederacy.jsonl", "rubric": "gomez_williams", "ways": "published"},
}
"""What the page's evaluations are asked for, by the folder of their log."""


def replied(request: str) -> str:
    return "[[YES]]" if "[[YES]]" in request else "[[A=B]]"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, genie_demo: tuple[Path, str]) -> Path:
    """What the page takes for granted, and the logs that its evaluations leave."""
    folder = tmp_path_factory.mktemp("studies")
    shutil.copytree(genie_demo[0], folder / demo.make_context("demo", []).params["log_dir"])
    ttcw_released(folder)
    second_data_set(folder)
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        patched.setenv("GENIE_CACHE_DIR", str(folder / "cache"))
        for logs, options in RUNS.items():
            [log] = evaluate(
                "genie_inspect/ttcw_stories",
                model=saying("nothing").model(),
                model_roles={"grader": Script(replied).model()},
                task_args=dict(options),
                log_dir=logs,
                display="none",
            )
            assert log.status == "success", log.error
    return folder


MADE_THERE = ("logs/own", "logs/grid", "logs/study")
"""Logs of the page's own evaluations, with which `make commands` and CI=1 run the whole page."""
DEMO = "genie demo"
"""Runs once for all tests, as `genie_demo`; its logs stand where it leaves them without an option."""
OURS = [
    command
    for command in COMMANDS
    if command.startswith("genie ")
    and (not command.startswith(ASKING) or "--dry-run" in command)
    and not any(log in command for log in MADE_THERE)
    and command != DEMO
]


@pytest.mark.parametrize("command", OURS)
def test_a_command_that_asks_nobody_runs_as_it_stands(
    command: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "--picture" in command:
        pytest.importorskip("altair")
    monkeypatch.chdir(folder)
    words = shlex.split(command.replace("\\\n", " "))[1:]
    # as a shell does: a pattern that matches no file stays
    arguments = [name for word in words for name in (sorted(glob.glob(word)) or [word])]
    result = CliRunner().invoke(
        main, [*arguments, *(["--resamples", "20"] if "--votes" in words and _draws(words) else [])]
    )
    assert result.exit_code == 0, result.output


def test_the_page_begins_with_the_demo() -> None:
    assert COMMANDS[0] == DEMO


def _draws(words: list[str]) -> bool:
    return words[0] == "agreement" or words[1] in ("ways", "cutoffs")


@pytest.mark.parametrize(("logs", "options"), RUNS.items())
def test_the_evaluations_of_the_page_are_those_that_are_run_here(logs: str, options: dict[str, str]) -> None:
    (command,) = [text for text in COMMANDS if text.startswith("inspect eval") and text.endswith(f"--log-dir {logs}")]
    assert dict(re.findall(r"-T (\w+)=(\S+)", command)) == options


@pytest.mark.parametrize(
    "what", [*(f"table {number}" for number in range(1, 7)), *(f"figure {n}" for n in (1, 5)), "figures 2, 3, 4"]
)
def test_every_table_and_figure_has_a_row(what: str) -> None:
    assert any(what in row.split("|")[1] for row in ROWS)


def test_every_row_says_what_it_costs_and_what_came_out_or_why_nothing_did() -> None:
    rows = [row.strip("|").split("|") for row in ROWS if len(row.split("|")) == 8][2:]
    assert len(rows) > 10
    assert all(cells[3].strip() and cells[4].strip() and cells[5].strip() for cells in rows)


def test_the_letters_of_rows_are_those_of_commands() -> None:
    letters = set(re.findall(r"^# ([A-Z]):", TTCW, re.MULTILINE))
    named = {letter for row in ROWS for letter in re.findall(r"\b([A-Z])\b(?=[,; |])", row.split("|")[3])}
    assert named <= letters
