"""Plain descriptions of numbers: spread, rank among others, digits, isotonic fits, rarefaction, classification."""

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, quantiles

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True)
class Spread:
    """A standard deviation within groups, and what it rests on."""

    sd: float
    """NaN without degrees of freedom."""
    degrees: int
    """Of freedom: values less groups."""

    @property
    def variance(self) -> float:
        """The square of it."""
        return self.sd**2


NO_SPREAD = Spread(math.nan, 0)


def spread_within(groups: Iterable[Sequence[float]]) -> Spread:
    """The spread of values around the mean of their own group, pooled; a group of one says nothing.

    >>> spread_within([[0, 1], [5, 6]])  # each value 0.5 from its mean: sqrt(4 * 0.25 / 2)
    Spread(sd=0.7071067811865476, degrees=2)
    """
    squares, degrees = [], 0
    for group in groups:
        if group:
            mean = math.fsum(group) / len(group)
            squares += [(value - mean) ** 2 for value in group]
            degrees += len(group) - 1
    return Spread(math.sqrt(math.fsum(squares) / degrees), degrees) if degrees else NO_SPREAD


def pooled(parts: Iterable[Spread]) -> Spread:
    """Several spreads as one, each by its degrees of freedom."""
    known = [part for part in parts if part.degrees]
    degrees = sum(part.degrees for part in known)
    if not degrees:
        return NO_SPREAD
    return Spread(math.sqrt(math.fsum(part.variance * part.degrees for part in known) / degrees), degrees)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a value stands among others, and where these are."""

    percentile: float
    """Share of the others that are lower, 0 to 100; equal ones count half."""
    mean: float
    """Of the others among themselves, like the next two."""
    low: float
    """Lower quartile."""
    high: float
    """Upper quartile."""


def standing(value: float, others: Sequence[float], alone: Sequence[float]) -> Standing | None:
    """Where a value stands among others; None where there is no value or nothing to stand among.

    Args:
        value: A document's value against the others; NaN where it has none.
        others: Theirs, each against the rest and this document: as many comparisons as its own, so that a document
            like the others is as likely to have any rank as any other.
        alone: Theirs without this document.

    >>> standing(0.5, [0.25, 0.5, 1.0, 1.0], [0.5, 1.0])
    Standing(percentile=37.5, mean=0.75, low=0.625, high=0.875)
    """
    measured, among = ([one for one in values if not math.isnan(one)] for values in (others, alone))
    if math.isnan(value) or not measured or not among:
        return None
    lower, equal = sum(other < value for other in measured), sum(other == value for other in measured)
    low, _, high = quartiles(among)
    return Standing(100 * (lower + equal / 2) / len(measured), fmean(among), low, high)


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """Lower quartile, median and upper quartile, of the values themselves and those between two (inclusive method).

    The value three times where there is one, NaN where there is none.

    >>> quartiles([0.0, 0.5, 1.0])
    (0.25, 0.5, 0.75)
    """
    if len(values) < 2:
        value = values[0] if values else math.nan
        return value, value, value
    low, median, high = quantiles(values, method="inclusive")
    return low, median, high


LEAST = 0.1
"""Nearer to 0 than this, three digits after the point would be too few."""


def three_digits(value: float) -> float:
    """A value with three digits after the point, and with three in all where it is nearer to 0 than 0.1.

    >>> three_digits(26 / 27), three_digits(0.0123456)
    (0.963, 0.0123)
    """
    return round(value, 3) if abs(value) >= LEAST else float(f"{value:.3g}")


Knots = Sequence[tuple[float, float]]
"""Points of a line, from left to right."""


def isotonic_knots(x: ArrayLike, y: ArrayLike) -> list[tuple[float, float]]:
    """The points between which the nearest rising line by least squares runs straight; it never falls.

    First and last point of each level, in order; empty where there are no points.

    Source: pool adjacent violators, as `scipy.optimize.isotonic_regression` has it.

    >>> isotonic_knots([0.1, 0.2, 0.3, 0.3], [1, 3, 2, 2])  # 3 before 2, 2 is pooled: (3 + 2 + 2) / 3
    [(0.1, 1.0), (0.2, 2.3333333333333335), (0.3, 2.3333333333333335)]
    """
    from scipy.optimize import isotonic_regression

    places, inverse = np.unique(np.asarray(x, dtype=float), return_inverse=True)
    if not len(places):
        return []
    counts = np.bincount(inverse)
    # scipy takes points in a row and knows nothing of two in one place
    levels = isotonic_regression(np.bincount(inverse, np.asarray(y, dtype=float)) / counts, weights=counts).x
    inner = np.concatenate([[False], (levels[1:-1] == levels[:-2]) & (levels[1:-1] == levels[2:]), [False]])
    kept = ~inner[: len(places)]
    return list(zip(places[kept].tolist(), levels[kept].tolist(), strict=True))


def height(knots: Knots, x: float) -> float:
    """The line's height at a place; left and right of the knots it stays level.

    >>> height([(0.0, 1.0), (1.0, 4.0)], 0.5), height([(0.0, 1.0), (1.0, 4.0)], 2)
    (2.5, 4.0)
    """
    places, heights = zip(*knots, strict=True)
    return float(np.interp(x, places, heights))


def chance_of_seeing(count: int, total: int, draws: int) -> float:
    """Chance that a class is among some draws without replacement, 0 to 1.

    Source: Hurlbert (1971), rarefaction. Deviation: none.

    >>> chance_of_seeing(2, total=4, draws=2)  # missed by 1 of the 6 pairs
    0.8333333333333334
    """
    if not 1 <= count <= total or draws < 0:
        raise ValueError(f"count is {count} of {total} in {draws} draws, expected 1 <= count <= total and draws >= 0")
    # one less the share of the samples that miss the class
    return 1 - math.comb(total - count, min(draws, total)) / math.comb(total, min(draws, total))


def expected_unseen(counts: Iterable[int], total: int, draws: int) -> float:
    """How many classes beyond those seen to expect in more draws than things were seen; 0 for no more than that.

    Each further draw is of a new class as often as classes were seen once.

    Source: Good (1953), equation 9. Deviation: the share of new classes is held constant, an upper bound that is
    near where few draws are added.

    >>> expected_unseen([1, 1, 2], total=4, draws=6)  # half of what was seen was seen once
    1.0
    """
    singles = sum(count == 1 for count in counts)
    return max(0, draws - total) * singles / total if total else 0.0


def accuracy(predicted: Sequence[Hashable], gold: Sequence[Hashable]) -> float:
    """Share of things on which both say the same, 0 to 1; NaN without any.

    >>> accuracy("aab", "abb")
    0.6666666666666666
    """
    pairs = list(zip(predicted, gold, strict=True))
    return sum(one == other for one, other in pairs) / len(pairs) if pairs else math.nan


def recall(predicted: Sequence[Hashable], gold: Sequence[Hashable], label: Hashable) -> float:
    """Share of the things with this label in `gold` that have it in `predicted` too; NaN where none has it.

    >>> recall("aab", "abb", "b")
    0.5
    """
    of_label = [one for one, other in zip(predicted, gold, strict=True) if other == label]
    return of_label.count(label) / len(of_label) if of_label else math.nan


def f1(predicted: Sequence[Hashable], gold: Sequence[Hashable], label: Hashable) -> float:
    """Harmonic mean of precision and recall for one label, 0 to 1; NaN where neither side has it.

    >>> f1("aab", "abb", "b")  # both 1, either 3
    0.6666666666666666
    """
    both = sum(one == other == label for one, other in zip(predicted, gold, strict=True))
    either = list(predicted).count(label) + list(gold).count(label)
    return 2 * both / either if either else math.nan
