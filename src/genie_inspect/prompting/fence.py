"""The fence around data from outside: one JSON block that the data cannot close or fake."""

import json
from collections.abc import Mapping
from typing import Any

from genie_inspect.errors import UnreadableReplyError

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
    """The data of the one fenced block in a request, as `fenced` wrote it.

    Raises:
        UnreadableReplyError: If the request holds no such block.
    """
    start, end = request.rfind(OPEN), request.rfind(CLOSE)
    if start < 0 or end < start:
        raise UnreadableReplyError("the request holds no fenced JSON block")
    try:
        data = json.loads(request[start + len(OPEN) : end])
    except (json.JSONDecodeError, RecursionError) as error:
        raise UnreadableReplyError(f"the request's fenced block is no JSON: {error}") from error
    if not isinstance(data, dict):
        raise UnreadableReplyError(f"the request's fenced block is a {type(data).__name__}, expected an object")
    return data
