"""The scorer that fills columns of Inspect View: length, Genie's coverage, what is unscored."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.scorer import Score, Target
from tests.every_scorer import scorer_of
from tests.scripted import Script, evaluated, grading, metadata, saying, scores, small_population, values, written

from genie_inspect.scorers.document import document
from genie_inspect.signature import Signature

STORY = "A brown owl counted the trains."
REFUSAL = "I'm sorry, but I can't help with that request."


def unanswered(text: str, question: str) -> str:
    return "" if "tone" in question else f"{question} {text}"


@pytest.mark.parametrize(
    ("names", "text", "grader", "words", "coverage", "unscored"),
    [
        (("genie", "cosine"), STORY, grading(), 6, 1.0, 0),
        (("genie",), STORY, grading(answer=unanswered), 6, 0.667, 0),
        (("genie", "cosine"), REFUSAL, grading(), 9, math.nan, 2),
        # where genie has a reason and no value its coverage is not known
        (("genie", "cosine"), STORY, Script(lambda request: request), 6, math.nan, 1),
        (("cosine",), STORY, grading(), 6, math.nan, 0),
    ],
)
def test_a_document_has_its_words_the_share_of_genies_questions_and_how_many_scores_it_lacks(
    names: Sequence[str], text: str, grader: Script, words: int, coverage: float, unscored: int, tmp_path: Path
) -> None:
    folder = str(small_population(tmp_path / "population").folder)
    log = evaluated([*(scorer_of(name, folder) for name in names), document()], saying(text), grader, tmp_path)
    (score,) = scores(log, "document")
    expected = {"words": words, "coverage": coverage, "unscored": unscored}
    assert values(score) == pytest.approx(expected, nan_ok=True)
    assert (score.reason, score.explanation) == (None, "Columns of the list of samples; no measure.")
    assert Signature(metadata(score)["signature"]).facts == {"measure": "document", "version": "2-A"}
    # it has no means in the table at the end of a run
    assert log.results
    assert "document" not in {found.scorer for found in log.results.scores}


GENIE = "measure:genie|version:1"


def score(value: float = 0.5, signature: str = GENIE, coverage: str = "", reason: str = "") -> Score:
    facts = {"signature": signature, **({"coverage": {"plot": coverage}} if coverage else {})}
    return Score(value={"plot": value}, metadata=facts, reason=reason or None)


async def beside(scores: dict[str, Score]) -> dict[str, Any]:
    columns = await document()(written(STORY, scores=scores), Target(""))
    assert columns
    assert isinstance(columns.value, dict)
    return dict(columns.value)


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
@pytest.mark.anyio
async def test_the_share_of_genie_s_questions_is_that_of_the_last_score_by_it(
    scores: dict[str, Score], share: float
) -> None:
    assert (await beside(scores))["coverage"] == pytest.approx(share, nan_ok=True)


@pytest.mark.anyio
async def test_a_scorer_without_a_value_counts_when_it_gives_a_reason_and_each_scorer_once() -> None:
    lost = score(math.nan, reason="grader_failed")
    silent = {"genie": lost, "cosine": score(signature="x"), "style": score(math.nan, signature="y")}
    assert (await beside(silent))["unscored"] == 1
    # a value stands in spite of the reason; the columns of Inspect View measure nothing
    odd = {"a": score(reason="odd"), "b": score(math.nan, "measure:document|version:1", "", "r")}
    assert (await beside(odd))["unscored"] == 0
    # scored again: the last counts, by the first's name
    assert (await beside({"genie": lost, "genie1": score()}))["unscored"] == 0
    assert (await beside({"genie": score(), "genie1": lost}))["unscored"] == 1
