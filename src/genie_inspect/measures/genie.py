"""Genie: novelty by feature, from ratings of how alike a document's answers and a population's are.

Source: Namuduri, Wadhwa, Zheng, Durrett, Li: "Genie: A Fine-Grained Measure for Novelty" (arXiv 2606.12790).

A mean from few ratings, one of each stratum of predicted similarity, and its error: Cochran, Sampling Techniques
(1977), 5A.12 (one unit per stratum, collapsed strata, finite population). It is unbiased whatever the predictions are
worth: poor ones cost precision.
"""

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, variance
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

LOWEST, HIGHEST = 1, 4  # the study's scale; 0, for no answer, is no point on it
# what its points say of two answers
ALIKE = {4: "interchangeable", 3: "same idea", 2: "slight overlap", 1: "different"}
# a mean over fewer than half of the ratings that were due says as much about which ones were lost
MIN_COVERAGE = 0.5
# of fewer one that is off cannot be outvoted; at a spread of 0.28 the mean of two is known to +-0.46 (98%)
FEWEST_RATINGS = 3
# groups of strata: of fewer the error of a feature with few ratings is understated (benchmarks/sampled_ratings.py)
OTHERS_WEIGH = 4


def similarity(rating: float | None) -> float:
    """Similarity of two answers, 0 (different) to 1 (interchangeable).

    (rating - 1) / 3; NaN for 0, which means "one side gives no answer", for None and anything outside [1, 4].

    >>> [similarity(rating) for rating in (1, 2.5, 4, 0)]
    [0.0, 0.5, 1.0, nan]
    """
    if rating is None or not LOWEST <= rating <= HIGHEST:
        return math.nan
    return (rating - LOWEST) / (HIGHEST - LOWEST)


def question_novelty(ratings: Iterable[float | None]) -> float:
    """One minus the mean similarity over usable ratings, 0 (all alike) to 1 (nothing like it); NaN without any.

    >>> question_novelty([1, 4, None])
    0.5
    """
    return mean_novelty([similarity(rating) for rating in usable_ratings(ratings)])


def mean_novelty(similarities: Sequence[float], weights: Sequence[int] = ()) -> float:
    """One minus the mean of similarities, weighted where there are weights; NaN without any."""
    if weights:
        return 1 - math.fsum(map(operator.mul, similarities, weights)) / sum(weights)
    return 1 - math.fsum(similarities) / len(similarities) if similarities else math.nan


def nearest_novelty(similarities: Sequence[float]) -> float:
    """One minus the highest similarity, 0 (one is interchangeable) to 1 (none is near); NaN without any.

    The highest of few is lower than that of many: it compares between documents that were held against about as many.
    """
    return 1 - max(similarities, default=math.nan)


def usable_ratings(ratings: Iterable[float | None]) -> list[float]:
    """The ratings that count, those in [1, 4], in order."""
    return [rating for rating in ratings if rating is not None and LOWEST <= rating <= HIGHEST]


def is_used(ratings: Iterable[float | None], min_coverage: float = MIN_COVERAGE) -> bool:
    """Whether a question has ratings, and enough of those that were due, for its novelty to count."""
    due = list(ratings)
    usable = len(usable_ratings(due))
    return usable > 0 and usable / len(due) >= min_coverage


def feature_novelty(novelty_by_question: Mapping[str, float], feature_of: Mapping[str, str]) -> dict[str, float]:
    """Mean novelty over each feature's usable questions, 0 to 1, higher = more novel; of the nearest likewise.

    A question is unusable where its novelty is NaN or has no entry. A feature whose questions are all unusable is NaN;
    a feature without questions is absent.

    >>> feature_novelty({"q1": 0.5, "q2": 1.0}, {"q1": "plot", "q2": "plot", "q3": "style"})
    {'plot': 0.75, 'style': nan}
    """
    if unknown := novelty_by_question.keys() - feature_of:
        raise ValueError(f"question {min(unknown)!r} has a novelty but no feature in feature_of")
    # every feature that was asked about gets an entry, so that all samples of a log have the same keys
    values: dict[str, list[float]] = {feature: [] for feature in feature_of.values()}
    for question, novelty in novelty_by_question.items():
        values[feature_of[question]] += [] if math.isnan(novelty) else [novelty]
    return {feature: fmean(novelties) if novelties else math.nan for feature, novelties in values.items()}


