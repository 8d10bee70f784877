"""`genie agreement`, as a user calls it."""

import json
import shutil
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as evaluate
from inspect_ai.log import EvalLog, write_eval_log
from tests.cli.called import genie
from tests.critics import comparing
from tests.scripted import saying

called = partial(genie, "agreement")

MAKERS = ("good", "fair", "bad")
LETTERS = {"good": "YYY", "fair": "YYN", "bad": "NNN"}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Scores by two judges, of which one ties everywhere, and votes, on three prompts with three stories each."""
    stories = [f"{prompt}_{maker}" for prompt in range(3) for maker in MAKERS]

    def tests(letters: str) -> dict[str, bool]:
        return {f"0{number}": letter == "Y" for number, letter in enumerate(letters, start=1)}

    keen = {story: LETTERS[story.partition("_")[2]] for story in stories}
    by_judge = {"keen": keen, "dull": dict.fromkeys(stories, "YNN")}
    scores = [{"story": s, "judge": judge, "tests": tests(own[s])} for judge, own in by_judge.items() for s in stories]
    votes = [{"story": s, "rater": rater, "votes": tests(keen[s])} for s in stories for rater in ("ann", "bob", "cy")]
    paths = tmp_path / "scores.jsonl", tmp_path / "votes.jsonl"
    paths[0].write_text("".join(json.dumps(row) + "\n" for row in scores), encoding="utf-8")
    paths[1].write_text("".join(json.dumps(row) + "\n" for row in votes), encoding="utf-8")
    return paths


def test_json_has_the_same_numbers_and_null_for_what_is_no_number(files: tuple[Path, Path]) -> None:
    found = called(files[0], "--votes", files[1], "--resamples", 50, "--json")
    read: dict[str, Any] = json.loads(found.output)
    assert read["judges"]["keen"]["rankings"]["kendall"]["mean"]["value"] == 1
    assert read["judges"]["dull"]["rankings"]["kendall"] == {
        "mean": {"value": None, "low": None, "high": None, "undefined": 50},
        "undefined": 3,
        "by_prompt": {"0": None, "1": None, "2": None},
    }
    assert read["pass_rates"]["fair"]["average"] == pytest.approx(2 / 3)


def test_one_judge_of_several_can_be_chosen(files: tuple[Path, Path]) -> None:
    found = called(files[0], "--votes", files[1], "--resamples", 50, "--judge", "keen", "--json")
    assert list(json.loads(found.output)["judges"]) == ["keen"]
    assert (
        "judge is 'deaf', expected one of keen, dull" in called(files[0], "--votes", files[1], "--judge", "deaf").output
    )


def test_a_picture_without_the_extra_is_refused_before_anything_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    result = called("missing.jsonl", "--votes", "missing.jsonl", "--picture", "a.svg")
    assert "needs the extra charts: pip install 'altair>=" in result.output


def test_votes_for_an_unknown_story_end_with_one_clear_line(files: tuple[Path, Path]) -> None:
    with files[1].open("a", encoding="utf-8") as file:
        file.write(json.dumps({"story": "9_new", "rater": "ann", "votes": {"01": 1}}) + "\n")
    found = called(files[0], "--votes", files[1])
    assert found.exit_code == 1
    assert found.output.startswith("Error: story '9_new' has votes but no score by keen")
    assert found.output.count("\n") == 1


def judged(folder: Path, points: int, limit: int | None = 1) -> EvalLog:
    """A log of the task ttcw, whose critic gives so many points to what stands first."""
    [log] = evaluate(
        "genie_inspect/ttcw",
        model=saying("A new story.").model(),
        model_roles={"grader": comparing(lambda a, b, aspect: points).model()},
        log_dir=str(folder),
        limit=limit,
        display="none",
    )
    return log


def test_a_log_without_the_scorer_is_refused(tmp_path: Path, files: tuple[Path, Path]) -> None:
    log = judged(tmp_path / "logs", 0)
    found = called(log.location, "--votes", files[1], "--scorer", "other")
    assert found.exit_code == 1
    assert "has no scores by 'other'" in found.output


@pytest.mark.parametrize(("points", "shown"), [(2, "+2.00 biased"), (0, "+0.00")])
def test_the_summary_of_a_log_says_whether_its_critic_is_biased_by_position(
    points: int, shown: str, tmp_path: Path
) -> None:
    judged(tmp_path / "logs", points)
    found = genie("summary", tmp_path / "logs", "--scorer", "ttcw")
    assert found.exit_code == 0, found.output
    [row] = [line for line in found.output.splitlines() if "standing first" in line]
    assert row.rstrip(" │").endswith(shown)


def test_logs_of_two_judges_are_compared_side_by_side(tmp_path: Path) -> None:
    logs = []
    for judge, points in (("keen", 2), ("dull", 0)):
        log = judged(tmp_path / judge, points, limit=None)
        for sample in log.samples or []:
            score = (sample.scores or {})["ttcw"]
            metadata = score.metadata or {}
            metadata["signature"] = str(metadata["signature"]).replace("mockllm/model", f"mockllm/{judge}")
            metadata["judge"] = str(metadata["judge"]).replace("mockllm/model", f"mockllm/{judge}")
        write_eval_log(log)
        logs.append(log)
    votes = tmp_path / "votes.jsonl"
    stories = [f"{sample.id}_mockllm/model" for sample in logs[0].samples or []]
    rows = [{"story": story, "rater": "ann", "votes": {"01": 1}} for story in stories]
    votes.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = called(tmp_path / "keen", tmp_path / "dull", "--votes", votes, "--resamples", 50, "--json")
    assert found.exit_code == 0, found.output
    judges = list(json.loads(found.output)["judges"])
    assert [judge.partition("@")[0] for judge in judges] == ["critic(mockllm/keen", "critic(mockllm/dull"]
    once = called(tmp_path / "keen", logs[0].location, "--votes", votes, "--resamples", 50)
    assert once.exit_code == 0, "a log that is named and in the folder is one"
    copy = shutil.copy(logs[0].location, tmp_path / "copy.eval")
    twice = called(tmp_path / "keen", copy, "--votes", votes, "--resamples", 50)
    assert twice.exit_code == 1
    assert "has two scores by 'critic(mockllm/keen" in twice.output


def test_lengths_of_a_file_of_scores_make_a_table_of_what_is_left_without_them(files: tuple[Path, Path]) -> None:
    assert "length alone" not in called(files[0], "--votes", files[1], "--resamples", 50).output
    rows = [json.loads(line) for line in files[0].read_text(encoding="utf-8").splitlines()]
    longer = {"good": 300, "fair": 200, "bad": 100}
    rows = [{**row, "words": longer[row["story"].partition("_")[2]]} for row in rows]
    files[0].write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    result = called(files[0], "--votes", files[1], "--resamples", 50)
    assert "length alone" in result.output
    (line,) = (line.split() for line in result.output.splitlines() if "the judge, partial" in line)
    # people and the keen judge put the stories in the order of their words, the dull one in none
    assert line.count("undefined") == 2
    read = json.loads(called(files[0], "--votes", files[1], "--resamples", 50, "--json").output)
    assert read["judges"]["keen"]["length"]["length_alone"]["value"] == pytest.approx(1)
