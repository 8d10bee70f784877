"""`genie ttcw totals`: how many tests stories pass, by writer."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from genie_inspect.agreement.ablation.charts import totals_chart
from genie_inspect.agreement.ablation.writers import WriterTotals, writer_totals
from genie_inspect.cli.outputs import replacing
from genie_inspect.cli.running import JSON
from genie_inspect.cli.tables import shown_errors
from genie_inspect.cli.terminal import console, echo_json
from genie_inspect.cli.verbs.ttcw.reading import FILE, PICTURE, VOTES, figure, plain_table, read
from genie_inspect.reports.charts import check_picture, write_chart

if TYPE_CHECKING:
    from rich.table import Table


@click.command()
@click.argument("scores", nargs=-1, type=FILE)
@VOTES
@PICTURE
@JSON
def totals(scores: tuple[Path, ...], votes: Path | None, picture: Path | None, as_json: bool) -> None:
    """How many tests the stories of each writer pass: by each judge of SCORES (logs or files), and by most people.

    \b
    Example: genie ttcw totals --votes votes.jsonl --picture totals.svg
             genie ttcw totals logs/ --votes votes.jsonl
    """
    with shown_errors():
        if picture:
            check_picture(picture)
        judged, voted = read(scores, votes)
        rows = writer_totals(judged, voted)
        if picture:
            with replacing(picture):
                write_chart(lambda: totals_chart(rows), picture)
    if as_json:
        plain = [{"judge": row.judge, "writer": row.writer, "mean": row.mean, "totals": row.totals} for row in rows]
        echo_json(plain)
    else:
        console().print(_table(rows))


def _table(rows: Sequence[WriterTotals]) -> "Table":
    from rich.markup import escape

    most = max((total for row in rows for total in row.stories), default=0)
    heads = ("judge", "writer", "stories", "mean", *map(str, range(most + 1)))
    table = plain_table("Stories by number of tests passed", "people: tests that most of them let pass", *heads, left=2)
    for row in rows:
        counts = [str(row.stories.get(total, "")) for total in range(most + 1)]
        table.add_row(escape(row.judge), escape(row.writer), str(len(row.totals)), figure(row.mean), *counts)
    return table
