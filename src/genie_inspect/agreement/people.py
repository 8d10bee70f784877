"""Ratings by people: how far they agree with each other, and judges with what they say together."""

import math
import random
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from genie_inspect.agreement.calibration import pairs_by_feature
from genie_inspect.agreement.raters import Ratings, Target
from genie_inspect.files.tables import csv_text
from genie_inspect.files.writing import write_lines
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

    Source: Genie (arXiv 2606.12790), table 11, which does not say how a judge and two people were put into one alpha:
    here the consensus counts as one rater.
    """
    table = np.array([rater.values for rater in people], dtype=float).reshape(len(people), -1)
    return [
        _row(feature, judge.name, table[:, rows], np.array([judge.values, judge.levels])[:, rows])
        for judge in judges or [Ratings(NOBODY, NOBODY, (math.nan,) * table.shape[1])]
        for feature, rows in pairs_by_feature(targets, features).items()
    ]


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


COLUMNS = ("id", "prompt", "question", "answer", "other", "rating", "note")
INSTRUCTIONS = """\
# How to fill in the table

Each row has a question about a text, and what two texts answer to it. Write in `rating` how alike the two answers are:

- 4: interchangeable; who reads one for the other loses nothing.
- 3: the same idea, with differences in scope or detail that one would notice.
- 2: a slight overlap, such as a broad theme.
- 1: different; little or nothing in common, or they contradict each other.
- 0: one of the two gives no answer to the question.

Judge what is said and not how well it is worded. Which answer stands first does not matter. Leave a cell empty where
you cannot say, and write in `note` what should be known. Decide each row by itself, and do not talk about rows with
others who fill in the same table: how far you agree is what is measured.
"""


def write_blind_table(path: Path, targets: Sequence[Target], seed: int = 0) -> int:
    """Write the pairs in a shuffled order without anybody's rating, and beside them how to fill in the table."""
    rows = [
        (target.question.id, target.question.prompt, target.question.text, target.answer, other, "", "")
        for target in targets
        for other in target.others
    ]
    # pairs of one answer in a row would be rated against each other
    random.Random(seed).shuffle(rows)  # noqa: S311  # an order, no secret
    write_lines(path, [csv_text(COLUMNS, rows)], new=True)
    write_lines(path.with_suffix(".md"), [INSTRUCTIONS], new=True)
    return len(rows)
