"""Whether a judge puts things in the order in which people put them."""

import math

import numpy as np
from numpy.typing import ArrayLike

from genie_inspect.statistics.paired.pairs import TIE, Values, complete_pairs


def spearman(human: ArrayLike, judge: ArrayLike) -> float:
    """Spearman's rank correlation, -1 (reversed) to 1 (same order); ties share their mean rank.

    Args:
        human: Scores, shape (N,); a pair with a NaN is left out.
        judge: Scores of the same things, same shape.

    Returns:
        NaN with fewer than two pairs, and where one side gives everything the same score.

    Raises:
        ValueError: If the shapes differ or a value is infinite.

    >>> spearman([1, 2, 3], [10, 20, 40])
    1.0
    """
    from scipy.stats import spearmanr

    pairs = _ranked(human, judge)
    return float(spearmanr(*pairs).statistic) if pairs else math.nan


def kendall(human: ArrayLike, judge: ArrayLike) -> float:
    """Kendall's tau-b, -1 (every pair reversed) to 1 (every pair in order), corrected for ties.

    Args:
        human: Scores, shape (N,); a pair with a NaN is left out.
        judge: Scores of the same things, same shape.

    Returns:
        NaN with fewer than two pairs, and where one side gives everything the same score.

    Raises:
        ValueError: If the shapes differ or a value is infinite.

    >>> round(kendall([1, 2, 3, 4], [1, 2, 4, 3]), 3)  # 5 pairs in order, 1 reversed, of 6
    0.667
    """
    from scipy.stats import kendalltau

    pairs = _ranked(human, judge)
    return float(kendalltau(*pairs).statistic) if pairs else math.nan


def pairwise_accuracy(human: ArrayLike, judge: ArrayLike) -> float:
    """Share of pairs i < j on which both sides agree whether the first is better, 0 to 1.

    A tie counts as "not better": a judge that ties agrees with people who tie or prefer the second, so that with ties
    the figure depends on the order of the things. That is how it was published.

    Args:
        human: Scores, shape (N,); an item with a NaN is left out.
        judge: Scores of the same things, same shape.

    Returns:
        Mean over i < j of (human_i > human_j) == (judge_i > judge_j); NaN with fewer than two items.

    Raises:
        ValueError: If the shapes differ or a value is infinite.

    >>> pairwise_accuracy([3, 2, 1], [3, 1, 2])
    0.6666666666666666
    """
    people, machine = complete_pairs(human, judge)
    if len(people) < 2:
        return math.nan
    # i < j only, as published: for j < i a tie would count the other way round
    first, second = np.triu_indices(len(people), k=1)
    return float(((people[first] > people[second]) == (machine[first] > machine[second])).mean())


def rank_products(*columns: ArrayLike) -> Values:
    """Sums of products of the ranks of some things by each of several scores, which add up over groups of things.

    Ranks are less their mean, in shares of the number of things; ties share their mean rank.

    Args:
        columns: C scores of the same things, shape (N,) each; a thing with a NaN is left out.

    Returns:
        Shape (C, C); for `rank_correlation`, by itself or summed over groups.

    >>> rank_products([1, 2, 3], [30, 20, 10]).round(3).tolist()  # ranks -1/3, 0, 1/3
    [[0.222, -0.222], [-0.222, 0.222]]
    """
    from scipy.stats import rankdata

    table = np.array(columns, dtype=float)
    table = table[:, ~np.isnan(table).any(axis=0)]
    if not table.shape[1]:
        return np.zeros((len(columns), len(columns)))
    ranks = rankdata(table, axis=1)
    apart = (ranks - ranks.mean(axis=1, keepdims=True)) / table.shape[1]
    products: Values = apart @ apart.T
    return products


def rank_correlation(products: Values, *, partial: bool = False) -> float:
    """Correlation of the first two scores' ranks, -1 to 1, within the groups that `rank_products` was summed over.

    Args:
        products: Of two scores, or of three.
        partial: Take the third score out of both first.

    Returns:
        NaN where a score puts nothing in order, or with `partial` nothing that the third does not.

    >>> rank_correlation(rank_products([1, 2, 3, 4], [1, 2, 4, 3]))
    0.8
    """
    rest = products[:2, :2]
    if partial and products[2, 2] > 0:
        rest = rest - np.outer(products[:2, 2], products[:2, 2]) / products[2, 2]
    spreads = np.diag(rest)
    if (spreads <= TIE * np.diag(products)[:2]).any():
        return math.nan
    return float(rest[0, 1] / math.sqrt(spreads[0] * spreads[1]))


def _ranked(human: ArrayLike, judge: ArrayLike) -> tuple[Values, Values] | None:
    """Both sides of the complete pairs; None where one side puts nothing in order."""
    # asked first, because scipy warns of a constant side and then gives NaN
    pairs = complete_pairs(human, judge)
    return pairs if all(len(np.unique(side)) > 1 for side in pairs) else None
