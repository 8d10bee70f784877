"""The documents that stand out along a feature, with the question that shows why."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from inspect_ai.scorer import Score
from pydantic import TypeAdapter, ValidationError

from genie_inspect.files.numbers import Number
from genie_inspect.graders.close_reader import Mark
from genie_inspect.logs.files import sample_of
from genie_inspect.logs.scored_log import ScoredDocument, ScoredLog
from genie_inspect.logs.scores import PER_WORDS, readings
from genie_inspect.measures.marks import pieces
from genie_inspect.samples import document_of

End = Literal["most", "least"]
MOST_CHARACTERS = 20_000  # of a document; nobody reads more in a report


@dataclass(frozen=True, slots=True)
class NearAnswer:
    answer: str
    rating: Number
    given: int  # how many documents of the population gave it


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """One row of the question table that `genie` keeps in a score's metadata."""

    feature: str
    question: str = ""
    answer: str = ""
    nearest: tuple[NearAnswer, ...] = ()
    novelty: Number | None = None
    ratings: int = 0


_QUESTIONS = TypeAdapter(list[QuestionRow])


@dataclass(frozen=True, slots=True)
class StandOut:
    scorer: str
    key: str
    end: End
    run: str
    sample: str | int
    epoch: int
    prompt: str
    value: float
    text: str
    question: QuestionRow | None  # of the feature's the farthest at this end; None where the log does not keep it


def questions(score: Score) -> list[QuestionRow]:
    """Empty where the score has no table, or one that is not ours."""
    try:
        return _QUESTIONS.validate_python((score.metadata or {}).get("questions"))
    except ValidationError:
        return []


def telling(table: Iterable[QuestionRow], feature: str, end: End) -> QuestionRow | None:
    """The feature's question with the highest novelty, or the lowest; None when it has none that was measured."""
    candidates = [question for question in table if question.feature == feature and question.novelty is not None]
    # `max` takes the first of equals at either end, `min` and `max` in turn would not be alike
    sign = 1 if end == "most" else -1
    return max(candidates, key=lambda question: sign * (question.novelty or 0.0), default=None)


def stand_outs(
    runs: Sequence[ScoredLog], measures: Iterable[tuple[str, tuple[str, ...]]], examples: int
) -> Iterator[StandOut]:
    """For each feature of a scorer that keeps a question table, its most and its least novel documents.

    The population's own documents are no candidates. Of equals the first counts.
    """
    for scorer, key in ((scorer, key) for scorer, keys in measures for key in keys):
        scored = [
            (document.value(scorer, key), run, document)
            for run in runs
            if not run.is_population
            for document in run.documents
            if scorer in document.scores and document.scores[scorer].evidence.coverage
        ]
        ordered = sorted((row for row in scored if not math.isnan(row[0])), key=lambda row: -row[0])
        # no document may stand at both ends
        count = min(examples, len(ordered) // 2 or len(ordered))
        ends: dict[End, list[tuple[float, ScoredLog, ScoredDocument]]] = {"most": ordered, "least": ordered[::-1]}
        for end, value, run, document in ((end, *row) for end, rows in ends.items() for row in rows[:count]):
            # texts are read from the log for these few only, so that a large log fits into memory
            sample = sample_of(document.file, document.sample, document.epoch)
            if table := questions((sample.scores or {})[scorer]):
                text = document_of(sample)
                text = text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS] + " […]"
                where = run.label, document.sample, document.epoch, document.prompt
                yield StandOut(scorer, key, end, *where, value, text, telling(table, key, end))


@dataclass(frozen=True, slots=True)
class MarkedPassage:
    scorer: str
    run: str
    sample: str | int
    epoch: int
    prompt: str
    marks: tuple[Mark, ...]  # in the order of the text; their numbers count from 1
    pieces: tuple[tuple[str, tuple[str, ...], tuple[int, ...]], ...]
    """The whole text, or its beginning where it is endless, cut where a mark begins or ends: each part with the aspects
    of the marks on it, and the numbers of those that end with it."""
    cut: bool


def marked_passages(
    runs: Sequence[ScoredLog], measures: Iterable[tuple[str, tuple[str, ...]]], examples: int
) -> Iterator[MarkedPassage]:
    """Of each run, by aspect, the documents with most marks in a hundred words; each text once."""
    for scorer, keys in measures:
        for run in runs:
            shown: set[str] = set()
            for key in (key for key in keys if key.endswith(PER_WORDS)):
                # a text that was written twice counts once; NaN, which is no value, is not above 0 either
                valued = {one.text: (one.value(scorer, key), one) for one in reversed(run.documents)}
                marked = sorted((pair for pair in valued.values() if pair[0] > 0), key=lambda pair: -pair[0])
                for _, document in marked[:examples]:
                    if document.text not in shown and (passage := _passage(run, scorer, document)):
                        shown.add(document.text)
                        yield passage


def _passage(run: ScoredLog, scorer: str, document: ScoredDocument) -> MarkedPassage | None:
    """The document with its marks; None where its log keeps none that stand in it."""
    sample = sample_of(document.file, document.sample, document.epoch)
    text = document_of(sample)
    kept = next((marks for name, marks, *_ in readings(sample.scores or {}) if name == scorer), ())
    # a log that somebody edited may hold a mark of another text
    marks = [mark for mark in kept if text[mark.start : mark.end] == mark.text != ""]
    if not marks:
        return None
    inside = [mark for mark in marks if mark.end <= MOST_CHARACTERS]
    cut = tuple(
        (
            piece,
            tuple(dict.fromkeys(inside[place].aspect for place in over)),
            tuple(place + 1 for place in ending),
        )
        for piece, over, ending in pieces(text[:MOST_CHARACTERS], [(mark.start, mark.end) for mark in inside])
    )
    where = run.label, document.sample, document.epoch, document.prompt
    return MarkedPassage(scorer, *where, tuple(marks), cut, cut=len(text) > MOST_CHARACTERS)
