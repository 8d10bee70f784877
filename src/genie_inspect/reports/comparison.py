"""Strategies against a baseline: pairs, differences by key, and what to know beside them."""

import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from pathlib import Path
from statistics import fmean

import numpy as np

from genie_inspect.errors import UnknownChoiceError, check_between
from genie_inspect.logs.evidence import NO_SHARE, Share
from genie_inspect.logs.files import LogError
from genie_inspect.logs.measures import COHERENCE, UNIT, keys_to_test
from genie_inspect.logs.reading import ScoredLog, lengths_of, one_signature
from genie_inspect.logs.results import Results, results_of
from genie_inspect.reports.pairing import (
    CONFORMATIVE,
    FAMILIES,
    SAMPLE,
    Key,
    Options,
    Pairs,
    baselines,
    paired,
    selected,
    units_of,
)
from genie_inspect.reports.summary import read_runs
from genie_inspect.signature import Signature
from genie_inspect.statistics.differences import CORRECTIONS, MCNEMAR, TEST, Difference, Finding, crossed_p_value
from genie_inspect.statistics.differences import differences as tested_differences
from genie_inspect.statistics.differences import findings as corrected_findings
from genie_inspect.statistics.differences import yes_no_difference as as_yes_and_no
from genie_inspect.statistics.equivalence import METHODS

Column = tuple[Key, str, Difference]  # with the family in whose tests it is corrected


@dataclass(frozen=True, slots=True)
class Facts:
    """Counts and means of one run beside its differences, over the documents that the selection keeps."""

    label: str
    file: str
    model: str
    strategy: str  # the solvers that wrote; `conformative` where two models decoded as one, which no solver does
    documents: int
    scored: int  # by the first scorer
    words: float  # mean over the scored documents, as is the next; NaN without any
    population_words: float
    coherence: float  # mean over prompts; NaN where it was not rated, or not in one way in all runs
    refusals: int
    left_out: int  # by the selection
    unscored: Mapping[str, int]  # by reason
    fewer_responses: Share  # samples that gave fewer responses than asked for, and samples that were asked for several
    cut: int  # documents that end at the limit of their tokens
    measures: Mapping[str, Results]  # by scorer, as in a summary: over all prompts, not those that both runs have


@dataclass(frozen=True, slots=True)
class Row:
    run: str
    baseline: str
    scorer: str
    key: str
    tested: bool  # whether it is tested; else it is shown without a p-value
    paired_by: str
    prompts: int  # that either run was given: those of them with a score on both sides are the pairs
    instances: int | None  # pairs of documents behind the pairs of prompts, where it is paired by instance
    coverage: tuple[Share, Share]  # questions used and asked, over the paired documents: the baseline's, the run's
    ratings: tuple[Share, Share]  # ratings that count and those that were due, likewise
    finding: Finding
    is_unit: bool  # whether its values lie from 0 to 1
    questions: Share  # that both sides answered, by prompt, of those asked; 0 of 0 where it is over none
    family: str = ""  # the run with whose tests alone it is corrected; empty where it is with those of all runs
    test: str = TEST  # by name

    @property
    def units(self) -> str:
        return units_of(self.paired_by)


@dataclass(frozen=True, slots=True)
class Comparison:
    options: Options
    named: str  # what the baseline was called
    baselines: tuple[str, ...]  # their labels
    signatures: dict[str, Signature]  # by scorer
    runs: tuple[Facts, ...]
    rows: tuple[Row, ...]
    pairs: Mapping[str, Pairs]  # by run: the scores that its rows are made of
    base_of: Mapping[str, str]  # by run: its baseline
    unmatched: tuple[str, ...]  # scorers that compare with documents of every length, although these were to be matched
    unlike_coherence: str  # why the runs' coherence does not compare; empty where it does

    @property
    def repeated(self) -> list[str]:
        """The runs that wrote what their baseline wrote: that says nothing about a strategy, nor of equivalence."""
        return [label for label, own in self.pairs.items() if own.is_repeated]

    @property
    def units(self) -> str:
        """What the pairs of all runs are, in the plural."""
        kinds = {row.units for row in self.rows}
        return kinds.pop() if len(kinds) == 1 else "prompts"

    @property
    def test(self) -> str:
        """The tests by name, with the scorers of each where there are several."""
        scorers: dict[str, list[str]] = {}
        for row in self.rows:
            scorers.setdefault(row.test, []).append(row.scorer)
        if len(scorers) < 2:
            return next(iter(scorers), TEST)
        return ", ".join(f"{test} ({', '.join(dict.fromkeys(names))})" for test, names in scorers.items())

    @property
    def families(self) -> dict[tuple[str, str], list[Difference]]:
        """By scorer and family the differences whose tests are corrected together."""
        families: dict[tuple[str, str], list[Difference]] = {}
        for row in self.rows:
            if not math.isnan(row.finding.p_value):
                families.setdefault((row.scorer, row.family), []).append(row.finding.difference)
        return families

    def called(self, *baselines: str) -> str:
        """Baselines by the name that was typed, with their labels where these are others."""
        labels = " and ".join(baselines)
        return labels if self.named in labels else f"{self.named} ({labels})"


