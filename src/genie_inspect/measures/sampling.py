"""A mean over many ratings from a few: one from each stratum of predicted similarity, with its standard error.

Source: Cochran, Sampling Techniques (1977), 5A.12: one unit per stratum, collapsed strata, finite population. The mean
is unbiased whatever the predictions are worth: poor ones cost precision.
"""

import math
from collections.abc import Sequence
from statistics import fmean, variance

import numpy as np
from numpy.typing import ArrayLike


def strata(predicted: ArrayLike, count: int) -> list[list[int]]:
    """Cut places into at most `count` strata by falling prediction: the nearest alone, the rest of equal sizes.

    Sizes differ by at most one. With `count` or fewer places each is a stratum of its own.

    >>> strata([0.1, 0.9, 0.5, 0.4, 0.7], 3)
    [[1], [4, 2], [3, 0]]
    """
    order = np.argsort(-np.asarray(predicted), kind="stable").tolist()
    parts = min(count, len(order)) - 1
    ends = [1 + (len(order) - 1) * part // parts for part in range(parts + 1)] if parts > 0 else [len(order)]
    return [order[start:end] for start, end in zip([0, *ends], ends, strict=False) if end > start]


def represented(sizes: Sequence[int], usable: Sequence[bool]) -> list[int]:
    """How many units each drawn one stands for: its stratum, and the strata beside it whose unit was lost.

    >>> represented([1, 5, 5, 4], [True, False, True, False])
    [6, 0, 9, 0]
    """
    stands_for = [0] * len(sizes)
    known = [place for place, is_usable in enumerate(usable) if is_usable]
    for place, size in enumerate(sizes if known else ()):
        stands_for[min(known, key=lambda other: (abs(other - place), other))] += size
    return stands_for


def collapsed(similarities: Sequence[float], weights: Sequence[int]) -> list[tuple[float, float]]:
    """What the variance of a question's mean is made of: strata collapsed in pairs, the last three if odd in number.

    Of each group the factor by which the variance within it counts, and that variance; NaN for a stratum alone. A
    stratum of one unit is known, and adds nothing. Weights say how many units each rated one stands for.

    >>> collapsed([1.0, 0.5, 0.0, 0.0], [1, 1, 4, 4])
    [(0.24, 0.0)]
    """
    uncertain = [pair for pair in zip(similarities, weights, strict=True) if pair[1] > 1]
    groups, count, total = [], max(len(uncertain) // 2, min(len(uncertain), 1)), sum(weights)
    for start in range(0, 2 * count, 2):
        values, sizes = zip(*uncertain[start : start + 2 if start < 2 * (count - 1) else None], strict=True)
        units, drawn = sum(sizes), len(values)
        factor = units**2 * (1 - drawn / units) / drawn / total**2
        groups.append((factor, variance(values) if drawn > 1 else math.nan))
    return groups


def variances(groups: Sequence[Sequence[tuple[float, float]]]) -> list[float]:
    """The variance of each question's mean from what `collapsed` gives; NaN where nothing is known.

    Two units say little of their stratum's variance, those in this place of all questions together enough. Strata that
    differ count as variance, so that the error is overstated where predictions are good.
    """
    by_place: dict[int, list[float]] = {}
    for question in groups:
        for place, (_, within) in enumerate(question):
            by_place.setdefault(place, []).extend([] if math.isnan(within) else [within])
    pooled = {place: fmean(known) if known else math.nan for place, known in by_place.items()}
    return [math.fsum(factor * pooled[place] for place, (factor, _) in enumerate(question)) for question in groups]
