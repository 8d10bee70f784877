"""`genie summary`: logs into tables."""

import json
from dataclasses import asdict

import click

from genie_inspect.cli.tables import LEGEND, shown_errors, summary_table
from genie_inspect.reports.summary import Summary, summaries, summarise


@click.command()
@click.argument("logs", nargs=-1, required=True)
@click.option("--scorer", help="Whose scores; default: all that every log has.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a script, a list of tables, instead of tables.")
def summary(logs: tuple[str, ...], scorer: str | None, as_json: bool) -> None:
    """Means by feature with 95% intervals clustered by prompt: a table a measure, a column a log.

    LOGS are log files or folders. Logs whose signatures differ are refused: their scores do not compare.

    \b
    Example: genie summary logs/demo
    """
    from rich.console import Console

    with shown_errors():
        found = [summarise(logs, scorer)] if scorer else summaries(logs)
    if as_json:
        click.echo(json.dumps([_plain(table) for table in found], indent=1))
    else:
        Console().print(*map(summary_table, found), LEGEND, sep="\n", highlight=False)


def _plain(found: Summary) -> object:
    """The summary as JSON values: what is not a number is null."""
    return json.loads(json.dumps(asdict(found)), parse_constant=lambda _: None)
