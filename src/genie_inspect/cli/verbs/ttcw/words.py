"""`genie ttcw words`: how long stories are, by plot and writer."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from genie_inspect.agreement.ablation.writers import StoryWords, story_words
from genie_inspect.cli.running import JSON
from genie_inspect.cli.tables import shown_errors
from genie_inspect.cli.terminal import console, echo_json
from genie_inspect.cli.verbs.ttcw.reading import FILE, plain_table
from genie_inspect.engines.sources.reference_stories import reference_stories

if TYPE_CHECKING:
    from rich.table import Table


@click.command()
@click.argument("stories", nargs=-1, required=True, type=FILE)
@click.option("--references", help="A file of references, as for the task ttcw_stories.")
@JSON
def words(stories: tuple[Path, ...], references: str | None, as_json: bool) -> None:
    """How many words STORIES have (files as ttcw_stories takes them, or logs): a row a plot, a column a writer.

    \b
    Example: genie ttcw words stories.jsonl
    """
    with shown_errors():
        rows = story_words(stories, reference_stories(references) if references else ())
    if as_json:
        echo_json(rows)
    else:
        console().print(_table(rows))


def _table(rows: Sequence[StoryWords]) -> "Table":
    from rich.markup import escape

    writers = list(dict.fromkeys(row.writer for row in rows))
    table = plain_table("Words", "several stories of one writer and plot: their mean", "plot", *writers)
    for plot in dict.fromkeys(row.plot for row in rows):
        table.add_row(escape(plot), *(_mean(rows, writer, plot) for writer in writers))
    table.add_section()
    table.add_row("mean", *(_mean(rows, writer) for writer in writers))
    return table


def _mean(rows: Sequence[StoryWords], writer: str, plot: str | None = None) -> str:
    counts = [row.words for row in rows if row.writer == writer and plot in (None, row.plot)]
    return f"{sum(counts) / len(counts):.0f}" if counts else ""
