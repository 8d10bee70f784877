"""Confidence intervals for means of scores that hang together (documents of one prompt)."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from scipy.special import betaincinv, ndtri, stdtrit

NEAR = 100
"""An end of the scale that is this many half widths away does not bend an interval."""
FEW = 8  # prompts
OPEN = 1e6
"""Distances from one end to the mean at which an open end is taken to lie: farther changes no digit that is shown."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its confidence interval; the ends are NaN where there is none: see `prompt_interval`."""

    mean: float
    low: float
    high: float
    values: int
    clusters: int
    """Prompts with a value."""


NO_INTERVAL = Interval(math.nan, math.nan, math.nan, values=0, clusters=0)


def prompt_means(values: Sequence[float], prompts: Sequence[Hashable]) -> dict[Hashable, float]:
    """The mean of each prompt's values, in order of appearance; a prompt without any is left out.

    >>> prompt_means([1, 3, math.nan, math.nan], ["a", "a", "a", "b"])
    {'a': 2.0}
    """
    if len(values) != len(prompts):
        raise ValueError(f"{len(values)} values but {len(prompts)} prompts, expected as many of each")
    groups: dict[Hashable, list[float]] = {}
    for value, prompt in zip(values, prompts, strict=True):
        if not math.isnan(value):
            groups.setdefault(prompt, []).append(value)
    return {prompt: _mean(scores) for prompt, scores in groups.items()}


def prompt_interval(
    values: Sequence[float],
    prompts: Sequence[Hashable],
    confidence: float = 0.95,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> Interval:
    """Mean of the prompts' means, with an interval for which each prompt is one observation.

    Prompts weigh alike, however many documents of each were scored: a comparison of two runs pairs them by prompt, so
    that this is the mean it compares, and a prompt that is refused half the time does not count half. Documents of one
    prompt are alike and no observations of their own.

    On an open scale it is the t interval. Where every prompt has as many values, mean and interval are those of
    cluster-robust standard errors (Miller 2024, arXiv 2411.00640, section 2.2, with t and G - 1 degrees of freedom
    instead of z). Near an end of a scale values are skewed, and a t interval is too narrow: with 8 prompts around 0.995
    it covers the mean in 71% to 91% of runs. There the interval bends as one of a proportion does, see `_bounded`.
    """
    means = list(prompt_means(values, prompts).values())
    count, groups = sum(not math.isnan(value) for value in values), len(means)
    if not means:
        return NO_INTERVAL
    mean, error = _mean(means), standard_error(means)
    half = _t(groups, confidence) * error
    low, high = mean - half, mean + half
    if min(mean - bounds[0], bounds[1] - mean) < NEAR * half and bounds[0] <= min(means) <= max(means) <= bounds[1]:
        low, high = _bounded(mean, error, groups, bounds, confidence)
    return Interval(mean, low, high, count, groups)


def _bounded(
    mean: float, error: float, groups: int, bounds: tuple[float, float], confidence: float
) -> tuple[float, float]:
    """Ends of the interval of a mean on a scale that ends.

    The mean stands for a proportion of so many trials as would give it the half width of its t interval. The interval
    holds what either of two readings of these trials holds. In one they are counted (Clopper and Pearson 1934, with
    the effective number of Korn and Graubard 1998). In the other the odds of the mean vary around the true odds by a
    factor, as with values whose distances from an end are skewed.

    By simulation with 8, 12, 20 and 50 prompts (20,000 runs each) it covers the mean in 93.4% to 98% of runs of beta
    values around 0.5 to 0.999 whose distances from the end have a standard deviation of up to 2.5 times their mean,
    where a t interval of 8 prompts covers it in 71%; with lognormal distances of 1.3 times their mean in 92% to 93%.
    """
    near, far = bounds
    # an open end is an end far away
    if math.isinf(far):
        far = near + OPEN * (mean - near)
    elif math.isinf(near):
        near = far - OPEN * (far - mean)
    share, tails = (mean - near) / (far - near), ((1 - confidence) / 2, (1 + confidence) / 2)

    def trials(prompts: int) -> tuple[float, float]:
        error_of_share = error / (far - near) * _t(prompts, confidence) / float(ndtri(tails[1]))
        count = share * (1 - share) / error_of_share**2
        return count * share, count * (1 - share)

    hits, misses = trials(groups)
    low, high = float(betaincinv(hits, misses + 1, tails[0])), float(betaincinv(hits + 1, misses, tails[1]))
    # two prompts less, because so skewed values seldom show their spread in a few; but not less than that of FEW, with
    # which this reading would hold the whole scale, whatever the values
    drawn = [float(betaincinv(*trials(max(groups, FEW) - 2), tail)) for tail in tails]
    odds = (share / (1 - share)) ** 2
    scaled = [odds * (1 - one) / (odds * (1 - one) + one) for one in drawn]
    low, high = min(low, scaled[1]), max(high, scaled[0])
    return near + low * (far - near), near + high * (far - near)


def _t(groups: int, confidence: float) -> float:
    return float(stdtrit(groups - 1, (1 + confidence) / 2))


def standard_error(means: Sequence[float]) -> float:
    """Standard error of the mean of prompts' means."""
    groups = len(means)
    if groups < 2 or math.isclose(min(means), max(means), rel_tol=1e-12, abs_tol=1e-12) or any(map(math.isinf, means)):
        return math.nan
    mean = _mean(means)
    # by the largest, so that no square overflows
    largest = max(abs(prompt_mean / 2 - mean / 2) for prompt_mean in means)
    variance = math.fsum(((prompt_mean / 2 - mean / 2) / largest) ** 2 for prompt_mean in means) / (groups - 1)
    return 2 * largest * math.sqrt(variance / groups)


def _mean(values: Sequence[float]) -> float:
    """The mean, also of values whose sum is too large for a float; NaN of infinities with both signs."""
    try:
        return math.fsum(values) / len(values)
    except OverflowError:
        return math.fsum(value / len(values) for value in values)
    except ValueError:
        return math.nan
