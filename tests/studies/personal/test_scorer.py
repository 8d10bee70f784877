"""What raters are expected to say of a sample, by the scores that it has: whole scores, from judges made by hand."""

import math
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import score as rescored
from inspect_ai.log import read_eval_log
from inspect_ai.scorer import Score, Target
from tests.reports.made_logs import made_log
from tests.scripted import written as sample_of
from tests.studies.personal.made import (
    FIGURES,
    JUDGE_SIGNATURE,
    SENTENCE,
    column,
    judge,
    verdict,
)

from genie_inspect.graders.grader import RefusedError
from genie_inspect.logs.measures import keys_to_test
from genie_inspect.logs.reading import ScoredLog
from genie_inspect.signature import Signature
from genie_inspect.studies.personal.judge import Figure, PersonalJudge, RaterFigures, write_folder
from genie_inspect.studies.personal.personal import explained, personal

PASSES = verdict({"01": 1, "02": 0}, JUDGE_SIGNATURE)
Foretold = Callable[..., Awaitable[tuple[Score, dict[str, Any]]]]


@pytest.fixture
def foretold(tmp_path: Path) -> Foretold:
    """A sample's score by a rater of a judge, and its values that are numbers."""

    async def scored(
        rater: str = "ann",
        scores: Mapping[str, Score] | None = None,
        own: PersonalJudge | None = None,
        fewest: int | None = None,
    ) -> tuple[Score, dict[str, Any]]:
        folder = tmp_path / f"a#b{len(list(tmp_path.iterdir()))}"
        write_folder(own or judge(), FIGURES, folder)
        sample = sample_of("A story.", scores={"ttcw": PASSES} if scores is None else scores)
        score = await personal(f"{folder}#{rater}", fewest)(sample, Target(""))
        assert score
        assert isinstance(score.value, dict)
        assert score.answer == "A story."
        return score, {key: value for key, value in score.value.items() if value == value}

    return scored


async def test_a_rater_has_a_chance_a_test_and_their_sum(foretold: Foretold) -> None:
    score, _ = await foretold()
    # log-odds 1 of a pass and -1 of a fail; the rater adds 1, and half as much again on the first test
    chances = 1 / (1 + math.exp(-2.5)), 0.5
    assert score.value == {
        "personal_ann_total": round(sum(chances), 3),
        "personal_ann_01": round(chances[0], 3),
        "personal_ann_02": 0.5,
    }
    assert score.metadata == {
        "signature": f"measure:personal|by:judge@{judge().digest}|rater:ann|fewest:20|lowest:0|highest:1|version:1-A",
        "judged": 2,
        "not_judged": 0,
        "votes": {"ann": 40},
    }
    assert "| 01 | 1 | 0.73 | 0.92 |" in (score.explanation or "")
    # a test without a verdict is not predicted, and the rest is
    score, values = await foretold(scores={"ttcw": verdict({"01": 1, "02": None}, JUDGE_SIGNATURE)})
    assert values == {"personal_ann_total": 0.924, "personal_ann_01": 0.924}
    assert ((score.metadata or {})["judged"], (score.metadata or {})["not_judged"]) == (1, 1)


async def test_all_raters_have_their_totals_and_who_has_too_few_votes_none(foretold: Foretold) -> None:
    score, values = await foretold("all")
    assert values == {"personal_ann_total": 1.424, "personal_bob|b_total": round(0.5 + 1 / (1 + math.exp(2)), 3)}
    assert isinstance(score.value, dict)
    assert list(score.value) == ["personal_ann_total", "personal_bob|b_total", "personal_cy_total"]
    assert (score.metadata or {})["votes"] == {"ann": 40, "bob|b": 30, "cy": 19}
    assert "|rater:all|" in (score.metadata or {})["signature"]
    assert score.explanation == (
        "| rater | votes | leniency | expected |\n"
        "| :-- | --: | --: | --: |\n"
        "| ann | 40 | +1.00 \\[+0.76, +1.24\\] | 1.42 |\n"
        "| bob\\|b | 30 | -1.00 \\[-1.24, -0.76\\] | 0.62 |\n"
        "| cy | 19 | as the average | too few votes |\n\n" + SENTENCE
    )
    assert len((await foretold("all", fewest=0))[1]) == 3
    # as many votes as are asked for are enough
    assert (await foretold("cy", fewest=19))[0].reason is None
    score, values = await foretold("cy")
    assert (score.reason, values) == ("too few votes by this rater", {})
    assert score.explanation == "Not scored: too few votes by this rater: cy has 19, expected 20 or more."