def rows_of(
    runs: Sequence[ScoredLog],
    base_of: Mapping[int, int],
    pairs: Mapping[int, Pairs],
    signatures: Mapping[str, Signature],
    options: Options,
) -> Iterator[Row]:
    keys = {scorer: list(dict.fromkeys(key for run in runs for key in run.keys(scorer))) for scorer in signatures}
    # those that were named, else each measure's headline
    named = [name.strip().replace(" ", "_") for name in options.keys]
    known = dict.fromkeys(key for names in keys.values() for key in names)
    if unknown := [name for name in named if name not in known]:
        raise LogError(f"keys names {unknown[0]!r}, expected some of: {', '.join(known)}")
    tested = {
        (scorer, key)
        for scorer, names in keys.items()
        for key in ([key for key in names if key in named] if named else keys_to_test(runs[0].declared(scorer), names))
    }
    columns: list[Column] = []
    places = []
    for run, own in pairs.items():
        measured = tested_differences(own.before, own.after, options.margin, equivalence=options.equivalence)
        family = runs[run].label if options.family == "run" else ""
        for column, (key, difference) in enumerate(zip(own.keys, measured, strict=True)):
            # no difference is larger than the scale leaves above or below the baseline, whatever an interval says
            ends = runs[run].known_range(*key)
            sides = ([row[column] for row in side] for side in (own.before, own.after))
            yes_no = as_yes_and_no(difference, *sides) if own.by == SAMPLE else None
            difference = yes_no or difference
            places.append((run, column, MCNEMAR if yes_no else TEST))
            columns.append((key, family, difference.within(*ends) if ends else difference))
    corrected = zip(places, columns, findings(columns, tested, options.correction), strict=True)
    for (run, column, test), ((scorer, name), family, _), finding in corrected:
        own = pairs[run]
        before, after = own.evidence[scorer]
        yield Row(
            run=runs[run].label,
            baseline=runs[base_of[run]].label,
            scorer=scorer,
            key=name,
            tested=(scorer, name) in tested,
            paired_by=own.by,
            prompts=own.prompts,
            instances=own.instances[column],
            coverage=(before.coverage.get(name, NO_SHARE), after.coverage.get(name, NO_SHARE)),
            ratings=(before.pairs.get(name, NO_SHARE), after.pairs.get(name, NO_SHARE)),
            finding=finding,
            is_unit=runs[run].known_range(scorer, name) == UNIT,
            questions=own.questions[column],
            family=family,
            test=test,
        )


def findings(columns: Sequence[Column], tested: Container[Key], correction: str) -> list[Finding]:
    """Of each difference; what is tested of one scorer, in one family, is corrected together."""
    nan = math.nan
    # what is not tested keeps its interval: it describes, and claims nothing
    bare = (replace(difference, p_value=nan, p_unlike=nan) for _, _, difference in columns)
    every = [Finding(one, nan, nan, nan, nan, differs=False, is_equivalent=False) for one in bare]
    families: dict[tuple[str, str], list[int]] = {}
    for place, (key, family, _) in enumerate(columns):
        if key in tested:
            families.setdefault((key[0], family), []).append(place)
    for places in families.values():
        corrected = corrected_findings([columns[place][2] for place in places], correction)
        for place, finding in zip(places, corrected, strict=True):
            every[place] = finding
    return every


