"""`genie summary`: logs into tables."""

import math
from collections.abc import Iterator
from typing import Any

import click
from rich.markup import escape
from rich.table import Table

from genie_inspect.cli.tables import (
    SIGNATURE,
    legend,
    length_notes,
    shown_errors,
    summary_notes,
    summary_tables,
    without_yardstick,
)
from genie_inspect.cli.terminal import console, echo_json
from genie_inspect.logs.measures import shown_key
from genie_inspect.reports.plain_values import plain
from genie_inspect.reports.summary import Column, Summary, summaries
from genie_inspect.statistics.intervals import NO_INTERVAL

JURY = (
    "Means over prompts by grader, each over the documents that it measured; the jury's mean is over those that every"
    " grader measured. Alpha: Krippendorff's, over the novelties of all questions; 1 the same, 0 as by chance."
)


@click.command()
@click.argument("logs", nargs=-1, required=True)
@click.option("--scorer", help="Whose scores; default: all that every log has.")
@click.option("--nearest", is_flag=True, help="Below each mean: how near the population's nearest answers come.")
@SIGNATURE
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a script, a list of tables, instead of tables.")
def summary(logs: tuple[str, ...], scorer: str | None, nearest: bool, signature: str, as_json: bool) -> None:
    """Means over prompts with 95% intervals, feature by feature: a table a measure, a column a log.

    LOGS are log files or folders; unfinished logs of a folder are left out. Logs whose signatures differ do not
    compare: each signature has a table of its own. "documents scored" counts each epoch of a sample; Inspect's own
    scored_samples counts a sample once.

    \b
    Example: genie summary logs/demo
    """
    with shown_errors():
        tables = summaries(logs, scorer, signature)
    if as_json:
        echo_json([_plain(table) for table in tables])
        return
    screen = console()
    for table in tables:
        for part in summary_tables(table, screen, nearest=nearest):
            screen.print(part)
        for jury in _jury_tables(table):
            screen.print(jury)
        for note in summary_notes(table):
            screen.print(note, highlight=False, markup=False)
    for line in [*length_notes(tables), *legend(tables, nearest=nearest), *without_yardstick(tables)]:
        screen.print(line, highlight=False, markup=False)


def _plain(table: Summary) -> dict[str, Any]:
    """The summary as JSON values: what is not a number is null."""
    columns = [
        {
            "label": column.label,
            "log": column.log,
            "unlike_length": column.unlike_length or None,
            "cut": column.cut or None,
            **plain(column.results),
        }
        for column in table.columns
    ]
    return {
        "scorer": table.scorer,
        "signature": table.signature,
        "keys": list(table.keys),
        "warnings": list(table.warnings),
        "columns": columns,
    }


def _jury_tables(summary: Summary) -> Iterator[Table]:
    """A table for each log that a jury judged: features down, graders across, and their agreement."""
    for column in summary.columns:
        if column.results.graders:
            yield _jury_table(summary, column)


def _jury_table(summary: Summary, column: Column) -> Table:
    results = column.results
    table = Table(title=escape(f"{summary.scorer}, the jury of {column.label}"), title_justify="left")
    table.caption, table.caption_justify = JURY, "left"
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
