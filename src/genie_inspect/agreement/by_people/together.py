"""Ratings by people: how far they agree with each other, and judges with what they say together."""

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from genie_inspect.agreement.calibration import ALL
from genie_inspect.agreement.raters import Ratings
from genie_inspect.agreement.targets import Target
from genie_inspect.statistics.agreement import krippendorff_alpha
from genie_inspect.statistics.ranking import kendall

NOBODY = ""


@dataclass(frozen=True, slots=True)
class PeopleAgreement:
    """What people say of the pairs of a feature, and one judge beside them."""

    feature: str
    judge: str
    """Empty where there is none: then the row is of people alone."""
    pairs: int
    """That a person rated, and the judge."""
    people_alpha: float
    """Ordinal Krippendorff alpha among all people, over all pairs that they rated."""
    judge_alpha: float
    """The same of the judge and the people's consensus, the median of their ratings."""
    tau: float
    """Kendall's tau-b of the judge's ratings and the mean of the people's."""


def held_against_people(
    targets: Sequence[Target], people: Sequence[Ratings], judges: Sequence[Ratings], features: Sequence[str]
) -> list[PeopleAgreement]:
    """A row for each judge and each feature that has pairs, and for all together; for nobody where there is no judge.

    Args:
        targets: What was rated.
        people: The ratings of each person.
        judges: Those of each judge.
        features: In the order in which they are to appear.

    Source: Genie (arXiv 2606.12790), table 11, which does not say how a judge and two people were put into one alpha:
    here the consensus counts as one rater.
    """
    sizes = [len(target.others) for target in targets]
    of_pair = np.repeat([target.question.feature for target in targets], sizes)
    table = np.array([rater.values for rater in people], dtype=float).reshape(len(people), -1)
    rows = []
    for judge in judges or [Ratings(NOBODY, NOBODY, (math.nan,) * table.shape[1])]:
        values = np.array([judge.values, judge.levels])
        for feature, chosen in _groups(of_pair, features):
            rows.append(_row(feature, judge.name, table[:, chosen], values[:, chosen]))
    return rows


def _groups(of_pair: NDArray[np.str_], features: Sequence[str]) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    for feature in features:
        if (chosen := of_pair == feature).any():
            yield feature, chosen
    yield ALL, np.ones(len(of_pair), dtype=bool)


def _row(feature: str, judge: str, people: NDArray[np.float64], judged: NDArray[np.float64]) -> PeopleAgreement:
    values, levels = judged
    rated = ~np.isnan(people).all(axis=0)
    both = rated & ~np.isnan(values) if judge else rated
    with warnings.catch_warnings():
        # a pair that nobody rated has no median; it is not among those that count
        warnings.simplefilter("ignore", RuntimeWarning)
        median, mean = np.nanmedian(people, axis=0), np.nanmean(people, axis=0)
    sides = [median[both], levels[both]]
    return PeopleAgreement(
        feature,
        judge,
        int(both.sum()),
        krippendorff_alpha(people) if people.size else math.nan,
        krippendorff_alpha(sides) if judge and both.any() else math.nan,
        kendall(mean[both], values[both]) if judge else math.nan,
    )
