import math

import numpy as np
import pytest
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score
from tests.scripted import written

from genie_inspect.engines.embedders import embedder
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.graders.cache import cache_folder
from genie_inspect.scorers.outcome import (
    _with_notes,
    genie_coverage,
    kept_embedder,
    rounded,
    scored_or_reason,
    without_value,
)


def test_what_an_embedder_made_of_a_text_is_kept_beside_what_models_have_said() -> None:
    kept = kept_embedder("static")
    assert kept.identity == embedder("static").identity
    assert np.allclose(kept.embed(["An owl waits."]), embedder("static").embed(["An owl waits."]), atol=1e-6)
    assert any(path.is_file() for path in cache_folder().iterdir())


def test_an_unknown_embedder_is_refused() -> None:
    with pytest.raises(UnknownChoiceError, match="embedder is 'word2vec'"):
        kept_embedder("word2vec")


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


@pytest.mark.parametrize(("explanation", "before"), [("Fine.", "Fine.\n\n"), (None, "")])
def test_a_note_on_the_length_stands_below_what_a_score_says(explanation: str | None, before: str) -> None:
    score = Score(value={"plot": 0.5}, explanation=explanation, metadata={"length": {"population": 3}})
    note = "Beware: this document has 5 words where the population has 3: beyond 1.5x lengths do not compare."
    assert _with_notes(score, "one two three four five").explanation == before + note
    assert _with_notes(score, "one two three four") == score


async def test_a_score_is_rounded_and_says_that_its_document_is_of_another_length() -> None:
    async def measure() -> Score:
        return Score(value={"plot": 2 / 3}, explanation="Fine.", metadata={"length": {"population": 3}})

    score = await scored_or_reason(written("one two three four five"), ["plot"], {}, measure)
    assert score.value == {"plot": 0.667}
    assert (score.explanation or "").startswith("Fine.\n\nBeware: this document has 5 words")
    lone = Score(value=0.51234)
    assert rounded(lone) == lone


async def test_why_a_sample_has_no_document_is_text_and_no_markup() -> None:
    async def never() -> Score:
        raise AssertionError("measured")

    state = written("")
    state.output = ModelOutput(error="a|b *c*")
    score = await scored_or_reason(state, ["plot"], {}, never)
    assert (score.reason, score.explanation) == ("a|b *c*", "Not scored: a\\|b \\*c\\*.")
