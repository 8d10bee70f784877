"""The forms of replies, for providers that can hold a model to one: a JSON schema, or a pattern."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from genie_inspect.prompting.answers import ATTEMPT, NO, YES
from genie_inspect.prompting.replies import DIFFERENT, SAME

RATINGS = "01234"
# no pattern counts characters: xgrammar builds a state for each, and for 200 of them vLLM worked four seconds and more,
# gave up after five and answered with an error; the tokens of a reply are limited anyway
ANSWER = r'[^"\\\n]+'
"""Pattern of a text inside JSON quotes."""
LAST = "last"
"""The name under which a sentence is asked for."""


@dataclass(frozen=True, slots=True)
class Form:
    """One form in the two ways in which providers take it."""

    schema: dict[str, Any] | None
    """JSON schema of an object with a text for each number; None where the reply is no JSON."""
    pattern: str
    """Regular expression of the whole reply, JSON on one line, so that no model can fill it with spaces."""


def answers_form(count: int) -> Form:
    """A text for each of the numbers 1 to count."""
    return _numbered_form(count, {"type": "string"}, ANSWER)


def reading_form(count: int) -> Form:
    """Whether the document is an attempt, and where it is one a text as of `answers_form` for each of the numbers.

    >>> reading_form(1).pattern.replace(ANSWER, "...")
    '\\\\{"attempt": (?:"no"|"yes", "1": "...")\\\\}'
    """
    values = {ATTEMPT: {"type": "string", "enum": [YES, NO]}, **_numbered_values(count, {"type": "string"})}
    members = _numbered_members(count, ANSWER)
    return Form(_object_of(values), rf'\{{"{ATTEMPT}": (?:"{NO}"|"{YES}", {members})\}}')


def questions_form(count: int) -> Form:
    """A question for each of the numbers 1 to count."""
    return _numbered_form(count, {"type": "string"}, r'[^"\\\n?]+\?')


@lru_cache
def ratings_form(count: int) -> Form:
    """A rating for each of the numbers 1 to count; the pattern is that of one line, which takes the fewest tokens.

    >>> ratings_form(2).pattern
    '1:[01234] 2:[01234]'
    """
    as_json = _numbered_form(count, {"type": "string", "enum": list(RATINGS)}, f"[{RATINGS}]")
    return Form(as_json.schema, " ".join(f"{number}:[{RATINGS}]" for number in range(1, count + 1)))


def choices_form(count: int, choices: Sequence[str]) -> Form:
    """One of the choices for each of the numbers 1 to count.

    >>> choices_form(1, ["keep", "examples"]).pattern
    '\\\\{"1": "(?:keep|examples)"\\\\}'
    """
    return _numbered_form(count, {"type": "string", "enum": list(choices)}, f"(?:{'|'.join(map(re.escape, choices))})")


def cut_form(count: int) -> Form:
    """A list of numbers from 1 to count, under the name "cut"."""
    number = {"type": "integer", "minimum": 1, "maximum": count}
    schema = {
        "type": "object",
        "properties": {"cut": {"type": "array", "items": number}},
        "required": ["cut"],
        "additionalProperties": False,
    }
    digits = rf"[1-9]\d{{0,{len(str(count)) - 1}}}"
    return Form(schema, rf'\{{"cut": \[({digits}(, {digits}){{0,{count - 1}}})?\]\}}')


def last_form() -> Form:
    """A sentence, or nothing, under the name "last".

    >>> bool(re.fullmatch(last_form().pattern, '{"last": "\\\\"Go!\\\\" she said."}'))
    True
    """
    schema = _object_of({LAST: {"type": "string"}})
    # a sentence may quote: other than an answer it has escaped marks
    return Form(schema, rf'\{{"{LAST}": "(?:[^"\\\n]|\\["\\n])*"\}}')


def sameness_form(count: int) -> Form:
    """One of the words same and different for each of the numbers 1 to count."""
    return _numbered_form(count, {"type": "string", "enum": [SAME, DIFFERENT]}, f"({SAME}|{DIFFERENT})")


def label_form(labels: Sequence[str], *, analysed: bool, reasons: bool = False) -> Form:
    """One of the labels, alone, or after an analysis of some 200 words without square brackets, or before one.

    >>> label_form(["[[YES]]", "[[NO]]"], analysed=False).pattern
    '(\\\\[\\\\[YES\\\\]\\\\]|\\\\[\\\\[NO\\\\]\\\\])'
    """
    label, words = "|".join(map(re.escape, labels)), r"[^\[\]]+"
    if reasons:
        return Form(None, rf"({label})\n{words}")
    return Form(None, rf"{words}\n({label})" if analysed else f"({label})")


def _numbered_form(count: int, value: dict[str, Any], pattern: str) -> Form:
    return Form(_object_of(_numbered_values(count, value)), rf"\{{{_numbered_members(count, pattern)}\}}")


def _numbered_values(count: int, value: dict[str, Any]) -> dict[str, Any]:
    return dict.fromkeys((str(number) for number in range(1, count + 1)), value)


def _numbered_members(count: int, pattern: str) -> str:
    return ", ".join(f'"{number}": "{pattern}"' for number in range(1, count + 1))


def _object_of(values: dict[str, Any]) -> dict[str, Any]:
    """JSON schema of an object that has all of these values, in this order, and nothing else."""
    return {"type": "object", "properties": values, "required": list(values), "additionalProperties": False}
