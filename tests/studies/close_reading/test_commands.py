"""`genie close-reading LOGS`, as a user calls it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.reports.made_logs import made_log, scored

from genie_inspect.cli import main

TEXT = "The tide folded its letters, and went home."


def called(*arguments: object) -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(main, ["close-reading", *map(str, arguments)])


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Two models' logs, whose texts have an expression that is new and one that is not."""
    for model, last in (("mock/a", 27), ("mock/b", 15)):
        rows = [
            {"text": TEXT[a:b], "start": a, "end": b, "log_perplexity": log, "novel_share": 0.5}
            for a, b, log in ((0, 27, 9.0), (29, 42, 2.0), (33, 42, 1.0), (0, 15, 0.5))
        ]
        mark = {"aspect": "novel", "text": TEXT[4:last], "start": 4, "end": last, "reason": "So."}
        samples = [
            {
                "close_reading": scored(
                    {"novel_per_100_words": 1.0, "awkward_per_100_words": 0.0},
                    "measure:close_reading|version:1-A",
                    marks=[mark] if number else [],
                ),
                "expression_novelty": scored({"log_perplexity_mean": 3.0}, "measure:x|version:1-A", expressions=rows),
            }
            for number in range(3)
        ]
        texts = [f"{TEXT} {number}" for number in range(3)]
        made_log(tmp_path / "logs", samples, model=model, texts=texts)
    return tmp_path / "logs"


def test_a_folder_of_logs_needs_no_verb(logs: Path) -> None:
    found, named = called(logs, "--resamples", 20), called("meeting", logs, "--resamples", 20)
    assert found.exit_code == 0, found.output
    assert found.output == named.output
    for text in ("by rating", "by expression", "66.7%", "odds of novel", "mock/b", "Every expression has one rating"):
        assert text in found.output


def test_options_may_stand_before_the_logs_and_json_has_the_same_numbers(logs: Path) -> None:
    found = json.loads(called("--json", "--resamples", "20", logs).stdout)
    assert found["by_rating"]["shares"]["novel"]["value"] == pytest.approx(2 / 3)
    assert found["sources"]["mock/b"]["expressions"] == 12
    assert found["sources"]["mock/a"]["odds"]["novel"]["value"] is None, "the baseline's"


def test_a_narrow_screen_cuts_no_number_short(logs: Path) -> None:
    arguments = ["close-reading", str(logs), "--resamples", "20"]
    found = CliRunner(env={"COLUMNS": "30"}).invoke(main, arguments)
    assert found.exit_code == 0, found.output
    rows = [line.split("│")[2:] for line in found.output.splitlines() if line.startswith("│")]
    assert rows
    assert not any("…" in cell for cells in rows for cell in cells)


def test_a_picture_is_written(logs: Path, tmp_path: Path) -> None:
    picture = tmp_path / "quarter.svg"
    assert called(logs, "--resamples", 20, "--picture", picture).exit_code == 0
    assert "by expression" in picture.read_text(encoding="utf-8")


@pytest.mark.parametrize("verb", ["meeting", "agreement", "fit", "preference"])
def test_each_verb_has_a_help_with_an_example(verb: str) -> None:
    assert verb in called("--help").output
    assert "Example: genie close-reading" in called(verb, "--help").output


def test_what_is_no_verb_and_no_log_is_one_line() -> None:
    found = called("nowhere")
    assert found.exit_code == 1
    assert "nowhere does not exist, expected a log file or a folder of logs" in found.stderr