async def test_points_or_values_count_where_a_column_goes_by_them(foretold: Foretold) -> None:
    rows = [{"id": "01", "pass": True, "score": 4}, {"id": "02", "pass": True, "score": -4}]
    given = Score(value={"ttcw_total": 2.0}, metadata={"signature": JUDGE_SIGNATURE, "tests": rows})
    _, values = await foretold(scores={"ttcw": given}, own=judge(column(points=True, mean=0.0, spread=4.0)))
    assert values == {"personal_ann_total": 1.424, "personal_ann_01": 0.924, "personal_ann_02": 0.5}
    # of a whole story there is a total alone: one spread above the mean is log-odds 1, with steps at 0 and 1: chances
    # 0.73 and 0.5 by the average, 0.5 and 0.27 by one who is harsher by 1
    own = judge(column(key="ttcw_total"), scale=(1.0, 2.0, 3.0), tests=("",))
    score, _ = await foretold("bob|b", own=own)
    assert score.value == {"personal_bob|b_total": 1.769}
    assert "|lowest:1|highest:3|" in (score.metadata or {})["signature"]
    assert score.explanation == (
        "| test | critic\\|a | average rater | bob\\|b | log-odds moved by |\n"
        "| :-- | --: | --: | --: | --: |\n"
        "| story | 1 | 2.23 | 1.77 | scores +1.00, leniency -1.00 |\n\n"
        "Expected of bob\\|b: 1.77 points on 1 tests; average rater: 2.23.\n\n"
        "bob\\|b, 30 votes: harsher than the average rater (-1.00 [-1.24, -0.76]).\n\n" + SENTENCE
    )


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ({}, "no score by ttcw"),
        ({"other": PASSES.model_copy(update={"metadata": {"signature": "measure:x|version:1"}})}, "no score by ttcw"),
        ({"genie_inspect/ttcw": verdict({"01": 1}, JUDGE_SIGNATURE + "0")}, "ttcw has another signature"),
        ({"ttcw": verdict({"01": None, "02": None}, JUDGE_SIGNATURE)}, "no value by ttcw"),
    ],
)
async def test_what_cannot_be_foretold_says_why_and_what_to_do(
    foretold: Foretold, scores: dict[str, Score], reason: str
) -> None:
    # a scorer of two columns is named once
    score, values = await foretold(scores=scores, own=judge(column(), column("points", points=True)))
    assert score.reason == reason
    assert score.explanation == (
        f"Not scored: {reason}. personal reads the scores that it was fitted to: name their scorers before it."
    )
    assert values == {}
    assert "measure:personal|" in (score.metadata or {})["signature"]


async def test_a_score_counts_by_its_signature_and_without_one_by_its_name_and_the_last_of_several(
    foretold: Foretold,
) -> None:
    earlier = verdict({"01": 0, "02": 0}, JUDGE_SIGNATURE)
    for name in ("mine1", "yours"):
        assert (await foretold(scores={"mine": earlier, name: PASSES}))[1]["personal_ann_01"] == 0.924
    own = judge(column(scorer="theirs", signature="none", key="theirs", mean=0.0, spread=1.0))
    plain = Score(value=1.0)
    assert (await foretold(scores={"theirs": plain}, own=own))[1]["personal_ann_01"] == 0.924
    assert (await foretold(scores={"others": plain}, own=own))[0].reason == "no score by theirs"


LOOSE = judge(column(), column("gpt", scorer=""))


@pytest.mark.parametrize(
    ("own", "rater", "fewest", "message"),
    [
        (judge(), "{}#", None, "rater is '.*#', expected FOLDER#ID"),
        (judge(), "#ann", None, "rater is '#ann', expected FOLDER#ID"),
        (judge(), "{}", None, "rater is '.*', expected FOLDER#ID, or FOLDER#all for one key a rater"),
        (judge(), "{}#zoe", 0, "rater is 'zoe', expected one of those in .*: ann, bob|b, cy"),
        (judge(), "nowhere#ann", None, r"nowhere/manifest\.json cannot be read"),
        (judge(), 3, None, "rater"),
        (judge(), "{}#ann", -1, "fewest"),
        (judge().model_copy(update={"raters": {}}), "{}#all", None, "has no rater left. Fit it again with genie rat"),
        (LOOSE, "{}#ann", None, r"was fitted to scores from a file \(gpt\), which cannot be compared"),
    ],
)
def test_whoever_cannot_be_spoken_for_is_one_line(
    tmp_path: Path, own: PersonalJudge, rater: Any, fewest: int | None, message: str
) -> None:
    write_folder(own, FIGURES, tmp_path / "taste")
    with pytest.raises(RefusedError, match=message):
        personal(rater.format(tmp_path / "taste") if isinstance(rater, str) else rater, fewest)


