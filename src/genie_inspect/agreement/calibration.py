"""How far raters agree, feature by feature, and how much the order of what they saw matters to them.

Novelties and swapped sides are compared question by question, with percentile bootstrap intervals over questions:
answers to one question share more than a feature. Where questions are few, as in one feature of few prompts, such
intervals are somewhat narrow.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from genie_inspect.agreement.raters import Ratings
from genie_inspect.agreement.targets import Target
from genie_inspect.measures.genie import question_novelty
from genie_inspect.statistics.agreement import krippendorff_alpha
from genie_inspect.statistics.bootstrap import BootstrapInterval, paired_bootstrap
from genie_inspect.statistics.order import position_effect
from genie_inspect.statistics.paired.pairs import PairedTest
from genie_inspect.statistics.ranking import kendall

ALL = "all features"  # no feature's name has a space
RESAMPLES = 2_000

Values = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """How far two raters agree on a feature."""

    first: str
    second: str
    feature: str
    pairs: int
    """Pairs that both rated; nothing else is compared."""
    questions: int
    alpha: float
    """Ordinal Krippendorff alpha of the ratings, continuous ones rounded: 1 alike, 0 as by chance."""
    tau: float
    """Kendall's tau-b of the novelty of the answers, each against the same others: 1 same order, -1 reversed."""
    difference: BootstrapInterval
    """Feature novelty by the second rater less that by the first, with a 95% interval over questions."""


@dataclass(frozen=True, slots=True)
class Conduct:
    """How one rater rated the pairs of a feature: how many came, why others did not, and the rater's biases."""

    rater: str
    feature: str
    asked: int
    """Ratings that the rater was asked for."""
    unusable: float
    """Share of the requested ratings that did not come, 0 to 1; NaN when none was requested."""
    faults: dict[str, int]
    novelty: float
    """Mean over the questions, 0 to 1."""
    position: BootstrapInterval
    """How much higher the last of a list is rated than the first, with a 95% interval; NaN without lists."""
    swapped: BootstrapInterval
    """Mean of rating(answer, other) - rating(other, answer), with a 95% interval; NaN where no pair was swapped."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Raters compared, each two of them and each alone."""

    agreements: tuple[RaterAgreement, ...]
    conducts: tuple[Conduct, ...]


def compare(
    targets: Sequence[Target], raters: Sequence[Ratings], features: Sequence[str], resamples: int = RESAMPLES
) -> Calibration:
    """Every two raters, and every rater alone, for each feature that has pairs and for all together.

    Args:
        targets: The answers that were rated, each with those that it was compared with.
        raters: The ratings of each rater, one for each pair of the targets.
        features: In the order in which they are to appear.
        resamples: Of the bootstrap.
    """
    table = _Table(targets, resamples)
    groups = list(table.features(features))
    return Calibration(
        tuple(table.agreement(first, second, *group) for first, second in combinations(raters, 2) for group in groups),
        tuple(table.conduct(rater, *group) for rater in raters for group in groups),
    )


class _Table:
    """The pairs as rows: which target, question and feature each belongs to."""

    def __init__(self, targets: Sequence[Target], resamples: int) -> None:
        sizes = [len(target.others) for target in targets]
        self.target = np.repeat(np.arange(len(targets)), sizes)
        self.question = np.repeat([target.question.id for target in targets], sizes)
        self.feature = np.repeat([target.question.feature for target in targets], sizes)
        self.resamples = resamples

    def features(self, names: Sequence[str]) -> Iterator[tuple[str, Rows]]:
        """Each feature that has pairs with its rows, then all."""
        for name in names:
            rows = np.flatnonzero(self.feature == name)
            if len(rows):
                yield name, rows
        yield ALL, np.arange(len(self.target))

    def agreement(self, first: Ratings, second: Ratings, feature: str, rows: Rows) -> RaterAgreement:
        """How far two raters agree on these rows."""
        sides = [np.array(rater.values) for rater in (first, second)]
        # pairs that only one of the two could rate would move its novelty and not the other's
        both = rows[~np.isnan(sides[0][rows]) & ~np.isnan(sides[1][rows])]
        novelties = [self._novelties(side, both) for side in sides]
        by_question = [self._by_question(side, both) for side in sides]
        delta = paired_bootstrap(by_question[0], by_question[1], self.resamples)
        return RaterAgreement(
            first=first.name,
            second=second.name,
            feature=feature,
            pairs=len(both),
            questions=len(by_question[0]),
            alpha=krippendorff_alpha([rater.levels[both] for rater in (first, second)]),
            tau=kendall(novelties[0], novelties[1]),
            difference=_interval(delta),
        )

    def conduct(self, rater: Ratings, feature: str, rows: Rows) -> Conduct:
        """How a rater rated these rows."""
        values = np.array(rater.values)
        faults = Counter(rater.faults[row] for row in rows.tolist() if row in rater.faults)
        rated = rows[~np.isnan(values[rows])]
        # a pair that a person left out has neither a rating nor a fault: it does not count as asked for
        requested = len(rated) + sum(faults.values())
        novelty = self._by_question(values, rated)
        return Conduct(
            rater=rater.name,
            feature=feature,
            asked=requested,
            unusable=1 - len(rated) / requested if requested else math.nan,
            faults=dict(faults),
            novelty=float(novelty.mean()) if len(novelty) else math.nan,
            position=self._position(rater, rated),
            swapped=self._swapped(rater, rated),
        )

    def _novelties(self, values: Values, rows: Rows) -> Values:
        """Novelty of each target against the others in these rows."""
        return np.array([question_novelty(values[group].tolist()) for group in _grouped(rows, self.target)])

    def _by_question(self, values: Values, rows: Rows) -> Values:
        """Novelty of each question: mean over its targets."""
        return np.array([self._novelties(values, group).mean() for group in _grouped(rows, self.question)])

    def _position(self, rater: Ratings, rows: Rows) -> BootstrapInterval:
        if not rater.positions:
            return UNKNOWN
        values, positions = np.array(rater.values), np.array(rater.positions)
        return position_effect(values[rows], positions[rows], self.target[rows].tolist())

    def _swapped(self, rater: Ratings, rows: Rows) -> BootstrapInterval:
        if not rater.swapped:
            return UNKNOWN
        sides = [np.array(ratings) for ratings in (rater.swapped, rater.values)]
        # a swapped rating is made of pairs alone that have one the other way round
        both = rows[~np.isnan(sides[0][rows])]
        means = [np.array([side[group].mean() for group in _grouped(both, self.question)]) for side in sides]
        return _interval(paired_bootstrap(means[0], means[1], self.resamples))


def _interval(test: PairedTest) -> BootstrapInterval:
    return BootstrapInterval(test.delta, test.low, test.high, 0)


# of a measure that was not taken
UNKNOWN = BootstrapInterval(math.nan, math.nan, math.nan, 0)


def _grouped(rows: Rows, keys: NDArray[np.generic]) -> list[Rows]:
    """The rows that share a key, key by key."""
    rows_by_key: dict[object, list[int]] = {}
    for row in rows.tolist():
        rows_by_key.setdefault(keys[row], []).append(row)
    return [np.array(group) for group in rows_by_key.values()]
