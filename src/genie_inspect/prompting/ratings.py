"""Ratings in replies: whole numbers that stand alone where a rating is due."""

import re
from functools import lru_cache

from genie_inspect.errors import UnreadableReplyError
from genie_inspect.prompting.texts import shortened, spoken

LOWEST, HIGHEST = 0, 4
"""The scale of how alike two answers are."""
# the rest of the line from the number on; "(0-4)" after the word says the scale, not the rating
_DUE = re.compile(r"\brating\b(?:\s{0,9}\([^()]{0,40}\))?(?:\s{1,9}is)?[^\w+-]{0,9}([+-]?\d.*)", re.IGNORECASE)
_DECORATION = " *#.\t"


def rating_in(text: str | None, lowest: int, highest: int) -> int | None:
    """The rating that a text begins with, the text being all that stands where a rating is due; None where it has none.

    After the number may stand what it is out of, and after a mark a reason; but not another number, nor a word: then
    the number says how many there are of something.

    >>> [rating_in(text, 0, 4) for text in ("3", "**3.0**", "3/4", "3 - the same", "3/10", "2,5", "3-4", "4 knights")]
    [3, 3, 3, 3, None, None, None, None]
    """
    number = _alone(highest).match(text or "")
    rating = int(number[1]) if number else None
    return rating if rating is not None and lowest <= rating <= highest else None


def rating_between(reply: str, lowest: int, highest: int) -> int:
    """The whole number after the last "Rating:" that has one, else a last line that is a number.

    Raises:
        UnreadableReplyError: If there is none, it does not stand alone, or it is out of range.
    """
    text = spoken(reply)
    due = _DUE.findall(text)
    lines = [line.strip(_DECORATION) for line in text.splitlines() if line.strip(_DECORATION)]
    alone = lines[-1] if lines and re.fullmatch(r"\d{1,4}(?:\.0{1,9})?", lines[-1]) else None
    rating = rating_in(due[-1] if due else alone, lowest, highest)
    if rating is None:
        raise UnreadableReplyError(f"no rating from {lowest} to {highest} in the reply {shortened(reply)}")
    return rating


def pair_rating(reply: str) -> int:
    """The rating 0 to 4 of one pair, as `rating_between` reads it.

    Raises:
        UnreadableReplyError: If there is none, or it is out of range.
    """
    return rating_between(reply, LOWEST, HIGHEST)


@lru_cache
def _alone(highest: int) -> re.Pattern[str]:
    """A whole number of a scale up to the highest, and nothing behind it that makes another number of it."""
    return re.compile(
        r"[\s*_`\"'(\[]{0,9}(?:rating\b[\s*:=]{0,9})?"
        rf"(\d{{1,4}})(?:\.0{{1,9}})?(?:\s{{0,3}}(?:/|out of)\s{{0,3}}{highest}(?:\.0{{1,9}})?)?(?!\w)"
        r"[\s*_`\"')\]}|]{0,9}(?:\Z|[.,;:!([{|\u2013\u2014-](?!\s{0,9}(?:\d|(?:or|to)\b)))",
        re.IGNORECASE,
    )
