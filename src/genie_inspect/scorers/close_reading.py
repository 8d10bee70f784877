"""The scorer `close_reading`: which expressions of a document are novel, and which do not work where they stand."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from genie_inspect.scorers.stderr import per_key

if TYPE_CHECKING:
    from genie_inspect.graders.close_reader import Approach, Mark, Reading
    from genie_inspect.graders.cost import Cost

KEYS = ("novel_per_100_words", "awkward_per_100_words")  # that every score has; with `sensical` there is a third
WIDTHS = (300, 160, 80, 40, 0)
MOST_CHARACTERS = 20_000  # of a text; nobody reads more beside a score
BEFORE, AFTER = "\N{MATHEMATICAL LEFT WHITE SQUARE BRACKET}", "\N{MATHEMATICAL RIGHT WHITE SQUARE BRACKET}"
# what begins a heading, a quotation, a list or a rule where it begins a line
_BLOCK = re.compile(r"^(\s*\d*)([#>+=.)-])")
_NO_MARKS = str.maketrans({BEFORE: "[", AFTER: "]"})
HALF = 0.5  # share of the quotes that do not stand in the text, from which a reader is not to be trusted
RANGES = {"*_per_100_words": (0, None)}


@scorer(
    metrics=per_key(RANGES),
    headline="novel_per_100_words",
    ranges=RANGES,
    meaning=(
        "Expressions that a reader marks, in a hundred words of the text: as novel, and as awkward where they are. "
        "Higher is more of them; how many are too few or too many the numbers do not say."
    ),
)
def close_reading(sensical: bool = False, examples: str | None = None, templates: str | None = None) -> Scorer:
    """Expressions that the grader marks in a document, in a hundred of its words; the explanation has their reasons.

    Keys: `novel_per_100_words`, higher = more that is new and works; `awkward_per_100_words`, higher = more that does
    not work in its place; with `sensical` also `senseless_per_100_words`. One request per aspect. A quote counts if
    it is in the text. If the quotes cover over 30% of the words, the aspect is unscored.

    Args:
        sensical: Whether expressions that make no sense by themselves are marked too.
        examples: JSON Lines of texts with their marks that the reader is shown; none unless given.
        templates: A folder of your own instruction templates.

    Raises:
        RefusedError: If an option cannot be used.

    Source: Saakyan et al. 2025 (arXiv 2509.22641). Deviations: expressions are counted in a hundred words of the text;
    marks that overlap count once; the wording of the instructions is ours.
    """
    from genie_inspect.errors import check_switch
    from genie_inspect.graders.close_reader import Approach, CloseReader, reading_model
    from genie_inspect.graders.grader import bound_when_scored, refusals
    from genie_inspect.logs.scores import PER_WORDS
    from genie_inspect.measures.tokens import word_count
    from genie_inspect.samples import document_of, prompt_of
    from genie_inspect.scorers.explanation import REASONS, cut
    from genie_inspect.scorers.explanation import WIDTHS as PROMPT_WIDTHS
    from genie_inspect.scorers.outcome import Measurement, scored_or_reason
    from genie_inspect.signature import signature

    with refusals():
        check_switch("sensical", sensical)
        approach = Approach(examples, templates, sensical=sensical)
    reader_by = bound_when_scored(reading_model, partial(CloseReader, template=approach))

    keys = [f"{aspect}{PER_WORDS}" for aspect in approach.aspects]

    async def score(state: TaskState, target: Target) -> Score:
        reader, text = reader_by(), document_of(state)
        signed = signature("close_reading", version="2-A", reader=reader.signature, examples=approach.examples_identity)
        facts = {"signature": signed, "prompt": cut(prompt_of(state), PROMPT_WIDTHS[0])}

        async def marked() -> Measurement:
            readings = await reader.read(text)
            words, first = word_count(text), readings[0].reason
            value = {f"{reading.aspect}{PER_WORDS}": reading.per_100_words(words) for reading in readings}
            # a reason marks the whole score as unscored: with one aspect measured there is none
            reason = REASONS.get(first, first) if all(reading.reason for reading in readings) else None
            return Measurement(value, explained(text, readings), evidence(text, readings, **facts), reason)

        return await scored_or_reason(state, keys, facts, marked)

    return score


def cost(approach: "Approach", prompt: str, lengths: Sequence[int], count: int) -> "Cost":
    """What the reader is asked of new documents of mean length."""
    return approach.cost(fmean(lengths)) * count


def explained(text: str, readings: "Sequence[Reading]") -> str:
    """How many marks there are, the text with them in it, and a table of quote, aspect and reason."""
    from genie_inspect.files.values import printable
    from genie_inspect.measures.tokens import word_count
    from genie_inspect.scorers.explanation import cell

    marks, words, lines, notes = in_order(readings), word_count(text), [], []
    for reading in readings:
        count, aspect = len(reading.marks), reading.aspect.capitalize()
        marked = f"{aspect}: {count} {'mark' if count == 1 else 'marks'} in {words} words."
        lines.append(f"**{aspect}: not measured, {reading.reason}.**" if reading.reason else marked)
        if reading.dropped:
            told = ", ".join(f"{count} {reason}" for reason, count in reading.dropped.items())
            lost = reading.quoted - count
            note = f"Of {reading.quoted} quotes for {reading.aspect}, {lost} do not count: {told}."
            notes.append(f"**Warning:** {note}" if lost >= HALF * reading.quoted else note)
    lines += notes
    if marks:
        rows = ["| | quote | aspect | reason |", "|--:|:--|:--|:--|"]
        for number, mark in enumerate(marks, start=1):
            quote, reason = (cell(printable(text)) for text in (mark.text, mark.reason))
            rows.append(f"| {number} | {quote} | {mark.aspect} | {reason} |")
        lines += [with_marks(text, marks), "\n".join(rows)]
    return "\n\n".join(lines)


def with_marks(text: str, marks: "Sequence[Mark]") -> str:
    """The text in Markdown: each mark in white brackets, with its number and aspect behind it."""
    from genie_inspect.files.values import printable
    from genie_inspect.measures.marks import pieces
    from genie_inspect.scorers.explanation import cell

    shown, rest = text[:MOST_CHARACTERS], len(text) - MOST_CHARACTERS
    inside = [mark for mark in marks if mark.end <= len(shown)]
    parts: list[str] = []
    opened: set[int] = set()
    for piece, over, ending in pieces(shown, [(mark.start, mark.end) for mark in inside]):
        parts += [BEFORE for mark in over if mark not in opened]
        opened |= set(over)
        shown_lines = []
        # without its markup, what would turn its lines around, and its own white brackets, which would pass for marks
        for line in printable(piece).translate(_NO_MARKS).split("\n"):
            # `cell` takes space off both ends, which in the middle of a sentence parts two words
            before, after = line[:1].isspace(), len(line) > 1 and line[-1:].isspace()
            shown_lines.append(" " * before + cell(line) + " " * after)
        parts.append("\n".join(shown_lines))
        parts += [f"{AFTER} ({mark + 1} {inside[mark].aspect})" for mark in ending]
    # two spaces keep a line's end where it is
    lines = (_BLOCK.sub(r"\1\\\2", line) + "  " if line.strip() else "" for line in "".join(parts).split("\n"))
    return "\n".join(lines).rstrip() + (f" […] ({rest:,} more characters)" if rest > 0 else "")


def in_order(readings: "Sequence[Reading]") -> "list[Mark]":
    return sorted((mark for reading in readings for mark in reading.marks), key=lambda mark: (mark.start, mark.end))


def evidence(text: str, readings: "Sequence[Reading]", **facts: Any) -> dict[str, Any]:
    """Score metadata of about 8 KB: reasons are cut to fit, places and quotes never, on which later measures rest."""
    from genie_inspect.graders.close_reader import ABSENT
    from genie_inspect.measures.tokens import word_count
    from genie_inspect.scorers.explanation import cut, fitted, rounded

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
        "quoted_share": {reading.aspect: rounded(reading.share) for reading in readings},
        "faults": dict(faults),
    }

    def row(mark: "Mark", width: int) -> dict[str, Any]:
        facts = {"aspect": mark.aspect, "text": mark.text, "start": mark.start, "end": mark.end}
        return facts | ({"reason": cut(mark.reason, width)} if width else {})

    return fitted(counts, "marks", ([row(mark, width) for mark in in_order(readings)] for width in WIDTHS))
