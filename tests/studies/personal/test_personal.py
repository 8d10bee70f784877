"""The scorer that says what a rater would say, from the scores that a sample has."""

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import score as rescored
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.scorer import Score
from tests.reports.made_logs import made_log
from tests.studies.personal.voters import SIGNATURE, WRITER, verdict, written

from genie_inspect.agreement.machine_scores import read_scores
from genie_inspect.agreement.votes import read_votes
from genie_inspect.graders.grader import RefusedError
from genie_inspect.logs.measures import declared, keys_to_test, known_range
from genie_inspect.studies.personal.ballots import Choice, ballots
from genie_inspect.studies.personal.fitting import fit_judge
from genie_inspect.studies.personal.folder import forget, read_judge, write_folder
from genie_inspect.studies.personal.personal import personal


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judge that was fitted to a log's verdicts."""
    place = tmp_path_factory.mktemp("judge")
    votes, log = written(place)
    rows = ballots(read_votes(votes, numbers=True), read_scores([log]), Choice())
    write_folder(*fit_judge(rows, resamples=20), place / "taste")
    return place / "taste"


def told(tmp_path: Path, rater: str, score: Score | None, **options: Any) -> Score:
    """What it says of a sample with one score by ttcw, or none."""
    log: EvalLog = read_eval_log(made_log(tmp_path / "logs", [{"ttcw": score} if score else {}], model=WRITER))
    done = rescored(log, personal(rater, **options), action="append", display="none")
    assert done.status == "success", done.error
    (sample,) = done.samples or []
    return (sample.scores or {})["personal"]


def values(score: Score) -> dict[str, float]:
    assert isinstance(score.value, dict)
    return {key: float(value) for key, value in score.value.items() if isinstance(value, int | float)}


def test_each_test_has_its_chance_of_a_yes_and_the_total_is_their_sum(tmp_path: Path, folder: Path) -> None:
    found = values(told(tmp_path, f"{folder}#r1", verdict({"01": 1, "02": 0})))
    assert list(found) == ["personal_r1_total", "personal_r1_01", "personal_r1_02"]
    judge = read_judge(folder)
    (column,) = judge.columns
    for test, passes in (("01", 1.0), ("02", 0.0)):
        opinion = judge.opinion("r1", test, {column.name: passes})
        assert opinion is not None
        assert found[f"personal_r1_{test}"] == pytest.approx(opinion.expected, abs=5e-4)
    assert found["personal_r1_total"] == pytest.approx(found["personal_r1_01"] + found["personal_r1_02"], abs=2e-3)


def test_all_raters_have_a_key_each(tmp_path: Path, folder: Path) -> None:
    score = told(tmp_path, f"{folder}#all", verdict({"01": 1, "02": 0}))
    assert sorted(values(score)) == ["personal_r0_total", "personal_r1_total", "personal_r2_total"]
    one = told(tmp_path, f"{folder}#r1", verdict({"01": 1, "02": 0}))
    assert values(score)["personal_r1_total"] == values(one)["personal_r1_total"]
    assert "| rater | votes | leniency | expected |" in (score.explanation or "")


def test_the_explanation_says_how_the_verdict_moved_and_why(tmp_path: Path, folder: Path) -> None:
    text = told(tmp_path, f"{folder}#r1", verdict({"01": 1, "02": 0})).explanation or ""
    assert "| test | critic(mock/a) | average rater | r1 | log-odds moved by |" in text
    assert "leniency " in text
    assert "Expected of r1: " in text
    assert "log loss a vote." in text


def test_the_signature_knows_the_folder_by_its_digest(tmp_path: Path, folder: Path) -> None:
    score = told(tmp_path, f"{folder}#r1", verdict({"01": 1, "02": 0}))
    signature = (score.metadata or {})["signature"]
    assert signature.startswith(f"measure:personal|by:judge@{read_judge(folder).digest}|rater:r1|fewest:20|")
    assert str(folder) not in str(score.metadata)


def test_a_test_without_a_verdict_is_not_foretold_and_the_rest_is(tmp_path: Path, folder: Path) -> None:
    score = told(tmp_path, f"{folder}#r1", verdict({"01": 1, "02": None}))
    found = values(score)
    assert math.isnan(found["personal_r1_02"])
    assert found["personal_r1_total"] == found["personal_r1_01"]
    assert (score.metadata or {})["not_judged"] == 1
    assert "1 of 2 tests are not foretold" in (score.explanation or "")


