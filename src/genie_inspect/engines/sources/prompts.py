"""Where prompts come from when they do not ship with the package."""

import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from genie_inspect.engines.models.hub import hub_dataset
from genie_inspect.engines.sources.tables import TableError, open_table
from genie_inspect.errors import GenieError
from genie_inspect.files.json_lines import json_objects
from genie_inspect.files.writing import write_lines

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
    """A seeded sample of distinct prompts, cleaned, in the order drawn.

    Args:
        source: Hub id, or a local JSON Lines, CSV or Parquet file.
        count: How many, at least 1.
        seed: Which ones.
        column: Where a row has its prompt.
        split: Which part of a hub dataset; a local file is taken whole.
        story_where: Begin each with "Write a story where:", as the study does; see `as_a_task`.

    Raises:
        PromptSourceError: If the source cannot be read or holds fewer prompts.
        MissingExtraError: If a hub id is given and `datasets` is not installed.
    """
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
    """Write a new file of prompts, as `prompt_lines` and every task read it: a JSON object a line.

    Args:
        path: The file; nothing may stand there.
        rows: Each a prompt under `prompt`, and what else is known of it.

    Raises:
        UnwritableError: If it cannot be written.
    """
    write_lines(path, (json.dumps(row, ensure_ascii=False) + "\n" for row in rows), new=True)


def check_prompts_file(path: Path) -> None:
    """Refuse the name of a file of prompts that nobody would read as one.

    Raises:
        PromptSourceError: If it does not end in .jsonl.
    """
    if path.suffix != JSON_LINES[0]:
        raise PromptSourceError(f"output is {path}, expected a name that ends in .jsonl, by which tasks know its form")


def prompt_lines(path: Path | str) -> list[str]:
    """The prompts of a file, each once: a text file of a prompt a line, or JSON Lines with a field `prompt`.

    Raises:
        PromptSourceError: If the file cannot be read or holds none.
    """
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
    """Every distinct prompt of a source as it stands there, in its order.

    Args:
        source: Hub id, or a local JSON Lines file; both have a field `prompt`.
        split: Which part of a hub dataset; a local file is taken whole.

    Raises:
        PromptSourceError: If the source cannot be read or holds no prompt.
        MissingExtraError: If a hub id is given and `datasets` is not installed.
    """
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
