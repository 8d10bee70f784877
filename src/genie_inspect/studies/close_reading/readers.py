"""How far readers mark what experts mark, and experts what other experts do: `genie close-reading agreement`.

Precision is of all that a reader quotes: a quote that does not stand in the passage is a wrong mark. Without these a
reader who invents nine of ten quotes could have a precision of 1.

Source: Saakyan et al. 2025 (arXiv 2509.22641): matches by the published rule, micro over passages; free-marginal kappa
with its spread over batches. Deviations: of experts' marks that overlap one counts; an invented quote is wrong even if
it contains an expert's mark; beside the published rule, which can be gamed, stands a strict one of ours.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from functools import partial
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from genie_inspect.cli.options import FILE, Answer, answering, option, resamples_option, seed_option
from genie_inspect.cli.tables import ranged
from genie_inspect.cli.terminal import Unbroken
from genie_inspect.files.tables import Table
from genie_inspect.graders.close_reader import ASPECTS, MarksByAspect, PassagesError, read_passages
from genie_inspect.logs.files import samples
from genie_inspect.logs.reading import read_logs
from genie_inspect.logs.scores import readings, signature_of
from genie_inspect.measures.marks import Agreement, QuotedText, Span, without_overlaps
from genie_inspect.measures.marks import agreement as marks_agreement
from genie_inspect.measures.tokens import split_expressions
from genie_inspect.populations.schema import NonEmpty, Row
from genie_inspect.samples import document_of
from genie_inspect.statistics.agreement import randolph_kappa
from genie_inspect.statistics.bootstrap import BootstrapInterval, bootstrap_interval

FORM = (
    'one line per passage: {"text": "...", "batch": "1", "experts": {"ann": {"novel": ["words of it"], "awkward": []}},'
    ' "readers": {"a model": {"novel": []}}}'
)
_READER = re.compile(r"close_reader\((.+?)@")


class PassageRow(Row):
    text: NonEmpty
    batch: str = ""
    experts: dict[NonEmpty, MarksByAspect]
    readers: dict[NonEmpty, MarksByAspect] = Field(default_factory=dict)


@dataclass(slots=True)
class Marked:
    spans: list[Span]  # of those that overlap, one
    invented: int  # different quotes that do not stand in the passage


@dataclass(slots=True)
class Passage:
    """One text, and who marks what in it by name and aspect; an aspect that somebody did not read it for is absent."""

    text: str
    batch: str
    experts: dict[str, dict[str, Marked]]
    readers: dict[str, dict[str, Marked]]


def passages_with(path: Path, logs: Sequence[str | Path] = ()) -> list[Passage]:
    """The passages of a file, and beside the readers that it has those of logs, on the same texts."""
    passages = [_passage(where, row) for where, row in read_passages(path, PassageRow, FORM)]
    by_text = {passage.text.strip(): passage for passage in passages}
    is_read = False
    for sample in (sample for log in (read_logs(logs) if logs else ()) for sample in samples(log.file)):
        passage, scores = by_text.get(document_of(sample).strip()), sample.scores or {}
        if passage is None:
            continue
        for scorer, marks, measured, invented in readings(scores):
            # an aspect without a value has none, unless all that was quoted for it is invented: then it marks nothing
            marked = {
                aspect: Marked([(m.start, m.end) for m in marks if m.aspect == aspect], invented.get(aspect, 0))
                for aspect in sorted(measured | invented.keys())
            }
            model = _READER.match(signature_of(scores[scorer]).facts.get("reader", ""))
            passage.readers[model[1] if model else scorer] = marked
            is_read = True
    if logs and not is_read:
        raise PassagesError(f"no text of {path} is read in these logs, expected close_reading scores of its texts")
    return passages


def _passage(where: str, row: PassageRow) -> Passage:
    text = QuotedText(row.text)

    def marked(name: str, marks: MarksByAspect, *, may_invent: bool) -> dict[str, Marked]:
        by_aspect = {}
        for aspect, own in marks.items():
            places = {mark.expression: text.find(mark.expression) for mark in own}
            lost = [quote for quote, span in places.items() if span is None]
            if lost and not may_invent:
                raise PassagesError(f"{where}: {lost[0]!r}, marked by {name} as {aspect}, is not in the passage")
            by_aspect[aspect] = Marked(apart([span for span in places.values() if span is not None]), len(lost))
        return by_aspect

    experts = {name: marked(name, own, may_invent=False) for name, own in row.experts.items()}
    readers = {name: marked(name, own, may_invent=True) for name, own in row.readers.items()}
    return Passage(row.text, row.batch, experts, readers)


def apart(spans: Sequence[Span]) -> list[Span]:
    return [spans[place] for place in without_overlaps(spans)]


PUBLISHED, STRICT = "published", "strict"
RULES = (PUBLISHED, STRICT)
FIGURES = ("precision", "recall", "f1")
EXPERT = "an expert, by the others"  # in a reader's place: every expert in turn, held against the other experts


@dataclass(frozen=True, slots=True)
class ReaderAgreement:
    """How far one reader marks what experts mark, with 95% intervals by rule and figure."""

    passages: int
    marks: int  # those that stand in their passage
    invented: int  # different quotes that do not stand in their passage: wrong marks by both rules
    gold: int  # experts' marks; of those that overlap one
    rules: dict[str, dict[str, BootstrapInterval]]


@dataclass(frozen=True, slots=True)
class Kappa:
    mean: float  # NaN without a batch that has two experts
    spread: float  # standard deviation over the batches, by their number
    batches: int
    units: int  # expressions that were judged


@dataclass(frozen=True, slots=True)
class AspectAgreement:
    readers: dict[str, ReaderAgreement]
    kappa: Kappa  # of the experts, over the expressions of the passages: is any part of it marked?


def agreement_by_aspect(
    passages: Sequence[Passage], resamples: int = 2_000, seed: int = 0
) -> dict[str, AspectAgreement]:
    names = dict.fromkeys(name for passage in passages for name in passage.readers)
    return {
        aspect: AspectAgreement(
            {name: held for name in (*names, EXPERT) if (held := _held(passages, name, aspect, resamples, seed))},
            batch_kappa(_units(passages, aspect)),
        )
        for aspect in ASPECTS
        if any(aspect in by for passage in passages for by in passage.experts.values())
    }


def _turns(passage: Passage, name: str, aspect: str) -> list[tuple[Marked, list[Span]]]:
    """Whose marks are held against which in a passage; several for the experts, each in turn against the others."""
    experts = {who: by[aspect] for who, by in passage.experts.items() if aspect in by}
    if name != EXPERT:
        own = passage.readers.get(name, {}).get(aspect)
        return [(own, apart([span for by in experts.values() for span in by.spans]))] if own and experts else []
    return [
        (own, apart([span for other, by in experts.items() if other != who for span in by.spans]))
        for who, own in experts.items()
        if len(experts) > 1
    ]


def _held(passages: Iterable[Passage], name: str, aspect: str, resamples: int, seed: int) -> ReaderAgreement | None:
    """The figures over the passages that this reader read; None without any."""
    read = [(passage.text, turns) for passage in passages if (turns := _turns(passage, name, aspect))]
    if not read:
        return None
    every = [turn for _, turns in read for turn in turns]

    def intervals(rule: str) -> dict[str, BootstrapInterval]:
        rows = []
        for text, turns in read:
            predicted = [[text[begin:end] for begin, end in own.spans] for own, _ in turns]
            expected = [[text[begin:end] for begin, end in gold] for _, gold in turns]
            invented = sum(own.invented for own, _ in turns)
            rows.append(astuple(marks_agreement(predicted, expected, rule == STRICT) + Agreement(0, invented, 0)))
        counts = np.array(rows)

        def statistic(figure: str, drawn: NDArray[np.intp]) -> float:
            return float(getattr(Agreement(*counts[drawn].sum(axis=0).tolist()), figure))

        return {name: bootstrap_interval(partial(statistic, name), len(counts), resamples, seed) for name in FIGURES}

    return ReaderAgreement(
        passages=len(read),
        marks=sum(len(own.spans) for own, _ in every),
        invented=sum(own.invented for own, _ in every),
        gold=sum(len(gold) for _, gold in every),
        rules={rule: intervals(rule) for rule in RULES},
    )


def batch_kappa(units: Iterable[tuple[str, int, int]]) -> Kappa:
    """Free-marginal kappa of yes and no, its mean and spread over batches.

    Of each judged expression are given its batch, how many say yes, and how many were asked. A batch counts once for
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


