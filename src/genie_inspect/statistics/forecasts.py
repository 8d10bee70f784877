"""How good chances are, held against what came true: sharpness, calibration, order, verdicts, with intervals."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from genie_inspect.statistics.bootstrap import BootstrapInterval, percentile_interval

Values = NDArray[np.float64]
Codes = NDArray[np.int64]

AUC, AUC_WITHIN = "auc", "auc_within"
LOG_LOSS = "log_loss"
CLOSEST = 1e-12  # to certainty, so that no log loss is infinite
BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """The forecasts of one tenth of the scale."""

    forecasts: int
    mean: float
    """Of the chances."""
    share: float
    """Of those that came true."""


@dataclass(frozen=True)
class Forecasts:
    """Chances of events, and whether they came true; events of one cluster (a plot) are drawn together."""

    chances: Values
    """Shape (N,), 0 to 1."""
    outcomes: Values
    """1 = it came true, 0 = not, shape (N,)."""
    clusters: Codes
    """From 0, shape (N,)."""
    strata: Codes
    """Only events of one stratum are held against each other in `auc`, from 0, shape (N,)."""
    inner: Codes
    """As `strata`, for `auc_within`, such as the rater of each vote."""

    @property
    def log_losses(self) -> Values:
        """Minus the log of the chance of what came true, of each event."""
        chances = np.clip(self.chances, CLOSEST, 1 - CLOSEST)
        return np.asarray(-np.where(self.outcomes > 0, np.log(chances), np.log1p(-chances)))

    @cached_property
    def sums(self) -> Values:
        """What all figures but those of order are made of, by cluster, shape (clusters, 9)."""
        chances, outcomes = self.chances, self.outcomes
        says_yes = chances > 0.5
        parts = [
            np.ones(len(chances)),
            self.log_losses,
            (chances - outcomes) ** 2,
            says_yes * outcomes,
            says_yes * (1 - outcomes),
            outcomes,
            chances,
            chances**2,
            chances * outcomes,
        ]
        count = int(self.clusters.max()) + 1
        return np.column_stack([np.bincount(self.clusters, part, count) for part in parts])

    @cached_property
    def orders(self) -> dict[str, Callable[[Values], float]]:
        """The figures of order, each as a function of the events' weights."""
        return {
            AUC: auc(self.chances, self.outcomes, self.strata),
            AUC_WITHIN: auc(self.chances, self.outcomes, self.inner),
        }

    def calibration(self) -> list[Bin]:
        """What came true of the forecasts in each tenth of the scale, the empty ones left out."""
        tenths = np.minimum((self.chances * BINS).astype(int), BINS - 1)
        return [
            Bin(int(own.sum()), float(self.chances[own].mean()), float(self.outcomes[own].mean()))
            for own in (tenths == tenth for tenth in range(BINS))
            if own.any()
        ]


def figures_of(sums: Values) -> dict[str, Values]:
    """Log loss, Brier score, Cohen's kappa, F1, precision, recall and Pearson's r, from sums over events.

    A verdict is yes from a chance above a half. Each is NaN where it is not defined.

    Args:
        sums: As `Forecasts.sums`, summed over clusters, shape (..., 9).
    """
    count, log_loss, brier, hits, alarms, yes, said, squares, products = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        calls = hits + alarms
        observed = (hits + count - yes - alarms) / count
        by_chance = (calls * yes + (count - calls) * (count - yes)) / count**2
        spread = np.sqrt((squares - said**2 / count) * (yes - yes**2 / count))
        # what rounding leaves of the spread of one value throughout is no spread
        varies = spread > 1e-9 * count
        return {
            LOG_LOSS: log_loss / count,
            "brier": brier / count,
            "kappa": np.where(by_chance < 1, (observed - by_chance) / (1 - by_chance), np.nan),
            "f1": 2 * hits / (calls + yes),
            "precision": hits / calls,
            "recall": hits / yes,
            "pearson": np.where(varies, (products - said * yes / count) / np.where(varies, spread, 1), np.nan),
        }


def auc(chances: Values, outcomes: Values, strata: Codes) -> Callable[[Values], float]:
    """The share of pairs of one stratum, one that came true and one not, of which the former had the higher chance.

    Equal chances count a half; NaN without such a pair.

    Returns:
        A function of the events' weights, shape (N,): it sorts once for all of them.
    """
    order = np.lexsort((chances, strata))
    ordered = strata[order], chances[order]
    true = outcomes[order] > 0
    changes = np.r_[True, (np.diff(ordered[0]) != 0) | (np.diff(ordered[1]) != 0)]
    ties = np.flatnonzero(changes)
    starts = np.r_[True, np.diff(ordered[0][ties]) != 0]
    blocks = np.cumsum(starts) - 1

    def weighted(weights: Values) -> float:
        own = weights[order]
        yes, no = (np.add.reduceat(own * side, ties) for side in (true, ~true))
        before = np.cumsum(no) - no
        below = before - before[np.flatnonzero(starts)][blocks]
        pairs = (np.bincount(blocks, yes) * np.bincount(blocks, no)).sum()
        return float((yes * (below + no / 2)).sum() / pairs) if pairs > 0 else math.nan

    return weighted


@dataclass(frozen=True, slots=True)
class Draws:
    """Resamples of clusters, the same for every forecast, so that differences between forecasts have intervals too."""

    counts: Values
    """How often each resample has each cluster, shape (resamples, clusters)."""

    @classmethod
    def of(cls, clusters: int, resamples: int, seed: int) -> "Draws":
        """So many resamples of as many clusters as there are."""
        generator = np.random.default_rng(seed)
        drawn = [np.bincount(generator.integers(clusters, size=clusters), minlength=clusters) for _ in range(resamples)]
        return cls(np.array(drawn, dtype=float))

    def figures(self, forecasts: Forecasts) -> dict[str, tuple[float, Values]]:
        """Each figure of some forecasts: its value, and the one of each resample."""
        values, drawn = figures_of(forecasts.sums.sum(axis=0)), figures_of(self.counts @ forecasts.sums)
        found = {name: (float(values[name]), drawn[name]) for name in values}
        for name, weighted in forecasts.orders.items():
            resampled = np.array([weighted(counts[forecasts.clusters]) for counts in self.counts])
            found[name] = weighted(np.ones(len(forecasts.chances))), resampled
        return found

    def difference(self, sums: Values, counts: Values) -> BootstrapInterval:
        """The mean of differences between two forecasts of the same events.

        Args:
            sums: Of the differences, by cluster.
            counts: Of the events, by cluster.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            drawn = (self.counts @ sums) / (self.counts @ counts)
        return percentile_interval(float(sums.sum() / counts.sum()) if counts.sum() else math.nan, drawn)
