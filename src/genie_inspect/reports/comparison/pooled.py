"""Strategies pooled over models and prompts: one row a strategy, beside the rows by model."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from genie_inspect.logs.evidence import number
from genie_inspect.reports.comparison.compared import Comparison, Facts
from genie_inspect.reports.comparison.families import families
from genie_inspect.reports.comparison.pairing import Key, Pairs
from genie_inspect.statistics.paired.differences import Finding, differences

NO_STRATEGY = "plain"


@dataclass(frozen=True, slots=True)
class Side:
    """What the documents of several runs are like, weighted by how many there are; NaN where it is not known."""

    words: float
    population_words: float
    coherence: float


@dataclass(frozen=True, slots=True)
class PooledRow:
    """One key of one strategy, over all models that ran it."""

    strategy: str
    scorer: str
    key: str
    models: int
    runs: int
    finding: Finding
    """Of pairs by prompt and model. Those of one prompt are alike in more than the strategy, so that with many models
    and few prompts it finds somewhat too much."""
    baseline: Side
    run: Side


def pooled(comparison: Comparison) -> Iterator[PooledRow]:
    """A row for each tested key of each strategy, strategy by strategy.

    Source: Genie (arXiv 2606.12790), table 5. Deviations: the sign-flip permutation test and the correction of the
    comparison, as for the rows by model.
    """
    facts = {run.label: run for run in comparison.runs}
    tested = {(row.scorer, row.key) for row in comparison.rows if row.tested}
    groups: dict[str, list[str]] = {}
    for label in comparison.pairs:
        groups.setdefault(facts[label].strategy or NO_STRATEGY, []).append(label)
    columns = [
        (strategy, key, values)
        for strategy, labels in groups.items()
        for key, values in _columns([comparison.pairs[label] for label in labels])
        if key in tested
    ]
    options = comparison.options
    measured = [
        (key, differences(*values, options.margin, equivalence=options.equivalence)[0]) for _, key, values in columns
    ]
    # as for the rows by model, the tests of one scorer are one family
    corrected = families(measured, tested, options.correction)
    for (strategy, (scorer, key), _), finding in zip(columns, corrected, strict=True):
        runs = [facts[label] for label in groups[strategy]]
        bases = [facts[base] for base in dict.fromkeys(comparison.base_of[run.label] for run in runs)]
        models = len({run.model for run in runs})
        yield PooledRow(strategy, scorer, key, models, len(runs), finding, _side(bases), _side(runs))


def _columns(pairs: Sequence[Pairs]) -> Iterator[tuple[Key, tuple[list[list[float]], list[list[float]]]]]:
    """Each key with its values before and after, one row a prompt and model."""
    for key in dict.fromkeys(chain.from_iterable(one.keys for one in pairs)):
        own = [(one, one.keys.index(key)) for one in pairs if key in one.keys]
        before, after = (
            [[row[place]] for one, place in own for row in getattr(one, side)] for side in ("before", "after")
        )
        yield key, (before, after)


def _side(runs: Sequence[Facts]) -> Side:
    names = ("words", "population_words", "coherence")
    return Side(*(_mean((getattr(run, name), run.scored) for run in runs) for name in names))


def _mean(weighted: Iterable[tuple[float, int]]) -> float:
    known = [(value, weight) for value, weight in weighted if weight and not math.isnan(number(value))]
    total = sum(weight for _, weight in known)
    return math.fsum(value * weight for value, weight in known) / total if total else math.nan
