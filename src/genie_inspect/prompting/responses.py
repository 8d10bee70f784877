"""Typed readings of what strategies ask for: verbalized responses, and sentences that are to go."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from genie_inspect.errors import UnreadableReplyError
from genie_inspect.prompting.replies import json_objects, shortened, spoken, whole_text


@dataclass(frozen=True, slots=True)
class Response:
    """One of several answers to a request, with the probability that its writer gives it; NaN where it gives none."""

    text: str
    probability: float


def verbalized_responses(reply: str) -> list[Response]:
    """The responses of a reply in its order, each text once; a reply that was cut off gives its complete ones.

    Raises:
        UnreadableReplyError: If there is none.

    >>> verbalized_responses('{"responses": [{"text": "Once.", "probability": 0.2}, {"text": "Twi')
    [Response(text='Once.', probability=0.2)]
    """
    found: dict[str, float] = {}
    for members in _innermost(spoken(reply)):
        text = members.get("text")
        if isinstance(text, str) and re.search(r"\w", text):
            found.setdefault(whole_text(text), _probability(members.get("probability")))
    if not found:
        raise UnreadableReplyError(f"no responses in the reply {shortened(reply)}")
    return [Response(text, probability) for text, probability in found.items()]


def sentences_to_cut(reply: str, count: int) -> set[int]:
    """The numbers, 1 to count, that stand under "cut" in the reply's last object that has it.

    Raises:
        UnreadableReplyError: If there is no such list, or it holds anything but such numbers.

    >>> sorted(sentences_to_cut('Two are notes. {"cut": [1, "4"]}', 5))
    [1, 4]
    """
    lists = [dict(pairs)["cut"] for pairs in json_objects(spoken(reply)) if "cut" in dict(pairs)]
    if not lists or not isinstance(lists[-1], list):
        raise UnreadableReplyError(f'no list "cut" in the reply {shortened(reply)}')
    numbers = [str(number).strip() for number in lists[-1]]
    if not all(re.fullmatch(r"\d{1,6}", number) and 1 <= int(number) <= count for number in numbers):
        raise UnreadableReplyError(f'"cut" holds more than numbers from 1 to {count} in the reply {shortened(reply)}')
    return {int(number) for number in numbers}


def written_text(reply: str) -> str:
    """A reply that is a text by itself, without a reasoning model's thoughts.

    Raises:
        UnreadableReplyError: If it has no word.

    >>> written_text("<think>A pilot?</think> It rained.")
    'It rained.'
    """
    text = whole_text(spoken(reply))
    if not re.search(r"\w", text):
        raise UnreadableReplyError(f"no text in the reply {shortened(reply)}")
    return text


def _innermost(text: str) -> Iterator[dict[str, Any]]:
    """Every object, and those that stand in its lists."""
    for pairs in json_objects(text):
        members = dict(pairs)
        yield members
        for value in members.values():
            if isinstance(value, list):
                yield from (dict(item) for item in value if isinstance(item, type(pairs)))


def _probability(value: object) -> float:
    """A share from 0 to 1, also where it is written as a percentage; NaN for anything else.

    >>> [_probability(value) for value in ("0.25", "5 %", "often", None, "3")]
    [0.25, 0.05, nan, nan, nan]
    """
    match = re.fullmatch(r"\s*(\d{1,4}(?:\.\d{1,20})?|\.\d{1,20})\s*(%?)\s*", str(value))
    share = float(match.group(1)) / (100 if match.group(2) else 1) if match else math.nan
    return share if 0 <= share <= 1 else math.nan
