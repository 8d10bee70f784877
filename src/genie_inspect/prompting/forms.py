"""The forms of replies, for providers that can hold a model to one: a JSON schema, or a pattern.

Behind them the typed readings of replies that are texts: responses, sentences, quotes.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from genie_inspect.errors import UnreadableReplyError
from genie_inspect.prompting.answers import ATTEMPT, NO, YES
from genie_inspect.prompting.replies import DIFFERENT, SAME, json_lists, json_objects
from genie_inspect.prompting.texts import has_word, shortened, spoken

RATINGS = "01234"
# pattern of a text inside JSON quotes. No pattern counts characters: xgrammar builds a state for each, and for 200 of
# them vLLM gave up after five seconds and answered with an error; the tokens of a reply are limited anyway
ANSWER = r'[^"\\\n]+'
LAST = "last"  # the name under which a sentence is asked for


@dataclass(frozen=True, slots=True)
class Form:
    """One form in the two ways in which providers take it."""

    schema: dict[str, Any] | None  # of an object with a text for each number; None where the reply is no JSON
    pattern: str  # of the whole reply, JSON on one line, so that no model can fill it with spaces


def answers_form(count: int) -> Form:
    return _numbered_form(count, ANSWER)


def reading_form(count: int) -> Form:
    """Whether the document is an attempt, and where it is one a text as of `answers_form` for each of the numbers."""
    values = {ATTEMPT: {"type": "string", "enum": [YES, NO]}, **_numbered_values(count)}
    members = _numbered_members(count, ANSWER)
    return Form(_object_of(values), rf'\{{"{ATTEMPT}": (?:"{NO}"|"{YES}", {members})\}}')


def questions_form(count: int) -> Form:
    return _numbered_form(count, r'[^"\\\n?]+\?')


@lru_cache
def ratings_form(count: int) -> Form:
    """A rating for each of the numbers 1 to count; the pattern is of one line, "1:3 2:0", which takes fewest tokens."""
    as_json = _numbered_form(count, f"[{RATINGS}]", RATINGS)
    return Form(as_json.schema, " ".join(f"{number}:[{RATINGS}]" for number in range(1, count + 1)))


@lru_cache
def sheet_form(counts: tuple[int, ...]) -> Form:
    """A line per question, "1| 3 0", by how many ratings each has; as JSON it would take several times the tokens."""
    lines = (rf"{number}\| " + " ".join([f"[{RATINGS}]"] * count) for number, count in enumerate(counts, start=1))
    return Form(None, "\n".join(lines))


def choices_form(count: int, choices: Sequence[str]) -> Form:
    """One of the choices for each of the numbers 1 to count."""
    return _numbered_form(count, f"(?:{'|'.join(map(re.escape, choices))})", choices)


def sameness_form(count: int) -> Form:
    return _numbered_form(count, f"({SAME}|{DIFFERENT})", (SAME, DIFFERENT))


def cut_form(count: int) -> Form:
    """A list of numbers from 1 to count, under the name "cut"."""
    number = {"type": "integer", "minimum": 1, "maximum": count}
    digits = rf"[1-9]\d{{0,{len(str(count)) - 1}}}"
    pattern = rf'\{{"cut": \[({digits}(, {digits}){{0,{count - 1}}})?\]\}}'
    return Form(_object_of({"cut": {"type": "array", "items": number}}), pattern)


def last_form() -> Form:
    """A sentence, or nothing, under the name "last"."""
    # a sentence may quote: other than an answer it has escaped marks
    return Form(_object_of({LAST: {"type": "string"}}), rf'\{{"{LAST}": "(?:[^"\\\n]|\\["\\n])*"\}}')


def label_form(labels: Sequence[str], *, analysed: bool, reasons: bool = False) -> Form:
    """One of the labels, alone, or after an analysis of some 200 words without square brackets, or before one."""
    label, words = "|".join(map(re.escape, labels)), r"[^\[\]]+"
    if reasons:
        return Form(None, rf"({label})\n{words}")
    return Form(None, rf"{words}\n({label})" if analysed else f"({label})")


def _numbered_form(count: int, pattern: str, choices: Sequence[str] = ()) -> Form:
    return Form(_object_of(_numbered_values(count, choices)), rf"\{{{_numbered_members(count, pattern)}\}}")


def _numbered_values(count: int, choices: Sequence[str] = ()) -> dict[str, Any]:
    value = {"type": "string"} | ({"enum": list(choices)} if choices else {})
    return dict.fromkeys((str(number) for number in range(1, count + 1)), value)


def _numbered_members(count: int, pattern: str) -> str:
    return ", ".join(f'"{number}": "{pattern}"' for number in range(1, count + 1))


def _object_of(values: dict[str, Any]) -> dict[str, Any]:
    """JSON schema of an object that has all of these values, in this order, and nothing else."""
    return {"type": "object", "properties": values, "required": list(values), "additionalProperties": False}


@dataclass(frozen=True, slots=True)
class Response:
    """One of several answers to a request, with the probability that its writer gives it; NaN where it gives none."""

    text: str
    probability: float


def verbalized_responses(reply: str) -> list[Response]:
    """The responses of a reply, none where it has none; a reply that was cut off gives its complete ones.

    A text that is there twice in one list is two responses; in a second list, which repeats a draft, it is none.
    """
    lists: list[list[Response]] = []
    loose: list[Response] = []  # outside of any list, as where one was cut off: these come last
    for pairs in json_objects(spoken(reply)):
        values = [value for _, value in pairs if isinstance(value, list)]
        items = [dict(item) for value in values for item in value if isinstance(item, type(pairs))]
        if listed := [response for item in items if (response := _response(item))]:
            lists.append(listed)
        elif response := _response(dict(pairs)):
            loose.append(response)
    responses: list[Response] = []
    for listed in [*lists, loose]:
        # a model may write the list twice, first as a draft
        texts = {response.text for response in responses}
        responses += [response for response in listed if response.text not in texts]
    return responses


def _response(members: Mapping[str, Any]) -> Response | None:
    """The response that an object stands for, its probability as "0.25" or "5 %"; None where it has no word."""
    text, value = members.get("text"), members.get("probability")
    if not (isinstance(text, str) and has_word(text)):
        return None
    match = re.fullmatch(r"\s*(\d{1,4}(?:\.\d{1,20})?|\.\d{1,20})\s*(%?)\s*", value if isinstance(value, str) else "")
    share = float(match.group(1)) / (100 if match.group(2) else 1) if match else math.nan
    return Response(text.strip(), share if 0 <= share <= 1 else math.nan)


def sentences_to_cut(reply: str, count: int) -> set[int]:
    """The numbers, 1 to count, that stand under "cut" in the reply's last object that has it."""
    listed = _last_under("cut", reply)
    if not isinstance(listed, list):
        raise UnreadableReplyError(f'no list "cut" in the reply {shortened(reply)}')
    numbers = [number.strip() if isinstance(number, str) else "" for number in listed]
    if not all(re.fullmatch(r"\d{1,6}", number) and 1 <= int(number) <= count for number in numbers):
        raise UnreadableReplyError(f'"cut" has more than numbers from 1 to {count} in the reply {shortened(reply)}')
    return {int(number) for number in numbers}