@pytest.mark.parametrize(
    ("score", "reason"),
    [
        (None, "no score by ttcw"),
        (verdict({"01": 1, "02": 0}, SIGNATURE.replace("mock/a", "mock/b")), "ttcw has another signature"),
        (verdict({"01": 1, "02": 0}, SIGNATURE.replace("1-A", "2-A")), "ttcw has another signature"),
        (verdict({"01": None, "02": None}), "no value by ttcw"),
    ],
)
def test_what_cannot_be_foretold_is_unscored_with_the_reason(
    tmp_path: Path, folder: Path, score: Score | None, reason: str
) -> None:
    found = told(tmp_path, f"{folder}#r1", score)
    assert found.reason == reason
    assert reason in (found.explanation or "")
    assert set(values(found)) == {"personal_r1_total", "personal_r1_01", "personal_r1_02"}
    assert all(map(math.isnan, values(found).values()))


def test_the_letter_of_a_version_is_no_other_signature(tmp_path: Path, folder: Path) -> None:
    score = told(tmp_path, f"{folder}#r1", verdict({"01": 1, "02": 0}, SIGNATURE.replace("1-A", "1-C")))
    assert not score.reason


def test_a_rater_with_too_few_votes_is_unscored(tmp_path: Path, folder: Path) -> None:
    score = told(tmp_path, f"{folder}#r1", verdict({"01": 1, "02": 0}), fewest=100)
    assert score.reason == "too few votes by this rater"
    assert "r1 has 48, expected 100 or more" in (score.explanation or "")
    assert all(map(math.isnan, values(score).values()))


@pytest.mark.parametrize(
    ("rater", "message"),
    [
        ("{folder}", "rater is '.*', expected FOLDER#ID, or FOLDER#all for one key a rater"),
        ("{folder}#zoe", "rater is 'zoe', expected one of those in .*: r"),
        ("nowhere#r1", r"nowhere/manifest\.json cannot be read"),
    ],
)
def test_whoever_cannot_be_spoken_for_is_one_line(folder: Path, rater: str, message: str) -> None:
    with pytest.raises(RefusedError, match=message):
        personal(rater.format(folder=folder))


def test_a_judge_by_scores_from_a_file_is_refused_on_logs(tmp_path: Path) -> None:
    votes, _ = written(tmp_path)
    stories = {f"{story}_{WRITER}": "YN" if story % 2 else "NY" for story in range(24)}
    file = tmp_path / "verdicts.json"
    file.write_text(json.dumps({"judges": {"gpt4": stories}}), encoding="utf-8")
    rows = ballots(read_votes(votes, numbers=True), read_scores([file]), Choice())
    write_folder(*fit_judge(rows, resamples=10), tmp_path / "taste")
    with pytest.raises(RefusedError, match=r"fitted to scores from a file \(gpt4\), which no score of a log"):
        personal(f"{tmp_path / 'taste'}#r1")


def test_no_vote_and_no_word_of_a_rater_is_in_a_score(tmp_path: Path, folder: Path) -> None:
    score = told(tmp_path, f"{folder}#r1", verdict({"01": 1, "02": 0}))
    assert set(score.metadata or {}) == {"signature", "judged", "not_judged", "votes"}
    assert (score.metadata or {})["votes"] == {"r1": 48}


def test_a_rater_who_was_forgotten_cannot_be_spoken_for(tmp_path: Path, folder: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    forget(copy, "r1")
    with pytest.raises(RefusedError, match="rater is 'r1'"):
        personal(f"{copy}#r1")


def test_a_document_that_was_refused_is_unscored_as_by_every_scorer(tmp_path: Path, folder: Path) -> None:
    log = read_eval_log(
        made_log(
            tmp_path / "logs",
            [{"ttcw": verdict({"01": 1, "02": 0})}],
            model=WRITER,
            texts=["I'm sorry, but I can't help with that request."],
        )
    )
    done = rescored(log, personal(f"{folder}#r1"), action="append", display="none")
    (sample,) = done.samples or []
    assert (sample.scores or {})["personal"].reason == "refusal"


def test_reports_know_its_headline_its_ranges_and_which_way_is_up(tmp_path: Path) -> None:
    header = read_eval_log(made_log(tmp_path, [{}]))
    signature = "measure:personal|by:judge@0|rater:ann|fewest:20|lowest:0|highest:1|version:1-A"
    (own,) = declared(header, "personal", signature).values()
    keys = ("personal_ann_total", "personal_ann_01", "personal_ann_02", "personal_ann_03")
    assert keys_to_test([own], keys) == keys[:1]
    assert known_range(header, "personal", signature, keys[1]) == (0, 1)
    assert known_range(header, "personal", signature, keys[0]) is None
    assert "igher is" in own.meaning
