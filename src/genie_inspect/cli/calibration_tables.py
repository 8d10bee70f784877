"""The tables of `genie calibrate`."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from genie_inspect.agreement.by_people.together import PeopleAgreement
from genie_inspect.agreement.calibration import ALL, Conduct, RaterAgreement
from genie_inspect.statistics.bootstrap import BootstrapInterval

if TYPE_CHECKING:
    from rich.table import Table

COLUMNS = ("asked", "unusable", "novelty", "last less first of a list", "rating(a, b) less (b, a)")
KEY = (
    "alpha: ordinal Krippendorff alpha of the ratings; tau: Kendall's tau-b of the answers' novelty; difference in "
    "novelty: the second's less the first's. Intervals: 95%. A blank is not defined."
)

PEOPLE_KEY = (
    "alpha among raters: ordinal, of all in files; alpha with the median: the judge's ratings and their consensus;"
    " tau with the mean: Kendall's tau-b of the judge's ratings and the mean of theirs."
)


def agreement_tables(agreements: Iterable[RaterAgreement]) -> "Iterator[Table]":
    """For each two raters a table with a row a feature: how far they agree."""
    # `groupby` joins neighbours alone: the rows come pair by pair, feature by feature
    for (first, second), group in groupby(agreements, key=lambda agreement: (agreement.first, agreement.second)):
        rows = {
            agreement.feature: [
                str(agreement.pairs),
                _figure(agreement.alpha),
                _figure(agreement.tau),
                _interval(agreement.difference),
            ]
            for agreement in group
        }
        yield _table(f"{first} and {second}", ["pairs", "alpha", "tau", "difference in novelty"], rows)


def conduct_tables(conducts: Iterable[Conduct]) -> "Iterator[Table]":
    """For each rater a table of its gaps and biases, a row a feature; a column without any figure is left out."""
    for rater, group in groupby(conducts, key=lambda conduct: conduct.rater):
        conducts_of_rater = list(group)
        rows = {conduct.feature: _conduct(conduct) for conduct in conducts_of_rater}
        # who rates no lists has no first and last place: a column that is empty in every row is left out
        indices = [index for index in range(len(COLUMNS)) if any(cells[index] for cells in rows.values())]
        cells_by_feature = {feature: [cells[index] for index in indices] for feature, cells in rows.items()}
        yield _table(rater, [COLUMNS[index] for index in indices], cells_by_feature, _unusable(conducts_of_rater))


def people_tables(rows: Sequence[PeopleAgreement], people: int) -> "Iterator[Table | str]":
    """For each judge a table with a row a feature: the raters of files together, and the judge with all of them.

    Args:
        rows: Judge by judge.
        people: How many raters the files have.
    """
    for judge, group in groupby(rows, key=lambda row: row.judge):
        cells = {
            row.feature: [str(row.pairs), *map(_figure, (row.people_alpha, row.judge_alpha, row.tau))] for row in group
        }
        # without a judge there is nobody to hold against people
        columns = ["pairs", "alpha among raters", "alpha with the median", "tau with the mean"]
        shown = len(columns) if judge else 2
        title = f"{judge} and {people} raters together" if judge else f"{people} raters together"
        yield _table(title, columns[:shown], {feature: own[:shown] for feature, own in cells.items()})
    yield PEOPLE_KEY


def _conduct(conduct: Conduct) -> list[str]:
    unusable = "" if math.isnan(conduct.unusable) else f"{conduct.unusable:.1%}"
    return [
        str(conduct.asked),
        unusable,
        _figure(conduct.novelty),
        _interval(conduct.position),
        _interval(conduct.swapped),
    ]


def _unusable(conducts: Iterable[Conduct]) -> str:
    """Why pairs came to no rating, and how many; empty when all did."""
    # the reasons are counted over all features, where they stand once
    faults = next((conduct.faults for conduct in conducts if conduct.feature == ALL), {})
    return "unusable: " + ", ".join(f"{count} {reason}" for reason, count in faults.items()) if faults else ""


def _table(title: str, columns: Iterable[str], rows: Mapping[str, list[str]], caption: str = "") -> "Table":
    from rich.table import Table
    from rich.text import Text

    under = Text(caption) if caption else None
    table = Table(title=Text(title), title_justify="left", caption=under, caption_justify="left")
    table.add_column("feature")
    for name in columns:
        table.add_column(name, justify="right")
    for feature, cells in rows.items():
        # last, over all features, and so below a line of its own
        if feature == ALL:
            table.add_section()
        table.add_row(feature.replace("_", " "), *map(Text, cells))
    return table


def _figure(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.2f}"


def _interval(interval: BootstrapInterval) -> str:
    ends = "" if math.isnan(interval.low) else f" [{interval.low:.2f}, {interval.high:.2f}]"
    return "" if math.isnan(interval.value) else f"{interval.value:.2f}{ends}"
