"""`genie rater`: from votes and logs to a folder, a curve, and a rater who is forgotten."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from click.testing import Result
from tests.cli.called import genie
from tests.studies.personal.made import WRITER, written

from genie_inspect.studies.personal.judge import read_judge

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    written(tmp_path)
    return partial(genie, "rater")


def test_a_table_of_verdicts_is_votes_whose_plots_can_be_a_part_of_the_id(run: Run, tmp_path: Path) -> None:
    votes = [json.loads(line) for line in (tmp_path / "votes.jsonl").read_text(encoding="utf-8").splitlines()]
    rows = (f"{one['story']},{one['rater']},{one['test']},{'yes' if one['verdict'] else 'no'}\n" for one in votes)
    (tmp_path / "votes.csv").write_text("".join(["story,rater,question,verdict\n", *rows]), encoding="utf-8")
    fit = ("fit", "votes.csv", "--scores", "logs", "--resamples", "10", "-o")
    assert "144 votes on 24 stories of 10 plots" in run(*fit, "a", "--plot", r"([0-9])_").output
    assert list(read_judge(tmp_path / "a").tests) == ["01", "02"]
    assert "story '0_mockllm/writer' has no plot by 'x'" in run(*fit, "b", "--plot", "x").output
    assert "plot is '(', expected a regular expression" in run(*fit, "c", "--plot", "(").output


def test_points_and_keys_are_gone_by_and_votes_that_do_not_count_are_told(run: Run, tmp_path: Path) -> None:
    with (tmp_path / "votes.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"story": "99_x", "rater": "r0", "test": "01", "verdict": 1, "plot": "p99"}\n')
    fit = ("fit", "votes.jsonl", "--scores", "logs", "-o", "taste", "--resamples", "10")
    done = run(*fit, "--points", "--key", "ttcw_total")
    assert "Left out: 1 votes on stories without a score: 99_x." in done.output
    columns = read_judge(tmp_path / "taste").columns
    assert [(column.key, column.points) for column in columns] == [("", True), ("ttcw_total", False)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"verdict": 1, "test": "01"}, f"'r0' votes twice on story '0_{WRITER}', test '01'"),
        ({"verdict": "maybe", "test": "03"}, "column 'verdict' is 'maybe', expected 1 or 0, true or false"),
        ({"verdict": 1, "number": 4, "test": "03"}, "has a verdict and a number, expected one of them"),
        ({"verdict": 1, "test": "03", "plot": "p7"}, "has the plot 'p7', and 'p0' before"),
        ({"verdict": 1, "rater": ""}, "has no rater, expected a vote"),
    ],
)
def test_a_vote_that_cannot_be_is_one_line(run: Run, tmp_path: Path, line: dict[str, object], message: str) -> None:
    with (tmp_path / "votes.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"story": f"0_{WRITER}", "rater": "r0", "plot": "p0"} | line) + "\n")
    done = run("fit", "votes.jsonl", "--scores", "logs", "-o", "taste")
    assert done.exit_code == 1
    assert message in done.output
    assert done.output.strip().count("\n") == 0
    assert not (tmp_path / "taste").exists()


def test_numbers_are_foretold_as_numbers(run: Run, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in (tmp_path / "votes.jsonl").read_text(encoding="utf-8").splitlines()]
    for number, line in enumerate(lines):
        line["number"] = 1 + 2 * line.pop("verdict") + number % 2
    (tmp_path / "numbers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    done = run("fit", "numbers.jsonl", "--scores", "logs", "-o", "taste", "--resamples", "10")
    assert done.exit_code == 0, done.output
    assert read_judge(tmp_path / "taste").scale == (1, 2, 3, 4)
    assert "precision" not in done.output
