"""The scorer that fills columns of Inspect View: length, Genie's coverage, what is unscored."""

import math
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.scorer import Score, Scorer, Target
from tests.scripted import OWL, Script, grading, metadata, saying, small_population, written

from genie_inspect.scorers.cosine import cosine
from genie_inspect.scorers.document import document
from genie_inspect.scorers.genie import genie

STORY = "A brown owl counted the trains."
REFUSAL = "I'm sorry, but I can't help with that request."


def run(folder: Path, *scorers: Scorer, text: str = STORY, grader: Script | None = None) -> EvalLog:
    (log,) = evaluate(
        Task(dataset=[Sample(input=OWL)], scorer=[*scorers, document()]),
        model=saying(text).model(),
        model_roles={"grader": (grader or grading()).model()},
        log_dir=str(folder / "logs"),
        display="none",
    )
    assert log.status == "success", log.error
    return log


def columns(log: EvalLog) -> dict[str, Any]:
    """What it says of the only sample."""
    (sample,) = log.samples or []
    score = (sample.scores or {})["document"]
    assert metadata(score)["signature"].startswith("measure:document|")
    assert score.reason is None
    assert isinstance(score.value, dict)
    return dict(score.value)


def population(folder: Path) -> str:
    return str(small_population(folder / "population").folder)


def test_a_document_has_its_words_and_the_share_of_questions_that_genie_could_use(tmp_path: Path) -> None:
    folder = population(tmp_path)
    assert columns(run(tmp_path, genie(folder), cosine(folder))) == {"words": 6, "coverage": 1.0, "unscored": 0}


def test_a_question_that_genie_could_not_use_lowers_the_coverage(tmp_path: Path) -> None:
    # one of three questions is not answered
    grader = grading(answer=lambda text, question: "" if "tone" in question else f"{question} {text}")
    found = columns(run(tmp_path, genie(population(tmp_path)), grader=grader))
    assert found == {"words": 6, "coverage": 0.667, "unscored": 0}


def test_a_refused_document_has_the_words_of_the_refusal_no_coverage_and_no_score(tmp_path: Path) -> None:
    folder = population(tmp_path)
    found = columns(run(tmp_path, genie(folder), cosine(folder), text=REFUSAL))
    assert (found["words"], found["unscored"]) == (9, 2)
    assert math.isnan(found["coverage"])


def test_where_genie_has_a_reason_and_no_value_its_coverage_is_not_known(tmp_path: Path) -> None:
    folder = population(tmp_path)
    found = columns(run(tmp_path, genie(folder), cosine(folder), grader=Script(lambda request: request)))
    assert (found["words"], found["unscored"]) == (6, 1)
    assert math.isnan(found["coverage"])


def test_without_genie_there_is_no_coverage(tmp_path: Path) -> None:
    found = columns(run(tmp_path, cosine(population(tmp_path))))
    assert (found["words"], found["unscored"]) == (6, 0)
    assert math.isnan(found["coverage"])


def test_it_has_no_means_in_the_table_at_the_end_of_a_run(tmp_path: Path) -> None:
    log = run(tmp_path, cosine(population(tmp_path)))
    assert log.results
    assert [score.name for score in log.results.scores] == ["cosine_mean", "cosine_nearest"]


GENIE = "measure:genie|version:1"


def score(value: float = 0.5, signature: str = GENIE, coverage: str = "", reason: str = "") -> Score:
    facts = {"signature": signature, **({"coverage": {"plot": coverage}} if coverage else {})}
    return Score(value={"plot": value}, metadata=facts, reason=reason or None)


async def beside(scores: dict[str, Score]) -> dict[str, Any]:
    """The columns of a document with these scores."""
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
