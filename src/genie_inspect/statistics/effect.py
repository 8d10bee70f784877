"""Effects of pairs: their deltas, Cohen's d, and p-values corrected for several tests at once."""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import nctdtr, ndtri, stdtrit

Values = NDArray[np.float64]

# differences below this share of the values themselves come from the order of summation, not from the values
ROUNDING = 1e-12
# a resampled statistic this close to the observed one, relative to it, equals it: the same sum in another order
TIE = 1e-9
EXACT_TIE = 1e-7  # of probabilities that are computed by logarithms, as in R
# draws held at once: few enough to stay in a processor's cache, so that memory does not grow with the resamples
CELLS = 2**15


@dataclass(frozen=True, slots=True)
class PairedTest:
    """Mean of after - before, its interval and p-value: floats for one column of pairs, arrays for many."""

    delta: Any
    low: Any
    high: Any
    p_value: Any
    n: Any  # complete pairs


# low, high and p-value, shape (F,) each, from mean deltas, shape (F,), and centred deltas, shape (N, F)
Method = Callable[[Values, Values], tuple[Values, Values, Values]]


def tested(before: ArrayLike, after: ArrayLike, method: Method) -> PairedTest:
    """A method's interval and p-value for each column's complete pairs; NaN, but for the delta, below two pairs."""
    pairs = paired_values(before, after)
    columns = [side[:, None] if side.ndim == 1 else side for side in pairs]
    present = ~np.isnan(columns[0])
    values = np.full((4, present.shape[1]), np.nan)
    # columns with the same complete pairs are tested together, which draws their resamples once
    for rows in np.unique(present[:, present.any(axis=0)], axis=1).T:
        alike = (present == rows[:, None]).all(axis=0)
        delta, centred = centred_deltas(*(side[rows][:, alike] for side in columns))
        values[0, alike] = delta
        if len(centred) > 1:
            values[1:, alike] = method(delta, centred)
    complete = present.sum(axis=0)
    single = pairs[0].ndim == 1
    delta, low, high, p_value = values[:, 0].tolist() if single else values
    return PairedTest(delta, low, high, p_value, n=int(complete[0]) if single else complete)


def paired_values(first: ArrayLike, second: ArrayLike) -> tuple[Values, Values]:
    """Both sides as arrays of one shape, (N,) or (N, F), each NaN where the other one is."""
    sides = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if sides[0].shape != sides[1].shape:
        raise ValueError(f"values of shape {sides[0].shape} against {sides[1].shape}, expected as many on each side")
    if sides[0].ndim not in (1, 2):
        raise ValueError(f"values have {sides[0].ndim} dimensions, expected 1 (pairs) or 2 (pairs, columns)")
    if any(np.isinf(side).any() for side in sides):
        raise ValueError("a value is infinite, expected finite numbers, or NaN where a side is missing")
    missing = np.isnan(sides[0]) | np.isnan(sides[1])
    # a pair counts with both sides or not at all
    return np.where(missing, np.nan, sides[0]), np.where(missing, np.nan, sides[1])


def complete_pairs(first: ArrayLike, second: ArrayLike) -> tuple[Values, Values]:
    """Both sides of the pairs that have both, shape (N,) each."""
    left, right = paired_values(first, second)
    if left.ndim != 1:
        raise ValueError(f"values have shape {left.shape}, expected one column of pairs")
    present = ~np.isnan(left)
    return left[present], right[present]


def centred_deltas(before: Values, after: Values) -> tuple[Values, Values]:
    """Mean of after - before down each column, and the deltas less that mean; rounding errors are exactly 0."""
    deltas = after - before
    # 0.1 + 0.2 - 0.3 is not 0: without this, equal scores would differ significantly
    rounding = ROUNDING * np.maximum(np.abs(before), np.abs(after)).max(axis=0)
    mean = deltas.mean(axis=0)
    centred = deltas - mean
    return np.where(np.abs(mean) <= rounding, 0, mean), np.where(np.abs(centred) <= rounding, 0, centred)


def cohens_d(before: ArrayLike, after: ArrayLike) -> float:
    """Cohen's d of paired values: mean(delta) / std(delta, ddof=1) with delta = after - before.

    Sides have shape (N,); a pair with a NaN is left out. 0 where no pair differs; NaN with fewer than two pairs, and
    where all pairs differ by the same amount, because there is no spread to measure it in.

    Source: Cohen (1988), section 2.3 (d_z).

    >>> cohens_d([1, 2, 3], [2, 4, 6])  # deltas 1, 2, 3: mean 2, standard deviation 1
    2.0
    """
    first, second = complete_pairs(before, after)
    if len(first) < 2:
        return math.nan
    mean, centred = centred_deltas(first, second)
    # nothing changed is an effect of 0, also where there is no spread to divide by
    if mean == 0:
        return 0.0
    spread = math.sqrt(float((centred**2).sum()) / (len(centred) - 1))
    return float(mean) / spread if spread > 0 else math.nan


def bonferroni(p_values: ArrayLike) -> Values:
    """Each p-value times how many there are, at most 1; compare with the level as it is."""
    values = np.asarray(p_values, dtype=float)
    return np.asarray(np.minimum(1, values * (~np.isnan(values)).sum()))


