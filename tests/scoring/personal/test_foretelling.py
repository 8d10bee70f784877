"""What raters are expected to say of a sample, by the scores that it has: whole scores, from judges made by hand."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.scorer import Score
from tests.agreement.personal.voters import verdict
from tests.scoring.personal.judged import FIGURES, SIGNATURE, column, judge
from tests.scripted import written

from genie_inspect.errors import GenieError, UnknownChoiceError
from genie_inspect.raters.folder import PersonalError, write_folder
from genie_inspect.raters.judge import PersonalJudge
from genie_inspect.scoring.personal.foretelling import Foretelling, opened

PASSES = verdict({"01": 1, "02": 0}, SIGNATURE)
YES, NO = 1 / (1 + math.exp(-1)), 1 / (1 + math.exp(1))  # of the average rater, for a pass and a fail


async def foretold(
    raters: tuple[str, ...] = ("ann",),
    scores: Mapping[str, Score] | None = None,
    own: PersonalJudge | None = None,
    fewest: int = 20,
    **options: Any,
) -> Score:
    by_test = options.get("by_test", len(raters) == 1)
    foretelling = Foretelling(own or judge(), FIGURES, raters, by_test, fewest)
    return await foretelling.score(written("A story.", scores={"ttcw": PASSES} if scores is None else scores))


def values(score: Score) -> dict[str, Any]:
    assert isinstance(score.value, dict)
    return {key: value for key, value in score.value.items() if value == value}


async def test_a_rater_has_a_chance_a_test_and_their_sum() -> None:
    score = await foretold()
    # log-odds 1 of a pass and -1 of a fail; the rater adds 1, and half as much again on the first test
    chances = 1 / (1 + math.exp(-2.5)), 0.5
    assert score.value == {
        "personal_ann_total": round(sum(chances), 3),
        "personal_ann_01": round(chances[0], 3),
        "personal_ann_02": 0.5,
    }
    digest = judge().digest
    assert score.metadata == {
        "signature": f"measure:personal|by:judge@{digest}|rater:ann|fewest:20|lowest:0|highest:1|version:1-A",
        "judged": 2,
        "not_judged": 0,
        "votes": {"ann": 40},
    }
    assert score.answer == "A story."
    assert "| 01 | 1 | 0.73 | 0.92 |" in (score.explanation or "")


async def test_all_raters_have_their_totals_and_who_has_too_few_votes_none() -> None:
    score = await foretold(("cy", "ann", "bob|b"))
    assert values(score) == {
        "personal_ann_total": 1.424,
        "personal_bob|b_total": round(0.5 + 1 / (1 + math.exp(2)), 3),
    }
    assert list(score.value if isinstance(score.value, dict) else ()) == [
        "personal_cy_total",
        "personal_ann_total",
        "personal_bob|b_total",
    ]
    assert (score.metadata or {})["votes"] == {"cy": 19, "ann": 40, "bob|b": 30}
    assert "|rater:all|" in (score.metadata or {})["signature"]
    assert "| cy | 19 | as the average | too few votes |" in (score.explanation or "")


async def test_as_many_votes_as_are_asked_for_are_enough() -> None:
    assert (await foretold(("cy",), fewest=19)).reason is None
    score = await foretold(("cy",))
    assert score.reason == "too few votes by this rater"
    assert score.explanation == ("Not scored: too few votes by this rater: cy has 19, expected 20 or more.")
    assert values(score) == {}


async def test_a_test_without_a_verdict_is_not_foretold_and_the_rest_is() -> None:
    score = await foretold(scores={"ttcw": verdict({"01": 1, "02": None}, SIGNATURE)})
    assert values(score) == {"personal_ann_total": 0.924, "personal_ann_01": 0.924}
    assert ((score.metadata or {})["judged"], (score.metadata or {})["not_judged"]) == (1, 1)


async def test_of_a_whole_story_there_is_a_total_alone() -> None:
    own = judge(column(key="ttcw_total"), scale=(1.0, 2.0), tests=("",))
    score = await foretold(own=own)
    # the total is 1, two spreads of 0.25 above the mean would be more: log-odds 1, 1 by the rater and 0.5 by taste
    assert score.value == {"personal_ann_total": 1.924}
    assert "|lowest:1|highest:2|" in (score.metadata or {})["signature"]


async def test_points_count_where_a_column_goes_by_them() -> None:
    rows = [{"id": "01", "pass": True, "score": 4}, {"id": "02", "pass": True, "score": -4}]
    given = Score(value={"ttcw_total": 2.0}, metadata={"signature": SIGNATURE, "tests": rows})
    own = judge(column(points=True, mean=0.0, spread=4.0))
    assert values(await foretold(scores={"ttcw": given}, own=own)) == {
        "personal_ann_total": 1.424,
        "personal_ann_01": 0.924,
        "personal_ann_02": 0.5,
    }


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ({}, "no score by ttcw"),
        ({"other": PASSES.model_copy(update={"metadata": {"signature": "measure:x|version:1"}})}, "no score by ttcw"),
        ({"genie_inspect/ttcw": verdict({"01": 1}, SIGNATURE + "0")}, "ttcw has another signature"),
        ({"ttcw": verdict({"01": None, "02": None}, SIGNATURE)}, "no value by ttcw"),
    ],
)
async def test_what_cannot_be_foretold_says_why_and_what_to_do(scores: dict[str, Score], reason: str) -> None:
    score = await foretold(scores=scores)
    assert score.reason == reason
    assert score.explanation == (
        f"Not scored: {reason}. personal reads the scores that it was fitted to: name their scorers before it."
    )
    assert values(score) == {}
    assert score.answer == "A story."
    assert "measure:personal|" in (score.metadata or {})["signature"]


async def test_a_signed_score_counts_by_its_signature_whatever_its_name_and_the_last_of_several() -> None:
    earlier = verdict({"01": 0, "02": 0}, SIGNATURE)
    assert values(await foretold(scores={"mine": earlier, "mine1": PASSES}))["personal_ann_01"] == 0.924
    assert values(await foretold(scores={"mine": earlier, "yours": PASSES}))["personal_ann_01"] == 0.924


async def test_a_score_without_a_signature_counts_by_its_scorer_s_name() -> None:
    own = judge(column(scorer="theirs", signature="none", key="theirs", mean=0.0, spread=1.0))
    plain = Score(value=1.0)
    score = await foretold(scores={"theirs": plain}, own=own)
    assert values(score)["personal_ann_01"] == 0.924
    assert (await foretold(scores={"others": plain}, own=own)).reason == "no score by theirs"


async def test_a_scorer_of_two_columns_without_a_value_is_named_once() -> None:
    own = judge(column(), column("points", points=True))
    assert (await foretold(scores={"ttcw": verdict({"01": None}, SIGNATURE)}, own=own)).reason == "no value by ttcw"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("a#b") / "taste"
    write_folder(judge(), FIGURES, place)
    return place


def test_a_folder_is_opened_for_one_rater_or_for_all_with_twenty_votes_unless_told(folder: Path) -> None:
    keys = ["personal_ann_total", "personal_ann_01", "personal_ann_02"]
    one = opened(f"{folder}#ann", None)
    assert (one.raters, one.by_test, one.fewest, one.keys) == (("ann",), True, 20, keys)
    both = opened(f"{folder}#all", 0)
    assert (both.raters, both.by_test, both.fewest) == (("ann", "bob|b", "cy"), False, 0)
    assert both.keys == ["personal_ann_total", "personal_bob|b_total", "personal_cy_total"]
    assert (one.judge, one.figures) == (judge(), FIGURES)


@pytest.mark.parametrize("rater", ["taste", "#ann", "taste#"])
def test_what_names_no_folder_or_no_rater_is_refused(rater: str) -> None:
    with pytest.raises(UnknownChoiceError, match=f"rater is '{rater}', expected FOLDER#ID, or FOLDER#all"):
        opened(rater, None)


@pytest.mark.parametrize(
    ("rater", "fewest", "said"), [(3, None, "rater"), ("{}#ann", -1, "fewest"), ("{}#zoe", 0, "zoe")]
)
def test_a_wrong_option_is_refused_by_its_name(folder: Path, rater: Any, fewest: int | None, said: str) -> None:
    with pytest.raises(GenieError, match=said):
        opened(rater.format(folder) if isinstance(rater, str) else rater, fewest)


def test_a_judge_without_raters_or_by_scores_of_no_log_is_refused(tmp_path: Path) -> None:
    write_folder(judge().model_copy(update={"raters": {}}), FIGURES, tmp_path / "none")
    with pytest.raises(PersonalError, match="none has no rater left: fit anew with genie rater fit"):
        opened(f"{tmp_path / 'none'}#all", None)
    write_folder(judge(column(), column("gpt", scorer="")), FIGURES, tmp_path / "file")
    with pytest.raises(PersonalError, match=r"was fitted to scores from a file \(gpt\), which no score of a log"):
        opened(f"{tmp_path / 'file'}#ann", None)
