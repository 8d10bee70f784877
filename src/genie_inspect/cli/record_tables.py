"""Records as a table: a row each, a column a field."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table


def record_table(title: str, rows: Sequence[Mapping[str, Any]], heads: Mapping[str, str] | None = None) -> "Table":
    """A row a record; the first column in words, the others numbers, a blank where there is none."""
    from rich.table import Table
    from rich.text import Text

    shown = Table(title=title, title_justify="left")
    for place, name in enumerate(rows[0] if rows else ()):
        head = (heads or {}).get(name, name.replace("_", "\n"))
        shown.add_column(head, justify="right" if place else "left", no_wrap=True)
    for row in rows:
        shown.add_row(*(Text(_cell(value)) for value in row.values()))
    return shown


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.2f}"
    return str(value)
