"""The tables of `genie calibrate`."""

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING

from genie_inspect.agreement.calibration import ALL, Conduct, RaterAgreement
from genie_inspect.statistics.bootstrap import BootstrapInterval

if TYPE_CHECKING:
    from rich.table import Table

COLUMNS = ("asked", "unusable", "novelty", "last less first of a list", "rating(a, b) less (b, a)")
KEY = (
    "alpha: ordinal Krippendorff alpha of the ratings; tau: Kendall's tau-b of the answers' novelty; difference in "
    "novelty: the second's less the first's. Intervals: 95%. A blank is not defined."
)


def agreement_tables(agreements: Iterable[RaterAgreement]) -> "Iterator[Table]":
    """A table each two raters, a row a feature."""
    for (first, second), own in groupby(agreements, key=lambda one: (one.first, one.second)):
        rows = {
            one.feature: [str(one.pairs), _figure(one.alpha), _figure(one.tau), _interval(one.difference)]
            for one in own
        }
        yield _table(f"{first} and {second}", ["pairs", "alpha", "tau", "difference in novelty"], rows)


def conduct_tables(conducts: Iterable[Conduct]) -> "Iterator[Table]":
    """A table a rater, a row a feature; what a rater cannot show has no column."""
    for rater, group in groupby(conducts, key=lambda one: one.rater):
        own = list(group)
        rows = {one.feature: _conduct(one) for one in own}
        shown = [index for index in range(len(COLUMNS)) if any(cells[index] for cells in rows.values())]
        kept = {feature: [cells[index] for index in shown] for feature, cells in rows.items()}
        yield _table(rater, [COLUMNS[index] for index in shown], kept, _unusable(own))


def _conduct(one: Conduct) -> list[str]:
    unusable = "" if math.isnan(one.unusable) else f"{one.unusable:.1%}"
    return [str(one.asked), unusable, _figure(one.novelty), _interval(one.position), _interval(one.swapped)]


def _unusable(own: Iterable[Conduct]) -> str:
    """Why pairs came to no rating, and how many; empty when all did."""
    faults = next((one.faults for one in own if one.feature == ALL), {})
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
        if feature == ALL:
            table.add_section()
        table.add_row(feature.replace("_", " "), *map(Text, cells))
    return table


def _figure(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.2f}"


def _interval(found: BootstrapInterval) -> str:
    ends = "" if math.isnan(found.low) else f" [{found.low:.2f}, {found.high:.2f}]"
    return "" if math.isnan(found.value) else f"{found.value:.2f}{ends}"
