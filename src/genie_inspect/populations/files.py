"""Population files: streamed in line by line, written whole or not at all."""

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from genie_inspect.errors import PopulationError

RowT = TypeVar("RowT", bound=BaseModel)


def rows(path: Path, kind: type[RowT]) -> Iterator[RowT]:
    """The rows of a JSON Lines file, one at a time.

    Raises:
        PopulationError: If the file is missing, or a line is no JSON or has a wrong field; it names all three.
    """
    return (row for _, row in numbered_rows(path, kind))


def numbered_rows(path: Path, kind: type[RowT]) -> Iterator[tuple[int, RowT]]:
    """Like `rows`, each row with the number of its line, from 1; empty lines are passed over but counted."""
    return ((number, row) for number, _, row in placed_rows(path, kind))


def placed_rows(path: Path, kind: type[RowT]) -> Iterator[tuple[int, int, RowT]]:
    """Like `numbered_rows`, with the byte at which the line begins between number and row."""
    name = str(path)  # once: there may be millions of rows
    try:
        for number, begin, line in placed_lines(path):
            yield number, begin, parsed(line, kind, f"{name}, line {number}")
    except FileNotFoundError:
        raise PopulationError(f"{path} does not exist, expected a file of {kind.__name__.lower()} rows") from None
    except OSError as error:
        raise PopulationError(f"{path} cannot be read: {error}") from error


def placed_lines(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """The number from 1, the first byte and the text of every line that is not empty."""
    begin = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield number, begin, line
            begin += len(line)


def rows_at(path: Path, begins: Iterable[int], kind: type[RowT]) -> Iterator[RowT]:
    """The rows whose lines begin at these bytes, in the order given."""
    name = str(path)
    with path.open("rb") as file:
        for begin in begins:
            file.seek(begin)
            yield parsed(file.readline(), kind, f"{name}, byte {begin}")


def line_at(path: Path, begin: int) -> int:
    """The number, from 1, of the line that begins at this byte."""
    with path.open("rb") as file:
        return file.read(begin).count(b"\n") + 1


def parsed(text: str | bytes, kind: type[RowT], where: str) -> RowT:
    """One JSON object as a checked row; `where` begins the error message."""
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        value = "" if first["type"] in ("json_invalid", "missing") else f" (got {str(first['input'])[:60]!r})"
        place = f"{where}, field {field}" if field else where
        raise PopulationError(f"{place}: {first['msg']}{value}") from error


def write_rows(path: Path, items: Iterable[BaseModel]) -> int:
    """Write the rows as JSON Lines, atomically; returns how many there were."""
    count = 0

    def lines() -> Iterator[str]:
        nonlocal count
        for item in items:
            count += 1
            yield json.dumps(item.model_dump(), ensure_ascii=False) + "\n"

    write_lines(path, lines())
    return count


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write a text file so that a crash at any moment leaves the old file or the new one, never a part."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def check_absent(path: Path) -> None:
    """Refuse to write over a file.

    Raises:
        PopulationError: If something stands there.
    """
    if path.exists() or path.is_symlink():
        raise PopulationError(f"output {path} exists, expected a new file: nothing was written")


def file_digest(path: Path) -> str:
    """SHA-256 of a file's bytes, in hex.

    Raises:
        PopulationError: If the file is missing.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise PopulationError(f"{path} does not exist, though population.json lists it") from None
