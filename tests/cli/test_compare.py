import json
import math
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.scorer import Score
from tests.reports.logs import log_of, plots

from genie_inspect.cli import main
from genie_inspect.logs.files import log_files
from genie_inspect.statistics.differences import paired_permutation
from genie_inspect.statistics.equivalence import tost

BEFORE = (0.50, 0.52, 0.48, 0.55, 0.51, 0.49, 0.53, 0.50)
COSINE = {"signature": "measure:cosine|version:0"}
AFTER = (0.61, 0.60, 0.60, 0.66, 0.60, 0.61, 0.62, 0.61)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    log_of(tmp_path / "logs", "plain", plots(*BEFORE), coverage={"plot": "3/4"})
    log_of(tmp_path / "logs", "raised", plots(*AFTER), coverage={"plot": "4/4"})
    return tmp_path / "logs"


def called(*arguments: object, columns: int = 200) -> Result:
    return CliRunner(env={"COLUMNS": str(columns)}).invoke(main, ["compare", *map(str, arguments)])


def test_the_table_shows_means_difference_test_equivalence_power_and_coverage(logs: Path) -> None:
    result = called(logs, "--baseline", "plain")
    assert result.exit_code == 0, result.output
    (line,) = (line for line in result.output.splitlines() if line.startswith(" plot"))
    cells = line.split()
    assert cells[:3] == ["plot", "0.510", "0.614"]
    found = paired_permutation(BEFORE, AFTER)
    assert cells[3:6] == ["+0.104", f"[{found.low:+.3f},", f"{found.high:+.3f}]"]
    assert cells[7:9] == ["0.008", "0.008*"]  # raw and corrected: one test
    assert cells[9] == "0.004"  # 0.2 standard deviations of BEFORE: 0.2 * 0.0212
    assert cells[12:] == ["8", "75%", "→", "100%"]
    assert "Of 1 differences from plain, 1 holds (raised plot +0.104)" in result.output


def test_a_baseline_is_called_by_the_name_that_was_typed(tmp_path: Path) -> None:
    for task, model, values in (("grid", "m/a", BEFORE), ("other", "m/b", AFTER)):
        log_of(tmp_path, task, plots(*values), model=model)
    output = " ".join(called(tmp_path, "--baseline", "grid").output.split())
    assert "differences from grid (mockllm/m/a)" in output
    assert "m/b against grid (mockllm/m/a), paired by prompt" in output


def test_the_legend_says_which_tests_each_p_and_power_are_of(logs: Path) -> None:
    legend = " ".join(called(logs, "--baseline", "plain").output.split())
    assert "p raw: sign-flip permutation test; p: corrected (holm) over 1 tests. equivalence p: of a" in legend
    assert "a difference beyond the margin, two one-sided paired t tests, corrected likewise" in legend
    assert "power: a paired t test's chance" in legend
    assert "0 is outside where its p is below 5% by itself" in legend
    resampled = " ".join(called(logs, "--baseline", "plain", "--equivalence", "bootstrap").output.split())
    assert "a difference beyond the margin, two one-sided paired bootstraps, corrected likewise" in resampled


def test_json_says_which_test_and_which_equivalence_it_was(logs: Path) -> None:
    found, resampled = (
        json.loads(called(logs, "--baseline", "plain", "--margin", "0.1", "--json", *more).output)
        for more in ((), ("--equivalence", "bootstrap"))
    )
    assert (found["test"], found["equivalence"]) == ("sign-flip permutation test", "t")
    assert (resampled["test"], resampled["equivalence"]) == ("sign-flip permutation test", "bootstrap")
    p_values = [values["differences"][0]["p_unlike"] for values in (found, resampled)]
    assert p_values == [tost(BEFORE, AFTER, 0.1, method).p_value for method in ("t", "bootstrap")]
    assert found["differences"][0]["p_value"] == resampled["differences"][0]["p_value"] == 1 / 128


def test_too_few_pairs_for_an_interval_show_dashes(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(*BEFORE[:5]))
    log_of(tmp_path, "raised", plots(*AFTER[:5]))
    result = called(tmp_path, "--baseline", "plain")
    assert "[-, -]" in next(line for line in result.output.splitlines() if line.startswith(" plot"))
    assert "with 5 prompts no p-value lies below 0.062: no difference could hold" in " ".join(result.output.split())