RULE_NOTE = (
    "Published: a mark is right where it contains an expert's or lies in it, or is 90 alike; the whole passage as one "
    "mark scores 1. Strict: one to one, for the words that both share. An invented quote (it is not in the "
    "passage) is a wrong mark by both rules."
)


@click.command()
@click.argument("passages", type=FILE)
@option("--logs", multiple=True, help="Log with close_reading scores; repeatable.")
@resamples_option()
@seed_option(help="Random seed for the bootstrap.")
@answering("tables")
def agreement(passages: Path, logs: tuple[str, ...], resamples: int, seed: int) -> Answer:
    """Measure how well models mark what experts marked.

    PASSAGES is a JSON Lines file with one line per passage: who marked what, by aspect. Intervals are 95%, by bootstrap
    over passages.

    \b
    Example: genie close-reading agreement passages.jsonl --logs logs/
    """
    found = agreement_by_aspect(passages_with(passages, logs), resamples, seed)

    def parts() -> Iterator[Table | str]:
        counts = {"passages": "passages", "marks": "marks", "invented": "invented quotes", "gold": "experts' marks"}
        for aspect, held in found.items():
            readers, kappa = held.readers.values(), held.kappa
            rows: list[list[str] | None] = [
                [shown, *(str(getattr(reader, name)) for reader in readers)] for name, shown in counts.items()
            ]
            for rule in RULES:
                rows.append(None)
                for figure in FIGURES:
                    head = f"{rule}: {figure.upper() if figure == 'f1' else figure}"
                    held_to = [reader.rules[rule][figure] for reader in readers]
                    rows.append([head, *(ranged(f1.value, f1.low, f1.high, none="undefined") for f1 in held_to)])
            title = f"{aspect}: marks against the experts' [95% interval]"
            yield Table(title, ("", *held.readers), rows, look="folded")
            said = "no passage has two."
            if kappa.batches:
                spread = f", spread {kappa.spread:.4f} over {kappa.batches} batches" if kappa.batches > 1 else ""
                said = f"free-marginal kappa {kappa.mean:.4f}{spread} ({kappa.units:,} expressions)."
            yield Unbroken(f"Experts among themselves: {said}")
        yield Unbroken(RULE_NOTE)

    return Answer(found, parts())
