"""Whether measures put documents in the same order."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from genie_inspect.logs.scored_log import ScoredLog
from genie_inspect.statistics.ranking import kendall

MOST = 40  # rows that a table of pairs can have and still be read


@dataclass(frozen=True, slots=True)
class Concordance:
    """Kendall's tau-b of each two keys, over the documents that have a value under both."""

    names: tuple[str, ...]
    tau: tuple[tuple[float, ...], ...]
    """Shape (names, names); NaN where one side puts nothing in order."""
    documents: tuple[tuple[int, ...], ...]
    """How many have both values, same shape."""
    left_out: int
    """Keys beyond the first forty."""
    unordered: tuple[str, ...]
    """Keys that put no two documents in order, and have no row."""


def concordance(runs: Iterable[ScoredLog], keys: Sequence[tuple[str, str]]) -> Concordance:
    """Agreement between keys over all documents but the population's own.

    Args:
        runs: Whose documents.
        keys: Scorer and key of each row.
    """
    import numpy as np

    documents = [document for run in runs if not run.is_population for document in run.documents]
    columns = {(scorer, key): np.array([document.value(scorer, key) for document in documents]) for scorer, key in keys}
    # a key of one value has no rank correlation with anything
    ordering = [column for column in keys if len(np.unique(columns[column][~np.isnan(columns[column])])) > 1]
    rows = ordering[:MOST]
    size = range(len(rows))
    tau = [[1.0] * len(rows) for _ in size]
    counts = [[0] * len(rows) for _ in size]
    # tau is symmetric: half of the pairs are computed; shown twice
    for i in size:
        for j in range(i + 1):
            first, second = columns[rows[i]], columns[rows[j]]
            tau[i][j] = tau[j][i] = kendall(first, second)
            counts[i][j] = counts[j][i] = int((~np.isnan(first) & ~np.isnan(second)).sum())
    names = {column: _name(*column, keys) for column in keys}
    return Concordance(
        names=tuple(names[column] for column in rows),
        tau=tuple(map(tuple, tau)),
        documents=tuple(map(tuple, counts)),
        left_out=len(ordering) - len(rows),
        unordered=tuple(names[column] for column in keys if column not in ordering),
    )


def _name(scorer: str, key: str, keys: Iterable[tuple[str, str]]) -> str:
    """The key in words, with the scorer where two scorers share it."""
    shared = len({owner for owner, other in keys if other == key}) > 1
    return key.replace("_", " ") + (f" ({scorer})" if shared else "")
