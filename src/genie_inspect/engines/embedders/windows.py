"""A text in pieces that a model can read whole: the end of a long text counts as much as its beginning."""

import re
from collections.abc import Callable
from typing import NamedTuple

POOLING = "windows by halves, mean by tokens"
"""What vectors of long texts depend on beside the model; part of an embedder's identity."""
_SPACE = re.compile(r"\s")


class Window(NamedTuple):
    """A piece of a text."""

    text: str
    tokens: int


def windows(text: str, limit: int, count: Callable[[str], int]) -> list[Window]:
    """A text's pieces in order, each of at most `limit` tokens; a text that fits is one piece, as it is.

    A piece that does not fit is halved at the space nearest its middle, so that no small rest is left over.

    Args:
        text: Holds more than space.
        limit: Tokens of a window, at least 1.
        count: How many tokens a text has.

    >>> [window.text for window in windows("one two three four five", 2, lambda text: len(text.split()))]
    ['one two', 'three', 'four five']
    """
    tokens = count(text)
    if tokens <= limit or len(text) == 1:
        return [Window(text, tokens)]
    halves = _halves(text.strip())
    return [window for half in halves for window in windows(half, limit, count)]


def _halves(text: str) -> tuple[str, ...]:
    """Two parts that hold more than space; a text of one character is one part."""
    if len(text) == 1:
        return (text,)
    middle = len(text) // 2
    spaces = (match.start() for match in _SPACE.finditer(text))
    # at a space, so that no word is cut; a text without any is cut in its middle
    place = min(spaces, key=lambda start: abs(start - middle), default=middle)
    return text[:place].rstrip(), text[place:].lstrip()
