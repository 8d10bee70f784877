"""Effects of pairs: their deltas, Cohen's d, and p-values corrected for several tests at once."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

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


def check_options(resamples: int = 1, **shares: float) -> None:
    """Refuse a number of resamples that is none, and options that are no share."""
    if resamples < 1:
        raise ValueError(f"resamples is {resamples}, expected at least 1")
    for name, share in shares.items():
        if not 0 < share < 1:
            raise ValueError(f"{name} is {share}, expected a number between 0 and 1")
