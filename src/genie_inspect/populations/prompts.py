"""Where prompts come from when they do not ship with the package."""

import csv
import json
import math
import random
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from genie_inspect.engines.identity import hub_dataset
from genie_inspect.errors import GenieError, MissingExtraError
from genie_inspect.files.json_lines import json_objects
from genie_inspect.files.writing import write_lines

Row = dict[str, str | None]
COLUMN, SPLIT = "prompt", "train"
JSON_LINES, TABLES = (".jsonl", ".json"), (".csv", ".parquet")
ACCEPTED = "a .jsonl, .csv or .parquet file, or the id of a hub dataset (owner/name)"
TABLES_OFFLINE = "Without network, use a local file"
OFFLINE = "Without network, use a local JSON Lines file with a field 'prompt' instead (dataset=prompts.jsonl)"
STORY_WHERE = "Write a story where:"
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+(@\w+)?")
_NUMBER = re.compile(r"-?\d+\.0+")
_TAGS = re.compile(r"\s*(?:\[\s*[A-Za-z]{2,4}\s*\]\s*)+")


class SourceError(GenieError):
    """A table, or prompts, cannot be had from where they were asked for."""


def open_table(source: str, split: str = SPLIT) -> tuple[Sequence[str], Iterator[Row]]:
    """The columns of the table at a path, or of the hub's dataset of that id; and its rows, to be gone through once."""
    path, columns = Path(source), None
    rows: Iterator[dict[str, Any]]
    if path.suffix in (*JSON_LINES, *TABLES):
        if not path.is_file():
            raise SourceError(f"{source} does not exist, expected {ACCEPTED}")
        if path.suffix in JSON_LINES:
            rows = (row for _, row in json_objects(path, SourceError))
        else:
            columns, rows = _csv(path) if path.suffix == ".csv" else _parquet(path)
    elif path.exists() or not _HUB_ID.fullmatch(source):
        raise SourceError(f"source is {source!r}, expected {ACCEPTED}")
    else:
        rows = iter(hub_dataset(source, split, SourceError, "dataset", TABLES_OFFLINE))
    if columns is None:
        # those of the first row
        columns = tuple(first := next(rows, {}))
        rows = chain([first], rows)
    return columns, ({name: cell(value) for name, value in row.items()} for row in rows)


def cell(value: object) -> str | None:
    """A cell as text; None for what is empty or no number."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    # pandas writes whole numbers as floats where a column has gaps: 12.0 must meet the id 12
    text = str(value).strip()
    return text.split(".")[0] if _NUMBER.fullmatch(text) else text or None


def _csv(path: Path) -> tuple[Sequence[str], Iterator[dict[str, Any]]]:
    csv.field_size_limit(sys.maxsize)  # a document is longer than the 128 KB that a cell may hold else

    def lines() -> Iterator[list[str]]:
        try:
            with path.open(encoding="utf-8-sig", newline="") as file:
                yield from csv.reader(file)
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise SourceError(f"{path} cannot be read as CSV: {error}") from error

    rows = lines()
    columns = next(rows, [])
    return columns, (dict(zip(columns, row, strict=False)) for row in rows)


def _parquet(path: Path) -> tuple[Sequence[str], Iterator[dict[str, Any]]]:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise MissingExtraError(f"Parquet file {path}", "hub") from None
    try:
        file = ParquetFile(path)
    except (ArrowException, OSError) as error:
        raise SourceError(f"{path} cannot be read as Parquet: {error}") from error
    return file.schema_arrow.names, (row for batch in file.iter_batches() for row in batch.to_pylist())


def writing_prompt_sample(
    source: str, count: int, seed: int, *, column: str = COLUMN, split: str = SPLIT, story_where: bool = False
) -> list[str]:
    """A seeded sample of distinct prompts, cleaned, in the order drawn.

    With `story_where` they become what the study asks a model: prompts that people wrote for each other are no tasks.
    """
    if count < 1:
        raise SourceError(f"sample is {count}, expected at least 1 prompt")
    raw = _raw(source, split, column)
    # sorted, so that the sample depends on the seed and not on the order of the source
    prompts = sorted({cleaned for text in raw if (cleaned := clean_prompt(text))})
    if len(prompts) < count:
        raise SourceError(f"dataset {source} has {len(prompts)} distinct prompts, expected at least {count}")
    drawn = random.Random(seed).sample(prompts, count)  # noqa: S311  # a sample, no secret
    # after the draw: the same prompts whichever form they take
    if story_where:
        drawn = [prompt if "write a story" in prompt.casefold() else f"{STORY_WHERE} {prompt}" for prompt in drawn]
    return drawn


def write_prompts(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a new file of prompts, as `prompt_lines` and every task read it: a JSON object a line."""
    write_lines(path, (json.dumps(row, ensure_ascii=False) + "\n" for row in rows), new=True)


def check_prompts_file(path: Path) -> None:
    """Refuse the name of a file of prompts that nobody would read as one."""
    if path.suffix != JSON_LINES[0]:
        raise SourceError(f"output is {path}, expected a name that ends in .jsonl, by which tasks know its form")


def prompt_lines(path: Path | str) -> list[str]:
    """The prompts of a file, each once: a text file with one prompt per line, or JSON Lines with a field `prompt`."""
    path = Path(path)
    if path.suffix in JSON_LINES:
        return _distinct(_local(path, COLUMN), f"prompts {path}")
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(
            f"prompts {path} cannot be read, expected a text file with one prompt per line: {error}"
        ) from error
    return _distinct(lines, f"prompts {path}")


def all_prompts(source: str, split: str) -> list[str]:
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
        raise SourceError(f"{source} has no prompts")
    return prompts


def _raw(source: str, split: str, column: str) -> Iterable[str]:
    """The texts of a column, as they stand in a file or in a dataset of the hub."""
    path = Path(source)
    if path.suffix not in TABLES and (path.is_file() or path.suffix in JSON_LINES):
        return _local(path, column)
    if path.suffix in TABLES:
        columns, rows = open_table(source)
    else:
        dataset = hub_dataset(source, split, SourceError, "dataset", OFFLINE)
        columns = dataset.column_names
    if column not in columns:
        raise SourceError(f"dataset {source} has the columns {list(columns)}, expected one named {column!r}")
    texts = (row.get(column) for row in rows) if path.suffix in TABLES else dataset[column]
    # a table may have empty cells, a preference dataset rows without a prompt
    return (text for text in texts if isinstance(text, str))


def _local(path: Path, column: str) -> Iterator[str]:
    for number, row in json_objects(path, SourceError):
        if not isinstance(row.get(column), str):
            raise SourceError(f"{path}, line {number} has no text in the field {column!r}")
        yield str(row[column])
