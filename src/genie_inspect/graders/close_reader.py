"""The close reader: what it is asked of a text, one aspect at a time, and what it quotes."""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BeforeValidator

from genie_inspect.engines.embedders import static_token_count
from genie_inspect.errors import GenieError, UnreadableReplyError
from genie_inspect.files.json_lines import json_row, placed_lines
from genie_inspect.graders.cost import Cost
from genie_inspect.graders.grader import ROLE, bound_model, gathered
from genie_inspect.graders.protocols import UNREADABLE
from genie_inspect.graders.readable import Asker, asked_twice
from genie_inspect.measures.marks import QuotedText, Span, covered_share, without_overlaps
from genie_inspect.measures.tokens import word_count
from genie_inspect.populations.schema import NonEmpty, Row
from genie_inspect.prompting.forms import EXPRESSION, REASON, Quote, quotes
from genie_inspect.prompting.templates import Instruction, load_template
from genie_inspect.signature import digest

NOVEL, AWKWARD, SENSELESS = "novel", "awkward", "senseless"
ASPECTS = (NOVEL, AWKWARD, SENSELESS)
MARK = Instruction(
    "close_reading",
    frozenset({"aspect", "data"}),
    frozenset({"aspect", "text"}),
    recorded=lambda record, data: json.dumps(record.marks(data["text"], data["aspect"]), ensure_ascii=False),
)
FORM = 'one line per text: {"text": "...", "marks": {"novel": [{"expression": "...", "reason": "..."}], "awkward": []}}'


class PassagesError(GenieError):
    """A file of marked passages cannot be used; the message names file, line and field."""


class MarkRow(Row):
    """One marked expression; a bare text in the file has no reason."""

    expression: NonEmpty
    reason: str = ""


def _checked_aspects(value: object) -> object:
    for aspect in value if isinstance(value, dict) else ():
        if aspect not in ASPECTS:
            raise ValueError(f"{aspect!r} is not an aspect, expected one of {', '.join(ASPECTS)}")
    return value


_Mark = Annotated[MarkRow, BeforeValidator(lambda value: {EXPRESSION: value} if isinstance(value, str) else value)]
# what one reader marks in a text; an aspect that it was not read for is absent, one without any mark is empty
MarksByAspect = Annotated[dict[str, tuple[_Mark, ...]], BeforeValidator(_checked_aspects)]


class ExampleRow(Row):
    text: NonEmpty
    marks: MarksByAspect


RowT = TypeVar("RowT", bound=Row)


def read_passages(path: Path, kind: type[RowT], form: str) -> Iterator[tuple[str, RowT]]:
    """Each row of a file of marked passages, with the words that say where it stands."""
    count = 0
    try:
        for number, _, line in placed_lines(path):
            where = f"{path}, line {number}"
            yield where, json_row(line, kind, where, PassagesError, form)
            count += 1
    except OSError as refused:
        raise PassagesError(f"{path} cannot be read: {refused.strerror or refused}") from refused
    if not count:
        raise PassagesError(f"{path} has no passages, expected {form}")


def _read_examples(path: Path | str) -> list[ExampleRow]:
    rows = [row for _, row in read_passages(Path(path), ExampleRow, FORM)]
    for row in rows:
        for aspect, marks in row.marks.items():
            for mark in marks:
                if mark.expression not in row.text:
                    raise PassagesError(
                        f"{path}: {mark.expression!r} is marked as {aspect} and is not in its text, "
                        "expected each expression word for word"
                    )
    return rows


FEWEST_WORDS, MOST_WORDS = 2, 40  # of a mark; some 12 are asked for
MOST_QUOTES = 300  # different ones of one reply that are looked for
MOST_SHARE = 0.3  # of a text's words that a reader may quote for one aspect; one who quotes more tells nothing apart
TOO_MUCH = "the grader quotes over 30% of the text"
NOTHING_FOUND = "no quote is an expression of the text"
ABSENT, REPEATED, OVERLAPPING = "quote not in the text", "quote given again", "quote within another"
SHORT, LONG, BEYOND = "quote of one word", f"quote of over {MOST_WORDS} words", f"quote beyond the first {MOST_QUOTES}"


@dataclass(frozen=True, slots=True)
class Mark:
    aspect: str
    text: str  # as it stands in the text, from `start` up to `end`
    start: int
    end: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    aspect: str
    marks: tuple[Mark, ...] = ()  # in the order of the text; none where there is a reason
    quoted: int = 0  # quotes in the reply
    # share of the text's words that are quoted, 0 to 1, whatever was dropped afterwards; NaN without a reply
    share: float = math.nan
    dropped: Mapping[str, int] = field(default_factory=dict)  # quotes that are no marks, by reason
    reason: str = ""  # why nothing is known of the aspect; empty where something is

    def per_100_words(self, words: int) -> float:
        """Marks in a hundred words of the text; NaN where nothing is known."""
        return math.nan if self.reason or not words else 100 * len(self.marks) / words


