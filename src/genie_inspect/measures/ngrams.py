"""Runs of tokens that stand in a corpus, and the Creativity Index: how much of a text could be put together from them.

Source: Lu et al. 2025 (arXiv 2410.04265). Deviation: the range of lengths is that of the authors' follow-up code, the
paper's own is not stated; coverage at every length comes from one longest match at each token.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import ArrayLike, NDArray

Numbers = NDArray[np.int64]
Symbols = NDArray[np.unsignedinteger]
Places = NDArray[np.signedinteger]
Keys = NDArray[np.uint64]
Truths = NDArray[np.bool_]

END = 0  # stands behind every document; less than every token
KEY_BITS = 64


@dataclass(frozen=True, slots=True)
class Matches:
    """For each token of a text the longest run that starts there and also stands in a document."""

    lengths: Numbers  # shape (N,); 0 where the token stands in no document
    documents: Numbers  # where one such run stands: the document, shape (N,); -1 where there is none
    places: Numbers  # the token within that document, shape (N,); -1 where there is none


def no_matches(size: int) -> Matches:
    return Matches(np.zeros(size, dtype=np.int64), np.full(size, -1), np.full(size, -1))


class TokenIndex:
    """Documents that many texts are compared with: every place, sorted by what follows it (a suffix array).

    Some 15 bytes a token. The longest match of a text at some place is with one of the two suffixes between which the
    text's own would be sorted.
    """

    def __init__(self, documents: Iterable[Sequence[str]]) -> None:
        numbers: defaultdict[str, int] = defaultdict(count(END + 1).__next__)
        parts = [np.array([*map(numbers.__getitem__, document), END], dtype=np.uint32) for document in documents]
        self._starts = np.cumsum([0, *(len(part) for part in parts)])[:-1] if parts else np.zeros(0, dtype=np.int64)
        self._number_of = dict(numbers)
        # an unknown token is one more number, above all others
        self._unknown = len(numbers) + 1
        self._bits = self._unknown.bit_length()
        self._ahead = KEY_BITS // self._bits  # tokens in a key
        # half the memory while the corpus has fewer than 65,535 different words
        narrow = np.uint16 if self._bits <= 16 else np.uint32
        text: Symbols = np.concatenate([np.zeros(0, dtype=narrow), *parts], dtype=narrow)
        self._order = suffix_order(text)
        # so that the next few tokens can be read at every place
        self._text = np.append(text, np.zeros(self._ahead, dtype=narrow))
        self._keys = packed(self._text, self._order, self._ahead, self._bits)
        self.tokens = len(self._order) - len(self._starts)

    def matches(self, tokens: Sequence[str], leaving_out: Collection[int] = ()) -> Matches:
        """The longest run at each token of a text, and where one stands."""
        query = self._padded(tokens)
        size = len(tokens)
        if not size or not len(self._order):
            return no_matches(size)
        # where one suffix is left, it is a neighbour on whichever side
        below, _ = self._ranges(query, np.arange(size), size - np.arange(size), fewest=2)
        left_out = np.array(list(leaving_out), dtype=np.int64)
        lengths, where = self._neighbour(query, size, below - 1, -1, left_out)
        lengths_after, after = self._neighbour(query, size, below, 1, left_out)
        # whichever neighbour shares more; of equals the one that sorts before
        where, lengths = np.where(lengths >= lengths_after, where, after), np.maximum(lengths, lengths_after)
        documents = np.where(lengths > 0, self._document_of(where), -1)
        return Matches(lengths, documents, np.where(lengths > 0, where - self._starts[documents], -1))

    def lengths(self, tokens: Sequence[str], limits: Numbers, leaving_out: Collection[int] = ()) -> Numbers:
        """The length of the longest run at each token of a text, shape (N,)."""
        return np.asarray(np.minimum(self.matches(tokens, leaving_out).lengths, limits - np.arange(len(tokens))))

    def counts(self, tokens: Sequence[str], starts: Numbers, ends: Numbers) -> Numbers:
        """How often runs of a text stand in the documents, (R,); that of no token as often as there are tokens."""
        low, high = self._ranges(self._padded(tokens), starts, ends - starts, fewest=1)
        return np.where(ends > starts, high - low, self.tokens)

    def _ranges(self, query: Symbols, starts: Numbers, sizes: Numbers, fewest: int) -> tuple[Numbers, Numbers]:
        """Between which ranks the suffixes stand that begin with each run, narrowed while so many are left at least."""
        low, high = np.zeros(len(sizes), dtype=np.int64), np.full(len(sizes), len(self._order))
        running, depth = np.flatnonzero(sizes > 0), 0
        while len(running):
            # what follows a run is free: any tokens between none and the greatest there can be
            free = np.maximum(self._ahead - (sizes[running] - depth), 0) * self._bits
            rest = (np.uint64(1) << free.astype(np.uint64)) - np.uint64(1)
            keys = packed(query, starts[running] + depth, self._ahead, self._bits)
            least, greatest = keys & ~rest, keys | rest
            if depth:
                range_before = low[running], high[running], depth
                low[running] = self._first(*range_before, np.less, least)
                high[running] = self._first(*range_before, np.less_equal, greatest)
            else:
                low[running] = np.searchsorted(self._keys, least)
                high[running] = np.searchsorted(self._keys, greatest, "right")
            depth += self._ahead
            running = running[(sizes[running] > depth) & (high[running] - low[running] >= fewest)]
        return low, high

    def _padded(self, tokens: Sequence[str]) -> Symbols:
        numbers = [self._number_of.get(token, self._unknown) for token in tokens]
        # END behind the text matches the END of documents: lengths are cut to the text's own
        return np.array(numbers + [END] * self._ahead, dtype=self._text.dtype)

    def _first(
        self, low: Numbers, high: Numbers, depth: int, is_before: Callable[[Keys, Keys], Truths], bound: Keys
    ) -> Numbers:
        """The first rank of each range of suffixes whose key at `depth` is not before the bound, by halving."""
        start, stop = low, high
        while (going := start < stop).any():
            middle = np.where(going, (start + stop) // 2, low)
            keys = packed(self._text, self._order[middle] + depth, self._ahead, self._bits)
            right = going & is_before(keys, bound)
            start = np.where(right, middle + 1, start)
            stop = np.where(going & ~right, middle, stop)
        return start

    def _neighbour(
        self, query: Symbols, size: int, rank: Numbers, step: int, left_out: Numbers
    ) -> tuple[Numbers, Numbers]:
        """How long each suffix of the query agrees with the suffix of that rank, and where that one stands."""
        while True:
            inside = (rank >= 0) & (rank < len(self._order))
            places = self._order[np.where(inside, rank, 0)].astype(np.int64)
            if not len(left_out) or not (skipped := inside & np.isin(self._document_of(places), left_out)).any():
                break
            # a document left out is passed over until a suffix of another one is met
            rank = rank + step * skipped
        lengths = np.zeros(size, dtype=np.int64)
        running = np.flatnonzero(inside)
        while len(running):
            equal = self._text[places[running] + lengths[running]] == query[running + lengths[running]]
            running = running[equal]
            lengths[running] += 1
            running = running[lengths[running] < size - running]
        return lengths, places

    def _document_of(self, places: Places) -> Numbers:
        return np.searchsorted(self._starts, places, "right") - 1


def suffix_order(text: Symbols) -> Places:
    """The places of a text, sorted by what follows them, shape (N,); in what order equal documents stand is open."""
    try:
        from pydivsufsort import divsufsort
    except ImportError:
        return sorted_by_doubling(text)
    return np.asarray(divsufsort(text) if len(text) else np.zeros(0, dtype=np.int32))


def sorted_by_doubling(text: Symbols) -> Places:
    """The suffix order in plain numpy: places that agree on their next d tokens are told apart by the d after those."""
    size = len(text)
    ends = text == END
    # a number of its own for every END, so that no two suffixes agree beyond one
    symbols = np.where(ends, np.cumsum(ends), text.astype(np.uint64) + int(ends.sum())).astype(np.uint64)
    bits = int(symbols.max(initial=1)).bit_length()
    depth = max(1, KEY_BITS // bits)
    key = packed(np.append(symbols, np.zeros(depth, dtype=symbols.dtype)), np.arange(size), depth, bits)
    order: Places = np.argsort(key, kind="stable").astype(np.int32 if size < 1 << 31 else np.int64)
    starts = np.concatenate([[True], key[order][1:] != key[order][:-1]])[:size]
    rank = np.zeros(size + 1, dtype=np.int64)
    while not starts.all():
        group = np.maximum.accumulate(np.where(starts, np.arange(size), 0))
        rank[order] = group + 1
        tied = np.flatnonzero(~starts | ~np.append(starts[1:], True))
        follows = rank[np.minimum(order[tied] + depth, size)]
        resorted = np.lexsort((follows, group[tied]))
        order[tied] = order[tied][resorted]
        group, follows = group[tied], follows[resorted]
        starts[tied[1:]] = (group[1:] != group[:-1]) | (follows[1:] != follows[:-1])
        depth *= 2
    return order


def packed(text: Symbols, places: Places, ahead: int, bits: int) -> Keys:
    """The next `ahead` tokens at each place, `bits` bits each, as one number that sorts as they do."""
    key = np.zeros(len(places), dtype=np.uint64)
    for distance in range(ahead):
        key = key << np.uint64(bits) | text[places + distance].astype(np.uint64)
    return key


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


def match_lengths(tokens: Sequence[str], corpus: Corpus) -> Numbers:
    """For each token the longest run that starts there and is also in the corpus, shape (N,).

    No run crosses from one document to the next.

    >>> match_lengths(list("abcx"), [list("xabc"), list("cx")]).tolist()
    [3, 2, 2, 1]
    """
    index = corpus if isinstance(corpus, TokenIndex) else TokenIndex(corpus)
    return index.matches(tokens).lengths


def counted_match_lengths(size: int, stands: Callable[[int, int], bool], shortest: int, longest: int) -> Numbers:
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
    """Share of tokens inside a run of at least n tokens that is in the corpus, 0 to 1; NaN for an empty text.

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
    tokens: Sequence[str], corpus: Corpus, lengths: Sequence[int] = LENGTHS, *, matched: ArrayLike | None = None
) -> CreativityIndex:
    """How little of a text is in the corpus, by length of run.

    Where `matched`, the longest run at each token, is known neither text nor corpus is looked at.

    >>> creativity_index(list("abcd"), [list("ab")], lengths=[1, 2]).by_length
    {1: 0.5, 2: 0.5}
    """
    found = match_lengths(tokens, corpus) if matched is None else matched
    return CreativityIndex({n: 1 - coverage(found, n) for n in lengths})


