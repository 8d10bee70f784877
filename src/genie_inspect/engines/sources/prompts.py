"""Where prompts come from when they do not ship with the package."""

import random
import re
from collections.abc import Iterator
from pathlib import Path

from genie_inspect.engines.models.hub import hub_dataset
from genie_inspect.errors import GenieError
from genie_inspect.files.json_lines import json_objects

_TAGS = re.compile(r"\s*(?:\[\s*[A-Za-z]{2,4}\s*\]\s*)+")
OFFLINE = "Without network, use a local JSON Lines file with a field 'prompt' instead (dataset=prompts.jsonl)"


class PromptSourceError(GenieError):
    """Prompts cannot be had from where they were asked for."""


def writing_prompt_sample(source: str, count: int, seed: int) -> list[str]:
    """A seeded sample of distinct prompts, cleaned, in the order drawn.

    Args:
        source: Hub id, or a local JSON Lines file; both have a field `prompt`.
        count: How many, at least 1.
        seed: Which ones.

    Raises:
        PromptSourceError: If the source cannot be read or holds fewer prompts.
        MissingExtraError: If a hub id is given and `datasets` is not installed.
    """
    if count < 1:
        raise PromptSourceError(f"sample is {count}, expected at least 1 prompt")
    raw = _raw(source, "train")
    # sorted, so that the sample depends on the seed and not on the order of the source
    prompts = sorted({cleaned for text in raw if (cleaned := clean_prompt(text))})
    if len(prompts) < count:
        raise PromptSourceError(f"dataset {source} holds {len(prompts)} distinct prompts, expected at least {count}")
    return random.Random(seed).sample(prompts, count)  # noqa: S311  # a sample, no secret


def prompt_lines(path: Path | str) -> list[str]:
    """The prompts of a text file, one a line, each once.

    Raises:
        PromptSourceError: If the file cannot be read or holds none.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise PromptSourceError(
            f"prompts {path} cannot be read, expected a text file of a prompt a line: {error}"
        ) from error
    prompts = list(dict.fromkeys(line.strip() for line in lines if line.strip()))
    if not prompts:
        raise PromptSourceError(f"prompts {path} is empty, expected a prompt a line")
    return prompts


def all_prompts(source: str, split: str) -> list[str]:
    """Every distinct prompt of a source as it stands there, in its order.

    Args:
        source: Hub id, or a local JSON Lines file; both have a field `prompt`.
        split: Which part of a hub dataset; a local file is taken whole.

    Raises:
        PromptSourceError: If the source cannot be read or holds no prompt.
        MissingExtraError: If a hub id is given and `datasets` is not installed.
    """
    prompts = list(dict.fromkeys(text.strip() for text in _raw(source, split) if text.strip()))
    if not prompts:
        raise PromptSourceError(f"dataset {source} holds no prompts")
    return prompts


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


def _raw(source: str, split: str) -> Iterator[str]:
    local = Path(source).is_file() or source.endswith((".jsonl", ".json"))
    return _local(Path(source)) if local else _hub(source, split)


def _local(path: Path) -> Iterator[str]:
    for number, row in json_objects(path, PromptSourceError):
        if not isinstance(row.get("prompt"), str):
            raise PromptSourceError(f"{path}, line {number} has no text in the field 'prompt'")
        yield str(row["prompt"])


def _hub(source: str, split: str) -> Iterator[str]:
    rows = hub_dataset(source, split, PromptSourceError, "dataset", OFFLINE)
    if "prompt" not in rows.column_names:
        raise PromptSourceError(f"dataset {source} has the columns {rows.column_names}, expected one named 'prompt'")
    yield from rows["prompt"]
