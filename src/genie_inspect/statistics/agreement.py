"""Agreement between raters, of labels with those that are right, and of chances with what came true."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtrit

from genie_inspect.statistics.bootstrap import BootstrapInterval, percentile_interval
from genie_inspect.statistics.effect import Values

Codes = NDArray[np.int64]
Level = Literal["nominal", "ordinal", "interval"]


def krippendorff_alpha(ratings: ArrayLike, level: Level = "ordinal") -> float:
    """Krippendorff's alpha: 1 = perfect agreement, 0 = as by chance, below 0 = systematic disagreement.

    Ratings have shape (raters, units), NaN = missing. NaN when no unit has two ratings, or when all ratings are one
    value (no chance to disagree).

    Source: Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), the coincidence matrix form.
    """
    if level not in get_args(Level):
        raise ValueError(f"level is {level!r}, expected nominal, ordinal or interval")
    table = np.asarray(ratings, dtype=float)
    if table.ndim != 2:
        raise ValueError(f"ratings have {table.ndim} dimensions, expected 2: (raters, units)")
    values = np.unique(table[~np.isnan(table)])
    counts = np.array([(table == value).sum(axis=0) for value in values]).reshape(len(values), table.shape[1])
    raters = counts.sum(axis=0)
    # a unit with one rating has nobody to agree with and is in no pair
    counts, raters = counts[:, raters > 1], raters[raters > 1]
    weighted = counts / (raters - 1)
    # how often each two values meet within a unit; the diagonal takes away the pairs of a rating with itself
    coincidences = weighted @ counts.T - np.diag(weighted.sum(axis=1))
    totals = coincidences.sum(axis=0)
    pairable = totals.sum()
    if pairable == 0:
        return math.nan
    if level == "nominal":
        distances = 1 - np.eye(len(values))
    else:
        # ordinal: the ranks that lie between two values, each end counted half
        places = values if level == "interval" else np.cumsum(totals) - totals / 2
        distances = (places[:, None] - places[None, :]) ** 2
    # as if all values were drawn from one urn without replacement, hence pairable - 1
    expected = (np.outer(totals, totals) * distances).sum() / (pairable - 1)
    return float(1 - (coincidences * distances).sum() / expected) if expected > 0 else math.nan


def fleiss_kappa(counts: ArrayLike) -> float:
    """Fleiss' kappa: 1 = perfect agreement, 0 = as by chance when raters keep to the shares seen over all units.

    Counts say how many raters put each unit in each category, shape (units, categories); as many raters every time. NaN
    without units, with fewer than two raters, and when all ratings are one category (no chance to disagree).

    Source: Fleiss (1971). `krippendorff_alpha` allows for missing ratings.

    >>> fleiss_kappa([[2, 0], [0, 2], [1, 1], [1, 1]])  # observed 1/2; shares 1/2 and 1/2, by chance 1/2
    0.0
    """
    table, observed = _observed_agreement(counts)
    # max: an empty table gives no shares, and the agreement is NaN
    shares = table.sum(axis=0) / max(1, table.sum())
    return _beyond_chance(observed, float((shares**2).sum()))


def randolph_kappa(counts: ArrayLike) -> float:
    """Randolph's free-marginal kappa: 1 = perfect agreement, 0 = as by chance when every category is as likely.

    Unlike Fleiss' kappa it does not fall when nearly all units rightly get one category. Counts are as there; a
    category that was not used still needs its column, because chance is 1 / categories. NaN without units, with fewer
    than two raters, and with a single category.

    Source: Randolph (2005), Free-Marginal Multirater Kappa.

    >>> randolph_kappa([[2, 0], [2, 0], [2, 0], [1, 1]])  # observed 3/4, by chance 1/2
    0.5
    """
    table, observed = _observed_agreement(counts)
    return _beyond_chance(observed, 1 / max(1, table.shape[1]))


def cohen_kappa(a: Sequence[Hashable], b: Sequence[Hashable]) -> float:
    """Cohen's kappa of two raters, unweighted: 1 = perfect agreement, 0 = as by chance when each keeps to its shares.

    A unit that either rater left out (None, NaN) does not count. NaN when no unit has both ratings, and when both
    raters used one and the same category throughout. Source: Cohen (1960).

    >>> cohen_kappa("YYNN", "YNNN")  # observed 3/4; by chance 1/2 * 1/4 + 1/2 * 3/4 = 1/2
    0.5
    """
    if len(a) != len(b):
        raise ValueError(f"{len(a)} ratings against {len(b)}, expected as many from each rater")
    # only NaN differs from itself
    pairs = [pair for pair in zip(a, b, strict=True) if not any(rating is None or rating != rating for rating in pair)]
    if not pairs:
        return math.nan
    # each rater's own shares, which the chance is made of; Fleiss takes those of all raters together
    first, second = (Counter(side) for side in zip(*pairs, strict=True))
    chance = sum(first[label] * second[label] for label in first) / len(pairs) ** 2
    return _beyond_chance(sum(left == right for left, right in pairs) / len(pairs), chance)


def _observed_agreement(counts: ArrayLike) -> tuple[Values, float]:
    """The checked table, and the share of pairs of raters that agree, over all units; NaN where there is no pair."""
    table = np.asarray(counts, dtype=float)
    if table.ndim != 2:
        raise ValueError(f"counts have {table.ndim} dimensions, expected 2: (units, categories)")
    if not ((table >= 0) & (table == np.floor(table)) & np.isfinite(table)).all():
        raise ValueError("counts contain a value that is not a count, expected whole numbers of at least 0")
    raters = table.sum(axis=1)
    if len(raters) and raters.min() < raters.max():
        raise ValueError(
            f"units have {raters.min():.0f} to {raters.max():.0f} ratings, expected as many for every unit"
        )
    # ordered pairs of two raters; each pair counts twice above and below the line
    pairs = (raters * (raters - 1)).sum()
    return table, float((table * (table - 1)).sum() / pairs) if pairs else math.nan


def _beyond_chance(observed: float, chance: float) -> float:
    # where chance is 1 everybody used one category: nothing to agree on
    return (observed - chance) / (1 - chance) if chance < 1 else math.nan


def accuracy(predicted: Sequence[Hashable], gold: Sequence[Hashable]) -> float:
    """Share of things on which both say the same, 0 to 1; NaN without any."""
    pairs = list(zip(predicted, gold, strict=True))
    return sum(one == other for one, other in pairs) / len(pairs) if pairs else math.nan


def recall(predicted: Sequence[Hashable], gold: Sequence[Hashable], label: Hashable) -> float:
    """Share of the things with this label in `gold` that have it in `predicted` too; NaN where none has it."""
    of_label = [one for one, other in zip(predicted, gold, strict=True) if other == label]
    return of_label.count(label) / len(of_label) if of_label else math.nan


def f1(predicted: Sequence[Hashable], gold: Sequence[Hashable], label: Hashable) -> float:
    """Harmonic mean of precision and recall for one label, 0 to 1; NaN where neither side has it."""
    both = sum(one == other == label for one, other in zip(predicted, gold, strict=True))
    either = list(predicted).count(label) + list(gold).count(label)
    return 2 * both / either if either else math.nan


AUC, AUC_WITHIN, PEARSON, KAPPA = "auc", "auc_within", "pearson", "kappa"
LOG_LOSS = "log_loss"
CLOSEST = 1e-12  # to certainty, so that no log loss is infinite
BINS = 10  # tenths of the scale


@dataclass(frozen=True, slots=True)
class Forecasts:
    """Chances of events, and whether they came true; events of one cluster (a plot) are drawn together.

    Only events of one stratum are held against each other. A stratum holds chances of one fold: a fold rich in yes
    lowers the chances that are fitted without it, which then run against what comes true even where they know nothing.
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
        """How many forecasts are in each tenth of the scale that has some, their mean, and the share that came true."""
        tenths = np.minimum((self.chances * BINS).astype(int), BINS - 1)
        return [
            (int(own.sum()), float(self.chances[own].mean()), float(self.outcomes[own].mean()))
            for own in (tenths == tenth for tenth in range(BINS))
            if own.any()
        ]