def compare(paths: Iterable[str | Path], baseline: str, options: Options | None = None) -> Comparison:
    """Every run against the baseline; where that names a run of each model, against its own model's."""
    options = options or Options()
    for name, choices in (("correction", CORRECTIONS), ("equivalence", METHODS), ("family", FAMILIES)):
        if (given := getattr(options, name)) not in choices:
            raise UnknownChoiceError(name, given, "one of " + ", ".join(choices))
    if options.margin is not None and not 0 < options.margin < math.inf:
        raise UnknownChoiceError("margin", options.margin, "a number above 0")
    if options.min_coherence is not None:
        # the ends of both scales of the scorer `coherence`
        check_between("min_coherence", options.min_coherence, 0, 5, "as coherence is rated")
    return comparison_of(read_runs(paths, brief=True, signature=options.signature), baseline, options)


def comparison_of(runs: Sequence[ScoredLog], baseline: str, options: Options) -> Comparison:
    """Of logs that are read, under the labels that they have there."""
    if len(runs) < 2:
        seen = f"one log, {runs[0].file}" if runs else "no log of other documents than the population's own"
        raise LogError(f"there is {seen}, expected a baseline and another to compare with it")
    for run, name in product(runs, options.scorers):
        if name not in run.signatures:
            listed = ", ".join(run.signatures) or "none"
            raise LogError(f"{run.file} has no scores by {name!r}, expected one of {listed}")
    # coherence is no novelty: it is a column of its own
    common = [name for name in runs[0].signatures if name != COHERENCE and all(name in run.signatures for run in runs)]
    scorers = list(options.scorers) or common
    if not scorers:
        each = "; ".join(", ".join(run.signatures) or "none" for run in runs)
        raise LogError(f"these logs have no scorer in common: {each}")
    signatures = {scorer: one_signature(runs, scorer) for scorer in scorers}
    unlike = ""
    try:
        one_signature(runs, COHERENCE)
    except LogError as error:
        # coherence stands beside the scores: where it does not compare, only it is left out
        if options.min_coherence is not None:
            raise
        unlike = str(error)
    base_of = baselines(runs, baseline)
    selections = [selected(run, options) for run in runs]
    pairs = {
        place: paired(selections[base][0], selections[place][0], scorers, options.cluster)
        for place, base in base_of.items()
    }
    scores = [document.scores for run in runs for document in run.documents]
    unmatched = [name for name in scorers if not any(name in own and own[name].matched for own in scores)]
    return Comparison(
        options=options,
        named=baseline,
        baselines=tuple(dict.fromkeys(runs[base].label for base in base_of.values())),
        signatures=signatures,
        runs=tuple(facts_of(run, left_out, scorers, rated=not unlike) for run, left_out in selections),
        rows=tuple(rows_of(runs, base_of, pairs, signatures, options)),
        pairs={runs[place].label: own for place, own in pairs.items()},
        base_of={runs[place].label: runs[base].label for place, base in base_of.items()},
        unmatched=tuple(unmatched) if options.length_matched else (),
        unlike_coherence=unlike,
    )


def facts_of(run: ScoredLog, left_out: int, scorers: Sequence[str], *, rated: bool) -> Facts:
    measures = {scorer: results_of(run, scorer) for scorer in scorers}
    results = measures[scorers[0]]
    words, population_words = lengths_of([one for one in run.documents if not one.why_unscored(scorers[0])])
    # its score has one key
    coherence = results_of(run, COHERENCE).cells.values() if rated else ()
    responses = [document.responses for document in run.documents if document.responses]
    return Facts(
        label=run.label,
        file=run.file,
        model=run.model,
        strategy=CONFORMATIVE if run.model.startswith(f"{CONFORMATIVE}/") else run.strategy,
        documents=results.documents,
        scored=results.scored,
        words=words,
        population_words=population_words,
        coherence=next((interval.mean for interval in coherence), math.nan),
        refusals=results.refusals,
        left_out=left_out,
        unscored=results.unscored,
        fewer_responses=(sum(parsed < wanted for parsed, wanted in responses), len(responses)),
        cut=sum(document.is_cut for document in run.documents),
        measures=measures,
    )


NO_STRATEGY = "plain"


@dataclass(frozen=True, slots=True)
class PooledRow:
    strategy: str
    scorer: str
    key: str
    models: int
    runs: int
    finding: Finding  # about these models on other prompts: one prompt's differences are averaged over models first
    # of no difference over other models and prompts, both of which are units; corrected likewise; NaN under 3 models
    p_models: float
    same_sign: int  # models whose own mean difference has the sign of the pooled one
    # words, population_words and coherence, weighted by a run's documents; NaN where not known
    baseline: dict[str, float]
    run: dict[str, float]


