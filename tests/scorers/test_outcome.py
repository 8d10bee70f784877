import math
from pathlib import Path

import numpy as np
import pytest
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score
from tests.scripted import FOX, OWL, small_population, written

from genie_inspect.engines.embedders import embedder
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.graders.cache import cache_folder
from genie_inspect.populations.population import Population
from genie_inspect.populations.yardstick import YARDSTICK, Measured, Yardstick, with_measured, write_yardstick
from genie_inspect.scorers.outcome import (
    PopulationStanding,
    _with_notes,
    genie_coverage,
    kept_embedder,
    rounded,
    scored_or_reason,
    standing_facts,
    without_value,
)
from genie_inspect.signature import signature
from genie_inspect.statistics.descriptive import Standing


def test_what_an_embedder_made_of_a_text_is_kept_beside_what_models_have_said() -> None:
    kept = kept_embedder("static")
    assert kept.identity == embedder("static").identity
    assert np.allclose(kept.embed(["An owl waits."]), embedder("static").embed(["An owl waits."]), atol=1e-6)
    assert any(path.is_file() for path in cache_folder().iterdir())


def test_an_unknown_embedder_is_refused() -> None:
    with pytest.raises(UnknownChoiceError, match="embedder is 'word2vec'"):
        kept_embedder("word2vec")


@pytest.fixture
def population(tmp_path: Path) -> Population:
    """Whose owls have a plot of 1/3, 2/3 and 1, and a style that two of them lack; nothing is known of the foxes."""
    made = small_population(tmp_path / "population")
    owls = zip(made.documents(OWL), (0.333333, 0.666667, 1.0), (0.5, None, None), strict=True)
    novelty = {document.id: {"plot": plot, "style": style} for document, plot, style in owls}
    measured = Measured(signature=signed(made), novelty=novelty)
    write_yardstick(made.folder / YARDSTICK, with_measured(Yardstick(), measured))
    return made


def signed(population: Population, judge: str = "list(m)") -> str:
    return signature("genie", judge=judge, population=population.name)


def test_a_novelty_stands_among_the_documents_of_its_prompt(population: Population) -> None:
    found = PopulationStanding(population, signed(population)).of({"plot": 0.7, "style": 0.1}, OWL)
    # two of three plots are lower; of the styles one is known
    assert found["plot"].percentile == pytest.approx(200 / 3)
    assert found["plot"].mean == pytest.approx(2 / 3)
    assert found["style"] == Standing(0.0, 0.5, 0.5, 0.5)


def test_the_last_digits_of_a_mean_decide_nothing(population: Population) -> None:
    # 2/3 as a float lies below the 0.666667 that the file has
    found = PopulationStanding(population, signed(population)).of({"plot": 2 / 3}, OWL)
    assert found["plot"].percentile == 50.0


def test_where_there_is_nothing_to_stand_among_nothing_is_said(population: Population) -> None:
    standing = PopulationStanding(population, signed(population))
    assert standing.of({"plot": math.nan, "other": 0.5}, OWL) == {}
    assert standing.of({"plot": 0.5}, FOX) == {}
    assert standing.of({"plot": 0.5}, "another prompt") == {}
    assert PopulationStanding(population, signed(population, "pairwise(m)")).of({"plot": 0.5}, OWL) == {}


def test_the_log_keeps_a_standing_with_six_digits_and_nothing_where_there_is_none() -> None:
    kept = {"percentile": 66.666667, "mean": 0.5, "low": 0.25, "high": 0.75}
    assert standing_facts({"plot": Standing(200 / 3, 0.5, 0.25, 0.75)}) == {"yardstick": {"plot": kept}}
    assert standing_facts({}) == {}


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