def auc(chances: Values, outcomes: Values, strata: Codes, clusters: Codes, draws: Values) -> Values:
    """By draw the share of pairs of one stratum, one that came true and one not, of which the former was more likely.

    Equal chances count a half; the share is over the pairs of all strata together. NaN without such a pair.
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
    stratum, chance, true = strata[order], chances[order], outcomes[order] > 0
    ties = np.flatnonzero(np.r_[True, (np.diff(stratum) != 0) | (np.diff(chance) != 0)])
    starts = np.r_[True, np.diff(stratum[ties]) != 0]
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

    A stratum whose chances are all equal counts as 0, as ties count a half in `auc`: left out they would draw r below 0
    where chances know nothing. NaN where all strata are such in the first draw, which has every cluster once.
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
    """By draw Cohen's kappa of verdicts, yes from a chance above a half, and what came true; chance is by stratum."""
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
    """How often each resample has each cluster, shape (resamples, clusters); the same serve every forecast."""
    generator = np.random.default_rng(seed)
    drawn = [np.bincount(generator.integers(clusters, size=clusters), minlength=clusters) for _ in range(resamples)]
    return np.array(drawn, dtype=float)


def figures_of(forecasts: Forecasts, draws: Values, folds: int) -> dict[str, BootstrapInterval]:
    """Each figure of some forecasts with its interval, NaN where it is not defined.

    What was learnt for one fold is nearly what was learnt for the next, so that the draws, which learn nothing anew,
    show about half of the variance of order and kappa: their intervals are widened (Nadeau and Bengio 2003).
    """
    chances, outcomes, clusters = forecasts.chances, forecasts.outcomes, forecasts.clusters
    count, says_yes = draws.shape[1], chances > 0.5
    parts = [np.ones(len(chances)), forecasts.log_losses, (chances - outcomes) ** 2]
    parts += [says_yes * outcomes, says_yes * (1 - outcomes), outcomes]
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
