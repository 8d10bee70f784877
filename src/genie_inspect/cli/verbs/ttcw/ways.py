"""`genie ttcw ways`: ways of asking side by side."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from genie_inspect.agreement.ablation.ways import AskedWay, asked_ways
from genie_inspect.cli.running import JSON
from genie_inspect.cli.tables import shown_errors
from genie_inspect.cli.terminal import console, echo_json
from genie_inspect.cli.verbs.ttcw.reading import FILE, NAMES, compared, figure, plain_table, ranked, read

if TYPE_CHECKING:
    from rich.table import Table


@click.command()
@click.argument("logs", nargs=-1, required=True, type=FILE)
@compared
@JSON
def ways(logs: tuple[Path, ...], votes: Path | None, as_json: bool, **options: Any) -> None:
    """One table of all ways in which critics were asked in LOGS: a row each, with the mean of tests passed by writer.

    With --votes also how far each way ranks stories as people do. One run of the task ttcw_stories with ways=all has
    them all: 3, 5 and 7 levels; rate alone, analyse then rate, rate then analyse; with and without a reference.

    \b
    Example: genie ttcw ways logs/ --votes votes.jsonl
    """
    with shown_errors():
        scores, voted = read(logs, votes)
        rows = asked_ways(scores, voted, **options)
    if as_json:
        echo_json(rows)
    else:
        console().print(_table(rows))


def _table(rows: Sequence[AskedWay]) -> "Table":
    from rich.markup import escape

    writers = list(dict.fromkeys(writer for row in rows for writer in row.by_writer))
    names = list(NAMES.values()) if any(row.rankings for row in rows) else []
    table = plain_table(
        "Ways of asking",
        "tests passed, mean over stories: of all, then by writer",
        *("judge", "way", "cutoff", "judged", "all", *writers, *names),
        left=2,
    )
    for row in rows:
        means = [figure(row.total), *(figure(row.by_writer.get(writer, float("nan"))) for writer in writers)]
        judged = f"{row.stories - row.not_judged} of {row.stories}"
        table.add_row(escape(row.judge), escape(row.way), row.cutoff, judged, *means, *ranked(row.rankings))
    return table
