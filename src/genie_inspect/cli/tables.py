"""What the verbs print alike: tables and errors."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

import click
from rich.markup import escape
from rich.table import Table

from genie_inspect.errors import GenieError
from genie_inspect.reports.summary import Column, Summary
from genie_inspect.scorers.explanation import SMOKE_TEST
from genie_inspect.statistics.intervals import Interval

LEGEND = "Means with 95% intervals, clustered by prompt; where questions are asked, the share of them that was used."
FINE = 0.1  # a row of means that are all nearer to 0 gets a third decimal
BIASED = 0.5  # points, from which a judge's preference for a place is pointed out


@contextmanager
def shown_errors() -> Iterator[None]:
    """Our own errors as one line and exit code 1, without a traceback."""
    try:
        yield
    except GenieError as error:
        raise click.ClickException(str(error)) from error


def summary_table(found: Summary) -> Table:
    """Features down, models across: mean, 95% interval, and the share of questions that could be used."""
    table = Table(
        title=escape(found.scorer),
        title_justify="left",
        caption=escape(found.signature) + (f"\n{SMOKE_TEST}" if "|judge:embedded(" in found.signature else ""),
        caption_justify="left",
    )
    table.add_column("feature")
    for column in found.columns:
        table.add_column(escape(column.label), justify="right")
    for key in found.keys:
        coarse = any(abs(column.cells[key].mean) >= FINE for column in found.columns if key in column.cells)
        table.add_row(key.replace("_", " "), *(_cell(column, key, 2 if coarse else 3) for column in found.columns))
    table.add_section()
    table.add_row("documents scored", *(_scored(column) for column in found.columns))
    if any(not math.isnan(column.position_bias) for column in found.columns):
        table.add_row("judge's points for standing first", *(_bias(column) for column in found.columns))
    return table


def _bias(column: Column) -> str:
    if math.isnan(column.position_bias):
        return "not measured"
    return f"{column.position_bias:+.2f}" + (" biased" if abs(column.position_bias) >= BIASED else "")


def _cell(column: Column, key: str, decimals: int) -> str:
    interval = column.cells.get(key, Interval(math.nan, math.nan, math.nan, 0, 0))
    if math.isnan(interval.mean):
        return "not measured"
    ends = "" if math.isnan(interval.low) else f" [{interval.low:.{decimals}f}, {interval.high:.{decimals}f}]"
    used, asked = column.coverage.get(key, (0, 0))
    return f"{interval.mean:.{decimals}f}{ends}" + (f" {used / asked:4.0%}" if asked else "")


def _scored(column: Column) -> str:
    reasons = "".join(f", {count} {escape(reason)}" for reason, count in column.unscored.items())
    return f"{column.documents - sum(column.unscored.values())} of {column.documents}{reasons}"
