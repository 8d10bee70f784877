"""What the studies' commands print: tables of words on the left and figures on the right, and figures with ends."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from genie_inspect.statistics.bootstrap import BootstrapInterval

if TYPE_CHECKING:
    from rich.table import Table


def study_table(
    title: str, heads: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "", left: int = 1
) -> "Table":
    """A table whose first `left` columns are words; an empty row draws a line."""
    from rich.table import Table
    from rich.text import Text

    # texts, so that rich reads no interval and no name as markup
    table = Table(
        title=Text(title, "table.title"),
        title_justify="left",
        caption=Text(caption, "table.caption") if caption else None,
        caption_justify="left",
    )
    for place, head in enumerate(heads):
        table.add_column(Text(head), justify="left" if place < left else "right", overflow="fold")
    for row in rows:
        if row:
            table.add_row(*map(Text, row))
        else:
            table.add_section()
    return table


def shown_interval(
    interval: BootstrapInterval, form: Callable[[float], str] = "{:.2f}".format, none: str = "undefined"
) -> str:
    """A figure and its ends, as far as they are known."""
    if math.isnan(interval.value):
        return none
    ends = "" if math.isnan(interval.low) else f" [{form(interval.low)}, {form(interval.high)}]"
    return form(interval.value) + ends
