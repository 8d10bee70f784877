"""Whether a judge puts things in the order in which people put them."""

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from genie_inspect.statistics.bootstrap import UNKNOWN, BootstrapInterval
from genie_inspect.statistics.effect import TIE, Values, complete_pairs


def spearman(human: ArrayLike, judge: ArrayLike) -> float:
    """Spearman's rank correlation, -1 (reversed) to 1 (same order); ties share their mean rank.

    Scores of the same things, shape (N,); a pair with a NaN is left out. NaN with fewer than two pairs, and where one
    side gives everything the same score.

    >>> spearman([1, 2, 3], [10, 20, 40])
    1.0
    """
    from scipy.stats import spearmanr

    return _correlation(spearmanr, human, judge)


def kendall(human: ArrayLike, judge: ArrayLike) -> float:
    """Kendall's tau-b, -1 (every pair reversed) to 1 (every pair in order), corrected for ties; else as `spearman`.

    >>> round(kendall([1, 2, 3, 4], [1, 2, 4, 3]), 3)  # 5 pairs in order, 1 reversed, of 6
    0.667
    """
    from scipy.stats import kendalltau

    return _correlation(kendalltau, human, judge)


def pairwise_accuracy(human: ArrayLike, judge: ArrayLike) -> float:
    """Share of pairs i < j on which both sides agree whether the first is better, 0 to 1.

    A tie counts as "not better": a judge that ties agrees with people who tie or prefer the second, so that with ties
    the figure depends on the order of the things. That is how it was published; `order_free_accuracy` does not. NaN
    with fewer than two items that have both.

    >>> pairwise_accuracy([3, 2, 1], [3, 1, 2])
    0.6666666666666666
    """
    people, machine = complete_pairs(human, judge)
    if len(people) < 2:
        return math.nan
    # i < j only, as published: for j < i a tie would count the other way round
    first, second = np.triu_indices(len(people), k=1)
    return float(((people[first] > people[second]) == (machine[first] > machine[second])).mean())


def order_free_accuracy(human: ArrayLike, judge: ArrayLike) -> float:
    """`pairwise_accuracy` with each pair taken from both sides, so that a judge that ties everything gets 0.5."""
    sides = np.asarray(human, dtype=float), np.asarray(judge, dtype=float)
    return (pairwise_accuracy(*sides) + pairwise_accuracy(*(side[::-1] for side in sides))) / 2


def rank_products(*columns: ArrayLike) -> Values:
    """Sums of products of ranks by each of several scores, shape (C, C), which add up over groups of things.

    Ranks are less their mean, in shares of the number of things.
    """
    from scipy.stats import rankdata

    table = np.array(columns, dtype=float)
    table = table[:, ~np.isnan(table).any(axis=0)]
    if not table.shape[1]:
        return np.zeros((len(columns), len(columns)))
    ranks = rankdata(table, axis=1)
    apart = (ranks - ranks.mean(axis=1, keepdims=True)) / table.shape[1]
    return np.asarray(apart @ apart.T)


def rank_correlation(products: Values, *, partial: bool = False) -> float:
    """Correlation of the first two scores' ranks, -1 to 1, within the groups that `rank_products` was summed over.

    NaN where a score puts nothing in order, or with `partial` nothing that the third does not.
    """
    rest = products[:2, :2]
    if partial and products[2, 2] > 0:
        rest = rest - np.outer(products[:2, 2], products[:2, 2]) / products[2, 2]
    spreads = np.diag(rest)
    if (spreads <= TIE * np.diag(products)[:2]).any():
        return math.nan
    return float(rest[0, 1] / math.sqrt(spreads[0] * spreads[1]))


def _correlation(measure: Callable[[Values, Values], Any], human: ArrayLike, judge: ArrayLike) -> float:
    pairs = complete_pairs(human, judge)
    # asked first, because scipy warns of a side that puts nothing in order and then gives NaN
    return float(measure(*pairs).statistic) if all(len(np.unique(side)) > 1 for side in pairs) else math.nan


def position_effect(values: ArrayLike, positions: ArrayLike, lists: Sequence[Hashable]) -> BootstrapInterval:
    """How much higher a thing is valued for each unit further down its list: the slope within lists, NaN without any.

    Its standard error is what drawing the orders anew would give if they did not matter (Hájek, Šidák and Sen 1999,
    3.3); the interval is normal. A bootstrap of lists is too narrow where lists are few.
    """
    value, position = np.asarray(values, dtype=float), np.asarray(positions, dtype=float)

    rows_by_list: dict[Hashable, list[int]] = {}
    for row in np.flatnonzero(~np.isnan(value) & ~np.isnan(position)).tolist():
        rows_by_list.setdefault(lists[row], []).append(row)
    product = square = variance = 0.0
    for rows in rows_by_list.values():
        # a thing that stands alone comes both first and last
        if len(rows) > 1:
            down, rated = position[rows] - position[rows].mean(), value[rows] - value[rows].mean()
            product += float(down @ rated)
            square += float(down @ down)
            variance += float(down @ down) * float(rated @ rated) / (len(rows) - 1)
    if square == 0:
        return UNKNOWN
    # a sum over many lists is near enough to normal, so that no orders need be drawn
    half = float(ndtri(0.975)) * math.sqrt(variance) / square if variance > 0 else math.nan
    return BootstrapInterval(product / square, product / square - half, product / square + half)