@pytest.mark.parametrize("columns", [40, 60, 80, 100, 120])
def test_no_figure_is_cut_off_whatever_the_width(logs: Path, columns: int) -> None:
    wide = {word for line in tables(called(logs, "--baseline", "plain")) for word in line.split()}
    lines = tables(called(logs, "--baseline", "plain", columns=columns))
    assert {word for line in lines for word in line.split()} == wide
    assert all(len(line.rstrip()) <= columns for line in lines)


def tables(result: Result) -> list[str]:
    """The lines of the tables, without rules."""
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    return [line for line in lines if line.startswith((" plot", " plain", " raised", " feature", " run"))]


@pytest.fixture
def with_cosine(logs: Path) -> Path:
    """Logs that cosine scored under both of its keys."""
    for file in log_files([logs]):
        log = read_eval_log(file)
        for sample in log.samples or []:
            scores = sample.scores or {}
            value = scores["genie"].value["plot"]  # type: ignore[index,call-overload]  # a dict of numbers
            keys = {"cosine_mean": value, "cosine_nearest": value}
            scores["cosine"] = Score(value=keys, metadata=COSINE)
        write_eval_log(log)
    return logs


def test_a_key_that_is_no_headline_is_shown_with_a_dash_for_its_test(with_cosine: Path) -> None:
    result = called(with_cosine, "--baseline", "plain")
    # name (two words), baseline, mean, difference, interval (two words), d, p raw, p, margin, equivalence p, power
    tested, shown = (
        next(line.split() for line in result.output.splitlines() if line.startswith(f" {key} "))
        for key in ("cosine mean", "cosine nearest")
    )
    assert tested[2:8] == shown[2:8]
    assert tested[9].endswith("*")
    assert shown[8:13] == ["-"] * 5
    legend = " ".join(result.output.split())
    assert "corrected (holm) over the tests of each measure (genie 1, cosine 1)." in legend
    assert "-: not tested" in legend
    rows = json.loads(called(with_cosine, "--baseline", "plain", "--json").output)["differences"]
    by_key = {row["key"]: row for row in rows}
    assert [by_key[key]["tested"] for key in ("plot", "cosine_mean", "cosine_nearest")] == [True, True, False]
    assert by_key["cosine_nearest"]["p_value"] is None
    assert by_key["cosine_nearest"]["p_value_corrected"] is None
    assert by_key["cosine_nearest"]["low"] == pytest.approx(by_key["cosine_mean"]["low"])


def test_shares_of_ratings_faults_and_warnings_stand_in_the_tables_and_in_json(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(*BEFORE), coverage={"plot": "3/4"}, pairs={"plot": "12/48"}, faults={"cut off": 3})
    log_of(tmp_path, "raised", plots(*AFTER), coverage={"plot": "4/4"}, pairs={"plot": "48/48"})
    result = called(tmp_path, "--baseline", "plain")
    (line,) = (line for line in result.output.splitlines() if line.startswith(" plot"))
    assert line.split()[-3:] == ["75/25%", "→", "100/100%"]
    lines = " ".join(result.output.split())
    assert "Missing in plain: 24 cut off." in lines
    assert "Beware: plain: fewer than half of the ratings that were due could be used: plot 96 of 384." in lines
    found = json.loads(called(tmp_path, "--baseline", "plain", "--json").output)
    (row,) = found["differences"]
    shares = [row[f"ratings_{part}_{side}"] for side in ("before", "after") for part in ("usable", "due")]
    assert shares == [96, 384, 384, 384]
    assert [run["measures"]["genie"]["faults"] for run in found["runs"]] == [{"cut off": 24}, {}]
    assert any("fewer than half" in line for line in found["warnings"])


def test_why_documents_have_no_score_is_said_of_each_measure(with_cosine: Path) -> None:
    log = log_of(with_cosine, "silent", plots(*[math.nan] * 8))
    for sample in log.samples or []:
        (sample.scores or {})["cosine"] = Score(value={"cosine_mean": 0.5, "cosine_nearest": 0.5}, metadata=COSINE)
    write_eval_log(log)
    lines = called(with_cosine, "--baseline", "plain").output.splitlines()
    assert [line for line in lines if "not scored" in line] == ["silent, genie not scored: 8 no_response"]


def test_logs_that_say_nothing_of_their_questions_have_a_dash(tmp_path: Path) -> None:
    for task in ("plain", "same"):
        log_of(tmp_path, task, plots(*BEFORE))
    result = called(tmp_path, "--baseline", "plain")
    (line,) = (line for line in result.output.splitlines() if line.startswith(" plot"))
    assert line.split()[-2:] == ["8", "-"]
    assert "used: share of questions, baseline → run" in " ".join(result.output.split())
