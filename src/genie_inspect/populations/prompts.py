"""Where prompts come from when they do not ship with the package."""

import csv
import json
import math
import random
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from genie_inspect.engines.identity import hub_dataset
from genie_inspect.errors import GenieError, MissingExtraError
from genie_inspect.files.json_lines import json_objects
from genie_inspect.files.writing import write_lines

Row = dict[str, str | None]
ACCEPTED = "a .jsonl, .csv or .parquet file, or the id of a hub dataset (owner/name)"
TABLES_OFFLINE = "Without network, use a local file"
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+(@\w+)?")
_NUMBER = re.compile(r"-?\d+\.0+")


class TableError(GenieError):
    """A table cannot be read from where it was looked for."""


@dataclass(frozen=True, slots=True)
class Table:
    """Columns, and rows that can be gone through once."""

    columns: tuple[str, ...]
    rows: Iterator[Row]


def open_table(source: str, split: str = "train") -> Table:
    """The table at a path, or the dataset of that id on the hub."""
    path = Path(source)
    kinds = {".jsonl": _json_lines, ".json": _json_lines, ".csv": _csv, ".parquet": _parquet}
    if path.suffix in kinds:
        if not path.is_file():
            raise TableError(f"{source} does not exist, expected {ACCEPTED}")
        return kinds[path.suffix](path)
    if path.exists() or not _HUB_ID.fullmatch(source):
        raise TableError(f"source is {source!r}, expected {ACCEPTED}")
    return _of(hub_dataset(source, split, TableError, "dataset", TABLES_OFFLINE))


def cell(value: object) -> str | None:
    """A cell as text; None for what is empty or no number.

    >>> [cell(value) for value in (7.0, "12.0", " a pilot ", float("nan"), "")]
    ['7', '12', 'a pilot', None, None]
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    # pandas writes whole numbers as floats where a column has gaps: 12.0 must meet the id 12
    text = str(value).strip()
    return text.split(".")[0] if _NUMBER.fullmatch(text) else text or None


def _of(rows: Iterable[dict[str, Any]]) -> Table:
    """A table whose columns are those of its first row."""
    items = iter(rows)
    first = next(items, {})
    return Table(tuple(first), ({name: cell(value) for name, value in row.items()} for row in chain([first], items)))


def _json_lines(path: Path) -> Table:
    return _of(row for _, row in json_objects(path, TableError))


def _csv(path: Path) -> Table:
    csv.field_size_limit(sys.maxsize)  # a document is longer than the 128 KB that a cell may hold else

    def rows() -> Iterator[list[str]]:
        try:
            with path.open(encoding="utf-8-sig", newline="") as file:
                yield from csv.reader(file)
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise TableError(f"{path} cannot be read as CSV: {error}") from error

    lines = rows()
    columns = tuple(next(lines, []))
    return Table(columns, ({name: cell(value) for name, value in zip(columns, line, strict=False)} for line in lines))


def _parquet(path: Path) -> Table:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise MissingExtraError(f"Parquet file {path}", "hub") from None
    try:
        file = ParquetFile(path)
    except (ArrowException, OSError) as error:
        raise TableError(f"{path} cannot be read as Parquet: {error}") from error
    rows = (row for batch in file.iter_batches() for row in batch.to_pylist())
    return Table(tuple(file.schema_arrow.names), ({name: cell(value) for name, value in row.items()} for row in rows))


COLUMN, SPLIT = "prompt", "train"
JSON_LINES, TABLES = (".jsonl", ".json"), (".csv", ".parquet")
STORY_WHERE = "Write a story where:"

_TAGS = re.compile(r"\s*(?:\[\s*[A-Za-z]{2,4}\s*\]\s*)+")
OFFLINE = "Without network, use a local JSON Lines file with a field 'prompt' instead (dataset=prompts.jsonl)"


class PromptSourceError(GenieError):
    """Prompts cannot be had from where they were asked for."""


def writing_prompt_sample(
    source: str, count: int, seed: int, *, column: str = COLUMN, split: str = SPLIT, story_where: bool = False
) -> list[str]:
    """A seeded sample of distinct prompts, cleaned, in the order drawn."""
    if count < 1:
        raise PromptSourceError(f"sample is {count}, expected at least 1 prompt")
    raw = _raw(source, split, column)
    # sorted, so that the sample depends on the seed and not on the order of the source
    prompts = sorted({cleaned for text in raw if (cleaned := clean_prompt(text))})
    if len(prompts) < count:
        raise PromptSourceError(f"dataset {source} holds {len(prompts)} distinct prompts, expected at least {count}")
    drawn = random.Random(seed).sample(prompts, count)  # noqa: S311  # a sample, no secret
    # after the draw: the same prompts whichever form they take
    return [as_a_task(prompt) for prompt in drawn] if story_where else drawn


def as_a_task(prompt: str) -> str:
    """What a model is asked for a prompt that people wrote for each other, as the study asks it.

    >>> as_a_task("The town wakes up empty.")
    'Write a story where: The town wakes up empty.'
    >>> as_a_task("Write a story about an owl.")
    'Write a story about an owl.'
    """
    return prompt if "write a story" in prompt.casefold() else f"{STORY_WHERE} {prompt}"


def write_prompts(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a new file of prompts, as `prompt_lines` and every task read it: a JSON object a line."""
    write_lines(path, (json.dumps(row, ensure_ascii=False) + "\n" for row in rows), new=True)


