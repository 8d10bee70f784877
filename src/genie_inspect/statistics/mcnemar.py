"""Paired scores that are only 0 and 1: McNemar's exact test, and an interval of the difference of their shares."""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from genie_inspect.statistics.differences import LEVEL, Difference
from genie_inspect.statistics.effect import complete_pairs

MCNEMAR = "exact McNemar test"


def yes_no_difference(difference: Difference, before: ArrayLike, after: ArrayLike) -> Difference | None:
    """The difference by McNemar's test and Newcombe's interval; None where a score is not 0 or 1, or a pair is alone.

    Only pairs that changed count: under no difference as many change to 1 as to 0. That p-value is what all ways to
    sign the deltas would give. The interval is of another method: next to the level it can leave out 0 where p is above
    it, or the other way round.
    """
    first, second = complete_pairs(before, after)
    pairs = len(first)
    if pairs < 2 or not np.isin([first, second], (0, 1)).all():
        return None
    both, lost, won = (int(cell.sum()) for cell in (first * second, first * (1 - second), (1 - first) * second))
    low, high = paired_shares_interval(both, lost, won, pairs - both - lost - won)
    # where every pair changed alike
    least = math.ldexp(1, 1 - pairs)
    return replace(difference, p_value=mcnemar_p_value(lost, won), least_p=least, low=low, high=high)


def mcnemar_p_value(lost: int, won: int) -> float:
    """The two-sided exact p-value that a pair that changed is as likely to be lost as won; 1 where none changed.

    >>> mcnemar_p_value(1, 5)  # twice the 7 of 64 ways in which one or none of six is lost
    0.21875
    """
    from scipy.stats import binomtest

    return float(binomtest(won, won + lost).pvalue) if won + lost else 1.0


def paired_shares_interval(both: int, lost: int, won: int, neither: int, level: float = LEVEL) -> tuple[float, float]:
    """Newcombe's hybrid score interval of a difference of two shares of the same pairs, second less first.

    It stays from -1 to 1 and has a width where no pair changed and where a share is 0 or 1. scipy and statsmodels have
    only intervals of independent shares.

    Source: Newcombe (1998), Improved confidence intervals for the difference between binomial proportions based on
    paired data, method 10: Wilson's limits of either share, and their correlation corrected for continuity.
    """
    from scipy.stats import binomtest

    pairs = both + lost + won + neither
    counts = both + lost, both + won
    limits = [binomtest(count, pairs).proportion_ci(1 - level, method="wilson") for count in counts]
    (first, second) = (count / pairs for count in counts)
    product = both * neither - lost * won
    scale = math.sqrt(counts[0] * counts[1] * (pairs - counts[0]) * (pairs - counts[1]))
    together = (max(product - pairs / 2, 0) if product > 0 else product) / scale if scale else 0.0

    def reach(one: float, other: float) -> float:
        # rounding must not bring it below 0
        return math.sqrt(max(one**2 - 2 * together * one * other + other**2, 0.0))

    delta = (won - lost) / pairs
    low = delta - reach(second - limits[1].low, limits[0].high - first)
    high = delta + reach(limits[1].high - second, first - limits[0].low)
    return max(low, -1.0), min(high, 1.0)
