"""Which documents of a run a comparison keeps."""

import math
from dataclasses import dataclass, replace

from genie_inspect.logs.files import LogError
from genie_inspect.logs.measures import COHERENCE
from genie_inspect.logs.scored_log import ScoredDocument, ScoredLog
from genie_inspect.logs.scores import Scores
from genie_inspect.measures.length import is_like_length


@dataclass(frozen=True, slots=True)
class Selection:
    """Conditions that a document must meet to be compared."""

    length_matched: bool = False
    """About as long as the population's; it is then scored against population documents of that length alone."""
    min_coherence: float | None = None
    """Rated at least this coherent; a document without a rating does not count."""


def selected(run: ScoredLog, selection: Selection) -> tuple[ScoredLog, int]:
    """The run with the scores of every document that does not count taken out, and how many these are.

    Raises:
        LogError: If no score says what the selection asks for.
    """
    documents = run.documents
    if selection.min_coherence is not None and COHERENCE not in run.signatures:
        raise LogError(
            f"{run.file} has no coherence, rate it with: inspect score {run.file} --scorer genie_inspect/coherence "
            "--action append --model-role grader=..."
        )
    scored = [document for document in documents if any(not scores.is_unscored for scores in document.scores.values())]
    if selection.length_matched and scored and all(math.isnan(document.population_words) for document in scored):
        raise LogError(f"{run.file} does not say how long the population's documents are: score it with genie anew")
    counts = [_is_kept(document, selection) for document in documents]
    changed = tuple(
        _matched(document) if keep and selection.length_matched else document if keep else _left_out(document)
        for document, keep in zip(documents, counts, strict=True)
    )
    return replace(run, documents=changed), counts.count(False)


def coherence_of(document: ScoredDocument) -> float:
    """The document's coherence rating; NaN where it has none."""
    scores = document.scores.get(COHERENCE)
    return next(iter(scores.values.values()), math.nan) if scores else math.nan


def _is_kept(document: ScoredDocument, selection: Selection) -> bool:
    # `not >=` and not `<`: a NaN, which is no rating, does not pass either
    if selection.min_coherence is not None and not coherence_of(document) >= selection.min_coherence:
        return False
    # without a length of the population there is nothing to be unlike
    comparable = selection.length_matched and not math.isnan(document.population_words)
    return not comparable or is_like_length(document.words, document.population_words)


def _left_out(document: ScoredDocument) -> ScoredDocument:
    return replace(document, scores={name: scores.left_out() for name, scores in document.scores.items()})


def _matched(document: ScoredDocument) -> ScoredDocument:
    """The document with the figures against population documents of like length, where a scorer has them."""
    return replace(document, scores={name: _against_like(scores) for name, scores in document.scores.items()})


def _against_like(scores: Scores) -> Scores:
    return replace(scores, values=scores.matched, questions={}) if scores.matched else scores
