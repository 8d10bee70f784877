"""Whether two readers mark the same expressions of a text.

Source: Saakyan et al. 2025 (arXiv 2509.22641) for the published rule; it can be gamed (one letter, or the whole
passage, agrees with every mark), so that a strict one of ours stands beside it.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from genie_inspect.measures.tokens import plain_typography, tokens, without_outside
from genie_inspect.scripts import spaced_word_spans, word_spans

LEAST_SIMILARITY = 90.0  # as published
LEAST_OVERLAP = 0.5  # without it a shared "the" would count for something


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far predicted marks are the gold ones; of two passages together by `+`."""

    true: float  # predictions that agree with a gold mark; by the strict rule, the shares of words in common
    false: float  # predictions less those
    missed: float  # gold marks that no prediction agrees with; by the strict rule, gold marks less `true`

    @property
    def precision(self) -> float:
        """Share of the predictions that are right, 0 to 1; NaN without a prediction."""
        return _share(self.true, self.false)

    @property
    def recall(self) -> float:
        """Share of the gold marks that were found, 0 to 1; NaN without a gold mark."""
        return _share(self.true, self.missed)

    @property
    def f1(self) -> float:
        """Harmonic mean of both, 0 to 1; 0 where one side marks nothing, NaN where neither marks anything."""
        return _share(2 * self.true, self.false + self.missed)

    def __add__(self, other: "Agreement") -> "Agreement":
        return Agreement(self.true + other.true, self.false + other.false, self.missed + other.missed)


def _share(part: float, rest: float) -> float:
    return part / (part + rest) if part + rest else math.nan


def agreement(predicted: Sequence[Sequence[str]], gold: Sequence[Sequence[str]], strict: bool = False) -> Agreement:
    """Agreement of predicted marks with gold ones, a list of expressions for each passage, over all passages together.

    By the strict rule marks are paired one to one so that the words in common are most; a pair counts the F1 of its
    words, and nothing below a half.

    >>> agreement([["a bell of salt"], []], [["bell of salt", "the sky, unbuttoned"], ["cold fire"]]).recall
    0.3333333333333333
    """
    if len(predicted) != len(gold):
        raise ValueError(f"{len(predicted)} passages with predictions against {len(gold)}, expected the same passages")
    whole = Agreement(0, 0, 0)
    for marks, right in zip(predicted, gold, strict=True):
        if strict and marks and right:
            from scipy.optimize import linear_sum_assignment

            table = np.array([[overlap(mark, expected) for expected in right] for mark in marks])
            table[table < LEAST_OVERLAP] = 0
            true = found = float(table[linear_sum_assignment(table, maximize=True)].sum())
        else:
            # any number of predictions may agree with one gold mark, and the other way round
            matching = [[matches(mark, expected) for expected in right] for mark in marks]
            true, found = sum(map(any, matching)), sum(map(any, zip(*matching, strict=True)))
        whole += Agreement(true, len(marks) - true, len(right) - found)
    return whole


def matches(predicted: str, gold: str) -> bool:
    """Whether two marks are the same by the published rule: one contains the other, or they are at least 90 alike.

    A mark of nothing, or of nothing but space, matches nothing.

    >>> matches("the bell of salt", "bell of salt")
    True
    """
    if not (predicted.strip() and gold.strip()):
        return False
    if predicted in gold or gold in predicted:
        return True
    # marks of very unlike lengths cannot be that alike, whatever they say
    most = 200 * min(len(predicted), len(gold)) / (len(predicted) + len(gold))
    return most >= LEAST_SIMILARITY and similarity(predicted, gold) >= LEAST_SIMILARITY


def similarity(first: str, second: str) -> float:
    """Twice the characters in common, in order with gaps, over those of both: 0 to 100, also for two empty texts.

    Source: Hyyrö (2004), Bit-parallel LCS-length computation revisited: a row of the table is one whole number.
    """
    places: defaultdict[str, int] = defaultdict(int)
    for place, character in enumerate(first):
        places[character] |= 1 << place
    every = unmet = (1 << len(first)) - 1
    for character in second:
        met = unmet & places.get(character, 0)
        unmet = ((unmet + met) | (unmet - met)) & every
    size, common = len(first) + len(second), len(first) - unmet.bit_count()
    return 200 * common / size if size else 100.0


def overlap(predicted: str, gold: str) -> float:
    """F1 of the words that two marks share, in whatever order, 0 to 1; 0 where either has none."""
    sides = [Counter(word.casefold() for word in tokens(mark)) for mark in (predicted, gold)]
    size = sum(side.total() for side in sides)
    return 2 * (sides[0] & sides[1]).total() / size if size else 0.0


LONGEST_NEAR = 400  # characters of a quote that is looked for by similarity; a longer one must stand there as it is
LONGEST_SEARCHED = 100_000  # characters of a text in which it is: 17,000 words
MOST_COMPARED = 1_000  # different spans
ROUNDING = 1e-9
_BOUND = "(?:(?<![a-zA-Z0-9_])|(?![a-zA-Z0-9_]))"  # not between two plain letters or digits
Span = tuple[int, int]  # from which character up to which


