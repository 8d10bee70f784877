"""Bootstraps: of the mean difference of pairs, and of any statistic of units such as stories."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from genie_inspect.statistics.effect import CELLS, TIE, PairedTest, Values, check_resamples, tested


@dataclass(frozen=True, slots=True)
class BootstrapInterval:
    """A statistic with its percentile interval."""

    value: float
    low: float
    high: float
    undefined: int = 0  # resamples in which the statistic is NaN; the interval leaves them out


UNKNOWN = BootstrapInterval(math.nan, math.nan, math.nan)  # of what was not measured


def paired_bootstrap(before: ArrayLike, after: ArrayLike, resamples: int = 10_000, seed: int = 0) -> PairedTest:
    """Whether the mean of after - before differs from 0: two-sided paired bootstrap, as the study has it.

    The deltas are centred and pairs are drawn with replacement; p = (1 + resamples whose mean lies at least as far
    from 0 as the observed delta) / (1 + resamples). The interval is the percentile one, 95%. Where pairs are few it
    finds too much, with normal deltas around 0 12% of the time at 5% with 8 pairs, 6% with 50; `genie compare` takes
    `paired_permutation`.

    Sides have shape (N,), or (N, F) for F columns at once; a pair with a NaN is left out of its column. Without pairs
    everything is NaN; with one pair all but its delta. Where all deltas are 0, p is 1.

    Source: Genie (arXiv 2606.12790) compares by paired bootstrap; Efron and Tibshirani (1993), chapters 13, 16;
    Davison and Hinkley (1997), section 4.2, for the 1 added above and below. Deviation: the deltas are centred first.

    >>> paired_bootstrap([0.1, 0.4, 0.3], [0.1, 0.4, 0.3]).p_value
    1.0
    """
    check_resamples(resamples)

    def percentiles(delta: Values, centred: Values) -> tuple[Values, Values, Values]:
        # centred deltas have a mean of 0, so that their resamples show what chance alone does; else p is about 0.5
        drawn = resampled_means(centred, resamples, seed)
        low, high = _ends(drawn, 0.025)
        # a hair less than the delta: equal sums differ in their last bits by the order of summation
        beyond = (np.abs(drawn) >= np.abs(delta) * (1 - TIE)).sum(axis=0)
        # the observed sample counts as one of the resamples, so that p is never 0
        return delta + low, delta + high, (1 + beyond) / (1 + resamples)

    return tested(before, after, percentiles)


def bootstrap_interval(
    statistic: Callable[[NDArray[np.intp]], float], units: int, resamples: int = 10_000, seed: int = 0
) -> BootstrapInterval:
    """A statistic of units, typically stories, with its percentile bootstrap interval.

    The ends are NaN with fewer than two units, and where no resample defines the statistic.
    """
    value = float(statistic(np.arange(units))) if units else math.nan
    if units < 2:
        return replace(UNKNOWN, value=value)
    generator = np.random.default_rng(seed)
    drawn = np.array([statistic(generator.integers(units, size=units)) for _ in range(resamples)], dtype=float)
    return percentile_interval(value, drawn)


def percentile_interval(value: float, drawn: Values, confidence: float = 0.95) -> BootstrapInterval:
    """A statistic with the percentile interval of its resamples."""
    # a correlation is undefined in resamples that draw one story only
    defined = drawn[~np.isnan(drawn)]
    low, high = _ends(defined, (1 - confidence) / 2) if len(defined) else (math.nan, math.nan)
    return BootstrapInterval(value, float(low), float(high), len(drawn) - len(defined))


def resampled_means(columns: Values, resamples: int, seed: int) -> Values:
    """Mean of each column over each resample of the rows, shape (resamples, F)."""
    units, generator, means = len(columns), np.random.default_rng(seed), []
    step = max(1, CELLS // units)
    for start in range(0, resamples, step):
        some = min(step, resamples - start)
        # each resample counts in a block of numbers of its own, so that one bincount serves them all
        drawn = generator.integers(units, size=(some, units)) + np.arange(some)[:, None] * units
        counts = np.bincount(drawn.ravel(), minlength=some * units).reshape(some, units)
        means.append(counts.astype(float) @ columns)
    return np.concatenate(means) / units


def _ends(drawn: Values, tail: float) -> tuple[Any, Any]:
    """The drawn values with a share of `tail` outside of them on either side."""
    ordered = np.sort(drawn, axis=0)
    # whole order statistics, rounded outwards: never narrower than asked for
    outside = math.floor(tail * (len(ordered) - 1))
    return ordered[outside], ordered[len(ordered) - 1 - outside]