# a copied run: from which token of the text up to which, the document of the corpus, and its first token there
Span = tuple[int, int, int, int]


def copied_spans(matches: Matches, shortest: int = LENGTHS[0]) -> list[Span]:
    """Runs of at least `shortest` tokens that stand in the corpus and lie in no longer one, in order of the text."""
    spans: list[Span] = []
    for start in np.flatnonzero(matches.lengths >= shortest).tolist():
        end = start + int(matches.lengths[start])
        # the tails of a run are runs too and would repeat it
        if not spans or end > spans[-1][1]:
            spans.append((start, end, int(matches.documents[start]), int(matches.places[start])))
    return spans


THRESHOLD = 0.95  # as published
LEAST_CONTENT = 2  # content tokens in a window
PIECE = 2_000  # tokens of a document that are compared at a time, which bounds memory


Vectors = Mapping[str, NDArray[np.float64]]
Table = NDArray[np.float32]


def near_matches(
    tokens: Sequence[str],
    documents: Iterable[Sequence[str]],
    vectors: Vectors,
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


def _similarities(tokens: Sequence[str], others: Sequence[str], vectors: Vectors) -> Table:
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


def _near_windows(table: Table, content: Truths, others: Truths, length: int, threshold: float) -> Truths:
    """Which windows of the text are near which of the document, shape (N - length + 1, M - length + 1)."""
    if min(table.shape) < length:
        return np.zeros((0, 1), dtype=bool)

    def is_near(table: Table, content: Truths) -> Truths:
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
