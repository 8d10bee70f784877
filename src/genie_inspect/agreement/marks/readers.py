"""How far readers mark what experts mark, and experts what other experts do.

Precision is of all that a reader quotes: a quote that does not stand in the passage is a wrong mark. Without these a
reader who invents nine of ten quotes could have a precision of 1.

Source: Saakyan et al. 2025 (arXiv 2509.22641): matches by the published rule, micro over passages; free-marginal kappa
with its spread over batches. Deviations: of experts' marks that overlap one counts; an invented quote is wrong even if
it contains an expert's mark; beside the published rule, which can be gamed, stands a strict one of ours.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from genie_inspect.agreement.marks.passages import Passage, apart, names_of
from genie_inspect.close_reader.instructions import ASPECTS
from genie_inspect.measures.expressions import split_expressions
from genie_inspect.measures.marks import Agreement, passage_agreement
from genie_inspect.measures.quotations import Span
from genie_inspect.statistics.agreement import randolph_kappa
from genie_inspect.statistics.bootstrap import BootstrapInterval, bootstrap_interval

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
    """Free-marginal kappa, by batch."""

    mean: float
    """NaN without a batch that has two experts."""
    spread: float
    """Standard deviation over the batches, by their number."""
    batches: int
    units: int
    """Expressions that were judged."""


@dataclass(frozen=True, slots=True)
class AspectAgreement:
    """All readers on one aspect."""

    readers: dict[str, ReaderAgreement]
    kappa: Kappa
    """Of the experts, over the expressions of the passages: is any part of it marked?"""


def agreement_by_aspect(
    passages: Sequence[Passage], resamples: int = 2_000, seed: int = 0
) -> dict[str, AspectAgreement]:
    """By aspect, each reader against all experts, and the experts among themselves.

    Args:
        passages: Where a passage was not read for an aspect by a reader, or by no expert, it does not count there.
        resamples: Of the bootstrap over passages.
        seed: Of the bootstrap.
    """
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
    """One reader's marks in a passage and the experts'."""

    text: str
    predicted: Sequence[Span]
    gold: Sequence[Span]
    invented: int

    def agreement(self, *, strict: bool) -> Agreement:
        predicted, gold = ([self.text[slice(*span)] for span in spans] for spans in (self.predicted, self.gold))
        return passage_agreement(predicted, gold, strict) + Agreement(0, self.invented, 0)


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