class Tally(NamedTuple):
    """The ratings of one question, as far as its novelty depends on them; a rating more can be added."""

    total: float = 0  # sum of the usable ratings
    usable: int = 0
    due: int = 0

    def with_rating(self, rating: float | None) -> "Tally":
        usable = usable_ratings([rating])
        return Tally(self.total + sum(usable), self.usable + len(usable), self.due + 1)

    def novelty(self, min_coverage: float = MIN_COVERAGE) -> float:
        """As `question_novelty`; NaN where too few of the ratings due are usable."""
        if not self.usable or self.usable / self.due < min_coverage:
            return math.nan
        return 1 - similarity(self.total / self.usable)


def strata(predicted: "ArrayLike", count: int) -> "list[NDArray[np.intp]]":
    """Cut places into at most `count` strata by falling prediction: the nearest alone, the rest of equal sizes.

    Sizes differ by at most one. With `count` or fewer places each is a stratum of its own.

    >>> strata([0.1, 0.9, 0.5, 0.4, 0.7], 3)
    [array([1]), array([4, 2]), array([3, 0])]
    """
    import numpy as np

    order = np.argsort(-np.asarray(predicted), kind="stable")
    parts = min(count, len(order)) - 1
    ends = [1 + (len(order) - 1) * part // parts for part in range(parts)] if parts > 0 else []
    return np.split(order, ends) if len(order) else []


def represented(sizes: Sequence[int], usable: Sequence[bool]) -> list[int]:
    """How many units each drawn one stands for: its stratum, and the strata beside it whose unit was lost.

    >>> represented([1, 5, 5, 4], [True, False, True, False])
    [6, 0, 9, 0]
    """
    stands_for = [0] * len(sizes)
    known = [place for place, is_usable in enumerate(usable) if is_usable]
    for place, size in enumerate(sizes if known else ()):
        stands_for[min(known, key=lambda other: (abs(other - place), other))] += size
    return stands_for


def collapsed(similarities: Sequence[float], weights: Sequence[int]) -> list[tuple[float, float]]:
    """What the variance of a question's mean is made of: strata collapsed in pairs, the last three if odd in number.

    Of each group the factor by which the variance within it counts, and that variance; NaN for a stratum alone. A
    stratum of one unit is known, and adds nothing. Weights say how many units each rated one stands for.

    >>> collapsed([1.0, 0.5, 0.0, 0.0], [1, 1, 4, 4])
    [(0.24, 0.0)]
    """
    uncertain = [pair for pair in zip(similarities, weights, strict=True) if pair[1] > 1]
    groups, count, total = [], max(len(uncertain) // 2, min(len(uncertain), 1)), sum(weights)
    for start in range(0, 2 * count, 2):
        values, sizes = zip(*uncertain[start : start + 2 if start < 2 * (count - 1) else None], strict=True)
        units, drawn = sum(sizes), len(values)
        factor = units**2 * (1 - drawn / units) / drawn / total**2
        groups.append((factor, variance(values) if drawn > 1 else math.nan))
    return groups


def variances(groups: Sequence[Sequence[tuple[float, float]]], features: Sequence[str]) -> list[float]:
    """The variance of each question's mean from what `collapsed` gives, and its feature; NaN where nothing is known.

    Two units say little of their stratum's variance: those in this place of all questions count, and by as much as a
    feature's own are wider or narrower so is its, where all others weigh as four groups of its own. Strata that differ
    count as variance, so that the error is overstated where predictions are good.
    """
    by_place: dict[int, list[float]] = {}
    for question in groups:
        for place, (_, within) in enumerate(question):
            by_place.setdefault(place, []).extend([] if math.isnan(within) else [within])
    pooled = {place: fmean(known) if known else math.nan for place, known in by_place.items()}
    shared = [math.fsum(factor * pooled[place] for place, (factor, _) in enumerate(question)) for question in groups]
    own: dict[str, list[tuple[float, float]]] = {feature: [] for feature in features}
    for question, feature in zip(groups, features, strict=True):
        known = ((place, *group) for place, group in enumerate(question) if not math.isnan(group[1]))
        own[feature] += [(factor * within, factor * pooled[place]) for place, factor, within in known]
    widths = dict.fromkeys(own, 1.0)
    for feature, pairs in own.items():
        if expected := math.fsum(each for _, each in pairs):
            ratio = math.fsum(each for each, _ in pairs) / expected
            widths[feature] = (len(pairs) * ratio + OTHERS_WEIGH) / (len(pairs) + OTHERS_WEIGH)
    return [variance * widths[name] for variance, name in zip(shared, features, strict=True)]