def reading_of(aspect: str, quotes: Sequence[Quote], text: str) -> Reading:
    """The marks that the quotes of one reply stand for; the others are dropped and counted.

    >>> text = "Tin-coloured light fell on the quay, and nobody minded."
    >>> reading = reading_of("novel", [("tin-coloured light", "Light has a taste.")] * 3, text)
    >>> len(reading.marks), reading.dropped
    (1, {'quote given again': 2})
    """
    reasons: dict[str, str] = {}
    for expression, reason in quotes:
        reasons.setdefault(expression, reason)
    dropped = Counter({REPEATED: len(quotes) - len(reasons), BEYOND: max(0, len(reasons) - MOST_QUOTES), ABSENT: 0})
    searched, quoted, fitting = QuotedText(text), list[Span](), list[tuple[Span, str]]()
    for expression, reason in list(reasons.items())[:MOST_QUOTES]:
        span = searched.find(expression)
        if span is None:
            dropped[ABSENT] += 1
            continue
        quoted.append(span)
        words = word_count(text[slice(*span)])
        if FEWEST_WORDS <= words <= MOST_WORDS:
            fitting.append((span, reason))
        else:
            dropped[SHORT if words < FEWEST_WORDS else LONG] += 1
    kept = [fitting[place] for place in without_overlaps([span for span, _ in fitting])]
    dropped[OVERLAPPING] = len(fitting) - len(kept)
    share = covered_share(text, quoted)
    fault = TOO_MUCH if share > MOST_SHARE else NOTHING_FOUND if quotes and not kept else ""
    marks = () if fault else tuple(Mark(aspect, text[slice(*span)], *span, reason) for span, reason in kept)
    return Reading(aspect, marks, len(quotes), share, {why: count for why, count in dropped.items() if count}, fault)


MOST_TOKENS = 4096  # some eighty marks with their reasons
USUAL_REPLY = 45  # tokens: mean of the recorded replies to stories of 200 words
NO_READER = f"""\
close_reading asks a model to mark a text, and none is named: it must not be the model under evaluation by accident.
Name one:
  --model-role {ROLE}=<provider/model>   any model of your choice (bundled/grader for the bundled storytellers)"""


reading_model = partial(bound_model, (ROLE,), NO_READER)


class Approach:
    """How texts are read: the instructions and examples, and for which aspects."""

    def __init__(
        self, examples: Path | str | None = None, templates: Path | str | None = None, *, sensical: bool = False
    ) -> None:
        self.mark = MARK.template(templates)
        self.definitions = {aspect: load_template(f"aspect_{aspect}", set(), templates) for aspect in ASPECTS}
        self.examples = [] if examples is None else _read_examples(examples)
        self.aspects = (NOVEL, AWKWARD, *([SENSELESS] if sensical else []))

    @property
    def digest(self) -> str:
        return digest(*(digest(self.mark.text, definition.text) for definition in self.definitions.values()))

    @property
    def examples_identity(self) -> str:
        """`none`, or how many there are with twelve hex digits of them."""
        if not self.examples:
            return "none"
        return f"{len(self.examples)}@{digest(*(row.model_dump_json() for row in self.examples))}"

    def request(self, aspect: str, text: str) -> str:
        examples = [
            {"text": row.text, "marks": [{EXPRESSION: m.expression, REASON: m.reason} for m in row.marks[aspect]]}
            for row in self.examples
            if aspect in row.marks
        ]
        # the text last: what stands before it is the same for every text, and is kept by providers
        data = {"aspect": aspect} | ({"examples": examples} if examples else {}) | {"text": text}
        return self.mark.request(data, aspect=self.definitions[aspect].fill().strip())

    def cost(self, length: float) -> Cost:
        """What reading a text of so many tokens asks; its replies as long as those to the recorded stories."""
        asked = (static_token_count(self.request(aspect, "")) for aspect in self.aspects)
        return sum((Cost(1, tokens + length, USUAL_REPLY) for tokens in asked), Cost())


class CloseReader(Asker[Approach]):
    name = "close_reader"
    requests = asked_twice(MOST_TOKENS)

    async def read(self, text: str) -> list[Reading]:
        """One reading per aspect, in order; without marks and with a reason where no reply is read."""

        async def reading(aspect: str) -> Reading:
            with suppress(UnreadableReplyError):
                # a list that is cut off is none: its marks would be those of the text's beginning alone
                quoted = await self.read_of(self.template.request(aspect, text), quotes, "mark", aspect, text)
                return reading_of(aspect, quoted, text)
            return Reading(aspect, reason=UNREADABLE)

        return await gathered(*map(reading, self.template.aspects))
