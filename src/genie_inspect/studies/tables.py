"""What the studies' commands print: tables of words on the left and figures on the right, and figures with ends."""

import math
from collections.abc import Callable, Iterable, Sequence

from genie_inspect.files.tables import Table
from genie_inspect.statistics.bootstrap import BootstrapInterval


def study_table(
    title: str, heads: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "", left: int = 1
) -> Table:
    """A table whose first `left` columns are words; an empty row draws a line, and a long name is broken, not cut."""
    return Table(title, heads, [row or None for row in rows], caption, words=left, look="folded")


def shown_interval(
    interval: BootstrapInterval, form: Callable[[float], str] = "{:.2f}".format, none: str = "undefined"
) -> str:
    """A figure and its ends, as far as they are known."""
    if math.isnan(interval.value):
        return none
    ends = "" if math.isnan(interval.low) else f" [{form(interval.low)}, {form(interval.high)}]"
    return form(interval.value) + ends
