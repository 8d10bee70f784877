"""Documents with a close reader's marks in them: those of each run that have most of an aspect."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from genie_inspect.logs.files import sample_of
from genie_inspect.logs.scored_log import ScoredDocument, ScoredLog
from genie_inspect.measures.quotations import pieces
from genie_inspect.reports.page.stand_outs import MOST_CHARACTERS
from genie_inspect.samples.document import document_of
from genie_inspect.scoring.marking.kept import PER_WORDS, KeptMark, readings


@dataclass(frozen=True, slots=True)
class MarkedPiece:
    """A part of a text in which no mark begins or ends."""

    text: str
    aspects: tuple[str, ...]
    """Of the marks on it; none for what nobody marked."""
    ending: tuple[int, ...]
    """Numbers, from 1, of the marks that end with it."""


@dataclass(frozen=True, slots=True)
class MarkedPassage:
    """One document with its marks."""

    scorer: str
    run: str
    sample: str | int
    epoch: int
    prompt: str
    marks: tuple[KeptMark, ...]
    """In the order of the text; their numbers count from 1."""
    pieces: tuple[MarkedPiece, ...]
    """The whole text, or its beginning where it is endless."""
    cut: bool


def marked_passages(
    runs: Sequence[ScoredLog], measures: Iterable[tuple[str, tuple[str, ...]]], examples: int
) -> Iterator[MarkedPassage]:
    """Of each run, by aspect, the documents with most marks in a hundred words; each text once.

    Args:
        runs: Whose documents.
        measures: Scorers with their keys.
        examples: How many of each aspect.
    """
    for scorer, keys in measures:
        for run in runs:
            shown: set[str] = set()
            for key in (key for key in keys if key.endswith(PER_WORDS)):
                for document in _most(run, scorer, key, examples):
                    if document.text not in shown and (passage := _passage(run, scorer, document)):
                        shown.add(document.text)
                        yield passage


def _most(run: ScoredLog, scorer: str, key: str, examples: int) -> list[ScoredDocument]:
    """The documents with most under a key, of those that have any; a text that was written twice once."""
    valued = {document.text: (document.value(scorer, key), document) for document in reversed(run.documents)}
    # NaN, which is no value, is not above 0 either
    marked = [(value, document) for value, document in valued.values() if value > 0]
    return [document for _, document in sorted(marked, key=lambda pair: -pair[0])[:examples]]


def _passage(run: ScoredLog, scorer: str, document: ScoredDocument) -> MarkedPassage | None:
    """The document with its marks; None where its log keeps none that stand in it."""
    sample = sample_of(document.file, document.sample, document.epoch)
    text = document_of(sample)
    kept = dict(readings(sample.scores or {})).get(scorer)
    # a log that somebody edited may hold a mark of another text
    marks = [mark for mark in kept.marks if text[mark.start : mark.end] == mark.text != ""] if kept else []
    if not marks:
        return None
    inside = [mark for mark in marks if mark.end <= MOST_CHARACTERS]
    cut = pieces(text[:MOST_CHARACTERS], [(mark.start, mark.end) for mark in inside])
    return MarkedPassage(
        scorer=scorer,
        run=run.label,
        sample=document.sample,
        epoch=document.epoch,
        prompt=document.prompt,
        marks=tuple(marks),
        pieces=tuple(
            MarkedPiece(
                piece.text,
                tuple(dict.fromkeys(inside[place].aspect for place in piece.spans)),
                tuple(place + 1 for place in piece.ending),
            )
            for piece in cut
        ),
        cut=len(text) > MOST_CHARACTERS,
    )
