"""Strategies pooled over models and prompts: one row a strategy, beside the rows by model."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from genie_inspect.logs.evidence import number
from genie_inspect.logs.files import LogError
from genie_inspect.reports.comparison.compared import Comparison, Facts
from genie_inspect.reports.comparison.families import families
from genie_inspect.reports.comparison.pairing import Key, Pairs
from genie_inspect.statistics.paired.differences import Difference, Finding, crossed_p_value, differences

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
    """Prompts are the units: the differences of one prompt are averaged over models first. So it is about these models
    on other prompts."""
    p_models: float
    """Prompts and models are the units: of no difference over other models and prompts, corrected likewise; NaN with
    fewer than three models. As `differs` does for these models, it counts below LEVEL."""
    same_sign: int
    """Models whose own mean difference has the sign of the pooled one."""
    baseline: Side
    run: Side


def pooled(comparison: Comparison) -> Iterator[PooledRow]:
    """A row for each tested key of each strategy, strategy by strategy.

    Differences of several models on one prompt are alike, and so are those of one model on several prompts. With 10
    models, 8 prompts and a correlation of 0.3 over the models, pairs by prompt and model find a difference where there
    is none in 30% of tests, models alone in 32%, prompts in 5%. Where models differ, too, `p_models` allows for it.

    Source: Genie (arXiv 2606.12790), table 5. Deviations: the units, the sign-flip permutation test and the correction
    of the comparison, as for the rows by model.

    Raises:
        LogError: If two runs of one strategy hold the same documents: a copy is no further run.
    """
    check_copies(comparison)
    facts = {run.label: run for run in comparison.runs}
    tested = {(row.scorer, row.key) for row in comparison.rows if row.tested}
    groups = _by_strategy(comparison)
    columns = [
        (strategy, key, values)
        for strategy, labels in groups.items()
        for key, values in _columns([(facts[label].model, comparison.pairs[label]) for label in labels])
        if key in tested
    ]
    options = comparison.options
    measured: list[tuple[Key, Difference]] = []
    over_models: list[float] = []
    for _, key, by_model in columns:
        sides = [_by_prompt(by_model, side) for side in (0, 1)]
        means = [np.nanmean(side, axis=1, keepdims=True) for side in sides]
        measured.append((key, differences(means[0], means[1], options.margin, equivalence=options.equivalence)[0]))
        over_models.append(crossed_p_value(sides[1] - sides[0]))
    of_family = [strategy if options.family == "run" else "" for strategy, _, _ in columns]
    corrected = families(measured, of_family, tested, options.correction)
    # the same families once more, with the other p-values
    crossed = families(
        [(key, replace(one, p_value=p)) for (key, one), p in zip(measured, over_models, strict=True)],
        of_family,
        tested,
        options.correction,
    )
    for (strategy, (scorer, name), by_model), finding, other in zip(columns, corrected, crossed, strict=True):
        runs = [facts[label] for label in groups[strategy]]
        bases = [facts[base] for base in dict.fromkeys(comparison.base_of[run.label] for run in runs)]
        same = sum(_delta(own) * finding.difference.delta > 0 for own in by_model.values())
        yield PooledRow(
            strategy, scorer, name, len(by_model), len(runs), finding, other.p_value, same, _side(bases), _side(runs)
        )


def check_copies(comparison: Comparison) -> None:
    """Refuse runs of one strategy that hold the same documents, all or those of the smaller one.

    Raises:
        LogError: It names both.
    """
    facts = {run.label: run for run in comparison.runs}
    for labels in _by_strategy(comparison).values():
        for one, other in combinations(labels, 2):
            here, there = comparison.pairs[one].documents, comparison.pairs[other].documents
            if here and there and (here <= there or there <= here):
                raise LogError(
                    f"{facts[one].file} and {facts[other].file} hold the same documents, so that pooled they would "
                    "count twice: expected one of the two, or a run of another model, seed or prompts"
                )


def _by_strategy(comparison: Comparison) -> dict[str, list[str]]:
    facts = {run.label: run for run in comparison.runs}
    groups: dict[str, list[str]] = {}
    for label in comparison.pairs:
        groups.setdefault(facts[label].strategy or NO_STRATEGY, []).append(label)
    return groups


Values = dict[str, list[tuple[float, float]]]
"""By prompt, before and after of each run that has both."""


def _columns(runs: Sequence[tuple[str, Pairs]]) -> Iterator[tuple[Key, dict[str, Values]]]:
    """Each key with its values by model."""
    for key in dict.fromkeys(chain.from_iterable(pairs.keys for _, pairs in runs)):
        by_model: dict[str, Values] = {}
        for model, pairs in runs:
            place = pairs.keys.index(key) if key in pairs.keys else None
            for prompt, before, after in zip(pairs.names, pairs.before, pairs.after, strict=True):
                if place is not None and not math.isnan(before[place] + after[place]):
                    by_model.setdefault(model, {}).setdefault(prompt, []).append((before[place], after[place]))
        yield key, by_model


def _by_prompt(by_model: Mapping[str, Values], side: int) -> NDArray[np.float64]:
    """One side, prompts down and models across: means over a model's runs, NaN where it has none."""
    prompts = dict.fromkeys(prompt for values in by_model.values() for prompt in values)
    rows = [
        [fmean(pair[side] for pair in values[prompt]) if prompt in values else math.nan for values in by_model.values()]
        for prompt in prompts
    ]
    return np.array(rows).reshape(len(prompts), len(by_model))


def _delta(values: Values) -> float:
    """A model's mean difference over prompts."""
    return fmean(fmean(after - before for before, after in pairs) for pairs in values.values())


def _side(runs: Sequence[Facts]) -> Side:
    names = ("words", "population_words", "coherence")
    return Side(*(_mean((getattr(run, name), run.scored) for run in runs) for name in names))


def _mean(weighted: Iterable[tuple[float, int]]) -> float:
    known = [(value, weight) for value, weight in weighted if weight and not math.isnan(number(value))]
    total = sum(weight for _, weight in known)
    return math.fsum(value * weight for value, weight in known) / total if total else math.nan
