"""What a number in a log or a file may be: finite, and from -1e12 to 1e12, or within what a measure can have."""

import math
from typing import Annotated

from pydantic import Field

MOST = 1e12
"""Larger numbers are none of a measure, and squares of them are near the end of what a float can hold."""
Number = Annotated[float, Field(ge=-MOST, le=MOST, allow_inf_nan=False)]
"""For rows of files."""
SLACK = 1e-3  # values are kept with three digits, and sums of floats end beside 0 and 1


def number(raw: object, low: float = -MOST, high: float = MOST) -> float:
    """The number that somebody else wrote; NaN where it is none that may be.

    >>> number(2), number("2"), number(1e13), number(10**400), number(1.5, 0, 1)
    (2.0, nan, nan, nan, nan)
    """
    # JSON's true is an int to Python, and means 1 to Inspect; an integer of 400 digits compares, but is no float
    if isinstance(raw, int | float) and max(low, -MOST) - SLACK <= raw <= min(high, MOST) + SLACK:
        return float(raw)
    return math.nan


def cell_number(cell: object) -> float:
    """The same of a cell of a table, where a number may be written as text.

    >>> cell_number("2.5"), cell_number("1e308"), cell_number("many")
    (2.5, nan, nan)
    """
    try:
        return number(float(cell) if isinstance(cell, str) else cell)
    except ValueError:
        return math.nan


def count(raw: object) -> int | None:
    """A whole number from 0; None where it is anything else."""
    return raw if isinstance(raw, int) and not isinstance(raw, bool) and 0 <= raw <= MOST else None
