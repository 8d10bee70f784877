"""The fence around data from outside: one JSON block that the data cannot close or fake."""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from genie_inspect.errors import UnreadableReplyError
from genie_inspect.prompting.texts import spoken
from genie_inspect.scripts import words

OPEN, CLOSE = "```json\n", "\n```"
# inside JSON strings these may be written as escapes, so that no data ever shows a fence or a tag
ESCAPES = {"`": "\\u0060", "<": "\\u003c", ">": "\\u003e"}


def fenced(data: Mapping[str, Any]) -> str:
    r"""The data as one fenced JSON block, whatever it contains.

    >>> print(fenced({"document": "The end.\n```"}))
    ```json
    {"document":"The end.\n\u0060\u0060\u0060"}
    ```
    """
    block = json.dumps(data, ensure_ascii=False, separators=(",", ":"))  # spaces would be a token an item
    for character, escape in ESCAPES.items():
        block = block.replace(character, escape)
    return OPEN + block + CLOSE


def unfenced(request: str) -> dict[str, Any]:
    """The data of the one fenced block in a request, as `fenced` wrote it."""
    start, end = request.rfind(OPEN), request.rfind(CLOSE)
    if start < 0 or end < start:
        raise UnreadableReplyError("the request has no fenced JSON block")
    try:
        data = json.loads(request[start + len(OPEN) : end])
    except (ValueError, RecursionError) as error:  # a ValueError alone is of a number of 5,000 digits
        raise UnreadableReplyError(f"the request's fenced block is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise UnreadableReplyError(f"the request's fenced block is a {type(data).__name__}, expected an object")
    return data


RUN = 16  # words; nobody who answers repeats so many of the instructions
SHARE = 1 / 3  # of the instructions' runs, so that a sentence that is quoted makes no echo
_FIRST_KEY = re.compile(r'\{"[^"]{1,40}":')


def without_echo(reply: str, request: str) -> str:
    """What a reply says beyond its request; empty where it repeats a good part of it.

    A reply that begins with the whole request, as base models and some servers give it, is what stands behind it.
    """
    begun, whole = reply.lstrip(), request.strip()
    rest = begun[len(whole) :].strip() if whole and begun.startswith(whole) else reply
    text = spoken(rest)
    # the instructions, and the blocks of data, which cannot hold a fence of their own
    first, *fences = request.split(OPEN)
    parts = [part.partition(CLOSE) for part in fences]
    instructions, blocks = "\n".join([first, *(after for _, _, after in parts)]), [block for block, _, _ in parts]
    dense = re.sub(r"\s+", "", text)
    begins_data = any(key and key[0] in dense for key in map(_FIRST_KEY.match, blocks))
    runs = _runs(instructions)
    plain = " ".join(words(text.casefold())) if runs else ""
    is_echo = bool(runs) and sum(run in plain for run in runs) >= SHARE * len(runs)
    return "" if begins_data or is_echo else rest


@lru_cache(maxsize=64)  # of a million requests all but the data is the same
def _runs(instructions: str) -> tuple[str, ...]:
    told = words(instructions.casefold())
    return tuple(" ".join(told[start : start + RUN]) for start in range(0, len(told) - RUN + 1, RUN))
