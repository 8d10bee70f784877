"""What a sample's scores say of each other, from scores made by hand."""

import math

import pytest
from inspect_ai.scorer import Score

from genie_inspect.scoring.other_scores import genie_coverage, without_value

GENIE = "measure:genie|version:1"


def score(value: float = 0.5, signature: str = GENIE, coverage: str = "", reason: str = "") -> Score:
    facts = {"signature": signature, **({"coverage": {"plot": coverage}} if coverage else {})}
    return Score(value={"plot": value}, metadata=facts, reason=reason or None)


@pytest.mark.parametrize(
    ("scores", "share"),
    [
        ({"genie": score(coverage="3/4")}, 0.75),
        # of two the last, in either order
        ({"genie": score(coverage="3/4"), "other": score(coverage="1/4")}, 0.25),
        ({"genie": score(math.nan, coverage="3/4"), "other": score(coverage="1/4")}, 0.25),
        ({"genie": score(coverage="3/4"), "other": score(math.nan, coverage="1/4")}, math.nan),
        ({"genie": score()}, math.nan),
        ({"cosine": score(coverage="3/4", signature="measure:cosine|version:1")}, math.nan),
        ({"genie": score(coverage="3/4"), "cosine": score(signature="measure:cosine|version:1")}, 0.75),
        ({}, math.nan),
    ],
)
def test_the_share_of_genie_s_questions_is_that_of_the_last_score_by_it(scores: dict[str, Score], share: float) -> None:
    assert genie_coverage(scores) == pytest.approx(share, nan_ok=True)


def test_a_scorer_without_a_value_is_named_when_it_gives_a_reason_and_each_scorer_once() -> None:
    lost = score(math.nan, reason="grader_failed")
    assert without_value({"genie": lost, "cosine": score(signature="x"), "style": score(math.nan, signature="y")}) == [
        "genie"
    ]
    # a value stands in spite of the reason; the columns of Inspect View measure nothing
    assert without_value({"a": score(reason="odd"), "b": score(math.nan, "measure:document|version:1", "", "r")}) == []
    # scored again: the last counts, by the first's name
    assert without_value({"genie": lost, "genie1": score()}) == []
    assert without_value({"genie": score(), "genie1": lost}) == ["genie"]
