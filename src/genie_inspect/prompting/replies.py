"""Typed readings of what models reply: by number where items are numbered, never by position or wording."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any

from genie_inspect.errors import UnreadableReplyError
from genie_inspect.prompting.texts import has_word, shortened, spoken, whole_json

LOWEST, HIGHEST = 0, 4  # the scale of how alike two answers are
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
    """The whole number after the last "Rating:" that has one, else a last line that is a number."""
    text = spoken(reply)
    due = _DUE.findall(text)
    lines = [line.strip(_DECORATION) for line in text.splitlines() if line.strip(_DECORATION)]
    alone = lines[-1] if lines and re.fullmatch(r"\d{1,4}(?:\.0{1,9})?", lines[-1]) else None
    rating = rating_in(due[-1] if due else alone, lowest, highest)
    if rating is None:
        raise UnreadableReplyError(f"no rating from {lowest} to {highest} in the reply {shortened(reply)}")
    return rating


pair_rating = partial(rating_between, lowest=LOWEST, highest=HIGHEST)  # of how alike two answers are
quality_level = partial(rating_between, lowest=1, highest=10)


@lru_cache
def _alone(highest: int) -> re.Pattern[str]:
    """A whole number of a scale up to the highest, and nothing behind it that makes another number of it."""
    return re.compile(
        r"[\s*_`\"'(\[]{0,9}(?:rating\b[\s*:=]{0,9})?"
        rf"(\d{{1,4}})(?:\.0{{1,9}})?(?:\s{{0,3}}(?:/|out of)\s{{0,3}}{highest}(?:\.0{{1,9}})?)?(?!\w)"
        r"[\s*_`\"')\]}|]{0,9}(?:\Z|[.,;:!([{|\u2013\u2014-](?!\s{0,9}(?:\d|(?:or|to)\b)))",
        re.IGNORECASE,
    )


SAME, DIFFERENT = "same", "different"
LONGEST_ANSWER = 400  # characters; what is longer is no short answer but a model that babbles
MOST_BROKEN = 1_000  # beginnings of objects that turn out to be none; each may cost as much as the whole reply
MOST_OBJECTS = 10_000  # the longest reply that is asked for has one object for each of some hundred texts
# complete members of an object that was cut off: "3": "a pilot" or "3": 2, followed by a comma or the end brace
_MEMBER = re.compile(r'"(\d{1,4})"\s*:\s*("[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?|null)(?=\s*[,}])', re.DOTALL)
# "3. a pilot", "Q3: a pilot", "[3] 2", "| 3 | 2 |"; but not the decimal "3.0" nor the span "1-3: 2"
_LINE = re.compile(
    r"^[\s>*#|-]*(?:(?:answer|question|rating|pair|other|item|q|a|no)\.?\s*)?[\[(]*(\d{1,4})(?![.–—-]\d)"
    r"[\s\])*_]*(?:[.:=)\]|]+|[–—-]+(?!\d))\s*(.+)$",
    re.IGNORECASE,
)
# what stands between the ratings of a run: "1:3 2:0" or "1: 3, 2: 0"
_BETWEEN = re.compile(r"(?:(?<=:\d)|(?<=: \d))[ ,;|]{1,9}(?=\d{1,4} ?: ?(?:\d|\Z))")


def numbered_answers(reply: str, count: int) -> dict[int, str]:
    """Answers by number, 1 to count; what is missing, null, wordless, contradictory or endless is absent."""
    answers = {number: (value or "").strip() for number, value in numbered_values(reply, count).items()}
    return {number: answer for number, answer in answers.items() if is_short_text(answer)}


def is_short_text(answer: str, longest: int | None = LONGEST_ANSWER) -> bool:
    """Whether an answer has a word and an end: at most so many characters, or any number where None is given."""
    return (longest is None or len(answer) <= longest) and has_word(answer)


def numbered_questions(reply: str, count: int) -> dict[int, str]:
    """Questions by number, 1 to count; what does not end in a question mark is absent."""
    texts = {number: (value or "").strip() for number, value in numbered_values(reply, count, questions=True).items()}
    return {number: text for number, text in texts.items() if len(text) <= LONGEST_ANSWER and text.endswith("?")}


def numbered_choices(reply: str, count: int, choices: Iterable[str]) -> dict[int, str]:
    """One of the choices by number, 1 to count, in any case and with `_` for a space; anything else is absent."""
    plain = {_plain(choice): choice for choice in choices}
    values = {number: _plain(value or "") for number, value in numbered_values(reply, count).items()}
    return {number: plain[value] for number, value in values.items() if value in plain}


def _plain(choice: str) -> str:
    return re.sub(r"[\W_]+", " ", choice).strip().casefold()


def numbered_ratings(reply: str, count: int) -> dict[int, int]:
    """Ratings 0 to 4 by item number, 1 to count; what is missing, contradictory or out of range is absent."""
    lines = _BETWEEN.sub("\n", reply)
    ratings = {number: rating_in(value, LOWEST, HIGHEST) for number, value in numbered_values(lines, count).items()}
    return {number: rating for number, rating in ratings.items() if rating is not None}


# a line of a sheet, "3| 4 1 0", also as "**Question 3:** 4, 1, 0"; nothing else may stand on it, and "3.0" is none
_SHEET_LINE = re.compile(
    r"[\s>*_`#\"'|-]{0,9}(?:(?:question|q)\.?\s{0,3})?(\d{1,4})[*_`\"']{0,3}\s{0,3}(?:\||[.:)](?!\d))"
    r"[\s*_`\"'|.:)\[]{0,9}([0-9](?:[\s,;|]{1,9}[0-9])*)[\s*_`\"'|.,;\]]*",
    re.IGNORECASE,
)


def sheet_ratings(reply: str, counts: Sequence[int]) -> list[list[int]]:
    """Ratings 0 to 4 of each question's others, in order, by how many there are.

    Empty where a question's line is missing, contradicted by another, out of range, or of another length. Who rates a
    question that is not there may have lost count: of such a reply nothing is read.
    """
    lines: dict[int, set[str]] = {number: set() for number in range(1, len(counts) + 1)}
    for line in filter(None, map(_SHEET_LINE.fullmatch, spoken(reply).splitlines())):
        if int(line[1]) not in lines:
            return [[] for _ in counts]
        lines[int(line[1])].add(re.sub(r"[^0-9]", "", line[2]))
    said = [[int(rating) for rating in next(iter(each))] if len(each) == 1 else [] for each in lines.values()]
    return [
        ratings if len(ratings) == count and max(ratings, default=0) <= HIGHEST else []
        for ratings, count in zip(said, counts, strict=True)
    ]


def numbered_sameness(reply: str, count: int) -> dict[int, bool]:
    """Whether each item, 1 to count, is "same" or "different"; what is missing or says something else is absent."""
    return {number: word == SAME for number, word in numbered_choices(reply, count, (SAME, DIFFERENT)).items()}


def numbered_values(reply: str, count: int, *, questions: bool = False) -> dict[int, str | None]:
    """Values by number, 1 to count, as they stand, None for a JSON null; a number with two values is dropped.

    Reads a JSON object (also one inside prose, or cut off at its end) and, failing that, lines such as "3. a pilot".
    """
    text = whole_json(spoken(reply))
    members = ((key, _unquoted(value)) for key, value in _MEMBER.findall(text))
    matches = (match for line in text.splitlines() if (match := _LINE.match(line)))
    lines = ((match[1], match[2].strip(" \t*_`|,")) for match in matches)
    # where no questions are asked for, a line that ends in a question mark repeats what was asked
    answers = ((key, _unquoted(value)) for key, value in lines if questions or not value.endswith("?"))
    for pairs in (_from_objects(text), members, answers):
        values: dict[int, str | None] = {}
        contradicted: set[int] = set()
        for number, value in ((int(key), value) for key, value in pairs):
            # a model that changes its mind within a reply has given no answer that one could rely on
            if 1 <= number <= count and values.setdefault(number, value) != value:
                contradicted.add(number)
        if values:
            return {number: value for number, value in values.items() if number not in contradicted}
    return {}


def _from_objects(text: str) -> list[tuple[str, str | None]]:
    """Members with a number for a key, of the last JSON object that has any; repeated keys stay repeated."""
    members: list[tuple[str, str | None]] = []
    for pairs in json_objects(text):
        # its own, or those of the first object inside it that has some
        objects = [pairs, *(value for _, value in pairs if isinstance(value, _Pairs))]
        numbered = ([pair for pair in each if re.fullmatch(r"\d{1,4}", pair[0])] for each in objects)
        first: list[tuple[str, Any]] = next(filter(None, numbered), [])
        flat = [(key, value) for key, value in first if value is None or isinstance(value, str)]
        members = flat or members
    return members


class _Pairs(list[tuple[str, Any]]):
    """A JSON object that keeps repeated keys."""


def _json_values(beginning: re.Pattern[str], text: str) -> Iterator[Any]:
    """Every value that begins so and stands outside another one, as far as the text does not babble.

    In time linear in the text's length; objects come as pairs.
    """
    # numbers stay text: 3 and "3" say the same, and a million digits are no number
    decoder = json.JSONDecoder(
        object_pairs_hook=_Pairs, parse_int=str, parse_float=str, parse_constant=str, strict=False
    )
    text = whole_json(text)
    broken, values, patience = 0, 0, 4 * len(text)  # characters that may be read in vain
    begin = beginning.search(text)
    while begin and broken < MOST_BROKEN and values < MOST_OBJECTS and patience >= 0:
        end = begin.start() + 1
        try:
            value, end = decoder.raw_decode(text, begin.start())
        except RecursionError:
            return
        except json.JSONDecodeError as error:
            broken += 1
            patience -= error.pos - end
        else:
            values += 1
            yield value
        begin = beginning.search(text, end)


json_objects: Callable[[str], Iterator[_Pairs]] = partial(_json_values, re.compile(r'\{\s*["}]'))
# empty, or of objects
json_lists: Callable[[str], Iterator[list[Any]]] = partial(_json_values, re.compile(r"\[\s*[{\]]"))


def _unquoted(value: str) -> str | None:
    """A value without its quotes; None for null."""
    if value == "null":
        return None
    if len(value) < 2 or not value[0] == value[-1] == '"':
        return value
    try:
        return str(json.loads(value, strict=False))
    except json.JSONDecodeError:  # an escape that JSON does not know, such as \'
        return re.sub(r"\\(.)", r"\1", value[1:-1])


LEVELS = (3, 5, 7)
_LABEL = re.compile(r"\[\[\s{0,9}([AB])\s{0,9}([<>=]{1,9})\s{0,9}([AB])\s{0,9}\]\]", re.IGNORECASE)
# full-width forms of the keyboard's characters, and signs that are written for these
_GLYPHS = str.maketrans(
    {chr(code + 0xFEE0): chr(code) for code in range(0x21, 0x7F)}
    | {"≫": ">>", "»": ">>", "⋙": ">>>", "≪": "<<", "«": "<<", "⋘": "<<<", "\ufe64": "<", "\ufe65": ">", "\ufe66": "="}
)
# not html.unescape, which fails on a number of 5,000 digits
_SIGNS = {"gt": ">", "#62": ">", "#x3e": ">", "lt": "<", "#60": "<", "#x3c": "<"}
_ENTITY = re.compile(f"&({'|'.join(_SIGNS)});", re.IGNORECASE)
_BULLETS = " \t-•+>#|.)0123456789"
_LISTED = 2  # a line with more different labels than this repeats the instruction


def labels(levels: int = 5) -> list[str]:
    """The labels of a comparison with so many levels, from [[A>>B]], A is much better, to [[B>>A]]."""
    signs = [">" * points for points in range(levels // 2, 0, -1)]
    return [f"[[A{sign}B]]" for sign in signs] + ["[[A=B]]"] + [f"[[B{sign}A]]" for sign in reversed(signs)]


def verdict(reply: str, levels: int = 5) -> int:
    """Points of story A over story B from the reply's last label; with five levels -2 to 2, higher = A is better.

    Case, spacing, markdown and the way in which ">>" is written (">>", "≫", "&gt;&gt;") do not count; a label that is
    quoted in the analysis gives way to the one at the end.

    Args:
        reply: What the grader said.
        levels: How many labels there are to choose from: 3, 5 or 7.

    Raises:
        UnreadableReplyError: If there is no label, the last one is not one of these, or it is in a list of them.

    >>> [verdict(reply) for reply in ("B drags. [[A>>B]]", "**[[b ≫ a]]**", "At first [[A>B]], in the end [[A=B]]")]
    [2, -2, 0]
    """
    points = [_points(*label) for label in last_labels(reply, _LABEL)]
    if not points:
        raise UnreadableReplyError(f"no label such as [[A>B]] in the reply {shortened(reply)}")
    last = points[-1]
    if last is None or abs(last) > levels // 2 or len(set(points)) > _LISTED:
        raise UnreadableReplyError(f"no one label of {', '.join(labels(levels))} in the reply {shortened(reply)}")
    return last


def last_labels(reply: str, label: re.Pattern[str]) -> list[Any]:
    """The labels on the last line that has any, as the pattern finds them; none where that line ends a list of them.

    A list is two lines, one after the other, that begin with different labels: a reply that repeats the request has
    them, and no verdict.
    """
    text = _ENTITY.sub(lambda entity: _SIGNS[entity[1].casefold()], spoken(reply)).translate(_GLYPHS)
    lines = [line.lstrip(_BULLETS) for line in re.sub(r"[*_`\\]", "", text).splitlines() if line.strip()]
    last = next((index for index in reversed(range(len(lines))) if label.search(lines[index])), None)
    if last is None:
        return []
    begins = [label.match(line) for line in lines[max(last - 1, 0) : last + 1]]
    if len({begin[0].casefold() for begin in begins if begin}) > 1:
        return []
    return label.findall(lines[last])


def _points(left: str, sign: str, right: str) -> int | None:
    """Points of A over B; None for what is no comparison, such as A>A or A<>B."""
    if left.upper() == right.upper() or len(set(sign)) != 1:
        return None
    if sign[0] == "=":
        return 0
    return len(sign) if (left.upper() == "A") == (sign[0] == ">") else -len(sign)


def analysis(reply: str) -> str:
    """What the critic says before its label, on one line."""
    text = spoken(reply)
    before, opened, label = text.rstrip("*. \t\r\n").rpartition("[[")
    is_label = bool(opened) and label.endswith("]]") and "]" not in label[:-2]
    return " ".join((before.rstrip("*") if is_label else text).split())


_PREFERENCE = re.compile(r"\[\[\s{0,9}(a|b|tie)\s{0,9}\]\]", re.IGNORECASE)
YES_NO = ("[[YES]]", "[[NO]]")
_YES_NO = re.compile(r"\[\[\s{0,9}(yes|no)\s{0,9}\]\]", re.IGNORECASE)
_POINTS = {"a": 1.0, "tie": 0.5, "b": 0.0}
_REASONING = "Reasoning:"
_VERDICTS = {"Preferred: A": 1.0, "Preferred: B": 0.0}


def preferred(reply: str) -> float:
    """1 when the last label of the reply is [[A]] (the first story is better), 0 when it is [[B]], 0.5 for [[tie]]."""
    lines = [labels for line in spoken(reply).splitlines() if (labels := _PREFERENCE.findall(line))]
    last = {label.casefold() for label in lines[-1]} if lines else set()
    if len(last) != 1:
        raise UnreadableReplyError(f"no single [[A]], [[B]] or [[tie]] at the end of the reply {shortened(reply)}")
    return _POINTS[last.pop()]


def preferred_at_once(reply: str) -> float:
    """1 when the reply's first line is `Preferred: A`, 0 when it is `Preferred: B`.

    What stands behind is not read: a model trained on plain texts may write on when it has said its verdict.
    """
    lines = spoken(reply).strip().splitlines()
    if not lines or lines[0].rstrip() not in _VERDICTS:
        raise UnreadableReplyError(f"no {' or '.join(_VERDICTS)} at the beginning of the reply {shortened(reply)}")
    return _VERDICTS[lines[0].rstrip()]


def preferred_for_a_reason(reply: str) -> float:
    """1 when a reply that begins with `Reasoning:` has `Preferred: A` for the first line of that form, 0 for B."""
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
    """1 when the last label of the reply is [[YES]], 0 when it is [[NO]]."""
    answers = {label.casefold() for label in last_labels(reply, _YES_NO)}
    if len(answers) != 1:
        raise UnreadableReplyError(f"no single {' or '.join(YES_NO)} at the end of the reply {shortened(reply)}")
    return int(answers == {"yes"})


_BEGINS = re.compile(r"\W{0,9}(\[\[[^\[\]\n]{1,20}\]\])")


def up_to_label(reply: str) -> str:
    """The reply as far as the first line that has a label in double brackets; the whole where there is none.

    Where the next line begins with another label the two are a list of labels: it stays, for the reader to refuse.
    """
    lines = [line for line in spoken(reply).splitlines() if line.strip()]
    first = next((index for index, line in enumerate(lines) if "[[" in line and "]]" in line), len(lines))
    following = _BEGINS.match(lines[first + 1]) if first + 1 < len(lines) else None
    return "\n".join(lines[: first + 1 + bool(following)])
