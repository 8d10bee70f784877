"""What a number or a text from outside may be."""

import json
import math
import re
from typing import Annotated, Any

from pydantic import Field

MOST = 1e12  # larger numbers are none of a measure, and squares of them are near the end of what a float can hold
Number = Annotated[float, Field(ge=-MOST, le=MOST, allow_inf_nan=False)]  # for rows of files
SLACK = 1e-3  # values are kept with three digits, and sums of floats end beside 0 and 1


def number(raw: object, low: float = -MOST, high: float = MOST) -> float:
    """The number that somebody else wrote; NaN where it is none that may be."""
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


# what steers a terminal (C0 and C1 but tab and line feed, DEL), turns its lines around (marks of direction), or is no
# character of UTF-8 or XML at all, at which the library that draws pictures aborts the whole process
_UNPRINTABLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def printable(text: str) -> str:
    """Text without what would steer the terminal or turn its lines around: each such character is shown as one.

    >>> printable("a" + chr(27) + "[31mb")
    'a�[31mb'
    """
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """Printable text without line breaks, which a name can hold."""
    return printable(" ".join(text.splitlines()))


def json_text(value: Any, indent: int | None = None) -> str:
    """JSON that reads back as the value and has no unprintable character: they stand as escapes.

    >>> json_text({"name": "é" + chr(155)})
    '{"name": "é\\\\u009b"}'
    """
    text = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