def test_a_row_a_test_then_what_is_expected_and_how_far_the_rater_stands_apart() -> None:
    own = judge(column(), column("words", slope=0.0))
    numbers = {"01": {"critic|a": 1.0, "words": 1234.5}, "02": {"critic|a": math.nan, "words": 0.5}}
    opinions = {test: own.opinion("ann", test, row) for test, row in numbers.items()}
    # log-odds 1 by the score, and 1 and 0.5 more by the rater: chances 0.73 and 0.92
    assert explained(own, "ann", opinions, numbers, FIGURES) == (
        "| test | critic\\|a | words | average rater | ann | log-odds moved by |\n"
        "| :-- | --: | --: | --: | --: | --: |\n"
        "| 01 | 1 | 1.23e+03 | 0.73 | 0.92 | scores +1.00, leniency +1.00, taste +0.50 |\n"
        "| 02 | none | 0.5 |  |  | a score is missing |\n\n"
        "Expected of ann: 0.92 yes on 1 tests; average rater: 0.73.\n\n"
        "1 of 2 tests are not predicted: a score of theirs is missing.\n\n"
        "ann, 40 votes: more lenient than the average rater (+1.00 [+0.76, +1.24]).\n\n" + SENTENCE
    )


def test_a_rater_who_is_foretold_better_or_worse_than_by_the_grader_is_told_apart_by_that() -> None:
    own, numbers = judge(), {"01": {"critic|a": 0.5}}
    opinions = {"01": own.opinion("cy", "01", numbers["01"])}
    alike = explained(own, "cy", opinions, numbers, FIGURES)
    assert "| 01 | 0.5 | 0.50 | 0.50 | nothing |" in alike
    assert "cy, 19 votes: cannot be told from the average rater in leniency (as the average)." in alike
    for gain, says in (
        ((-0.074, -0.131, -0.014), "predicted better than by the grader alone (-0.074 [-0.131, -0.014])."),
        ((0.02, 0.01, 0.03), "predicted worse than by the grader alone (+0.020 [+0.010, +0.030])."),
    ):
        figure = Figure(**dict(zip(("value", "low", "high"), gain, strict=True)))
        raters = {"cy": RaterFigures(votes=19, stories=10, gain=figure)}
        said = explained(own, "cy", opinions, numbers, FIGURES.model_copy(update={"raters": raters}))
        assert f"cannot be told from the average rater in leniency (as the average); {says}" in said


def test_a_log_that_is_scored_anew_has_the_opinion_of_its_rater(tmp_path: Path) -> None:
    write_folder(judge(), FIGURES, tmp_path / "taste")
    # a letter of the version makes no other signature
    score = verdict({"01": 1, "02": 0}, f"{JUDGE_SIGNATURE}-C")
    log = made_log(tmp_path / "new", [{"ttcw": score}], model="mockllm/writer")
    done = rescored(read_eval_log(log), personal(f"{tmp_path / 'taste'}#ann"), action="append", display="none")
    assert done.status == "success", done.error
    (sample,) = done.samples or []
    assert (sample.scores or {})["personal"].as_dict()["personal_ann_01"] == 0.924


def test_reports_know_its_headline_its_ranges_and_which_way_is_up(tmp_path: Path) -> None:
    header = read_eval_log(made_log(tmp_path, [{}]))
    signature = Signature("measure:personal|by:judge@0|rater:ann|fewest:20|lowest:0|highest:1|version:1-A")
    log = ScoredLog("", header, (), {"personal": (signature,)})
    (own,) = log.declared("personal")
    keys = ("personal_ann_total", "personal_ann_01", "personal_ann_02", "personal_ann_03")
    assert keys_to_test([own], keys) == keys[:1]
    assert log.known_range("personal", keys[1]) == (0, 1)
    assert log.known_range("personal", keys[0]) is None
    assert "igher is" in own.meaning
