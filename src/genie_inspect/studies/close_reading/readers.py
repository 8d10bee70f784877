"""How far readers mark what experts mark, and experts what other experts do.

Precision is of all that a reader quotes: a quote that does not stand in the passage is a wrong mark. Without these a
reader who invents nine of ten quotes could have a precision of 1.

Source: Saakyan et al. 2025 (arXiv 2509.22641): matches by the published rule, micro over passages; free-marginal kappa
with its spread over batches. Deviations: of experts' marks that overlap one counts; an invented quote is wrong even if
it contains an expert's mark; beside the published rule, which can be gamed, stands a strict one of ours.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from genie_inspect.graders.close_reader import ASPECTS, MarksByAspect, PassagesError, read_passages
from genie_inspect.logs.files import samples
from genie_inspect.logs.reading import read_logs
from genie_inspect.logs.scores import readings, signature_of
from genie_inspect.measures.expressions import split_expressions
from genie_inspect.measures.marks import Agreement, QuotedText, Span, without_overlaps
from genie_inspect.measures.marks import agreement as marks_agreement
from genie_inspect.populations.schema import NonEmpty, Row
from genie_inspect.samples import document_of
from genie_inspect.signature import facts_of
from genie_inspect.statistics.agreement import randolph_kappa
from genie_inspect.statistics.bootstrap import BootstrapInterval, bootstrap_interval

FORM = (
    'a line a passage: {"text": "...", "batch": "1", "experts": {"ann": {"novel": ["words of it"], "awkward": []}}, '
    '"readers": {"a model": {"novel": []}}}'
)
_READER = re.compile(r"close_reader\((.+?)@")


class PassageRow(Row):
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
    """The passages of a file, and beside the readers that it has those of logs, on the same texts."""
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
    return list(dict.fromkeys(name for by_name in people for name in by_name))


PUBLISHED, STRICT = "published", "strict"
RULES = (PUBLISHED, STRICT)
FIGURES = ("precision", "recall", "f1")
EXPERT = "an expert, by the others"
"""In the place of a reader's name: every expert in turn, held against the other experts."""


@dataclass(frozen=True, slots=True)
class ReaderAgreement:
    """How far one reader marks what experts mark, with 95% intervals by rule and figure."""

    passages: int
    marks: int
    """Those that stand in their passage."""
    invented: int
    """Different quotes that do not stand in their passage: wrong marks by both rules."""
    gold: int
    """Experts' marks; of those that overlap one."""
    rules: dict[str, dict[str, BootstrapInterval]]


@dataclass(frozen=True, slots=True)
class Kappa:
    mean: float
    """NaN without a batch that has two experts."""
    spread: float
    """Standard deviation over the batches, by their number."""
    batches: int
    units: int
    """Expressions that were judged."""


@dataclass(frozen=True, slots=True)
class AspectAgreement:
    readers: dict[str, ReaderAgreement]
    kappa: Kappa
    """Of the experts, over the expressions of the passages: is any part of it marked?"""


def agreement_by_aspect(
    passages: Sequence[Passage], resamples: int = 2_000, seed: int = 0
) -> dict[str, AspectAgreement]:
    """By aspect, each reader against all experts, and the experts among themselves."""
    marked = [aspect for aspect in ASPECTS if any(aspect in by for p in passages for by in p.experts.values())]
    return {
        aspect: AspectAgreement(
            {
                name: held
                for name in [*names_of(passage.readers for passage in passages), EXPERT]
                if (held := _held(list(_pairs(passages, name, aspect)), resamples, seed))
            },
            batch_kappa(_units(passages, aspect)),
        )
        for aspect in marked
    }


@dataclass(frozen=True, slots=True)
class _Pair:
    text: str
    predicted: Sequence[Span]
    gold: Sequence[Span]
    invented: int

    def agreement(self, *, strict: bool) -> Agreement:
        predicted, gold = ([self.text[slice(*span)] for span in spans] for spans in (self.predicted, self.gold))
        return marks_agreement([predicted], [gold], strict) + Agreement(0, self.invented, 0)


def _pairs(passages: Iterable[Passage], name: str, aspect: str) -> Iterable[list[_Pair]]:
    """For each passage the pairs of marks that are compared in it; several for the experts, each in turn."""
    for passage in passages:
        experts = {who: by[aspect].spans for who, by in passage.experts.items() if aspect in by}
        if name == EXPERT:
            turns = [
                _Pair(
                    passage.text, own, apart([s for other, spans in experts.items() if other != who for s in spans]), 0
                )
                for who, own in experts.items()
                if len(experts) > 1
            ]
        else:
            own = passage.readers.get(name, {}).get(aspect)
            gold = apart([span for spans in experts.values() for span in spans])
            turns = [_Pair(passage.text, own.spans, gold, own.invented)] if own and experts else []
        if turns:
            yield turns


def _held(pairs: Sequence[Sequence[_Pair]], resamples: int, seed: int) -> ReaderAgreement | None:
    """The figures over the passages; None without any."""
    if not pairs:
        return None
    every = [pair for turns in pairs for pair in turns]
    rules: dict[str, dict[str, BootstrapInterval]] = {}
    for rule in RULES:
        each = [[pair.agreement(strict=rule == STRICT) for pair in turns] for turns in pairs]
        counts = np.array(
            [[sum(getattr(one, n) for one in turns) for n in ("true", "false", "missed")] for turns in each]
        )
        rules[rule] = {figure: _interval(counts, figure, resamples, seed) for figure in FIGURES}
    return ReaderAgreement(
        passages=len(pairs),
        marks=sum(len(pair.predicted) for pair in every),
        invented=sum(pair.invented for pair in every),
        gold=sum(len(pair.gold) for pair in every),
        rules=rules,
    )


def _interval(counts: NDArray[np.float64], figure: str, resamples: int, seed: int) -> BootstrapInterval:
    def statistic(drawn: NDArray[np.intp]) -> float:
        value: float = getattr(Agreement(*map(float, counts[drawn].sum(axis=0))), figure)
        return value

    return bootstrap_interval(statistic, len(counts), resamples, seed)


def batch_kappa(units: Iterable[tuple[str, int, int]]) -> Kappa:
    """Free-marginal kappa of yes and no, its mean and spread over batches.

    Args:
        units: Of each judged expression its batch, how many say yes, and how many were asked. A batch counts once for
            each number of people who were asked; units with fewer than two are left out.

    >>> batch_kappa([("1", 0, 3), ("1", 3, 3), ("2", 1, 2)])
    Kappa(mean=0.0, spread=1.0, batches=2, units=3)
    """
    by_batch: defaultdict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)
    for batch, yes, asked in units:
        if asked > 1:
            by_batch[batch, asked].append((yes, asked - yes))
    kappas = [randolph_kappa(counts) for counts in by_batch.values()]
    if not kappas:
        return Kappa(np.nan, np.nan, 0, 0)
    return Kappa(float(np.mean(kappas)), float(np.std(kappas)), len(kappas), sum(map(len, by_batch.values())))


def _units(passages: Iterable[Passage], aspect: str) -> Iterable[tuple[str, int, int]]:
    for passage in passages:
        experts = [by[aspect].spans for by in passage.experts.values() if aspect in by]
        for expression in split_expressions(passage.text):
            yes = sum(any(begin < expression.end and expression.start < end for begin, end in own) for own in experts)
            yield passage.batch, yes, len(experts)
