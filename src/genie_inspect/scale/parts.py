"""Lines in many files of a folder, wherever fsspec reaches: JSON Lines, or Parquet with a row a line."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from posixpath import basename, join
from typing import Any, Literal, NamedTuple

from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem

from genie_inspect.errors import MissingExtraError
from genie_inspect.files.writing import private_name, unwritable, write_bytes
from genie_inspect.scale.shards import ScaleError

JSONL, PARQUET = "jsonl", "parquet"
FORMS = (JSONL, PARQUET)
NESTED = ("body", "response", "error")
"""What stands in a column of Parquet as JSON."""


class Line(NamedTuple):
    """A line of replies: an id, and JSON, of which one is null."""

    custom_id: str
    response: str
    error: str


@dataclass(frozen=True, slots=True)
class Part:
    """A file of lines."""

    files: Any
    """The file system."""
    path: str

    def __str__(self) -> str:
        local = isinstance(self.files, LocalFileSystem)
        return self.path if local else str(self.files.unstrip_protocol(self.path))

    @contextmanager
    def open(self, mode: Literal["rb"], /) -> Iterator[Iterable[bytes]]:
        """Its lines as JSON, one at a time; see `json_lines.Lines`.

        Raises:
            ScaleError: If it cannot be read.
            MissingExtraError: If it is Parquet, and nothing is installed that reads it.
        """
        try:
            if self.path.endswith(f".{PARQUET}"):
                with self.files.open(self.path, mode) as file:
                    yield _rows(file, str(self))
            elif isinstance(self.files, LocalFileSystem):
                with Path(self.path).open(mode) as lines:  # of a pipe, too
                    yield lines
            else:
                with self.files.open(self.path, mode) as lines:
                    yield lines
        except OSError as error:
            raise ScaleError(f"{self} cannot be read: {error.strerror or error}") from error


def parts(address: str) -> list[Part]:
    """The files of lines that an address stands for: one, those of a folder, or those that match; none where it is new.

    Args:
        address: A path, or `s3://...`, `memory://...` and whatever else fsspec knows.

    Raises:
        ScaleError: If nobody knows such an address, or it cannot be reached.
    """
    files, path = _reached(address)
    try:
        if "*" in path:
            return [Part(files, one) for one in sorted(files.glob(path), key=_order)]
        if not files.isdir(path):
            return [Part(files, path)] if files.exists(path) else []
        inside = [one for one in files.ls(path, detail=False) if one.endswith(tuple(f".{form}" for form in FORMS))]
    except OSError as error:
        raise ScaleError(f"{address} cannot be read: {error}") from error
    return [Part(files, one) for one in sorted(inside, key=_order) if not basename(one).startswith(".")]


def existing(address: str, what: str) -> list[Part]:
    """The files of lines that an address stands for.

    Args:
        address: As for `parts`.
        what: What they should hold.

    Raises:
        ScaleError: If there is none, or it cannot be reached.
    """
    if found := parts(address):
        return found
    raise ScaleError(
        f"{address} holds no {what}, expected a file or a folder of files that end with .jsonl or .parquet"
    )


def write_part(folder: str, name: str, form: str, lines: Sequence[Line]) -> None:
    """Write lines to a new file, which appears whole or not at all.

    Args:
        folder: Where fsspec reaches.
        name: The file's, without its ending.
        form: `jsonl` or `parquet`.
        lines: What it shall hold.

    Raises:
        UnwritableError: If it cannot be written.
    """
    files, path = _reached(folder)
    content = _parquet(lines) if form == PARQUET else "".join(map(line_text, lines)).encode()
    target = join(path, f"{name}.{form}")
    with unwritable(Path(target)):
        files.makedirs(path, exist_ok=True)
        if isinstance(files, LocalFileSystem):
            write_bytes(Path(target), content)
            return
        part = join(path, private_name())
        files.pipe_file(part, content)
        files.mv(part, target)


def line_text(line: Line) -> str:
    """The line as JSON."""
    return f'{{"custom_id": {json.dumps(line.custom_id)}, "response": {line.response}, "error": {line.error}}}\n'


def _reached(address: str) -> tuple[Any, str]:
    try:
        files, path = url_to_fs(address)
    except (ImportError, OSError, ValueError) as error:  # a library that is missing, no such protocol
        raise ScaleError(f"{address} cannot be reached: {error}") from error
    return files, str(path)


def _order(path: str) -> tuple[int, str]:
    """By number where names end with one: read.jsonl, read-2.jsonl, read-10.jsonl."""
    return len(path), path


def _parquet(lines: Sequence[Line]) -> bytes:
    pyarrow, parquet = _pyarrow("output as Parquet")
    columns = dict(zip(Line._fields, map(list, zip(*lines, strict=True)), strict=True))
    sink = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.table(columns, schema=pyarrow.schema([(name, "string") for name in columns])), sink)
    return bytes(sink.getvalue())


def _rows(file: Any, name: str) -> Iterator[bytes]:
    pyarrow, parquet = _pyarrow(f"Parquet file {name}")
    try:
        for batch in parquet.ParquetFile(file).iter_batches(batch_size=1_000):
            for row in batch.to_pylist():
                fields = {name: _field(name, value) for name, value in row.items()}
                pairs = (f"{json.dumps(field)}: {value}" for field, value in fields.items())
                yield f"{{{', '.join(pairs)}}}".encode()
    except pyarrow.ArrowException as error:
        raise ScaleError(f"{name} cannot be read as Parquet: {error}") from error


def _field(name: str, value: object) -> str:
    """A cell as JSON: what is nested stands there as such."""
    return value if name in NESTED and isinstance(value, str) else json.dumps(value)


def _pyarrow(capability: str) -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError(capability, "ray") from None
    return pyarrow, parquet
