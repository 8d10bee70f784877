"""Differences of paired scores, those of yes and no too, and which of many hold once their number is allowed for."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

from genie_inspect.statistics.effect import (
    CELLS,
    ROUNDING,
    TIE,
    PairedTest,
    Values,
    bonferroni,
    centred_deltas,
    cohens_d,
    complete_pairs,
    holm,
    paired_power,
    paired_values,
    pairs_needed,
    tested,
)
from genie_inspect.statistics.equivalence import tost


def paired_permutation(
    before: ArrayLike, after: ArrayLike, resamples: int = 10_000, seed: int = 0, *, level: float = 0.05
) -> PairedTest:
    """Mean of after - before, with p-value and interval by the two-sided sign-flip permutation test, column by column.

    p is the share of the 2^N ways to sign the deltas that bring their mean at least as far from 0 as it is; of more
    ways than `resamples` so many are drawn. The interval holds every value that, taken off all deltas, leaves p at
    `level` or above; with few pairs that is any. Both are exact where deltas are symmetric around 0; of skewed ones
    around 0 the test finds too much, as the t test does (benchmarks/README.md).

    Source: Fisher (1935), The Design of Experiments, section 21; the interval: Tritchler (1984), On inverting
    permutation tests; the observed way among the drawn ones: Phipson and Smyth (2010).

    >>> test = paired_permutation([0, 0, 0, 0, 0, 0], [1, 2, 3, 4, 5, 6])
    >>> test.p_value, test.low, test.high  # 2 of 64 ways, all signs alike; the lowest and the highest delta
    (0.03125, 1.0, 6.0)
    """

    def inverted(delta: Values, centred: Values) -> tuple[Values, Values, Values]:
        lows, highs = _bounds(delta, centred, resamples, seed)
        ties = TIE * np.abs(delta)
        # ways that leave the mean at least as far from 0: those between whose bounds 0 lies
        reach = np.minimum((lows <= ties).sum(axis=0), (highs >= -ties).sum(axis=0))
        p_values = (1 + np.arange(len(lows) + 1)) / (1 + len(lows))
        # a value that fewer ways reach is rejected: the very comparison of p_value < level
        least = int(np.searchsorted(p_values, level))
        if least == 0:
            return np.full_like(delta, -np.inf), np.full_like(delta, np.inf), p_values[reach]
        ends = np.partition(lows, least - 1, axis=0)[least - 1], np.partition(highs, -least, axis=0)[-least]
        # an end that is 0 but for rounding is 0, so that interval and p-value agree
        low, high = (np.where(np.abs(end) <= ties, 0.0, end) for end in ends)
        return low, high, p_values[reach]

    return tested(before, after, inverted)


def least_p_value(pairs: int, resamples: int = 10_000) -> float:
    """The smallest p-value that `paired_permutation` can give so many pairs, 0 to 1; NaN for fewer than two."""
    # the ways to sign the deltas that are tried beside the one observed; a way and its opposite are one
    return 1 / (1 + min(2 ** (pairs - 1) - 1, resamples)) if pairs > 1 else math.nan


def _bounds(delta: Values, centred: Values, resamples: int, seed: int) -> tuple[Values, Values]:
    """From and to which value each way to sign the deltas reaches the observed mean, shape (ways, F) each.

    With theta taken off all deltas, turning the signs of some leaves the mean as far from 0 or further exactly where
    theta lies between the mean of those that are turned and the mean of the others.
    """
    pairs, every = len(centred), 2 ** (len(centred) - 1) - 1
    lows, highs = [], []
    for turned in _ways(pairs, min(every, resamples), 1, seed if every > resamples else None):
        count = turned.sum(axis=1, keepdims=True, dtype=float)
        total = turned.astype(float) @ centred
        with np.errstate(divide="ignore", invalid="ignore"):
            sides = total / count, -total / (pairs - count)  # the centred deltas add up to 0
        low, high = delta + np.minimum(*sides), delta + np.maximum(*sides)
        nothing = ((count == 0) | (count == pairs)).ravel()  # or all: drawn by chance, reaches it for any theta
        low[nothing], high[nothing] = -np.inf, np.inf
        lows.append(low)
        highs.append(high)
    return np.concatenate(lows), np.concatenate(highs)


def _ways(units: int, count: int, first: int, seed: int | None) -> Iterator[NDArray[Any]]:
    """Blocks of ways to turn the signs of units, shape (some, units): from `first` on in order, or drawn by a seed."""
    generator, step = np.random.default_rng(seed), max(1, CELLS // units)
    for start in range(0, count, step):
        some = min(step, count - start)
        if seed is None:
            # binary numbers below 2^(units - 1): the last keeps its sign, so that no way comes with its opposite
            yield (np.arange(first + start, first + start + some)[:, None] >> np.arange(units)) & 1
        else:
            yield generator.integers(2, size=(some, units), dtype=np.int8)


LEVEL = 0.05  # by convention; each of the two families of tests is held to it
TEST, MCNEMAR = "sign-flip permutation test", "exact McNemar test"
CORRECTIONS: dict[str, Callable[[ArrayLike], Values]] = {"holm": holm, "bonferroni": bonferroni, "none": np.asarray}


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference in one column of pairs, by itself; NaN where a figure is not defined."""

    pairs: int  # with both sides; pairs must not hang together: take one a prompt
    before: float  # mean over the pairs, as is `after`; their difference is `delta`
    after: float
    delta: float
    low: float
    high: float
    effect: float  # Cohen's d of the pairs
    spread: float  # standard deviation of the deltas
    # that the mean delta is 0, two-sided; by sign-flips below LEVEL exactly where 0 lies outside of `low` to `high`
    p_value: float
    least_p: float  # the smallest p-value that so few pairs can have
    p_unlike: float  # that the mean delta is at least the margin: two one-sided tests
    margin: float

    def within(self, lowest: float, highest: float) -> "Difference":
        """The same with its interval cut where no difference from this baseline can lie; an open end stays open."""
        # a baseline at an end leaves nothing on that side; rounding must not take 0 out
        down, up = min(0.0, lowest - self.before), max(0.0, highest - self.before)
        low, high = (max(down, min(end, up)) if math.isfinite(end) else end for end in (self.low, self.high))
        return replace(self, low=low, high=high)


