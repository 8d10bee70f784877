"""Where a quote stands in a text, and which parts of a text some quotes cover.

Source: quotes that are not word for word are taken for the closest span of at least 90 by the similarity of Saakyan et
al. 2025 (arXiv 2509.22641).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from genie_inspect.measures.expressions import without_outside
from genie_inspect.measures.marks import LEAST_SIMILARITY, similarity
from genie_inspect.measures.words.tokens import plain_typography
from genie_inspect.scripts import spaced_word_spans, word_spans

LONGEST_NEAR = 400  # characters of a quote that is looked for by similarity; a longer one must stand there as it is
_NOWHERE = np.array([], dtype=np.intp)
Span = tuple[int, int]
"""From which character up to which."""


class QuotedText:
    """A text in which quotes are looked for.

    Args:
        text: The text.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def find(self, quote: str, *, last: bool = False) -> Span | None:
        """Where the quote stands, as whole words: the first such place, or the last; None where nothing is like it.

        It is looked for as it is; then in small letters, with plain quotes and dashes, with any space for a space and
        without what is outside of its words; then as the span of whole words that is most like it, by at least 90.

        >>> text = "He drank the cold, tin-coloured light."
        >>> [QuotedText(text).find(quote) for quote in ("the cold", '"The  cold..."', "tin coloured light", "a bell")]
        [(9, 17), (9, 17), (19, 37), None]
        """
        folded = _folded(quote)
        plain = folded[slice(*without_outside(folded, 0, len(folded)))]
        if not plain:
            return None
        as_it_is = _place([quote.strip()], self.text, last=last)
        found = as_it_is or _place(plain.split(), self._plain, last=last)
        return found or self._nearest(plain, last=last)

    @cached_property
    def _plain(self) -> str:
        return _folded(self.text)

    @cached_property
    def _words(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Where each word begins, and where it ends."""
        spans = list(word_spans(self._plain))
        begins, ends = zip(*spans, strict=True) if spans else ((), ())
        return np.array(begins, dtype=np.intp), np.array(ends, dtype=np.intp)

    def _nearest(self, quote: str, *, last: bool) -> Span | None:
        if len(quote) > LONGEST_NEAR:
            return None
        best, nearest = LEAST_SIMILARITY, None
        for begin, end in self._promising(quote):
            alike = similarity(quote, self._plain[begin:end])
            # of equals the first, or the last
            counts = nearest is None or (last and begin > nearest[0])
            if alike > best or (alike == best and counts):
                best, nearest = alike, (begin, end)
        return nearest

    def _promising(self, quote: str) -> Iterator[Span]:
        """The spans of whole words that have characters enough in common with the quote, in whatever order."""
        begins, ends = self._words
        share = LEAST_SIMILARITY / 100
        # of two texts that are alike by a share, the shorter one has at least this part of the longer one's length
        shortest = share / (2 - share)
        first = np.searchsorted(ends, begins + len(quote) * shortest)
        last = np.searchsorted(ends, begins + len(quote) / shortest, side="right")
        for step in range(int((last - first).max(initial=0))):
            starts = np.flatnonzero(first + step < last)
            spans = np.stack([begins[starts], ends[first[starts] + step]])
            common = self._in_common(quote, spans)
            enough = 2 * common >= share * (len(quote) + spans[1] - spans[0])
            yield from ((int(begin), int(end)) for begin, end in spans[:, enough].T)

    def _in_common(self, quote: str, spans: NDArray[np.intp]) -> NDArray[np.intp]:
        """How many characters each span has in common with the quote: as many as any order of them could have."""
        common = np.zeros(spans.shape[1], dtype=np.intp)
        for character, count in Counter(quote).items():
            places = self._places.get(character, _NOWHERE)
            common += np.minimum(np.diff(np.searchsorted(places, spans), axis=0)[0], count)
        return common

    @cached_property
    def _places(self) -> Mapping[str, NDArray[np.intp]]:
        """Where each character stands."""
        places: defaultdict[str, list[int]] = defaultdict(list)
        for place, character in enumerate(self._plain):
            places[character].append(place)
        return {character: np.array(at, dtype=np.intp) for character, at in places.items()}


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text in which no span begins or ends."""

    text: str
    spans: tuple[int, ...]
    """Places of the spans that it belongs to."""
    ending: tuple[int, ...]
    """Places of those that end with it."""


def pieces(text: str, spans: Sequence[Span]) -> Iterator[Piece]:
    """The whole text in pieces, cut wherever a span begins or ends.

    >>> [(piece.text, piece.spans) for piece in pieces("a cold tin bell", [(2, 10), (7, 15)])]
    [('a ', ()), ('cold ', (0,)), ('tin', (0, 1)), (' bell', (1,))]
    """
    cuts = sorted({0, len(text), *(place for span in spans for place in span)})
    for begin, end in pairwise(cuts):
        over = tuple(i for i, span in enumerate(spans) if span[0] <= begin and end <= span[1])
        yield Piece(text[begin:end], over, tuple(i for i in over if spans[i][1] == end))


def without_overlaps(spans: Sequence[Span]) -> list[int]:
    """Places of the spans that remain when of those that overlap one counts: the one that begins first, or is longest.

    >>> without_overlaps([(5, 9), (0, 3), (2, 6), (0, 4)])
    [3, 0]
    """
    kept: list[int] = []
    for place in sorted(range(len(spans)), key=lambda i: (spans[i][0], -spans[i][1])):
        if not kept or spans[place][0] >= spans[kept[-1]][1]:
            kept.append(place)
    return kept


def covered_share(text: str, spans: Sequence[Span]) -> float:
    """Share of a text's words of which some part is in a span, 0 to 1; 0 for a text without words.

    >>> covered_share("He drank the cold light.", [(9, 17), (13, 17)])
    0.4
    """
    covered = bytearray(len(text))
    for begin, end in spans:
        covered[begin:end] = b"\1" * (min(end, len(text)) - begin)
    words = list(spaced_word_spans(text))
    return sum(1 in covered[begin:end] for begin, end in words) / len(words) if words else 0.0


def _folded(text: str) -> str:
    """The text in small letters and plain typography; as long as it was."""
    # of some letters the small form is longer, which would move all places behind them
    small = text.lower() if text.isascii() else "".join(c if len(c.lower()) > 1 else c.lower() for c in text)
    return plain_typography(small)


def _place(parts: Sequence[str], text: str, *, last: bool) -> Span | None:
    """Where the parts stand, any space between them, first or last; never from or to the middle of a word."""
    # looked ahead, so that a place in the middle of a word does not hide one that overlaps it
    pattern = r"\s+".join(map(re.escape, parts))
    found = (match.span(1) for match in re.finditer(f"(?=({pattern}))", text))
    whole = (span for span in found if not (_is_inside_word(text, span[0]) or _is_inside_word(text, span[1])))
    return max(whole, default=None) if last else next(whole, None)


def _is_inside_word(text: str, place: int) -> bool:
    """Whether the characters on either side of a place belong to one word."""
    return 0 < place < len(text) and (0, 2) in word_spans(text[place - 1 : place + 1])
