"""The tables of juries: each grader by itself, and how far they agree."""

import math
from collections.abc import Iterator

from rich.markup import escape
from rich.table import Table

from genie_inspect.logs.measures import shown_key
from genie_inspect.reports.summary import Column, Summary
from genie_inspect.statistics.intervals import NO_INTERVAL

LEGEND = (
    "Means over prompts by grader. Alpha: Krippendorff's, over the novelties of all questions; 1 the same, 0 as by"
    " chance."
)


def jury_tables(summary: Summary) -> Iterator[Table]:
    """A table for each log that a jury judged: features down, graders across, and their agreement."""
    for column in summary.columns:
        if column.results.graders:
            yield _jury_table(summary, column)


def _jury_table(summary: Summary, column: Column) -> Table:
    results = column.results
    table = Table(title=escape(f"{summary.scorer}, the jury of {column.label}"), title_justify="left")
    table.caption, table.caption_justify = LEGEND, "left"
    table.add_column("feature")
    for grader in results.graders:
        table.add_column(escape(grader), justify="right", overflow="fold")
    table.add_column("alpha", justify="right")
    for key in summary.keys:
        means = [own.cells.get(key, NO_INTERVAL).mean for own in results.graders.values()]
        alpha = results.agreement.get(key, math.nan)
        table.add_row(escape(shown_key(summary.signature, key)), *map(_shown, [*means, alpha]))
    table.add_section()
    scored = (f"{own.documents} of {results.documents}" for own in results.graders.values())
    table.add_row("documents measured", *scored, "")
    return table


def _shown(value: float) -> str:
    return "not measured" if math.isnan(value) else f"{value:.2f}"
