"""How good chances are, held against what came true: sharpness, calibration, order, verdicts, with intervals."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

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
class Forecasts:
    """Chances of events, and whether they came true; events of one cluster (a plot) are drawn together.

    Only events of one stratum are held against each other. A stratum holds chances of one fold: a fold rich in yes
    lowers the chances that are fitted without it, so that chances of different folds run against what comes true even
    where they know nothing.
    """

    chances: Values  # shape (N,), 0 to 1
    outcomes: Values  # 1 = it came true, 0 = not, shape (N,)
    clusters: Codes  # from 0, shape (N,)
    strata: Codes  # from 0, shape (N,)
    inner: Codes  # as `strata`, for `auc_within`, such as the fold and the rater of each vote

    @property
    def log_losses(self) -> Values:
        """Minus the log of the chance of what came true, of each event."""
        chances = np.clip(self.chances, CLOSEST, 1 - CLOSEST)
        return np.asarray(-np.where(self.outcomes > 0, np.log(chances), np.log1p(-chances)))

    def calibration(self) -> list[tuple[int, float, float]]:
        """How many forecasts are in each tenth of the scale, their mean, and the share that came true.

        Empty tenths are left out.
        """
        tenths = np.minimum((self.chances * BINS).astype(int), BINS - 1)
        return [
            (int(own.sum()), float(self.chances[own].mean()), float(self.outcomes[own].mean()))
            for own in (tenths == tenth for tenth in range(BINS))
            if own.any()
        ]


def auc(chances: Values, outcomes: Values, strata: Codes, clusters: Codes, draws: Values) -> Values:
    """By draw the share of pairs of one stratum, one that came true and one not, of which the former was more likely.

    Equal chances count a half. The share is over the pairs of all strata together, so that a stratum weighs as many
    pairs as it has; one in which all or nothing came true has none. NaN without such a pair.
    """
    count = draws.shape[1]
    # the pairs within each cluster, which the weights of both sides would square
    own = strata * count + clusters
    cluster = np.unique(own) % count
    inside = [np.bincount(cluster, part, count) for part in _pairs(chances, outcomes, own)(np.ones(len(chances)))]
    across = _pairs(chances, outcomes, strata)
    sums = np.array([[part.sum() for part in across(counts[clusters])] for counts in draws])
    ordered, pairs = sums.T - np.array(inside) @ (draws * (draws - 1)).T
    return _shares(ordered, pairs)


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


def pearson(chances: Values, outcomes: Values, strata: Codes, clusters: Codes, draws: Values) -> Values:
    """By draw Pearson's r of chances and outcomes within each stratum, averaged with the weights of `auc`, its pairs.

    A stratum whose chances are all equal counts as 0, as ties count a half in `auc`; NaN where all strata are such in
    the first draw, which has every cluster once. Neither leaving those out nor one r of all events less their stratum's
    mean would do: both are below 0 where chances know nothing, because the folds that gain weight are those that lack
    what the others happen to share.
    """
    parts = (np.ones(len(chances)), chances, outcomes, chances**2, chances * outcomes)
    cells = _cells(parts, strata, clusters, draws.shape[1])
    size, said, yes, squares, hits = draws @ cells
    # a cluster that is drawn twice is not held against itself
    pairs = yes * (size - yes) - (draws * (draws - 1)) @ (cells[2] * (cells[0] - cells[2]))
    size = np.maximum(size, 1)
    spread = squares - said**2 / size
    # what rounding leaves of the spread of one value throughout is no spread
    varies = (spread > 1e-9 * size) & (pairs > 0)
    scale = np.sqrt(np.where(varies, spread * yes * (size - yes) / size, 1))
    within = np.where(varies, (hits - said * yes / size) / scale, 0)
    return _shares((pairs * within).sum(axis=1), pairs.sum(axis=1) * varies[0].any())


def kappa(chances: Values, outcomes: Values, strata: Codes, clusters: Codes, draws: Values) -> Values:
    """By draw Cohen's kappa of verdicts, yes from a chance above a half, and what came true; chance is by stratum.

    The agreement beyond chance of all strata together over what there could be; NaN where there could be none.
    """
    says_yes = (chances > 0.5).astype(float)
    parts = (np.ones(len(chances)), says_yes, outcomes, says_yes * outcomes)
    size, calls, yes, hits = draws @ _cells(parts, strata, clusters, draws.shape[1])
    by_chance = (calls * yes + (size - calls) * (size - yes)) / np.maximum(size, 1)
    return _shares((size - calls - yes + 2 * hits - by_chance).sum(axis=1), (size - by_chance).sum(axis=1))


def _cells(parts: tuple[Values, ...], strata: Codes, clusters: Codes, count: int) -> Values:
    """Sums over the events of one cluster and stratum, shape (parts, clusters, strata)."""
    width = int(strata.max()) + 1
    sums = [np.bincount(clusters * width + strata, part, count * width) for part in parts]
    return np.array(sums, dtype=float).reshape(len(parts), count, width)


def _shares(part: Values, whole: Values) -> Values:
    # what rounding leaves of nothing is nothing
    return np.asarray(np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 1e-9))


def drawn_clusters(clusters: int, resamples: int, seed: int) -> Values:
    """How often each resample has each cluster, shape (resamples, clusters).

    The same resamples serve every forecast, so that differences between forecasts have intervals too.
    """
    generator = np.random.default_rng(seed)
    drawn = [np.bincount(generator.integers(clusters, size=clusters), minlength=clusters) for _ in range(resamples)]
    return np.array(drawn, dtype=float)


def figures_of(forecasts: Forecasts, draws: Values, folds: int) -> dict[str, BootstrapInterval]:
    """Each figure of some forecasts with its interval, NaN where it is not defined; a verdict is yes from above a half.

    Of figures of order and kappa the percentile interval is widened by the root of 1 + folds / (folds - 1), and by
    t over z: what was learnt for one fold is nearly what was learnt for the next, so that the draws, which learn
    nothing anew, show about half of the variance (Nadeau and Bengio 2003).
    """
    chances, outcomes, clusters = forecasts.chances, forecasts.outcomes, forecasts.clusters
    count, says_yes = draws.shape[1], chances > 0.5
    parts = (
        *(np.ones(len(chances)), forecasts.log_losses, (chances - outcomes) ** 2),
        *(says_yes * outcomes, says_yes * (1 - outcomes), outcomes),
    )
    sums = np.column_stack([np.bincount(clusters, part, count) for part in parts])

    def ratios(sums: Values) -> dict[str, Values]:
        events, log_loss, brier, hits, alarms, yes = np.moveaxis(sums, -1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return {
                LOG_LOSS: log_loss / events,
                "brier": brier / events,
                "f1": 2 * hits / (hits + alarms + yes),
                "precision": hits / (hits + alarms),
                "recall": hits / yes,
            }

    values, drawn = ratios(sums.sum(axis=0)), ratios(draws @ sums)
    found = {name: percentile_interval(float(values[name]), drawn[name]) for name in values}
    wider = stdtrit(max(1, count - 1), 0.975) / ndtri(0.975) * math.sqrt(1 + folds / (folds - 1))
    # each with the lowest value that there can be
    for name, figure, strata, lowest in (
        (AUC, auc, forecasts.strata, 0),
        (AUC_WITHIN, auc, forecasts.inner, 0),
        (PEARSON, pearson, forecasts.strata, -1),
        (KAPPA, kappa, forecasts.strata, -1),
    ):
        value, *resampled = figure(chances, outcomes, strata, clusters, np.vstack([np.ones(count), draws])).tolist()
        interval = percentile_interval(value, np.array(resampled))
        # neither max nor min would hand on NaN
        low, high = (
            float(np.clip(interval.value + wider * (end - interval.value), lowest, 1))
            for end in (interval.low, interval.high)
        )
        found[name] = replace(interval, low=low, high=high)
    return found


def mean_difference(draws: Values, sums: Values, counts: Values, confidence: float = 0.95) -> BootstrapInterval:
    """The mean of differences between two forecasts of the same events, from their sum and number by cluster."""
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = (draws @ sums) / (draws @ counts)
    return percentile_interval(float(sums.sum() / counts.sum()) if counts.sum() else math.nan, drawn, confidence)
