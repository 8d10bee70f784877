"""One table in its forms, tables read, and values as plain JSON."""

import csv
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from io import StringIO
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from genie_inspect.files.json_lines import MakeError

WORDS = {"yes": True, "y": True, "1": True, "true": True, "no": False, "n": False, "0": False, "false": False}
LONGEST_CELL = 2**31 - 1  # characters; else 131,072, and a document is longer
# what a spreadsheet would take for a formula, or for the end of a cell, with the apostrophes that we put before it
_MARKED = re.compile(r"'*(?:\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|[\t\r\n])")


@dataclass(frozen=True, slots=True)
class Table:
    """A title, columns and rows of cells: terminal (cli/tables.py), CSV, JSON and Markdown are renderings of it."""

    title: str
    columns: Sequence[str]
    rows: Iterable[Sequence[Any] | None]  # None is a line across; a row of its first cell alone heads those below it
    caption: str = ""
    words: int = 1  # so many columns from the left hold words, the others figures
    look: str = ""  # in the terminal: see cli/tables.py

    def csv(self) -> Iterator[str]:
        """Lines of CSV: numbers as they are, None as nothing, before text that begins like a formula an apostrophe.

        >>> list(Table("", ["text", "delta"], [["=1+1", -0.5]]).csv())
        ['text,delta\\r\\n', "'=1+1,-0.5\\r\\n"]
        """
        text = StringIO()
        # as RFC 4180 has it; with line feeds alone a carriage return in a cell would stand without quotation marks
        table = csv.writer(text, lineterminator="\r\n")
        for row in chain([self.columns], filter(None, self.rows)):
            table.writerow([f"'{cell}" if isinstance(cell, str) and _MARKED.match(cell) else cell for cell in row])
            yield text.getvalue()
            text.seek(0)
            text.truncate()

    def markdown(self) -> list[str]:
        """Lines of Markdown whose columns stand under each other in plain text, too, figures to the right.

        >>> print(*Table("", ["feature", "novelty"], [["plot", "0.5"]]).markdown(), sep="\\n")
        | feature | novelty |
        |:--------|--------:|
        | plot    |     0.5 |
        """
        rows = [self.columns, *filter(None, self.rows)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        sides = ["<"] * self.words + [">"] * (len(widths) - self.words)
        sized = list(zip(sides, widths, strict=True))
        rulers = [f":{'-' * width}-" if side == "<" else f"-{'-' * width}:" for side, width in sized]
        places = " | ".join(f"{{:{side}{width}}}" for side, width in sized)
        head, *lines = (f"| {places.format(*row)} |" for row in rows)
        return [head, f"|{'|'.join(rulers)}|", *lines]


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    return "".join(Table("", columns, rows).csv())


def csv_rows(path: Path, needed: Collection[str], error: MakeError) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a table with a header, as text by column, each with its number from 2; a missing cell is empty."""
    csv.field_size_limit(LONGEST_CELL)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = csv.reader(file)
            columns = next(lines, [])
            if missing := sorted(set(needed).difference(columns)):
                has = ", ".join(columns) or "none"
                raise error(f"{path} has no column {', '.join(missing)}: it has {has}, expected {', '.join(needed)}")
            for number, cells in enumerate(lines, start=2):
                if not cells:
                    continue
                if len(cells) > len(columns):
                    raise error(
                        f"{path}, row {number} has {len(cells)} cells, expected {len(columns)}. Put text with commas "
                        "in quotation marks"
                    )
                # without an apostrophe that `Table.csv` puts before a formula, no other: 'tis and 'twas keep theirs
                texts = [cell[1:] if cell.startswith("'") and _MARKED.match(cell[1:]) else cell for cell in cells]
                # spreadsheets leave out the empty cells at the end of a row
                yield number, dict(zip_longest(columns, texts, fillvalue=""))
    except (OSError, UnicodeDecodeError, csv.Error) as fault:
        raise error(f"{path} cannot be read as a table: {getattr(fault, 'strerror', None) or fault}") from fault


def yes_or_no(row: Mapping[str, str], column: str, where: str, error: MakeError) -> bool | None:
    """What a person wrote in a cell that asks for yes or no; None where it was left empty."""
    cell = row[column].strip().casefold()
    if cell and cell not in WORDS:
        raise error(f"{where}, column {column}: {row[column]!r}, expected yes, no or nothing")
    return WORDS.get(cell)


def plain(value: Any) -> Any:
    """Dataclasses and mappings as dicts, sequences as lists; what is not a finite number is null."""
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    # JSON has no NaN; Python's writer would put one in, which other readers refuse
    return None if isinstance(value, float) and not math.isfinite(value) else value