def pooled(comparison: Comparison) -> Iterator[PooledRow]:
    """A row for each tested key, strategy by strategy.

    Differences of several models on one prompt are alike, and so are those of one model on several prompts. With 10
    models, 8 prompts and a correlation of 0.3 over the models, pairs by prompt and model find a difference where there
    is none in 30% of tests, models alone in 32%, prompts in 5%. Where models differ, too, `p_models` allows for it.

    Source: Genie (arXiv 2606.12790), table 5. Deviations: the units, the sign-flip permutation test and the correction
    of the comparison, as for the rows by model.
    """
    check_copies(comparison)
    options, facts = comparison.options, {run.label: run for run in comparison.runs}
    tested = {(row.scorer, row.key) for row in comparison.rows if row.tested}
    groups = [
        (strategy, labels, key, _by_model([(facts[label].model, comparison.pairs[label]) for label in labels], key))
        for strategy, labels in _by_strategy(comparison).items()
        for key in dict.fromkeys(key for label in labels for key in comparison.pairs[label].keys)
        if key in tested
    ]
    columns: list[Column] = []
    over_models: list[Column] = []
    for strategy, _, key, by_model in groups:
        prompts = dict.fromkeys(prompt for values in by_model.values() for prompt in values)
        # prompts down, models across, before and after: means over a model's runs, NaN where it has none
        missing = [(math.nan, math.nan)]
        rows = [[np.mean(own.get(prompt, missing), axis=0) for own in by_model.values()] for prompt in prompts]
        means = np.array(rows).reshape(len(prompts), len(by_model), 2)
        before, after = (np.nanmean(means[:, :, side], axis=1, keepdims=True) for side in (0, 1))
        (difference,) = tested_differences(before, after, options.margin, equivalence=options.equivalence)
        family = strategy if options.family == "run" else ""
        columns.append((key, family, difference))
        # the same families once more, with the other p-values
        crossed = replace(difference, p_value=crossed_p_value(means[:, :, 1] - means[:, :, 0]))
        over_models.append((key, family, crossed))
    corrected, others = (findings(one, tested, options.correction) for one in (columns, over_models))
    for (strategy, labels, (scorer, name), by_model), finding, other in zip(groups, corrected, others, strict=True):
        runs = [facts[label] for label in labels]
        bases = [facts[base] for base in dict.fromkeys(comparison.base_of[run.label] for run in runs)]
        # a model's own difference is a mean over prompts
        own_deltas = [
            fmean(fmean(after - before for before, after in pairs) for pairs in values.values())
            for values in by_model.values()
        ]
        same = sum(delta * finding.difference.delta > 0 for delta in own_deltas)
        sides = _side(bases), _side(runs)
        yield PooledRow(strategy, scorer, name, len(by_model), len(runs), finding, other.p_value, same, *sides)


def check_copies(comparison: Comparison) -> None:
    """Refuse runs of one strategy that hold the same documents, all or those of the smaller one."""
    files = {run.label: run.file for run in comparison.runs}
    for labels in _by_strategy(comparison).values():
        for one, other in combinations(labels, 2):
            here, there = comparison.pairs[one].documents, comparison.pairs[other].documents
            if here and there and (here <= there or there <= here):
                raise LogError(
                    f"{files[one]} and {files[other]} have the same documents, which --pooled would count "
                    "twice. Give one of the two, or a run of another model, seed or prompts"
                )


def _by_strategy(comparison: Comparison) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for run in comparison.runs:
        if run.label in comparison.pairs:
            groups.setdefault(run.strategy or NO_STRATEGY, []).append(run.label)
    return groups


def _by_model(runs: Iterable[tuple[str, Pairs]], key: Key) -> dict[str, dict[str, list[tuple[float, float]]]]:
    """By model and prompt, before and after of each run that has both."""
    by_model: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for model, pairs in ((model, pairs) for model, pairs in runs if key in pairs.keys):
        place = pairs.keys.index(key)
        for prompt, before, after in zip(pairs.names, pairs.before, pairs.after, strict=True):
            if not math.isnan(before[place] + after[place]):
                by_model.setdefault(model, {}).setdefault(prompt, []).append((before[place], after[place]))
    return by_model


def _side(runs: Sequence[Facts]) -> dict[str, float]:
    means = {}
    for name in ("words", "population_words", "coherence"):
        known = [(value, run.scored) for run in runs if run.scored and not math.isnan(value := getattr(run, name))]
        total = sum(weight for _, weight in known)
        means[name] = math.fsum(value * weight for value, weight in known) / total if total else math.nan
    return means
