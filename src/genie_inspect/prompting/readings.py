"""The reply to a reading: whether the document is an attempt at all, and its answers by number."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from genie_inspect.prompting.answers import is_unspecified, normalised, says_nothing
from genie_inspect.prompting.replies import LONGEST_ANSWER, is_short_text, numbered_values
from genie_inspect.prompting.texts import spoken

ATTEMPT, YES, NO = "attempt", "yes", "no"
# a key of a JSON object, whole or cut off (a quote inside an answer is escaped and no key), else a line of its own
_KEY = re.compile(rf'"{ATTEMPT}"\s*:\s*"?({YES}|{NO})\b', re.IGNORECASE)
_LINE = re.compile(rf"^[ \t>*#_-]*{ATTEMPT}[*_]*[ \t]*[:=][ \t*_]*({YES}|{NO})\b", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ReadingReply:
    """What one reply of a reader says."""

    answers: dict[int, str | None] = field(default_factory=dict)
    """By question number; None: the document does not say. What could not be read is absent."""
    is_attempt: bool | None = None
    """Whether the document is a try at what the questions are about; None where the reply has no word on it."""


def reading_reply(
    reply: str,
    count: int,
    questions: Sequence[str] = (),
    longest: int | None = LONGEST_ANSWER,
    has_marker: bool = True,
) -> ReadingReply:
    """The reply to a document and so many questions; unreadable parts of it are absent.

    Args:
        reply: What the reader said.
        count: How many questions it was asked.
        questions: The questions in their order; one that comes back word for word is no answer to itself.
        longest: Most characters of an answer; any number where None.
        has_marker: Whether the instruction asks for NOT_SPECIFIED, which alone then says that there is no answer; else
            words such as "unknown" do.

    >>> reading_reply('{"attempt": "yes", "1": "a pilot", "2": "[not said]"}', 2)
    ReadingReply(answers={1: 'a pilot', 2: None}, is_attempt=True)
    """
    answers: dict[int, str | None] = {}
    is_silent = says_nothing if has_marker else is_unspecified
    wordings = {number: normalised(question) for number, question in enumerate(questions, start=1)}
    for number, value in numbered_values(reply, count).items():
        text = None if value is None else value.strip()
        if text is None or (is_short_text(text, longest) and normalised(text) != wordings.get(number)):
            answers[number] = None if text is None or is_silent(text) else text
    return ReadingReply(answers, _is_attempt(spoken(reply)))


def _is_attempt(text: str) -> bool | None:
    """The last word on it, as a reply that corrects itself ends with what it means."""
    words = _KEY.findall(text) or _LINE.findall(text)
    return words[-1].casefold() == YES if words else None