def last_sound_sentence(reply: str) -> str:
    """The sentence under "last" in the reply's last object that has it; empty where it says that none is sound."""
    sentence = _last_under(LAST, reply)
    if not isinstance(sentence, str):
        raise UnreadableReplyError(f'no sentence under "{LAST}" in the reply {shortened(reply)}')
    return sentence.strip()


def _last_under(key: str, reply: str) -> object:
    values = [dict(pairs)[key] for pairs in json_objects(spoken(reply)) if key in dict(pairs)]
    return values[-1] if values else None


def one_sentence(reply: str) -> str:
    """The sentence that was asked for: the reply's last line, without what introduces or decorates it."""
    lines = [line.strip() for line in re.sub(r"[*_`]", "", spoken(reply)).splitlines() if line.strip()]
    sentence = re.sub(r"\A(?:plot|summary)\s*:\s*", "", lines[-1], flags=re.IGNORECASE) if lines else ""
    if not sentence.strip('"“” '):
        raise UnreadableReplyError(f"no sentence in the reply {shortened(reply)}")
    return sentence.strip('"“” ')


def written_text(reply: str) -> str:
    """A reply that is a text by itself, without a reasoning model's thoughts."""
    text = spoken(reply).strip()
    if not has_word(text):
        raise UnreadableReplyError(f"no text in the reply {shortened(reply)}")
    return text


EXPRESSION, REASON = "expression", "reason"
Quote = tuple[str, str]  # an expression as a reader gives it, whether or not it stands in the text; and why


def quotes(reply: str) -> list[Quote]:
    """The quotes of the last list of them, also inside prose or another object; none where the list is empty."""
    text = spoken(reply)
    lists = [listed for items in json_lists(text) if (listed := _quotes(items)) is not None]
    # an empty list beside quotes is a remark on the form, or what remains of a list that is broken
    if not lists or (not lists[-1] and f'"{EXPRESSION}"' in text):
        raise UnreadableReplyError(f"no whole list of expressions in the reply {shortened(reply)}")
    return lists[-1]


def _quotes(items: Sequence[Any]) -> list[Quote] | None:
    """The quotes that the items stand for; None where one of them is no object with an expression."""
    quoted: list[Quote] = []
    for item in items:
        # an object comes as a list of its pairs
        is_object = isinstance(item, list) and all(isinstance(pair, tuple) for pair in item)
        members: Mapping[str, Any] = dict(item) if is_object else {}
        expression, reason = members.get(EXPRESSION), members.get(REASON)
        if not isinstance(expression, str):
            return None
        quoted.append((expression.strip(), reason.strip() if isinstance(reason, str) else ""))
    return quoted
