"""Which documents of a run a comparison keeps."""

import math
from dataclasses import dataclass, replace

from genie_inspect.measures.length import is_like_length
from genie_inspect.reports.runs import COHERENCE, Run, Scored, Written
from genie_inspect.reports.summary import ReportError


@dataclass(frozen=True, slots=True)
class Selection:
    """What a document must be to count."""

    length_matched: bool = False
    """About as long as the population's; it is then scored against population documents of that length alone."""
    min_coherence: float | None = None
    """Rated at least this coherent; a document without a rating does not count."""


def selected(run: Run, selection: Selection) -> tuple[Run, int]:
    """The run with the scores of every document that does not count taken out, and how many these are.

    Raises:
        ReportError: If no score says what the selection asks for.
    """
    documents = run.documents
    if selection.min_coherence is not None and not any(COHERENCE in document.scores for document in documents):
        raise ReportError(
            f"{run.file} has no coherence, rate it with: inspect score {run.file} --scorer genie_inspect/coherence "
            "--action append --model-role grader=..."
        )
    scored = [document for document in documents if any(not found.is_unscored for found in document.scores.values())]
    if selection.length_matched and scored and all(math.isnan(document.population_words) for document in scored):
        raise ReportError(f"{run.file} does not say how long the population's documents are: score it with genie anew")
    kept = [_is_kept(document, selection) for document in documents]
    changed = tuple(
        _matched(document) if keep and selection.length_matched else document if keep else _silenced(document)
        for document, keep in zip(documents, kept, strict=True)
    )
    return replace(run, documents=changed), kept.count(False)


def _is_kept(document: Written, selection: Selection) -> bool:
    if selection.min_coherence is not None and not document.coherence >= selection.min_coherence:
        return False
    known = selection.length_matched and not math.isnan(document.population_words)
    return not known or is_like_length(document.words, document.population_words)


def _silenced(document: Written) -> Written:
    return replace(document, scores={name: scored.silenced() for name, scored in document.scores.items()})


def _matched(document: Written) -> Written:
    """The document with the figures against population documents of like length, where a scorer has them."""
    return replace(document, scores={name: _against_like(scored) for name, scored in document.scores.items()})


def _against_like(scored: Scored) -> Scored:
    return replace(scored, values=scored.matched) if scored.matched else scored
