"""How good chances are, held against what came true: sharpness, calibration, order, verdicts, with intervals."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from genie_inspect.statistics.bootstrap import BootstrapInterval, percentile_interval

Values = NDArray[np.float64]
Codes = NDArray[np.int64]

AUC, AUC_WITHIN, PEARSON, KAPPA = "auc", "auc_within", "pearson", "kappa"
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
    """Only events of one stratum are held against each other by `orders`, from 0, shape (N,).

    A stratum holds chances of one fold: a fold rich in yes lowers the chances that are fitted without it, so that
    chances of different folds run against what comes true even where they know nothing.
    """
    inner: Codes
    """As `strata`, for `auc_within`, such as the fold and the rater of each vote."""

    @property
    def log_losses(self) -> Values:
        """Minus the log of the chance of what came true, of each event."""
        chances = np.clip(self.chances, CLOSEST, 1 - CLOSEST)
        return np.asarray(-np.where(self.outcomes > 0, np.log(chances), np.log1p(-chances)))

    @cached_property
    def sums(self) -> Values:
        """What the figures are made of that compare no events with each other, by cluster, shape (clusters, 6)."""
        chances, outcomes = self.chances, self.outcomes
        says_yes = chances > 0.5
        parts = [
            np.ones(len(chances)),
            self.log_losses,
            (chances - outcomes) ** 2,
            says_yes * outcomes,
            says_yes * (1 - outcomes),
            outcomes,
        ]
        count = int(self.clusters.max()) + 1
        return np.column_stack([np.bincount(self.clusters, part, count) for part in parts])

    @cached_property
    def orders(self) -> dict[str, tuple[float, Callable[[Values], float]]]:
        """Figures of order, and kappa: the lowest there can be, and a function of how often each cluster is drawn."""
        return {
            AUC: (0, auc(self.chances, self.outcomes, self.strata, self.clusters)),
            AUC_WITHIN: (0, auc(self.chances, self.outcomes, self.inner, self.clusters)),
            PEARSON: (-1, pearson(self.chances, self.outcomes, self.strata, self.clusters)),
            KAPPA: (-1, kappa(self.chances, self.outcomes, self.strata, self.clusters)),
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
    """Log loss, Brier score, F1, precision and recall, from sums over events.

    A verdict is yes from a chance above a half. Each is NaN where it is not defined.
    """
    count, log_loss, brier, hits, alarms, yes = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return {
            LOG_LOSS: log_loss / count,
            "brier": brier / count,
            "f1": 2 * hits / (hits + alarms + yes),
            "precision": hits / (hits + alarms),
            "recall": hits / yes,
        }


def auc(chances: Values, outcomes: Values, strata: Codes, clusters: Codes) -> Callable[[Values], float]:
    """The share of pairs of one stratum, one that came true and one not, of which the former had the higher chance.

    Equal chances count a half. The share is over the pairs of all strata together, so that a stratum weighs as many
    pairs as it has; one in which all or nothing came true has none. NaN without such a pair.
    """
    count = int(clusters.max()) + 1
    # the pairs within each cluster, which the weights of both sides would square
    own = strata * count + clusters
    cluster = np.unique(own) % count
    inside = [np.bincount(cluster, part, count) for part in _pairs(chances, outcomes, own)(np.ones(len(chances)))]
    across = _pairs(chances, outcomes, strata)

    def drawn(counts: Values) -> float:
        ordered, pairs = (
            part.sum() - (counts * (counts - 1)) @ mine
            for part, mine in zip(across(counts[clusters]), inside, strict=True)
        )
        return float(ordered / pairs) if pairs > 0 else math.nan

    return drawn


def _pairs(chances: Values, outcomes: Values, strata: Codes) -> Callable[[Values], tuple[Values, Values]]:
    """By stratum, in the order of their codes, the pairs whose order is right and all pairs, by the events' weights."""
    order = np.lexsort((chances, strata))
    ordered = strata[order], chances[order]
    true = outcomes[order] > 0
    changes = np.r_[True, (np.diff(ordered[0]) != 0) | (np.diff(ordered[1]) != 0)]
    ties = np.flatnonzero(changes)
    starts = np.r_[True, np.diff(ordered[0][ties]) != 0]
    blocks = np.cumsum(starts) - 1

    def weighted(weights: Values) -> tuple[Values, Values]:
        own = weights[order]
        yes, no = (np.add.reduceat(own * side, ties) for side in (true, ~true))
        before = np.cumsum(no) - no
        below = before - before[np.flatnonzero(starts)][blocks]
        right, trues, falses = (np.bincount(blocks, part) for part in (yes * (below + no / 2), yes, no))
        return np.asarray(right, dtype=float), np.asarray(trues * falses, dtype=float)

    return weighted


