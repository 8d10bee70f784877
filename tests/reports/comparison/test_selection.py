"""Which documents a comparison keeps, document by document."""

import math

import pytest
from tests.reports.made_runs import made_run

from genie_inspect.logs.files import LogError
from genie_inspect.logs.scored_log import ScoredDocument
from genie_inspect.logs.scores import LEFT_OUT, Scores
from genie_inspect.reports.comparison.selection import Selection, coherence_of, selected

NAN = math.nan


def document(words: int = 6, population: float = 6, coherence: float | None = 3, value: float = 0.9) -> ScoredDocument:
    """A document with a score, a score against documents of like length, and perhaps a rating."""
    scores = {"genie": Scores({"plot": value}, matched={"plot": 0.4}, population_words=population)}
    if coherence is not None:
        scores["coherence"] = Scores({"coherence_rating": coherence})
    return ScoredDocument("x", 1, "prompt", "digest", words, scores)


@pytest.mark.parametrize(
    ("coherence", "kept"), [(3.0, True), (2.9, False), (NAN, False), (None, False)], ids=["at", "below", "nan", "none"]
)
def test_a_document_is_kept_from_the_least_coherence_on(coherence: float | None, kept: bool) -> None:
    found, left_out = selected(
        made_run(document(coherence=coherence), document(coherence=5)), Selection(min_coherence=3)
    )
    assert left_out == (0 if kept else 1)
    first, last = found.documents
    # its score stays what it was: lengths are not matched
    assert last.value("genie", "plot") == 0.9
    assert first.value("genie", "plot") == pytest.approx(0.9 if kept else NAN, nan_ok=True)
    assert first.why_unscored("genie") == ("" if kept else LEFT_OUT)


@pytest.mark.parametrize(
    ("words", "population", "value"),
    # a band of 6 / 1.5 to 6 * 1.5 words
    [(4, 6, 0.4), (9, 6, 0.4), (3, 6, NAN), (10, 6, NAN), (90, NAN, 0.4)],
)
def test_a_document_of_about_the_populations_length_is_kept_with_its_matched_score(
    words: int, population: float, value: float
) -> None:
    one, other = document(words, population), document()
    found, left_out = selected(made_run(one, other), Selection(length_matched=True))
    assert found.documents[0].value("genie", "plot") == pytest.approx(value, nan_ok=True)
    assert left_out == math.isnan(value)


def test_without_conditions_all_stays_as_it_is() -> None:
    given = made_run(document(words=90), document(coherence=None))
    assert selected(given, Selection()) == (given, 0)


def test_what_has_no_matched_figures_keeps_those_that_it_has() -> None:
    found, _ = selected(made_run(document()), Selection(length_matched=True))
    assert coherence_of(found.documents[0]) == 3
    assert math.isnan(coherence_of(document(coherence=None)))


def test_what_the_selection_asks_for_must_stand_in_the_log() -> None:
    with pytest.raises(LogError) as caught:
        selected(made_run(document(coherence=None)), Selection(min_coherence=3))
    assert str(caught.value) == (
        "run.eval has no coherence, rate it with: inspect score run.eval --scorer genie_inspect/coherence "
        "--action append --model-role grader=..."
    )
    with pytest.raises(LogError) as caught:
        selected(made_run(document(population=NAN)), Selection(length_matched=True))
    assert str(caught.value) == (
        "run.eval does not say how long the population's documents are: score it with genie anew"
    )
    # of a log without any score nobody expects it, and of one document it is enough
    silent = made_run(document(population=NAN, value=NAN, coherence=NAN))
    assert selected(silent, Selection(length_matched=True))[1] == 0
    assert selected(made_run(document(population=NAN), document()), Selection(length_matched=True))[1] == 0