def check_prompts_file(path: Path) -> None:
    """Refuse the name of a file of prompts that nobody would read as one."""
    if path.suffix != JSON_LINES[0]:
        raise PromptSourceError(f"output is {path}, expected a name that ends in .jsonl, by which tasks know its form")


def prompt_lines(path: Path | str) -> list[str]:
    """The prompts of a file, each once: a text file of a prompt a line, or JSON Lines with a field `prompt`."""
    if Path(path).suffix in JSON_LINES:
        return _distinct(_local(Path(path), COLUMN), f"prompts {path}")
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise PromptSourceError(
            f"prompts {path} cannot be read, expected a text file of a prompt a line: {error}"
        ) from error
    return _distinct(lines, f"prompts {path}")


def all_prompts(source: str, split: str) -> list[str]:
    """Every distinct prompt of a source as it stands there, in its order."""
    return _distinct(_raw(source, split, COLUMN), f"dataset {source}")


def clean_prompt(text: str) -> str:
    r"""A prompt without its tag, escaped newlines and tokenizer spacing.

    >>> clean_prompt("[ WP ] You wake up . <newline> The town\\n is empty .")
    'You wake up. The town is empty.'
    """
    if tags := _TAGS.match(text):
        text = text[tags.end() :]
    text = text.replace("\\n", " ").replace("\\t", " ").replace("<newline>", " ")
    # the published WritingPrompts files are tokenized: a space stands before each mark
    text = re.sub(r" (?=[.,!?;:])", "", " ".join(text.split()))
    return text.strip(" *")


def _distinct(texts: Iterable[str], source: str) -> list[str]:
    prompts = list(dict.fromkeys(text.strip() for text in texts if text.strip()))
    if not prompts:
        raise PromptSourceError(f"{source} holds no prompts")
    return prompts


def _raw(source: str, split: str, column: str) -> Iterator[str]:
    path = Path(source)
    if path.suffix in TABLES:
        return _table(source, column)
    local = path.is_file() or path.suffix in JSON_LINES
    return _local(path, column) if local else _hub(source, split, column)


def _local(path: Path, column: str) -> Iterator[str]:
    for number, row in json_objects(path, PromptSourceError):
        if not isinstance(row.get(column), str):
            raise PromptSourceError(f"{path}, line {number} has no text in the field {column!r}")
        yield str(row[column])


def _table(source: str, column: str) -> Iterator[str]:
    try:
        table = open_table(source)
        _check_column(source, table.columns, column)
        yield from (row.get(column) or "" for row in table.rows)
    except TableError as error:
        raise PromptSourceError(str(error)) from error


def _hub(source: str, split: str, column: str) -> Iterator[str]:
    rows = hub_dataset(source, split, PromptSourceError, "dataset", OFFLINE)
    _check_column(source, rows.column_names, column)
    # a preference dataset may have rows without a prompt
    yield from (text for text in rows[column] if isinstance(text, str))


def _check_column(source: str, columns: Sequence[str], column: str) -> None:
    if column not in columns:
        raise PromptSourceError(f"dataset {source} has the columns {list(columns)}, expected one named {column!r}")
