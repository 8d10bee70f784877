"""How long a log's documents are beside those that they were compared with, and the one warning about it."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from genie_inspect.logs.scored_log import ScoredDocument, ScoredLog
from genie_inspect.measures.length import LIKE, is_like_length


@dataclass(frozen=True, slots=True)
class Lengths:
    """Mean words of some documents, and of the population's for the same prompts; NaN where nobody knows."""

    words: float
    population: float


def lengths_of(documents: Sequence[ScoredDocument]) -> Lengths:
    """The lengths of documents."""
    return Lengths(_mean(d.words for d in documents), _mean(d.population_words for d in documents))


def are_unlike(words: float, others: float) -> bool:
    """Whether two lengths are too far apart to compare; a length that nobody knows is not taken for another."""
    return not (math.isnan(words) or math.isnan(others)) and not is_like_length(words, others)


def unlike_lengths(who_writes: str, words: float, others: float, who_else: str = "the population has") -> str:
    """The warning that all who show numbers give.

    >>> unlike_lengths("mine writes", 34, 209)
    'mine writes 34 words where the population has 209: beyond 1.5x lengths do not compare'
    """
    return f"{who_writes} {words:.0f} words where {who_else} {others:.0f}: beyond {LIKE}x lengths do not compare"


def cut_at_limit(who_writes: str, cut: int, documents: int) -> str:
    """The warning that documents have no end, which all who show numbers give; empty where none was cut.

    >>> cut_at_limit("mine", 3, 4)
    'of mine 3 of 4 documents end at the limit of their tokens, not where a writer ends: allow more by --max-tokens'
    """
    if not cut:
        return ""
    return (
        f"of {who_writes} {cut} of {documents} documents end at the limit of their tokens, not where a writer ends: "
        "allow more by --max-tokens"
    )


def cut_warning(log: ScoredLog) -> str:
    """The same of a log."""
    return cut_at_limit(log.label, sum(document.is_cut for document in log.documents), len(log.documents))


def length_warning(log: ScoredLog) -> str:
    """The warning that a log's documents are of another length than the population's; empty where there is no cause.

    Those count that any scorer gave a value.
    """
    lengths = lengths_of([d for d in log.documents if any(not scores.is_unscored for scores in d.scores.values())])
    if not are_unlike(lengths.words, lengths.population):
        return ""
    return unlike_lengths(f"{log.label} writes", lengths.words, lengths.population)


def _mean(values: Iterable[float]) -> float:
    measured = [value for value in values if not math.isnan(value)]
    return math.fsum(measured) / len(measured) if measured else math.nan
