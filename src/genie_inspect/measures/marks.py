"""Whether two readers mark the same expressions of a text.

Source: Saakyan et al. 2025 (arXiv 2509.22641) for the published rule; it can be gamed (one letter, or the whole
passage, agrees with every mark), so that a strict one of ours stands beside it.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from genie_inspect.measures.words.tokens import tokens

LEAST_SIMILARITY = 90.0  # as published
LEAST_OVERLAP = 0.5  # without it a shared "the" would count for something


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far predicted marks are the gold ones; of two passages together by `+`."""

    true: float
    """Predictions that agree with a gold mark; by the strict rule, the shares of words that they have in common."""
    false: float
    """Predictions less those."""
    missed: float
    """Gold marks that no prediction agrees with; by the strict rule, gold marks less `true`."""

    @property
    def precision(self) -> float:
        """Share of the predictions that are right, 0 to 1; NaN without a prediction."""
        return _share(self.true, self.true + self.false)

    @property
    def recall(self) -> float:
        """Share of the gold marks that were found, 0 to 1; NaN without a gold mark."""
        return _share(self.true, self.true + self.missed)

    @property
    def f1(self) -> float:
        """Harmonic mean of both, 0 to 1; 0 where one side marks nothing, NaN where neither marks anything."""
        return _share(2 * self.true, 2 * self.true + self.false + self.missed)

    def __add__(self, other: "Agreement") -> "Agreement":
        return Agreement(self.true + other.true, self.false + other.false, self.missed + other.missed)


def agreement(predicted: Sequence[Sequence[str]], gold: Sequence[Sequence[str]], strict: bool = False) -> Agreement:
    """Agreement of predicted marks with gold ones, over all passages together.

    Args:
        predicted: For each passage the expressions that were marked, also those that do not stand in it.
        gold: For the same passages the expressions that should have been.
        strict: Whether each mark counts once, for the words that it shares with one gold mark.

    Raises:
        ValueError: If there are not as many passages on either side.

    >>> agreement([["a bell of salt"], []], [["bell of salt", "the sky, unbuttoned"], ["cold fire"]]).recall
    0.3333333333333333
    """
    if len(predicted) != len(gold):
        raise ValueError(f"{len(predicted)} passages with predictions against {len(gold)}, expected the same passages")
    passages = (passage_agreement(*sides, strict) for sides in zip(predicted, gold, strict=True))
    return reduce(Agreement.__add__, passages, Agreement(0, 0, 0))


def passage_agreement(predicted: Sequence[str], gold: Sequence[str], strict: bool = False) -> Agreement:
    """Agreement on one passage.

    By the published rule any number of predictions may agree with one gold mark, and the other way round. By the strict
    one marks are paired one to one so that the words in common are most; a pair counts the F1 of its words, and nothing
    below a half.
    """
    if strict:
        shared = _paired_overlap(predicted, gold)
        return Agreement(shared, len(predicted) - shared, len(gold) - shared)
    matching = [[matches(mark, expected) for expected in gold] for mark in predicted]
    true = sum(map(any, matching))
    found = sum(map(any, zip(*matching, strict=True)))
    return Agreement(true, len(predicted) - true, len(gold) - found)


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
    shorter, longer = sorted((len(predicted), len(gold)))
    most = 200 * shorter / (shorter + longer)
    return most >= LEAST_SIMILARITY and similarity(predicted, gold) >= LEAST_SIMILARITY


def similarity(first: str, second: str) -> float:
    """Twice the characters in common over those of both, 0 to 100 (indel similarity); 100 for two empty texts.

    >>> similarity("abcd", "abxd")  # "abd": 2 * 3 of 8
    75.0
    """
    size = len(first) + len(second)
    return 200 * longest_common_subsequence(first, second) / size if size else 100.0


def longest_common_subsequence(first: str, second: str) -> int:
    """How many characters two texts have in common, in the same order, with gaps.

    Source: Hyyrö (2004), Bit-parallel LCS-length computation revisited: a row of the table is one whole number.

    >>> longest_common_subsequence("moonlight", "midnight")
    6
    """
    places: defaultdict[str, int] = defaultdict(int)
    for place, character in enumerate(first):
        places[character] |= 1 << place
    every = (1 << len(first)) - 1
    unmet = every
    for character in second:
        met = unmet & places.get(character, 0)
        unmet = ((unmet + met) | (unmet - met)) & every
    return len(first) - unmet.bit_count()


def overlap(predicted: str, gold: str) -> float:
    """F1 of the words that two marks share, in whatever order, 0 to 1; 0 where either has none.

    >>> overlap("the bell of salt", "A bell of salt")  # 3 of 4 and 3 of 4
    0.75
    """
    sides = [Counter(word.casefold() for word in tokens(mark)) for mark in (predicted, gold)]
    size = sum(side.total() for side in sides)
    return 2 * (sides[0] & sides[1]).total() / size if size else 0.0


def _paired_overlap(predicted: Sequence[str], gold: Sequence[str]) -> float:
    from scipy.optimize import linear_sum_assignment

    if not (predicted and gold):
        return 0.0
    table = np.array([[overlap(mark, expected) for expected in gold] for mark in predicted])
    table[table < LEAST_OVERLAP] = 0
    return float(table[linear_sum_assignment(table, maximize=True)].sum())


def _share(part: float, whole: float) -> float:
    return part / whole if whole else math.nan
