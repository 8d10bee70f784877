"""Confidence intervals for means of scores that come in clusters (epochs of one prompt)."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its confidence interval; the ends are NaN where fewer than two clusters allow none."""

    mean: float
    low: float
    high: float
    values: int
    clusters: int

    def within(self, lowest: float, highest: float) -> "Interval":
        """What is left of it where no value, and so no mean, can lie outside of these bounds.

        >>> Interval(0.98, 0.94, 1.02, values=8, clusters=8).within(0, 1).high
        1
        """
        if math.isnan(self.low):
            return self
        return replace(self, low=max(self.low, lowest), high=min(self.high, highest))


def clustered_interval(values: Sequence[float], clusters: Sequence[Hashable], confidence: float = 0.95) -> Interval:
    """Mean of the values with a t interval that treats each cluster as one observation of its own.

    The standard error is the cluster-robust one of a mean, sqrt(G/(G-1) * sum_g (sum_i (x_gi - mean))^2) / n,
    with G - 1 degrees of freedom; with one value a cluster it is the ordinary standard error.

    Args:
        values: Scores, shape (N,); NaN is left out.
        clusters: What each value belongs to, shape (N,), typically the prompt.
        confidence: Two-sided coverage, between 0 and 1.

    Raises:
        ValueError: If the lengths differ.

    Source: Miller 2024 (arXiv 2411.00640), section 2.2. Deviation: the G/(G-1) correction and t instead of z,
    because eight prompts are few.
    """
    if len(values) != len(clusters):
        raise ValueError(f"{len(values)} values but {len(clusters)} clusters, expected as many of each")
    kept = [(value, cluster) for value, cluster in zip(values, clusters, strict=True) if not math.isnan(value)]
    if not kept:
        return Interval(math.nan, math.nan, math.nan, 0, 0)
    scores = np.array([value for value, _ in kept])
    mean = float(scores.mean())
    sums: dict[Hashable, float] = {}
    for value, cluster in kept:
        sums[cluster] = sums.get(cluster, 0.0) + value - mean
    groups = len(sums)
    if groups < 2:
        return Interval(mean, math.nan, math.nan, len(kept), groups)
    squares = math.fsum(total**2 for total in sums.values())
    error = math.sqrt(groups / (groups - 1) * squares) / len(kept)
    half = float(stdtrit(groups - 1, (1 + confidence) / 2)) * error
    return Interval(mean, mean - half, mean + half, len(kept), groups)
