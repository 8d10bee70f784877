"""An index of documents that finds the longest run of tokens that stands in any of them.

Every place of the documents, sorted by what follows it (a suffix array), some 15 bytes a token. The longest match of a
text at some place is with one of the two suffixes between which the text's own would be sorted.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Symbols = NDArray[np.unsignedinteger]
Places = NDArray[np.signedinteger]
Keys = NDArray[np.uint64]

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
    """Documents that many texts are compared with."""

    def __init__(self, documents: Iterable[Sequence[str]]) -> None:
        numbers: defaultdict[str, int] = defaultdict(count(END + 1).__next__)
        parts = [np.array([*map(numbers.__getitem__, document), END], dtype=np.uint32) for document in documents]
        self._starts = np.cumsum([0, *(len(part) for part in parts)])[:-1] if parts else np.zeros(0, dtype=np.int64)
        self._number_of = dict(numbers)
        # an unknown token is one more number, above all others
        self._unknown = len(numbers) + 1
        self._bits = self._unknown.bit_length()
        # half the memory while the corpus has fewer than 65,535 different words
        narrow = np.uint16 if self._bits <= 16 else np.uint32
        text: Symbols = np.concatenate([np.zeros(0, dtype=narrow), *parts], dtype=narrow)
        self._order = suffix_order(text)
        # so that the next few tokens can be read at every place
        self._text = np.append(text, np.zeros(self._key_tokens, dtype=narrow))
        self._keys = self._key_at(self._order, self._text)

    @property
    def tokens(self) -> int:
        return len(self._order) - len(self._starts)

    def matches(self, tokens: Sequence[str], leaving_out: Collection[int] = ()) -> Matches:
        """The longest run at each token of a text, and where one stands."""
        query = self._padded(tokens)
        size = len(tokens)
        if not size or not len(self._order):
            return no_matches(size)
        # where one suffix is left, it is a neighbour on whichever side
        below, _ = self._ranges(query, np.arange(size), size - np.arange(size), fewest=2)
        left_out = np.array(sorted(leaving_out), dtype=np.int64)
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
            free = np.maximum(self._key_tokens - (sizes[running] - depth), 0) * self._bits
            rest = (np.uint64(1) << free.astype(np.uint64)) - np.uint64(1)
            keys = self._key_at(starts[running] + depth, query)
            if depth:
                bounds = self._narrowed(low[running], high[running], depth, keys & ~rest, keys | rest)
            else:
                bounds = np.searchsorted(self._keys, keys & ~rest), np.searchsorted(self._keys, keys | rest, "right")
            low[running], high[running] = bounds
            depth += self._key_tokens
            running = running[(sizes[running] > depth) & (high[running] - low[running] >= fewest)]
        return low, high

    @property
    def _key_tokens(self) -> int:
        return KEY_BITS // self._bits

    def _padded(self, tokens: Sequence[str]) -> Symbols:
        numbers = [self._number_of.get(token, self._unknown) for token in tokens]
        # END behind the text matches the END of documents: lengths are cut to the text's own
        return np.array(numbers + [END] * self._key_tokens, dtype=self._text.dtype)

    def _key_at(self, places: Places, text: Symbols) -> Keys:
        """The next few tokens of a text at each place as one number that sorts as they do."""
        return packed(text, places, self._key_tokens, self._bits)

    def _narrowed(
        self, low: Numbers, high: Numbers, depth: int, least: Keys, greatest: Keys
    ) -> tuple[Numbers, Numbers]:
        """The part of each range of suffixes whose key at `depth` lies between two, both included."""

        def first(is_before: Callable[[Keys], NDArray[np.bool_]]) -> Numbers:
            """The first rank of each range whose key is not before, by halving."""
            start, stop = low.copy(), high.copy()
            while (going := start < stop).any():
                middle = np.where(going, (start + stop) // 2, low)
                right = going & is_before(self._key_at(self._order[middle] + depth, self._text))
                start = np.where(right, middle + 1, start)
                stop = np.where(going & ~right, middle, stop)
            return start

        return first(lambda keys: keys < least), first(lambda keys: keys <= greatest)

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
    """The places of a text, sorted by what follows them, shape (N,); in what order equal documents stand is open.

    By pydivsufsort where it is installed, else by numpy: first by the next few tokens, then doubling.
    """
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
