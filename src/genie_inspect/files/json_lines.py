"""The one reader of JSON Lines: a line at a time, and for each that is none an error that names file and line."""

import errno
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from functools import partial
from io import IOBase
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from genie_inspect.errors import GenieError
from genie_inspect.prompting.texts import whole_json

RowT = TypeVar("RowT", bound=BaseModel)
MakeError = Callable[[str], GenieError]  # makes the error of whoever reads of a message
SHOWN = 60  # characters of a wrong value
LONGEST_LINE = 2**28  # bytes; the values of one take ten times that in memory


class Lines(Protocol):
    """A path, or whatever brings lines as one does."""

    def open(self, mode: Literal["rb"], /) -> AbstractContextManager[Iterable[bytes]]: ...


def placed_lines(source: Lines) -> Iterator[tuple[int, int, bytes]]:
    """The number from 1, the first byte and the bytes of every line that is not empty; lines end in a line feed."""
    begin = 0
    with source.open("rb") as file:
        # a file may be one line without an end
        bounded = iter(partial(file.readline, LONGEST_LINE), b"") if isinstance(file, IOBase) else file
        for number, line in enumerate(bounded, start=1):
            if len(line) >= LONGEST_LINE:
                raise OSError(errno.EFBIG, f"line {number} has more than {LONGEST_LINE:,} bytes")
            if line.strip():
                yield number, begin, line
            begin += len(line)


def json_objects(path: Path, error: MakeError) -> Iterator[tuple[int, dict[str, Any]]]:
    """The number from 1 and the object of every line that is not empty, one at a time."""
    try:
        for number, _, line in placed_lines(path):
            yield number, json_object(line, f"{path}, line {number}", error)
    except OSError as refused:
        raise error(f"{path} cannot be read: {refused.strerror or refused}") from refused


def json_object(text: bytes, where: str, error: MakeError) -> dict[str, Any]:
    value = _value(text, where, error)
    if not isinstance(value, dict):
        raise error(f"{where} is a {type(value).__name__} and no object")
    return value


def listed_objects(path: Path, error: MakeError) -> list[tuple[str, dict[str, Any]]]:
    """The objects of a JSON file that holds a list of them, each with the place where it stands."""
    try:
        content = path.read_bytes()
    except OSError as refused:
        raise error(f"{path} cannot be read: {refused.strerror or refused}") from refused
    items = _value(content, str(path), error)
    if not (isinstance(items, list) and all(isinstance(item, dict) for item in items)):
        raise error(f"{path} is not a list of objects")
    return [(f"{path}, item {number}", item) for number, item in enumerate(items, start=1)]


def json_row(text: str | bytes, kind: type[RowT], where: str, error: MakeError, form: str = "") -> RowT:
    """One JSON object as a checked row, without half characters."""
    if isinstance(text, bytes) and b"\\u" in text:
        # bytes that are no UTF-8 stay as they are, for the parser to name
        with suppress(UnicodeDecodeError):
            text = text.decode()
    try:
        return kind.model_validate_json(whole_json(text) if isinstance(text, str) else text)
    except ValidationError as invalid:
        raise error(f"{first_fault(invalid, where)}{form and f', expected {form}'}") from invalid


def first_fault(invalid: ValidationError, where: str) -> str:
    """The first thing that is wrong with a value, in one line: where, which field, what, and what stands there."""
    first = invalid.errors()[0]
    field = ".".join(str(part) for part in first["loc"])
    value = "" if first["type"] in ("json_invalid", "missing") else f" (got {str(first['input'])[:SHOWN]!r})"
    place = f"{where}, field {field}" if field else where
    return f"{place}: {first['msg']}{value}"


def _value(text: bytes, where: str, error: MakeError) -> Any:
    try:
        # utf-8-sig: Windows editors put a byte order mark before the first line
        return json.loads(whole_json(text.decode("utf-8-sig")))
    except (ValueError, RecursionError) as fault:
        reason = "nested too deep" if isinstance(fault, RecursionError) else fault
        raise error(f"{where} is not JSON: {reason}") from None
