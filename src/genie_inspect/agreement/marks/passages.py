"""Passages that experts have marked, with what readers marked in them: from a file, or from logs."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import Field

from genie_inspect.close_reader.passages import MarksByAspect, PassagesError, read_passages
from genie_inspect.logs.files import samples
from genie_inspect.logs.reading import read_logs
from genie_inspect.logs.scores import signature_of
from genie_inspect.measures.quotations import QuotedText, Span, without_overlaps
from genie_inspect.populations.schema import NonEmpty, Row
from genie_inspect.samples.document import document_of
from genie_inspect.scoring.marking.kept import readings
from genie_inspect.signature import facts_of

FORM = (
    'a line a passage: {"text": "...", "batch": "1", "experts": {"ann": {"novel": ["words of it"], "awkward": []}}, '
    '"readers": {"a model": {"novel": []}}}'
)
_READER = re.compile(r"close_reader\((.+?)@")


class PassageRow(Row):
    """One line of the file."""

    text: NonEmpty
    batch: str = ""
    experts: dict[NonEmpty, MarksByAspect]
    readers: dict[NonEmpty, MarksByAspect] = Field(default_factory=dict)


@dataclass(slots=True)
class Marked:
    """What one person or model marks in a passage for one aspect."""

    spans: list[Span]
    """Of those that overlap, one."""
    invented: int = 0
    """Different quotes that do not stand in the passage."""


@dataclass(slots=True)
class Passage:
    """One text, and who marks what in it; an aspect that somebody did not read it for is absent."""

    text: str
    batch: str
    experts: dict[str, dict[str, Marked]] = field(default_factory=dict)
    """By name and aspect."""
    readers: dict[str, dict[str, Marked]] = field(default_factory=dict)


def passages_with(path: Path, logs: Sequence[str | Path] = ()) -> list[Passage]:
    """The passages of a file, and beside the readers that it has those of logs, on the same texts.

    Raises:
        PassagesError: If the file cannot be used, an expert's mark does not stand in its passage, or logs are given of
            which none has one of the texts.
        LogError: If a log cannot be read.
    """
    passages = [_passage(where, row) for where, row in read_passages(path, PassageRow, FORM)]
    if logs:
        by_text = {passage.text.strip(): passage for passage in passages}
        found = 0
        for text, name, marked in _logged(logs):
            if text in by_text:
                by_text[text].readers[name] = marked
                found += 1
        if not found:
            raise PassagesError(f"no text of {path} is read in these logs, expected close_reading scores of its texts")
    return passages


def _passage(where: str, row: PassageRow) -> Passage:
    text = QuotedText(row.text)
    passage = Passage(row.text, row.batch)
    for people, made in ((row.experts, passage.experts), (row.readers, passage.readers)):
        for name, marks in people.items():
            made[name] = {aspect: _marked(text, [m.expression for m in own]) for aspect, own in marks.items()}
    for name, by_aspect in passage.experts.items():
        for aspect, marked in by_aspect.items():
            if marked.invented:
                lost = next(m.expression for m in row.experts[name][aspect] if text.find(m.expression) is None)
                raise PassagesError(f"{where}: {lost!r}, marked by {name} as {aspect}, does not stand in the passage")
    return passage


def _marked(text: QuotedText, expressions: Sequence[str]) -> Marked:
    places = [text.find(expression) for expression in dict.fromkeys(expressions)]
    found = [span for span in places if span is not None]
    return Marked(apart(found), len(places) - len(found))


def apart(spans: Sequence[Span]) -> list[Span]:
    """The spans, of those that overlap one."""
    return [spans[place] for place in without_overlaps(spans)]


def _logged(paths: Iterable[str | Path]) -> Iterator[tuple[str, str, dict[str, Marked]]]:
    """Text, reader and marks of each close reading of the logs.

    An aspect without a value has none, unless all that the reader quoted for it is invented: then it marks nothing.
    """
    for log in read_logs(paths):
        for sample in samples(log.file):
            scores = sample.scores or {}
            for scorer, reading in readings(scores):
                marked = {
                    aspect: Marked(
                        [(m.start, m.end) for m in reading.marks if m.aspect == aspect],
                        reading.invented.get(aspect, 0),
                    )
                    for aspect in sorted(reading.measured | reading.invented.keys())
                }
                yield document_of(sample).strip(), _reader_of(signature_of(scores[scorer])) or scorer, marked


def _reader_of(signature: str) -> str:
    found = _READER.match(facts_of(signature).get("reader", ""))
    return found[1] if found else ""


def names_of(people: Iterable[Mapping[str, object]]) -> list[str]:
    """Everybody's names, in the order in which they come."""
    return list(dict.fromkeys(name for by_name in people for name in by_name))