@dataclass(frozen=True, slots=True)
class Finding:
    """A difference among the others that were looked at."""

    difference: Difference
    p_value: float  # corrected for the number of tests, as is `p_unlike`
    p_unlike: float
    # chance that a paired t test at the corrected level finds a delta as large as the margin, with these pairs and this
    # spread; 0 where so few pairs have no p-value below the level
    power: float
    needed: float  # pairs with which it would be the usual 80%; NaN where the power is not known
    differs: bool
    is_equivalent: bool


def differences(
    before: ArrayLike,
    after: ArrayLike,
    margin: float | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    equivalence: str = "t",
) -> list[Difference]:
    """One difference a column, its interval at 1 - LEVEL."""
    first, second = paired_values(before, after)
    # the permutation test keeps its level with few pairs, the bootstrap does not (benchmarks/README.md)
    test = paired_permutation(first, second, resamples, seed, level=LEVEL)
    columns = [complete_pairs(*sides) for sides in zip(first.T, second.T, strict=True)]
    found = []
    for column, sides in enumerate(columns):
        alike = tost(*sides, margin, equivalence, resamples, seed)
        pairs = alike.n
        mean_before, mean_after = (float(side.mean()) if pairs else math.nan for side in sides)
        # deltas that differ by rounding alone have none: next to nothing would be tested with next to no pairs
        spread = math.sqrt(float((centred_deltas(*sides)[1] ** 2).sum()) / (pairs - 1)) if pairs > 1 else math.nan
        found.append(
            Difference(
                pairs=pairs,
                before=mean_before,
                after=mean_after,
                delta=alike.delta,
                low=float(test.low[column]),
                high=float(test.high[column]),
                effect=cohens_d(*sides),
                spread=spread,
                p_value=float(test.p_value[column]),
                least_p=least_p_value(pairs, resamples),
                p_unlike=alike.p_value,
                margin=alike.margin,
            )
        )
    return found


def findings(family: Sequence[Difference], correction: str = "holm", level: float = LEVEL) -> list[Finding]:
    """Which differences hold when all of them are looked at: one family of tests, and one of equivalence."""
    adjusted = CORRECTIONS[correction]
    p_values = adjusted([difference.p_value for difference in family])
    unlike = adjusted([difference.p_unlike for difference in family])
    # the power is that at the strictest level that Holm or Bonferroni asks for
    tests = int((~np.isnan(p_values)).sum()) if correction != "none" else 1
    strictest = level / max(1, tests)
    found = []
    for difference, p, q in zip(family, p_values.tolist(), unlike.tolist(), strict=True):
        power = needed = math.nan
        # a single pair's spread is NaN, and so is what no pairs have
        if difference.spread > 0 and difference.margin > 0:
            power = paired_power(difference.margin, difference.spread, difference.pairs, strictest)
            needed = pairs_that_find(difference.margin, difference.spread, strictest)
        # so few pairs that even the clearest result would not count
        if difference.least_p >= strictest:
            power = 0.0
        found.append(Finding(difference, p, q, power, needed, p < level, q < level))
    return found


def crossed_p_value(deltas: ArrayLike) -> float:
    """p-value of a mean delta of 0 where rows (prompts) and columns (models) are both drawn from many.

    The squared standard errors over rows and over columns are added, which is too much by the share of single cells:
    the test finds too little, never too much.
    """
    values = np.asarray(deltas, dtype=float)
    means = [np.array([line[~np.isnan(line)].mean() for line in lines]) for lines in (values, values.T)]
    fewer = min(map(len, means))
    if fewer < 3:
        return math.nan
    mean, error = float(means[0].mean()), math.sqrt(sum(own.var(ddof=1) / len(own) for own in means))
    if error <= ROUNDING * float(np.nanmax(np.abs(values))):
        return 1.0 if mean == 0 else 0.0
    return 2 * float(stdtr(fewer - 1, -abs(mean) / error))


