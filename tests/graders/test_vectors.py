import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.scripted import Asked, saying

from genie_inspect.engines.embedders import embedder
from genie_inspect.errors import FitError
from genie_inspect.graders.merging import RatingMemo
from genie_inspect.graders.protocols import Answer
from genie_inspect.graders.reader import READ
from genie_inspect.graders.vectors_judge import (
    NO_VECTOR,
    VECTORS,
    FeatureFit,
    VectorFit,
    VectorsJudge,
    fit_for,
    shipped_fit,
    vectors_judge,
)
from genie_inspect.measures.genie import question_novelty

pytestmark = pytest.mark.anyio
PLOT, MOOD = Asked("What is lost?", "plot"), Asked("What is the mood?", "mood")
DEGREES = {"a": 0, "b": 60, "c": 90}


@dataclass
class Angles:
    """An embedder of single letters, each at its angle; of anything else it knows nothing."""

    name: str = "angles"
    identity: str = "angles@1"
    embedded: list[str] = field(default_factory=list)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        self.embedded += texts
        return np.array([self._vector(text) for text in texts]) if texts else np.zeros((0, 0))

    def _vector(self, text: str) -> tuple[float, float]:
        angle = math.radians(DEGREES.get(text, 0))
        return (math.cos(angle), math.sin(angle)) if text in DEGREES else (0.0, 0.0)


def line(*knots: tuple[float, float]) -> FeatureFit:
    return FeatureFit(pairs=40, knots=knots, answers=9, spearman=0.614, kendall=None)


FIT = VectorFit(
    embedder="angles@1",
    population="small",
    raters=("people",),
    features={"plot": line((0.0, 1.0), (1.0, 4.0))},
    pooled=line((0.0, 2.0), (1.0, 2.0)),
)


def answers(*texts: str) -> list[Answer]:
    return [Answer(text) for text in texts]


async def test_a_rating_is_what_the_features_line_says_of_the_cosine() -> None:
    rated = await VectorsJudge(Angles(), FIT).rate(PLOT, Answer("a"), answers("b", "c"))
    # cos 60 = 0.5, halfway from 1 to 4; cos 90 = 0
    assert rated.ratings == pytest.approx((2.5, 1.0))
    assert rated.faults == {}
    assert question_novelty(rated.ratings) == pytest.approx(0.75)


async def test_equal_answers_are_interchangeable_without_any_vector() -> None:
    engine = Angles()
    rated = await VectorsJudge(engine, FIT).rate(PLOT, Answer("The owl"), answers("the  owl.", "The owl"))
    assert rated.ratings == (4.0, 4.0)
    assert engine.embedded == []


async def test_an_answer_without_a_vector_has_no_rating_and_a_reason() -> None:
    judge = VectorsJudge(Angles(), FIT)
    rated = await judge.rate(PLOT, Answer("a"), answers("?", "b"))
    assert rated.ratings[0] is None
    assert rated.faults == {0: NO_VECTOR}
    assert (await judge.rate(PLOT, Answer("?"), answers("a", "?"))).ratings == (None, 4.0)


async def test_nothing_to_compare_with_is_nothing_rated() -> None:
    assert (await VectorsJudge(Angles(), FIT).rate(PLOT, Answer("a"), [])).ratings == ()


async def test_a_feature_that_the_fit_does_not_know_is_judged_by_the_line_over_all_and_named() -> None:
    judge = VectorsJudge(Angles(), FIT, ["plot", "pace", "mood"])
    assert (await judge.rate(MOOD, Answer("a"), answers("b"))).ratings == (2.0,)
    assert judge.signature == f"vectors(angles@1,fit={FIT.digest},spearman=0.61,kendall=not defined,pooled=mood+pace)"
    assert "pooled" not in VectorsJudge(Angles(), FIT, ["plot"]).signature


def test_another_fit_is_another_signature() -> None:
    other = FIT.model_copy(update={"features": {}})
    assert VectorsJudge(Angles(), FIT).signature != VectorsJudge(Angles(), other).signature


def test_an_embedder_without_a_fit_is_refused_with_the_way_to_one() -> None:
    with pytest.raises(FitError) as caught:
        vectors_judge(Angles())
    said = str(caught.value)
    assert "embedder is 'angles' (angles@1)" in said
    assert "genie calibrate --ratings ratings.jsonl --embedder angles --fit-vectors fit.json" in said
    assert "judge=vectors/fit.json" in said
    assert "\n" not in said


def test_the_fit_that_ships_is_the_static_embedders() -> None:
    assert fit_for(embedder()) is shipped_fit()


def test_no_pair_is_asked_of_the_grader() -> None:
    assert not VECTORS.asks_pairs
    assert VECTORS.instruction is READ


def test_by_itself_the_mode_judges_with_the_embedder_that_ships() -> None:
    judge = VECTORS.judge(saying("").model(), READ.template(), RatingMemo())
    assert judge.signature == vectors_judge(embedder()).signature
