"""`genie ttcw cutoffs`: totals and agreement under every cutoff."""

from pathlib import Path
from typing import Any

import click

from genie_inspect.agreement.ablation.charts import cutoff_chart
from genie_inspect.agreement.ablation.cutoffs import CutoffCurve, cutoff_curves
from genie_inspect.cli.outputs import replacing
from genie_inspect.cli.running import JSON
from genie_inspect.cli.tables import shown_errors
from genie_inspect.cli.terminal import console, echo_json
from genie_inspect.cli.verbs.ttcw.reading import FILE, NAMES, PICTURE, compared, figure, plain_table, ranked, read
from genie_inspect.reports.charts import check_picture, write_chart


@click.command()
@click.argument("logs", nargs=-1, required=True, type=FILE)
@click.option("--cutoff", "cutoffs", multiple=True, type=int, help="Repeatable.  [default: all of the scale up to 0]")
@compared
@PICTURE
@JSON
def cutoffs(
    logs: tuple[Path, ...],
    cutoffs: tuple[int, ...],
    votes: Path | None,
    picture: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """How many tests stories pass under every cutoff, from the verdicts that LOGS have; nobody is asked again.

    With --votes also how far each cutoff ranks stories as people do. A run with that cutoff gives the same totals.

    \b
    Example: genie ttcw cutoffs logs/ --votes votes.jsonl --picture cutoffs.svg
    """
    with shown_errors():
        if picture:
            check_picture(picture)
        scores, voted = read(logs, votes)
        curves = cutoff_curves(scores, voted, cutoffs, **options)
        if picture:
            with replacing(picture):
                write_chart(lambda: cutoff_chart(curves, "spearman", NAMES["spearman"]), picture)
    if as_json:
        echo_json(curves)
        return
    for curve in curves:
        _print(curve)


def _print(curve: CutoffCurve) -> None:
    from rich.markup import escape

    names = list(NAMES.values()) if any(point.rankings for point in curve.points) else []
    heads = ("a test passes from", "tests passed, mean", *names)
    table = plain_table(escape(curve.judge), f"{curve.stories} stories; *: as the log was scored", *heads, left=0)
    for point in curve.points:
        own = "*" * (point.cutoff == curve.cutoff)
        table.add_row(f"{own}{point.cutoff}", figure(point.total), *ranked(point.rankings))
    console().print(table)
