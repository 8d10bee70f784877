"""Agreement between raters, and of labels with those that are right."""

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Level = Literal["nominal", "ordinal", "interval"]


def krippendorff_alpha(ratings: ArrayLike, level: Level = "ordinal") -> float:
    """Krippendorff's alpha: 1 = perfect agreement, 0 = as by chance, below 0 = systematic disagreement.

    Args:
        ratings: One row a rater, one column a unit, shape (raters, units); NaN = missing.
        level: Scale of measurement, which says how far apart two values are.

    Returns:
        NaN when no unit has two ratings, or when all ratings are one value (no chance to disagree).

    Raises:
        ValueError: If the ratings are not two-dimensional or the level is unknown.

    Source: Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), the coincidence matrix form.
    """
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
    elif level in ("ordinal", "interval"):
        # ordinal: the ranks that lie between two values, each end counted half
        places = values if level == "interval" else np.cumsum(totals) - totals / 2
        distances = (places[:, None] - places[None, :]) ** 2
    else:
        raise ValueError(f"level is {level!r}, expected nominal, ordinal or interval")
    # as if all values were drawn from one urn without replacement, hence pairable - 1
    expected = (np.outer(totals, totals) * distances).sum() / (pairable - 1)
    return float(1 - (coincidences * distances).sum() / expected) if expected > 0 else math.nan


def fleiss_kappa(counts: ArrayLike) -> float:
    """Fleiss' kappa: 1 = perfect agreement, 0 = as by chance when raters keep to the shares seen over all units.

    Args:
        counts: How many raters put each unit in each category, shape (units, categories); as many raters every time.

    Returns:
        NaN without units, with fewer than two raters, and when all ratings are one category (no chance to disagree).

    Raises:
        ValueError: If the counts are not such a table; `krippendorff_alpha` allows for missing ratings.

    Source: Fleiss (1971).

    >>> fleiss_kappa([[2, 0], [0, 2], [1, 1], [1, 1]])  # observed 1/2; shares 1/2 and 1/2, by chance 1/2
    0.0
    """
    table, observed = _observed_agreement(counts)
    # max: an empty table gives no shares, and the agreement is NaN
    shares = table.sum(axis=0) / max(1, table.sum())
    return _beyond_chance(observed, float((shares**2).sum()))


def randolph_kappa(counts: ArrayLike) -> float:
    """Randolph's free-marginal kappa: 1 = perfect agreement, 0 = as by chance when every category is as likely.

    Unlike Fleiss' kappa it does not fall when nearly all units rightly get one category.

    Args:
        counts: How many raters put each unit in each category, shape (units, categories); as many raters every time.
            A category that nobody used still needs its column, because chance is 1 / categories.

    Returns:
        NaN without units, with fewer than two raters, and with a single category.

    Raises:
        ValueError: If the counts are not such a table; `krippendorff_alpha` allows for missing ratings.

    Source: Randolph (2005), Free-Marginal Multirater Kappa.

    >>> randolph_kappa([[2, 0], [2, 0], [2, 0], [1, 1]])  # observed 3/4, by chance 1/2
    0.5
    """
    table, observed = _observed_agreement(counts)
    return _beyond_chance(observed, 1 / max(1, table.shape[1]))


def cohen_kappa(a: Sequence[Hashable], b: Sequence[Hashable]) -> float:
    """Cohen's kappa of two raters, unweighted: 1 = perfect agreement, 0 = as by chance when each keeps to its shares.

    Args:
        a: One rater's categories, shape (units,); a unit that either rater left out (None, NaN) does not count.
        b: The other rater's, same length.

    Returns:
        NaN when no unit has both ratings, and when both raters used one and the same category throughout.

    Raises:
        ValueError: If the lengths differ.

    Source: Cohen (1960).

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


def _observed_agreement(counts: ArrayLike) -> tuple[NDArray[np.float64], float]:
    """The checked table, and the share of pairs of raters that agree, over all units; NaN where there is no pair."""
    table = np.asarray(counts, dtype=float)
    if table.ndim != 2:
        raise ValueError(f"counts have {table.ndim} dimensions, expected 2: (units, categories)")
    if not ((table >= 0) & (table == np.floor(table)) & np.isfinite(table)).all():
        raise ValueError("counts hold a value that is no count, expected whole numbers of at least 0")
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
