import math
import re
from functools import partial
from pathlib import Path

import pytest
from click.testing import Result
from tests.cli.called import genie
from tests.reports.made_logs import log_of, plots

called = partial(genie, "compare")

BEFORE = (0.50, 0.52, 0.48, 0.55, 0.51, 0.49, 0.53, 0.50)
AFTER = (0.61, 0.60, 0.60, 0.66, 0.60, 0.61, 0.62, 0.61)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    log_of(tmp_path / "logs", "plain", plots(*BEFORE), coverage={"plot": "3/4"})
    log_of(tmp_path / "logs", "raised", plots(*AFTER), coverage={"plot": "4/4"})
    return tmp_path / "logs"


def test_too_few_pairs_for_an_interval_and_logs_that_say_nothing_of_their_questions_show_dashes(tmp_path: Path) -> None:
    for run, values in (("plain", BEFORE[:5]), ("raised", AFTER[:5])):
        log_of(tmp_path, run, plots(*values))
    result = called(tmp_path, "--baseline", "plain")
    (line,) = (line for line in result.output.splitlines() if line.startswith(" plot"))
    assert "[-, -]" in line
    assert line.split()[-2:] == ["5", "-"]
    output = " ".join(result.output.split())
    assert "with 5 prompts no p-value lies below 0.062: no difference could be significant" in output
    assert "used: share of questions, baseline → run" in output


@pytest.mark.parametrize("columns", [40, 60, 80, 100, 120])
def test_no_figure_is_cut_off_whatever_the_width(logs: Path, columns: int) -> None:
    wide = {word for line in tables(called(logs, "--baseline", "plain")) for word in line.split()}
    lines = tables(called(logs, "--baseline", "plain", columns=columns))
    assert {word for line in lines for word in line.split()} == wide
    assert all(len(line.rstrip()) <= columns for line in lines)


def tables(result: Result) -> list[str]:
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    return [line for line in lines if line.startswith((" plot", " plain", " raised", " feature", " run"))]


def test_shares_of_ratings_faults_and_warnings_stand_in_the_tables(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(*BEFORE), coverage={"plot": "3/4"}, pairs={"plot": "12/48"}, faults={"cut off": 3})
    log_of(tmp_path, "raised", plots(*AFTER), coverage={"plot": "4/4"}, pairs={"plot": "48/48"})
    log_of(tmp_path, "silent", plots(*[math.nan] * 8))
    result = called(tmp_path, "--baseline", "plain")
    line, _ = (line for line in result.output.splitlines() if line.startswith(" plot"))
    assert line.split()[-3:] == ["75/25%", "→", "100/100%"]
    lines = " ".join(result.output.split())
    assert "silent not scored: 8 no_response" in lines
    assert "Missing in plain: 24 cut off." in lines
    assert "Warning: plain: fewer than half of the expected ratings could be used: plot 96 of 384." in lines


@pytest.mark.parametrize(("steps", "stars"), [((0.1, 0.1, 0.11), "**"), ((0.4, 0.02, 0.03), "*")])
def test_a_pooled_difference_has_a_second_star_where_it_holds_over_models_too(
    steps: tuple[float, ...], stars: str, tmp_path: Path
) -> None:
    for number, step in enumerate(steps):
        for task, added in (("plain", 0.0), ("raised", step)):
            values = plots(*(value + added for value in BEFORE))
            log_of(tmp_path, task, values, model=f"m/{number}", texts=[f"A {task} story {number}"])
    result = called(tmp_path, "--baseline", "plain", "--pooled")
    assert result.exit_code == 0, result.output
    assert re.findall(r"\+0\.\d{3}(\*+) 3/3", result.output) == [stars]