def holm(p_values: ArrayLike) -> Values:
    """Holm's step-down adjustment (1979): the i-th smallest of M times M - i + 1, at most 1, and not below the last."""
    values = np.asarray(p_values, dtype=float)
    order = np.argsort(values)  # NaN last
    count = int((~np.isnan(values)).sum())
    smallest = values[order[:count]]
    adjusted = np.full_like(values, np.nan)
    # maximum.accumulate keeps the order: no p-value ends up below that of a smaller one
    adjusted[order[:count]] = np.minimum(1, np.maximum.accumulate(smallest * np.arange(count, 0, -1)))
    return adjusted


def stratified_exact(tables: Sequence[tuple[int, int, int, int]]) -> float:
    """Two-sided p-value that two groups do something equally often, stratum by stratum; 1 without strata.

    A stratum is how many of the first group do it, of how many, and the same of the second. With one it is Fisher's
    exact test, with several the exact test of a common odds ratio, as R's `mantelhaen.test(exact = TRUE)`.

    >>> round(stratified_exact([(3, 3, 0, 3)]), 6)  # 2 of the 20 ways to choose three of six are as extreme
    0.1
    """
    chances, observed = np.ones(1), 0
    for first, size, second, other in tables:
        if not size + other:
            continue
        least, most = max(0, first + second - other), min(size, first + second)
        chances = np.convolve(chances, _hypergeometric(least, most, size + other, first + second, size))
        observed += first - least
    extreme = chances[chances <= chances[observed] * (1 + EXACT_TIE)]
    return min(1.0, float(extreme.sum()))


@lru_cache(maxsize=4096)  # words and answers of a prompt have few different counts
def _hypergeometric(least: int, most: int, total: int, marked: int, drawn: int) -> Values:
    from scipy.stats import hypergeom

    return np.asarray(hypergeom.pmf(np.arange(least, most + 1), total, marked, drawn))


def check_resamples(resamples: int) -> None:
    if resamples < 1:
        raise ValueError(f"resamples is {resamples}, expected at least 1")


USUAL_POWER = 0.8  # by convention (Cohen 1988)
MOST_PAIRS = 2**62  # a range of more has no length in Python


def minimum_population(sd: float, margin: float = 0.1, confidence: float = 0.98) -> int:
    """Documents that a population needs, so that the mean similarity to it is known to within the margin.

    ceil((z * sd / margin)^2), at least 1, from the standard deviation of one document's similarities to the
    population's; the margin is half the width of the two-sided interval.

    Source: Genie (arXiv 2606.12790); sd from 0.26 to 0.30 asks for 37 to 50.

    >>> minimum_population(0.302)  # (2.3263 * 0.302 / 0.1)^2 = 49.4
    50
    """
    if not 0 < margin < math.inf:
        raise ValueError(f"margin is {margin}, expected a number above 0")
    return max(1, math.ceil((_scaled_spread(sd, confidence) / margin) ** 2))


def margin(sd: float, n: int, confidence: float = 0.98) -> float:
    """Half width of the two-sided interval of a mean of n values, z * sd / sqrt(n).

    >>> round(margin(0.302, 50), 4)
    0.0994
    """
    if n < 1:
        raise ValueError(f"n is {n}, expected at least 1")
    return _scaled_spread(sd, confidence) / math.sqrt(n)


def _scaled_spread(sd: float, confidence: float) -> float:
    """Half width of the two-sided interval of a single value."""
    if not 0 <= sd < math.inf:
        raise ValueError(f"sd is {sd}, expected a number of at least 0")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}, expected a number between 0 and 1")
    return float(ndtri((1 + confidence) / 2)) * sd


def paired_power(delta: float, sd: float, n: int, level: float = 0.05) -> float:
    """Chance that a two-sided paired t test of n pairs rejects, when the true mean delta is this one; at 0 the level.

    Source: Cohen (1988), chapter 2: noncentral t with n - 1 degrees of freedom and noncentrality sqrt(n) * delta / sd.
    """
    if not math.isfinite(delta):
        raise ValueError(f"delta is {delta}, expected a finite number")
    shift = math.sqrt(n) * delta / sd
    bound = float(stdtrit(n - 1, 1 - level / 2))
    # two-sided: a rejection in the wrong direction is one too, however rare
    right_side, wrong_side = (float(nctdtr(n - 1, sign * abs(shift), -bound)) for sign in (-1, 1))
    return right_side + (0.0 if math.isnan(wrong_side) else wrong_side)  # scipy gives NaN for values below 1e-14


def pairs_needed(delta: float, sd: float, level: float = 0.05) -> int:
    """The fewest pairs with which a paired t test finds a true mean delta four times in five; at most 2**62."""
    most = 2
    while most < MOST_PAIRS and paired_power(delta, sd, most, level) < USUAL_POWER:
        most *= 2
    # power grows with the pairs
    return bisect_left(range(most), USUAL_POWER, lo=2, key=lambda n: paired_power(delta, sd, n, level))


def chance_of_seeing(count: int, total: int, draws: int) -> float:
    """Chance that a class is among some draws without replacement, 0 to 1: rarefaction (Hurlbert 1971)."""
    # one less the share of the samples that miss the class
    return 1 - math.comb(total - count, min(draws, total)) / math.comb(total, min(draws, total))


def expected_unseen(counts: Iterable[int], total: int, draws: int) -> float:
    """How many classes beyond those seen to expect in more draws than things were seen; 0 for no more than that.

    Source: Good (1953), equation 9: each further draw is of a new class as often as classes were seen once. Deviation:
    that share is held constant, an upper bound that is near where few draws are added.
    """
    singles = sum(count == 1 for count in counts)
    return max(0, draws - total) * singles / total if total else 0.0