def pairs_that_find(delta: float, spread: float, level: float) -> int:
    """The fewest pairs with which the test, as the paired t test would, finds a true mean delta four times in five."""
    # with fewer even the clearest result would not count, see `findings`; twenty have every p-value that there is
    countable = next((pairs for pairs in range(2, 20) if least_p_value(pairs) < level), 20)
    return max(countable, pairs_needed(delta, spread, level=level))


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


def paired_shares_interval(both: int, lost: int, won: int, neither: int) -> tuple[float, float]:
    """Newcombe's hybrid score interval of a difference of two shares of the same pairs, second less first.

    It stays from -1 to 1 and has a width where no pair changed and where a share is 0 or 1. scipy and statsmodels have
    only intervals of independent shares.

    Source: Newcombe (1998), Improved confidence intervals for the difference between binomial proportions based on
    paired data, method 10: Wilson's limits of either share, and their correlation corrected for continuity.
    """
    from scipy.stats import binomtest

    pairs = both + lost + won + neither
    counts = both + lost, both + won
    limits = [binomtest(count, pairs).proportion_ci(1 - LEVEL, method="wilson") for count in counts]
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


class PairDifference(NamedTuple):
    """Mean of first - second over the units that both have; NaN where these are fewer than two."""

    first: int  # column
    second: int
    units: int
    delta: float
    low: float
    high: float
    p_value: float  # for all pairs together


def pairwise_differences(values: ArrayLike, resamples: int = 10_000) -> list[PairDifference]:
    """Every difference of two columns of units (N, K), with p-values and 95% intervals that hold together.

    The statistic is the largest |t| of all pairs. Its reference are the ways to sign the units: a unit keeps or turns
    the sign of all its differences at once, so that pairs stay as dependent as they are. Where differences are
    symmetric around 0 in the pairs that do not differ, some such pair is found in at most 5%, with any N. Where spreads
    differ sevenfold and all are skewed it is 9% to 15%, as for other tests of means.

    Source: Westfall and Young (1993), Resampling-Based Multiple Testing, section 2.3 (single-step maxT), with the sign
    flips of `paired_permutation` as resamples.

    >>> [pair.p_value for pair in pairwise_differences([[1, 0], [2, 0], [3, 0], [4, 0], [5, 0], [6, 0]])]
    [0.03125]
    """
    table = np.asarray(values, dtype=float)
    pairs = list(combinations(range(table.shape[1]), 2))
    if not pairs or not len(table):
        return [PairDifference(first, second, 0, *[math.nan] * 4) for first, second in pairs]
    firsts, seconds = (table[:, [pair[side] for pair in pairs]] for side in (0, 1))
    deltas, larger = firsts - seconds, np.fmax(np.abs(firsts), np.abs(seconds))
    # 0.1 + 0.2 - 0.3 is not 0: equal scores do not differ
    deltas[np.abs(deltas) <= ROUNDING * larger] = 0
    present = ~np.isnan(deltas)
    counts = present.sum(axis=0)
    deltas = np.where(present, deltas, 0)
    observed, means, errors = _t_values(np.ones((1, len(table))), deltas, counts)
    largest = np.sort(_largest(deltas, counts, resamples))[::-1]
    # p < level exactly where a pair's t is above this one
    least = math.ceil(LEVEL * len(largest)) - 1
    critical = float(largest[least]) if least else math.inf
    found = []
    for place, (first, second) in enumerate(pairs):
        units, delta, error = int(counts[place]), float(means[0, place]), float(errors[0, place])
        if units < 2:
            found.append(PairDifference(first, second, units, delta, *[math.nan] * 3))
            continue
        reach = critical * error if error else (0.0 if least else math.inf)
        p_value = float((largest >= observed[0, place] * (1 - TIE)).mean())
        found.append(PairDifference(first, second, units, delta, delta - reach, delta + reach, p_value))
    return found


def _largest(deltas: Values, counts: Values, resamples: int) -> Values:
    """The largest |t| of each way to sign the units, the one observed among them."""
    units, every = len(deltas), 2 ** (len(deltas) - 1)
    largest: list[Values] = []
    for turned in _ways(units, min(every, resamples + 1), 0, 0 if every > resamples + 1 else None):
        if not largest:
            turned[0] = 0
        signs = np.asarray(1 - 2 * turned, dtype=np.float64)
        largest.append(_t_values(signs, deltas, counts)[0].max(axis=1))
    return np.concatenate(largest)


def _t_values(signs: Values, deltas: Values, counts: Values) -> tuple[Values, Values, Values]:
    """|t|, mean and standard error of each pair under each way; a pair with fewer than two units has a t of 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        means = signs @ deltas / counts
        squares = (deltas**2).sum(axis=0) - counts * means**2
        # equal deltas have no spread, but for rounding
        squares[squares <= ROUNDING * (deltas**2).sum(axis=0)] = 0
        errors = np.sqrt(squares / (counts - 1) / counts)
        t_values = np.abs(means) / errors
    t_values[np.isnan(t_values) | (np.broadcast_to(counts, t_values.shape) < 2)] = 0
    return t_values, means, errors
