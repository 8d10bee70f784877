"""Text from outside as it may go to a terminal, into a picture or into a line of its own."""

import json
import re
from typing import Any

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
    """Printable text without line breaks, which a name can hold.

    >>> one_line("no file 'a" + chr(10) + "Error: b'")
    "no file 'a Error: b'"
    """
    return printable(" ".join(text.splitlines()))


def json_text(value: Any, indent: int | None = None) -> str:
    """JSON that reads back as the value and holds no unprintable character: they stand as escapes.

    >>> json_text({"name": "é" + chr(155)})
    '{"name": "é\\\\u009b"}'
    """
    text = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
