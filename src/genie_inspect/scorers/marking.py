"""How a close reader is put to a document, and the score that comes of its marks."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from inspect_ai.scorer import Score
from inspect_ai.solver import TaskState

from genie_inspect.files.printable import printable
from genie_inspect.graders.close_reader import ABSENT, ASPECTS, Approach, CloseReader, Mark, Reading
from genie_inspect.graders.cost import Cost, tokens
from genie_inspect.measures.marks import pieces
from genie_inspect.measures.tokens import word_count
from genie_inspect.populations.population import Population
from genie_inspect.samples import document_of, prompt_of
from genie_inspect.scorers.explanation import REASONS, cell, cut
from genie_inspect.scorers.explanation import WIDTHS as MARKING_WIDTHS
from genie_inspect.scorers.outcome import scored_or_reason
from genie_inspect.signature import signature

MOST_BYTES = 8_000
WIDTHS = (300, 160, 80, 40, 0)
MOST_CHARACTERS = 20_000  # of a text; nobody reads more beside a score
BEFORE, AFTER = "\N{MATHEMATICAL LEFT WHITE SQUARE BRACKET}", "\N{MATHEMATICAL RIGHT WHITE SQUARE BRACKET}"
# what begins a heading, a quotation, a list or a rule where it begins a line
_BLOCK = re.compile(r"^(\s*\d*)([#>+=.)-])")
_NO_MARKS = str.maketrans({BEFORE: "[", AFTER: "]"})
HALF = 0.5  # share of the quotes that do not stand in the text, from which a reader is not to be trusted


def explained(text: str, readings: Sequence[Reading]) -> str:
    """How many marks there are, the text with them in it, and a table of quote, aspect and reason.

    Whatever stands in the text or the reply is shown as it is, and never taken for markup.
    """
    marks = in_order(readings)
    words = word_count(text)
    lines = [*(_line(reading, words) for reading in readings), *_notes(readings)]
    if not marks:
        return "\n\n".join(lines)
    rows = ["| | quote | aspect | reason |", "|--:|:--|:--|:--|"]
    for number, mark in enumerate(marks, start=1):
        rows.append(f"| {number} | {_shown(mark.text)} | {mark.aspect} | {_shown(mark.reason)} |")
    return "\n\n".join([*lines, with_marks(text, marks), "\n".join(rows)])


def with_marks(text: str, marks: Sequence[Mark]) -> str:
    """The text in Markdown: each mark in white brackets, with its number and aspect behind it.

    >>> with_marks("Salt light fell.", [Mark("novel", "Salt light", 0, 10, "")])
    '⟦Salt light⟧ (1 novel) fell.'
    """
    shown, rest = text[:MOST_CHARACTERS], len(text) - MOST_CHARACTERS
    inside = [mark for mark in marks if mark.end <= len(shown)]
    parts: list[str] = []
    opened: set[int] = set()
    for piece in pieces(shown, [(mark.start, mark.end) for mark in inside]):
        parts += [BEFORE for mark in piece.spans if mark not in opened]
        opened |= set(piece.spans)
        parts.append(_lines(piece.text))
        parts += [f"{AFTER} ({mark + 1} {inside[mark].aspect})" for mark in piece.ending]
    # two spaces keep a line's end where it is
    lines = (_BLOCK.sub(r"\1\\\2", line) + "  " if line.strip() else "" for line in "".join(parts).split("\n"))
    return "\n".join(lines).rstrip() + (f" […] ({rest:,} more characters)" if rest > 0 else "")


def in_order(readings: Sequence[Reading]) -> list[Mark]:
    """The marks of all aspects in the order of the text."""
    return sorted((mark for reading in readings for mark in reading.marks), key=lambda mark: (mark.start, mark.end))


def evidence(text: str, readings: Sequence[Reading], **facts: Any) -> dict[str, Any]:
    """Score metadata of about 8 KB: the facts, counts, shares, faults, and the marks with their places in the text.

    Reasons are cut to fit. Places and quotes are kept whatever they take: later measures and the report rest on them.
    """
    faults: Counter[str] = Counter()
    for reading in readings:
        faults.update(reading.dropped)
        faults.update([reading.reason] if reading.reason else [])
    counts = {
        **facts,
        "words": word_count(text),
        "marked": {reading.aspect: len(reading.marks) for reading in readings},
        "quoted": {reading.aspect: reading.quoted for reading in readings},
        "absent": {reading.aspect: reading.dropped.get(ABSENT, 0) for reading in readings},
        "quoted_share": {r.aspect: None if r.share != r.share else round(r.share, 4) for r in readings},
        "faults": dict(faults),
    }
    for width in WIDTHS:
        metadata = counts | {"marks": [_row(mark, width) for mark in in_order(readings)]}
        if len(json.dumps(metadata, ensure_ascii=False).encode()) <= MOST_BYTES:
            break
    return metadata


def _row(mark: Mark, width: int) -> dict[str, Any]:
    row = {"aspect": mark.aspect, "text": mark.text, "start": mark.start, "end": mark.end}
    return row | ({"reason": cut(mark.reason, width)} if width else {})


def _line(reading: Reading, words: int) -> str:
    if reading.reason:
        return f"**{reading.aspect.capitalize()}: not measured, {reading.reason}.**"
    count = len(reading.marks)
    return f"{reading.aspect.capitalize()}: {count} {'mark' if count == 1 else 'marks'} in {words} words."


def _notes(readings: Sequence[Reading]) -> Iterator[str]:
    """What became of quotes that are no marks."""
    for reading in readings:
        if not reading.dropped:
            continue
        told = ", ".join(f"{count} {reason}" for reason, count in reading.dropped.items())
        lost = reading.quoted - len(reading.marks)
        note = f"Of {reading.quoted} quotes for {reading.aspect}, {lost} do not count: {told}."
        yield f"**Beware:** {note}" if lost >= HALF * reading.quoted else note


def _lines(text: str) -> str:
    """A piece of the text line by line, its markup and what would turn its lines around taken off."""
    # white brackets of the text's own would pass for marks
    broken = printable(text).translate(_NO_MARKS).split("\n")
    return "\n".join(_kept_space(line) for line in broken)


def _kept_space(line: str) -> str:
    # `cell` takes space off both ends, which in the middle of a sentence parts two words
    before, after = line[:1].isspace(), len(line) > 1 and line[-1:].isspace()
    return " " * before + cell(line) + " " * after


def _shown(text: str) -> str:
    return cell(printable(text))


KEY_BY_ASPECT = {aspect: f"{aspect}_per_100_words" for aspect in ASPECTS}
KEYS = tuple(KEY_BY_ASPECT.values())[:2]
"""Those that every score has; with `sensical` there is a third."""


async def marked(reader: CloseReader, state: TaskState) -> Score:
    """The score of a sample's document; unscored with a reason where nothing is known of any aspect."""
    text = document_of(state)
    facts = {
        "signature": signature(
            "close_reading", version="2-A", reader=reader.signature, examples=reader.approach.examples.identity
        ),
        "prompt": cut(prompt_of(state), MARKING_WIDTHS[0]),
    }

    async def measured() -> Score:
        readings = await reader.read(text)
        words = word_count(text)
        return Score(
            value={KEY_BY_ASPECT[reading.aspect]: reading.per_100_words(words) for reading in readings},
            answer=text,
            explanation=explained(text, readings),
            reason=_reason(readings),
            metadata=evidence(text, readings, **facts),
        )

    return await scored_or_reason(state, [KEY_BY_ASPECT[aspect] for aspect in reader.approach.aspects], facts, measured)


def cost(approach: Approach, population: Population, documents: Mapping[str, int]) -> Cost:
    """What the reader is asked of new documents."""
    total = Cost()
    for prompt, count in documents.items():
        lengths = [tokens(document.text) for document in population.documents(prompt)]
        total += (approach.cost(fmean(lengths)) if lengths else Cost()) * count
    return total


def _reason(readings: Sequence[Reading]) -> str | None:
    """Why no aspect has a value; None where one has."""
    if not all(reading.reason for reading in readings):
        return None
    return REASONS.get(readings[0].reason, readings[0].reason)
