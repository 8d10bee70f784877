"""`genie summary`: logs into tables."""

from typing import Any

import click

from genie_inspect.cli.jury_tables import jury_tables
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
from genie_inspect.reports.plain_values import plain
from genie_inspect.reports.summary import Summary, summaries


@click.command()
@click.argument("logs", nargs=-1, required=True)
@click.option("--scorer", help="Whose scores; default: all that every log has.")
@click.option("--nearest", is_flag=True, help="Below each mean: how near the population's nearest answers come.")
@SIGNATURE
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a script, a list of tables, instead of tables.")
def summary(logs: tuple[str, ...], scorer: str | None, nearest: bool, signature: str, as_json: bool) -> None:
    """Means over prompts with 95% intervals, feature by feature: a table a measure, a column a log.

    LOGS are log files or folders; unfinished logs of a folder are left out. Logs whose signatures differ do not
    compare: each signature has a table of its own.

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
        for jury in jury_tables(table):
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
            **plain(column.results),
        }
        for column in table.columns
    ]
    return {"scorer": table.scorer, "signature": table.signature, "keys": list(table.keys), "columns": columns}
