"""Creativity Index: how much of a text could be put together from runs of words that stand in a corpus.

Source: Lu et al. 2025 (arXiv 2410.04265). Deviation: the range of lengths is that of the authors' follow-up code, the
paper's own is not stated; coverage at every length comes from one longest match at each token.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from genie_inspect.measures.suffix_array import Matches, TokenIndex, no_matches

LENGTHS = range(5, 13)
Corpus = TokenIndex | Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class CreativityIndex:
    """Shares of tokens outside every copied run, 0 (all copied) to 1 (nothing is); NaN for an empty text."""

    by_length: dict[int, float]  # by the least number of tokens that makes a run count: 1 less coverage

    @property
    def mean(self) -> float:
        return self.sum / len(self.by_length)

    @property
    def sum(self) -> float:
        return math.fsum(self.by_length.values())


# a copied run: from which token of the text up to which, the document of the corpus, and its first token there
Span = tuple[int, int, int, int]


def match_lengths(tokens: Sequence[str], corpus: Corpus, leaving_out: Collection[int] = ()) -> NDArray[np.int64]:
    """For each token the longest run that starts there and also stands in the corpus, shape (N,).

    Args:
        tokens: The text.
        corpus: Documents, each a sequence of tokens, or an index of them; no run crosses from one to the next.
        leaving_out: Documents, by their number, that do not count.

    >>> match_lengths(list("abcx"), [list("xabc"), list("cx")]).tolist()
    [3, 2, 2, 1]
    """
    index = corpus if isinstance(corpus, TokenIndex) else TokenIndex(corpus)
    return index.matches(tokens, leaving_out).lengths


def counted_match_lengths(
    size: int, stands: Callable[[int, int], bool], shortest: int, longest: int
) -> NDArray[np.int64]:
    """Match lengths from yes-or-no look-ups, for a corpus that can only be asked; shape (size,).

    Runs shorter than `shortest` come out as 0 and longer than `longest` as that. A run's tail is a run too, so that
    two look-ups a token suffice.
    """
    # the end of the longest run never moves back: a run from the next token reaches at least as far
    lengths = np.zeros(size, dtype=np.int64)
    end = 0
    for start in range(size):
        least = max(start + shortest, end)
        if least <= size and (least == end or stands(start, least)):
            end = least
            while end < min(size, start + longest) and stands(start, end + 1):
                end += 1
            lengths[start] = end - start
    return lengths


def coverage(match_lengths: ArrayLike, n: int) -> float:
    """Share of tokens inside a run of at least n tokens that stands in the corpus, 0 to 1; NaN for an empty text.

    Args:
        match_lengths: Longest run at each token, shape (N,).
        n: Least length of a run that counts, at least 1.

    Raises:
        ValueError: If n is below 1.

    >>> coverage([3, 2, 1, 0], 2)  # the run of 3 covers three of four tokens
    0.75
    """
    if n < 1:
        raise ValueError(f"n is {n}, expected at least 1 token")
    lengths = np.asarray(match_lengths, dtype=np.int64)
    places = np.arange(len(lengths))
    # how far the runs that begin at or before each token extend; a token before that point is covered
    reach = np.maximum.accumulate(np.where(lengths >= n, places + lengths, 0))
    return float((reach > places).mean()) if len(lengths) else math.nan


def creativity_index(
    tokens: Sequence[str],
    corpus: Corpus,
    lengths: Sequence[int] = LENGTHS,
    *,
    matched: ArrayLike | None = None,
) -> CreativityIndex:
    """How little of a text stands in the corpus, by length of run.

    Args:
        tokens: The text.
        corpus: As for `match_lengths`.
        lengths: The least lengths of runs, each at least 1.
        matched: The longest run at each token where that is known; then neither text nor corpus is looked at.

    >>> creativity_index(list("abcd"), [list("ab")], lengths=[1, 2]).by_length
    {1: 0.5, 2: 0.5}
    """
    found = match_lengths(tokens, corpus) if matched is None else matched
    return CreativityIndex({n: 1 - coverage(found, n) for n in lengths})


def copied_spans(matches: Matches, shortest: int = LENGTHS[0]) -> list[Span]:
    """Runs of at least `shortest` tokens that stand in the corpus and lie in no longer one, in order of the text."""
    spans: list[Span] = []
    for start in np.flatnonzero(matches.lengths >= shortest).tolist():
        end = start + int(matches.lengths[start])
        # the tails of a run are runs too and would repeat it
        if not spans or end > spans[-1][1]:
            spans.append((start, end, int(matches.documents[start]), int(matches.places[start])))
    return spans


Vector = NDArray[np.float64]
Table = NDArray[np.float32]

THRESHOLD = 0.95  # as published
LEAST_CONTENT = 2  # content tokens in a window
PIECE = 2_000  # tokens of a document that are compared at a time, which bounds memory


def near_matches(
    tokens: Sequence[str],
    documents: Iterable[Sequence[str]],
    vectors: Mapping[str, Vector],
    lengths: Sequence[int] = LENGTHS,
    threshold: float = THRESHOLD,
) -> Matches:
    """For each token the longest window from there on that a window of a document nearly repeats.

    Two windows of one length are near when, averaged over the content tokens of either, the highest cosine with a
    content token of the other reaches the threshold, in both directions, and both hold at least two content tokens.
    The match's length is 0 where no window of any of the lengths is near.
    """
    matches = no_matches(len(tokens))
    overlap = max(lengths) - 1
    for number, document in enumerate(documents):
        for offset in range(0, max(1, len(document) - overlap), PIECE):
            # pieces overlap, so that no window is lost where one ends
            piece = document[offset : offset + PIECE + overlap]
            table = _similarities(tokens, piece, vectors)
            content, others = (np.array([token in vectors for token in side], dtype=bool) for side in (tokens, piece))
            for length in sorted(lengths):
                near = _near_windows(table, content, others, length, threshold)
                # lengths go up, so a later and longer match replaces a shorter one
                longer = np.flatnonzero(near.any(axis=1) & (matches.lengths[: len(near)] < length))
                matches.lengths[longer] = length
                matches.documents[longer] = number
                matches.places[longer] = offset + near[longer].argmax(axis=1)
    return matches


def _similarities(tokens: Sequence[str], others: Sequence[str], vectors: Mapping[str, Vector]) -> Table:
    """Cosine of each token with each other one, shape (N, M); -1 where either is no content token."""
    rows, columns = (
        {token: place for place, token in enumerate(sorted(vectors.keys() & set(side)))} for side in (tokens, others)
    )
    # one more row and column for all that is no content
    kinds = np.full((len(rows) + 1, len(columns) + 1), -1, dtype=np.float32)
    if rows and columns:
        kinds[:-1, :-1] = np.stack([vectors[t] for t in rows]) @ np.stack([vectors[t] for t in columns]).T
    for token in rows.keys() & columns.keys():
        # exactly 1: the product of a unit vector with itself can fall short by rounding
        kinds[rows[token], columns[token]] = 1
    of_rows = [rows.get(token, len(rows)) for token in tokens]
    of_columns = [columns.get(token, len(columns)) for token in others]
    return np.asarray(kinds[np.ix_(of_rows, of_columns)])


def _near_windows(
    table: Table, content: NDArray[np.bool_], others: NDArray[np.bool_], length: int, threshold: float
) -> NDArray[np.bool_]:
    """Which windows of the text are near which of the document, shape (N - length + 1, M - length + 1)."""
    if min(table.shape) < length:
        return np.zeros((0, 1), dtype=bool)

    def is_near(table: Table, content: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Whether the content tokens of each window down the rows are near those of each window along them."""
        best = np.lib.stride_tricks.sliding_window_view(table, length, axis=1).max(axis=-1)
        # a difference of running sums gives every window's sum without a loop over windows
        sums = np.cumsum(np.where(content[:, None], best, 0), axis=0, dtype=np.float64)
        sums = np.concatenate([np.zeros_like(sums[:1]), sums])
        running = np.concatenate([[0], np.cumsum(content)])
        counts = (running[length:] - running[:-length])[:, None]
        means = (sums[length:] - sums[:-length]) / np.maximum(counts, 1)
        return np.asarray((means >= threshold) & (counts >= LEAST_CONTENT))

    return is_near(table, content) & is_near(table.T, others).T
