"""Typed readings of what models reply to the panel: what is the same, how good it is, which is better, yes or no."""

import re

from genie_inspect.errors import UnreadableReplyError
from genie_inspect.prompting.ratings import rating_between
from genie_inspect.prompting.replies import last_labels, numbered_answers
from genie_inspect.prompting.texts import shortened, spoken

SAME, DIFFERENT = "same", "different"
HIGHEST = 10
_LABEL = re.compile(r"\[\[\s{0,9}(a|b|tie)\s{0,9}\]\]", re.IGNORECASE)
YES_NO = ("[[YES]]", "[[NO]]")
_YES_NO = re.compile(r"\[\[\s{0,9}(yes|no)\s{0,9}\]\]", re.IGNORECASE)
_POINTS = {"a": 1.0, "tie": 0.5, "b": 0.0}
_REASONING = "Reasoning:"
_VERDICTS = {"Preferred: A": 1.0, "Preferred: B": 0.0}


def numbered_sameness(reply: str, count: int) -> dict[int, bool]:
    """Whether each item, 1 to count, is "same" or "different"; what is missing or says something else is absent."""
    words = {number: answer.strip(" .!*\"'").casefold() for number, answer in numbered_answers(reply, count).items()}
    return {number: word == SAME for number, word in words.items() if word in (SAME, DIFFERENT)}


def quality_level(reply: str) -> int:
    """The level 1 to 10 of a reply, as `rating_between` reads it.

    Raises:
        UnreadableReplyError: If there is none, or it is out of range.
    """
    return rating_between(reply, 1, HIGHEST)


def preferred(reply: str) -> float:
    """1 when the last label of the reply is [[A]] (the first story is better), 0 when it is [[B]], 0.5 for [[tie]].

    Raises:
        UnreadableReplyError: If there is no label, or the last line with one has two different ones.
    """
    lines = [labels for line in spoken(reply).splitlines() if (labels := _LABEL.findall(line))]
    last = {label.casefold() for label in lines[-1]} if lines else set()
    if len(last) != 1:
        raise UnreadableReplyError(f"no single [[A]], [[B]] or [[tie]] at the end of the reply {shortened(reply)}")
    return _POINTS[last.pop()]


def preferred_at_once(reply: str) -> float:
    r"""1 when the reply's first line is `Preferred: A`, 0 when it is `Preferred: B`.

    What stands behind is not read: a model trained on plain texts may write on when it has said its verdict.

    Raises:
        UnreadableReplyError: If it is anything else.

    >>> preferred_at_once("Preferred: B\n\n### Assistant:\nPreferred: A")
    0.0
    """
    lines = spoken(reply).strip().splitlines()
    if not lines or lines[0].rstrip() not in _VERDICTS:
        raise UnreadableReplyError(f"no {' or '.join(_VERDICTS)} at the beginning of the reply {shortened(reply)}")
    return _VERDICTS[lines[0].rstrip()]


def preferred_for_a_reason(reply: str) -> float:
    r"""1 when a reply that begins with `Reasoning:` has `Preferred: A` for the first line of that form, 0 for B.

    Raises:
        UnreadableReplyError: If it begins otherwise, gives no reason, or no line is a verdict.

    >>> preferred_for_a_reason("Reasoning: B is dull.\nPreferred: A\n")
    1.0
    """
    text = spoken(reply).strip()
    lines = [line.strip() for line in text.splitlines()]
    place = next((place for place, line in enumerate(lines) if line in _VERDICTS), 0)
    reason = "".join(lines[:place])
    if not reason.startswith(_REASONING) or reason == _REASONING:
        raise UnreadableReplyError(
            f"no {_REASONING} and after it a line {' or '.join(_VERDICTS)} in the reply {shortened(reply)}"
        )
    return _VERDICTS[lines[place]]


def yes_or_no(reply: str) -> int:
    """1 when the last label of the reply is [[YES]], 0 when it is [[NO]].

    Raises:
        UnreadableReplyError: If there is no label, its line has both, or it stands in a list of them.

    >>> [yes_or_no(reply) for reply in ("It ends well. [[YES]]", "I thought [[YES]], until the end:\\n\\n**[[no]]**")]
    [1, 0]
    """
    answers = {label.casefold() for label in last_labels(reply, _YES_NO)}
    if len(answers) != 1:
        raise UnreadableReplyError(f"no single {' or '.join(YES_NO)} at the end of the reply {shortened(reply)}")
    return int(answers == {"yes"})
