"""A table in as many blocks of columns as the width asks for: no figure is cut off."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from rich import box
from rich.console import Console  # noqa: TID251  # a type, whose object comes from the door
from rich.table import Table

from genie_inspect.cli.tables import UNBOUND

LineT = TypeVar("LineT")  # a Row, its power or a run's Facts
NAMES = 0.3  # of the width, at most, so that long keys leave room for figures


@dataclass(frozen=True, slots=True)
class Head(Generic[LineT]):
    """A column of figures."""

    name: str
    cell: Callable[[LineT], str]


def blocks(
    title: str,
    name: str,
    lines: Sequence[tuple[str, LineT | None]],
    heads: Sequence[Head[LineT]],
    console: Console,
) -> list[Table]:
    """The table, or so many parts of it side by side as fit, one below the other.

    Args:
        title: Of the first part.
        name: What the lines are.
        lines: Each with its label; one without a value has no figures.
        heads: Columns.
        console: Where it is shown.
    """
    # measured without a limit: rich would fold a cell to make any table fit
    unbound = console.options.update_width(UNBOUND)

    def table(columns: Sequence[Head[LineT]], title: str) -> Table:
        part = Table(
            title=title or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True
        )
        part.add_column(name, overflow="fold", max_width=max(len(name), int(NAMES * console.width)))
        for head in columns:
            part.add_column(head.name, justify="right", no_wrap=True)
        for label, line in lines:
            part.add_row(label, *(head.cell(line) if line else "" for head in columns))
        return part

    parts: list[list[Head[LineT]]] = [[]]
    for head in heads:
        wider = [*parts[-1], head]
        # a block has at least one column, however narrow the terminal is
        if parts[-1] and console.measure(table(wider, ""), options=unbound).maximum > console.width:
            parts.append([head])
        else:
            parts[-1] = wider
    return [table(columns, title if number == 0 else "") for number, columns in enumerate(parts)]


def starred(value: float, holds: bool) -> str:
    """A p-value, with a star where its difference holds."""
    return figure(value, ".3f") + ("*" if holds else " ")


def figure(value: float, form: str) -> str:
    """A number in a form such as `.3f`; a dash where there is none."""
    return format(value, form) if math.isfinite(value) else "-"
