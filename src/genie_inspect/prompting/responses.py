"""Typed readings of what strategies ask for: verbalized responses, and sentences that are to go."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from genie_inspect.errors import UnreadableReplyError
from genie_inspect.prompting.forms import LAST
from genie_inspect.prompting.replies import json_lists, json_objects
from genie_inspect.prompting.texts import has_word, shortened, spoken


@dataclass(frozen=True, slots=True)
class Response:
    """One of several answers to a request, with the probability that its writer gives it; NaN where it gives none."""

    text: str
    probability: float


def verbalized_responses(reply: str) -> list[Response]:
    """The responses of a reply, none where it has none; a reply that was cut off gives its complete ones.

    A text that stands twice in one list is two responses; in a second list, which repeats a draft, it is none.

    >>> verbalized_responses('{"responses": [{"text": "Once.", "probability": 0.2}, {"text": "Twi')
    [Response(text='Once.', probability=0.2)]
    """
    responses: list[Response] = []
    for listed in _lists(spoken(reply)):
        # a model may write the list twice, first as a draft
        texts = {response.text for response in responses}
        responses += [response for response in listed if response.text not in texts]
    return responses


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
    numbers = [number.strip() if isinstance(number, str) else "" for number in lists[-1]]
    if not all(re.fullmatch(r"\d{1,6}", number) and 1 <= int(number) <= count for number in numbers):
        raise UnreadableReplyError(f'"cut" holds more than numbers from 1 to {count} in the reply {shortened(reply)}')
    return {int(number) for number in numbers}


def last_sound_sentence(reply: str) -> str:
    """The sentence under "last" in the reply's last object that has it; empty where it says that none is sound.

    Raises:
        UnreadableReplyError: If there is no such object, or what it has is no text.

    >>> last_sound_sentence('It breaks off. {"last": "The owl slept."}')
    'The owl slept.'
    """
    sentences = [dict(pairs)[LAST] for pairs in json_objects(spoken(reply)) if LAST in dict(pairs)]
    if not sentences or not isinstance(sentences[-1], str):
        raise UnreadableReplyError(f'no sentence under "{LAST}" in the reply {shortened(reply)}')
    return sentences[-1].strip()


def written_text(reply: str) -> str:
    """A reply that is a text by itself, without a reasoning model's thoughts.

    Raises:
        UnreadableReplyError: If it has no word.

    >>> written_text("<think>A pilot?</think> It rained.")
    'It rained.'
    """
    text = spoken(reply).strip()
    if not has_word(text):
        raise UnreadableReplyError(f"no text in the reply {shortened(reply)}")
    return text


def _lists(text: str) -> Iterator[list[Response]]:
    """The responses of each list; those outside of any, as where one was cut off, come last."""
    loose: list[Response] = []
    for pairs in json_objects(text):
        values = [value for _, value in pairs if isinstance(value, list)]
        items = [dict(item) for value in values for item in value if isinstance(item, type(pairs))]
        if listed := [response for item in items if (response := _response(item))]:
            yield listed
        elif response := _response(dict(pairs)):
            loose.append(response)
    yield loose


def _response(members: Mapping[str, Any]) -> Response | None:
    """The response that an object stands for; None where it has no text with a word."""
    text = members.get("text")
    if not (isinstance(text, str) and has_word(text)):
        return None
    return Response(text.strip(), _probability(members.get("probability")))


def _probability(value: object) -> float:
    """A share from 0 to 1, also where it is written as a percentage; NaN for anything else.

    >>> [_probability(value) for value in ("0.25", "5 %", "often", None, "3")]
    [0.25, 0.05, nan, nan, nan]
    """
    match = re.fullmatch(r"\s*(\d{1,4}(?:\.\d{1,20})?|\.\d{1,20})\s*(%?)\s*", value if isinstance(value, str) else "")
    share = float(match.group(1)) / (100 if match.group(2) else 1) if match else math.nan
    return share if 0 <= share <= 1 else math.nan


EXPRESSION, REASON = "expression", "reason"


@dataclass(frozen=True, slots=True)
class Quote:
    """What a reader quotes, as it gives it, whether or not it stands in the text; and why."""

    expression: str
    reason: str = ""


def quotes(reply: str) -> list[Quote]:
    """The quotes of the reply's last list of them, also inside prose or another object; none where the list is empty.

    Raises:
        UnreadableReplyError: If there is no such list, or it is broken or cut off.

    >>> quotes('Here: [{"expression": "a salt light", "reason": "Light has no taste."}]')
    [Quote(expression='a salt light', reason='Light has no taste.')]
    >>> quotes("[]")
    []
    """
    text = spoken(reply)
    lists = [listed for items in json_lists(text) if (listed := _quotes(items)) is not None]
    # an empty list beside quotes is a remark on the form, or what remains of a list that is broken
    if not lists or (not lists[-1] and f'"{EXPRESSION}"' in text):
        raise UnreadableReplyError(f"no whole list of expressions in the reply {shortened(reply)}")
    return lists[-1]


def _quotes(items: Sequence[Any]) -> list[Quote] | None:
    """The quotes that the items stand for; None where one of them is no object with an expression."""
    # an object comes as a list of its pairs
    members: list[Mapping[str, Any]] = [dict(item) if _is_object(item) else {} for item in items]
    if not all(isinstance(each.get(EXPRESSION), str) for each in members):
        return None
    return [Quote(each[EXPRESSION].strip(), _text(each.get(REASON))) for each in members]


def _is_object(item: object) -> bool:
    return isinstance(item, list) and all(isinstance(pair, tuple) for pair in item)


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""