def pearson(chances: Values, outcomes: Values, strata: Codes, clusters: Codes) -> Callable[[Values], float]:
    """Pearson's r of chances and outcomes within each stratum, averaged with the weights of `auc`, its pairs.

    A stratum whose chances are all equal counts as 0, as ties count a half in `auc`; NaN where all strata are such.
    Neither leaving those out nor one r of all events less their stratum's mean would do: both are below 0 where chances
    know nothing, because the folds that gain weight are those that lack what the others happen to share.
    """
    parts = (np.ones(len(chances)), chances, outcomes, chances**2, chances * outcomes)
    cells = _Cells.of(strata, clusters, parts)
    size, _, yes, *_ = cells.sums
    inside = yes * (size - yes)

    def products(counts: Values) -> tuple[Values, Values]:
        """By stratum its pairs, and its r or NaN."""
        weights = counts[cells.clusters]
        size, said, yes, squares, hits = cells.by_stratum(weights * cells.sums)
        # a cluster that is drawn twice is not held against itself
        pairs = yes * (size - yes) - cells.by_stratum(weights * (weights - 1) * inside)
        size = np.maximum(size, 1)
        spread = squares - said**2 / size
        # what rounding leaves of the spread of one value throughout is no spread
        varies = (spread > 1e-9 * size) & (pairs > 0)
        within = (hits - said * yes / size)[varies] / np.sqrt((spread * yes * (size - yes) / size)[varies])
        by_stratum = np.full(len(pairs), np.nan)
        by_stratum[varies] = within
        return pairs, by_stratum

    # resamples without an r are 0 like their strata; where nothing ever varies there is no r at all
    has_one = not np.isnan(products(np.ones(int(clusters.max()) + 1))[1]).all()

    def drawn(counts: Values) -> float:
        pairs, by_stratum = products(counts)
        total = pairs.sum()
        return float(pairs @ np.nan_to_num(by_stratum) / total) if has_one and total > 0 else math.nan

    return drawn


def kappa(chances: Values, outcomes: Values, strata: Codes, clusters: Codes) -> Callable[[Values], float]:
    """Cohen's kappa of verdicts, yes from a chance above a half, and what came true; by chance = within a stratum.

    The agreement beyond chance of all strata together over what there could be; NaN where there could be none.
    """
    says_yes = (chances > 0.5).astype(float)
    cells = _Cells.of(strata, clusters, (np.ones(len(chances)), says_yes, outcomes, says_yes * outcomes))

    def drawn(counts: Values) -> float:
        size, calls, yes, hits = cells.by_stratum(counts[cells.clusters] * cells.sums)
        by_chance = (calls * yes + (size - calls) * (size - yes)) / np.maximum(size, 1)
        beyond = (size - by_chance).sum()
        # what rounding leaves of nothing is nothing
        return float((size - calls - yes + 2 * hits - by_chance).sum() / beyond) if beyond > 1e-9 else math.nan

    return drawn


@dataclass(frozen=True, slots=True)
class _Cells:
    """Sums over the events of one stratum and cluster: a cell each, strata in the order of their codes."""

    clusters: Codes
    starts: Codes
    """The first cell of each stratum."""
    sums: Values
    """Shape (parts, cells)."""

    @classmethod
    def of(cls, strata: Codes, clusters: Codes, parts: tuple[Values, ...]) -> "_Cells":
        count = int(clusters.max()) + 1
        codes, cell = np.unique(strata * count + clusters, return_inverse=True)
        starts = np.flatnonzero(np.r_[True, np.diff(codes // count) != 0])
        return cls(codes % count, starts, np.array([np.bincount(cell, part) for part in parts]))

    def by_stratum(self, cells: Values) -> Values:
        return np.add.reduceat(cells, self.starts, axis=-1)


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

    def figures(self, forecasts: Forecasts, folds: int) -> dict[str, BootstrapInterval]:
        """Each figure of some forecasts with its interval.

        Of figures of order and kappa the percentile interval is widened by the root of 1 + folds / (folds - 1), and by
        t over z: what was learnt for one fold is nearly what was learnt for the next, so that the draws, which learn
        nothing anew, show about half of the variance (Nadeau and Bengio 2003).
        """
        values, drawn = figures_of(forecasts.sums.sum(axis=0)), figures_of(self.counts @ forecasts.sums)
        found = {name: percentile_interval(float(values[name]), drawn[name]) for name in values}
        small = stdtrit(max(1, self.counts.shape[1] - 1), 0.975) / ndtri(0.975)
        wider = small * math.sqrt(1 + folds / (folds - 1))
        for name, (lowest, function) in forecasts.orders.items():
            resampled = np.array([function(counts) for counts in self.counts])
            interval = percentile_interval(function(np.ones(self.counts.shape[1])), resampled)
            # between the lowest value there can be and 1; neither max nor min would hand on NaN
            low, high = (
                float(np.clip(interval.value + wider * (end - interval.value), lowest, 1))
                for end in (interval.low, interval.high)
            )
            found[name] = replace(interval, low=low, high=high)
        return found

    def difference(self, sums: Values, counts: Values, confidence: float = 0.95) -> BootstrapInterval:
        """The mean of differences between two forecasts of the same events."""
        with np.errstate(divide="ignore", invalid="ignore"):
            drawn = (self.counts @ sums) / (self.counts @ counts)
        return percentile_interval(float(sums.sum() / counts.sum()) if counts.sum() else math.nan, drawn, confidence)