class QuotedText:
    """A text in which quotes are looked for."""

    def __init__(self, text: str) -> None:
        self.text, self._plain = text, _folded(text)

    def find(self, quote: str, *, last: bool = False) -> Span | None:
        """Where the quote stands, as whole words: the first such place, or the last; None where nothing is like it.

        It is looked for as it is; then in small letters, with plain quotes and dashes, with any space for a space and
        without what is outside of its words; then, in texts of up to 100,000 characters, as the span of whole words
        that is most like it, by at least 90.

        >>> text = "He drank the cold, tin-coloured light."
        >>> [QuotedText(text).find(quote) for quote in ("the cold", '"The  cold..."', "tin coloured light", "a bell")]
        [(9, 17), (9, 17), (19, 37), None]
        """
        folded = _folded(quote)
        plain = folded[slice(*without_outside(folded, 0, len(folded)))]
        if not plain:
            return None
        found = _place([quote.strip()], self.text, last=last) or _place(plain.split(), self._plain, last=last)
        return found or self._nearest(" ".join(plain.split()), last=last)

    @cached_property
    def _words(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Where each word begins, and where it ends."""
        spans = list(word_spans(self._plain))
        begins, ends = zip(*spans, strict=True) if spans else ((), ())
        return np.array(begins, dtype=np.intp), np.array(ends, dtype=np.intp)

    def _nearest(self, quote: str, *, last: bool) -> Span | None:
        if len(quote) > LONGEST_NEAR or len(self.text) > LONGEST_SEARCHED:
            return None
        best, nearest = LEAST_SIMILARITY, None
        compared: dict[str, float] = {}
        for begin, end in self._promising(quote):
            span = self._plain[begin:end]
            if span not in compared and len(compared) < MOST_COMPARED:
                compared[span] = similarity(quote, span)
            alike = compared.get(span, 0.0)
            # of equals the first, or the last
            if alike > best or (alike == best and (nearest is None or (last and begin > nearest[0]))):
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
            # as many characters as the quote has, of which each span may lack some
            spare = len(quote) - share * (len(quote) + spans[1] - spans[0]) / 2
            for character, count in Counter(quote).items():
                places = self._places.get(character, np.zeros(0, dtype=np.intp))
                spare -= np.maximum(count - np.diff(np.searchsorted(places, spans), axis=0)[0], 0)
                spans, spare = spans[:, spare > -ROUNDING], spare[spare > -ROUNDING]
            yield from ((int(begin), int(end)) for begin, end in spans.T)

    @cached_property
    def _places(self) -> Mapping[str, NDArray[np.intp]]:
        """Where each character stands."""
        places: defaultdict[str, list[int]] = defaultdict(list)
        for place, character in enumerate(self._plain):
            places[character].append(place)
        return {character: np.array(at, dtype=np.intp) for character, at in places.items()}


def pieces(text: str, spans: Sequence[Span]) -> Iterator[tuple[str, tuple[int, ...], tuple[int, ...]]]:
    """The whole text in pieces, cut wherever a span begins or ends.

    Each has its text, the places of the spans that it belongs to, and the places of those that end with it.

    >>> list(pieces("a tin bell", [(2, 5), (2, 10)]))
    [('a ', (), ()), ('tin', (0, 1), (0,)), (' bell', (1,), (1,))]
    """
    cuts = sorted({0, len(text), *(place for span in spans for place in span)})
    for begin, end in pairwise(cuts):
        over = tuple(i for i, span in enumerate(spans) if span[0] <= begin and end <= span[1])
        yield text[begin:end], over, tuple(i for i in over if spans[i][1] == end)


def without_overlaps(spans: Sequence[Span]) -> list[int]:
    """Places of the spans that remain when one of those that overlap counts: the first, or the longest of those."""
    kept: list[int] = []
    for place in sorted(range(len(spans)), key=lambda i: (spans[i][0], -spans[i][1])):
        if not kept or spans[place][0] >= spans[kept[-1]][1]:
            kept.append(place)
    return kept


def covered_share(text: str, spans: Sequence[Span]) -> float:
    """Share of a text's words of which some part is in a span, 0 to 1; 0 for a text without words."""
    covered = bytearray(len(text))
    for begin, end in spans:
        covered[begin:end] = b"\1" * (min(end, len(text)) - begin)
    words = list(spaced_word_spans(text))
    return sum(1 in covered[begin:end] for begin, end in words) / len(words) if words else 0.0


def _folded(text: str) -> str:
    """The text in small letters and plain typography; as long as it was."""
    if text.isascii():
        return plain_typography(text.lower())
    # of some letters the small form is longer, which would move all places behind them
    small = {ord(letter): letter.lower() for letter in set(text) if len(letter.lower()) == 1}
    return plain_typography(text.translate(small))


def _place(parts: Sequence[str], text: str, *, last: bool) -> Span | None:
    """Where the parts stand, any space between them, first or last; never from or to the middle of a word."""
    # looked ahead, so that a place in the middle of a word does not hide one that overlaps it
    pattern = r"\s+".join(map(re.escape, parts))
    found = (match.span(1) for match in re.finditer(f"(?={_BOUND}({pattern}){_BOUND})", text))

    def is_inside_word(place: int) -> bool:
        """Whether the characters on either side belong to one word; of plain letters `_BOUND` has seen that."""
        both = text[place - 1 : place + 1]
        return 0 < place < len(text) and not both.isascii() and (0, 2) in word_spans(both)

    spans = reversed(list(found)) if last else found
    return next((span for span in spans if not any(map(is_inside_word, span))), None)
