"""Strategies against a baseline: pairs, differences by key, and what to know beside them."""

import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from genie_inspect.errors import UnknownChoiceError
from genie_inspect.logs.evidence import NO_SHARE, Share
from genie_inspect.logs.files import LogError
from genie_inspect.logs.lengths import lengths_of
from genie_inspect.logs.measures import COHERENCE, UNIT, keys_to_test
from genie_inspect.logs.results import Results, results_of
from genie_inspect.logs.scored_log import ScoredLog
from genie_inspect.logs.signatures import one_signature
from genie_inspect.options import check_between
from genie_inspect.reports.comparison.baselines import CONFORMATIVE, baselines
from genie_inspect.reports.comparison.pairing import Key, Pairs, paired
from genie_inspect.reports.comparison.selection import Selection, selected
from genie_inspect.reports.pooling import read_runs
from genie_inspect.statistics.equivalence import METHODS
from genie_inspect.statistics.paired.differences import CORRECTIONS, Difference, Finding, differences, findings


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a comparison: scorers, correction, margin, selection of documents, equivalence test."""

    scorers: tuple[str, ...] = ()
    """Scorers by name; empty takes all that every log has."""
    correction: str = "holm"
    margin: float | None = None
    selection: Selection = field(default_factory=Selection)
    equivalence: str = "t"
    """Method of `tost`."""
    signature: str = ""
    """Only logs with a score under a signature that holds these words are compared."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Counts and means of one run beside its differences, over the documents that the selection keeps."""

    label: str
    file: str
    model: str
    strategy: str
    """The solvers that wrote; `conformative` where two models decoded as one, which no solver does."""
    documents: int
    scored: int
    """By the first scorer."""
    words: float
    """Mean over the scored documents, as is the next; NaN without any."""
    population_words: float
    coherence: float
    """Mean over prompts; NaN where it was not rated, or not in one way in all runs."""
    refusals: int
    left_out: int
    """By the selection."""
    unscored: Mapping[str, int]
    """By reason."""
    fewer_responses: Share
    """Samples that gave fewer responses than were asked for in one reply, and samples that were asked for several."""
    measures: Mapping[str, Results]
    """By scorer: what a summary says of the run. Its means are over all prompts of the run, those of a difference over
    the prompts that both runs have."""


@dataclass(frozen=True, slots=True)
class Row:
    """One key of one run against its baseline."""

    run: str
    baseline: str
    scorer: str
    key: str
    tested: bool
    """Whether it is tested; else it is shown without a p-value."""
    paired_by: str
    prompts: int
    """That either run was given: those of them with a score on both sides are the pairs."""
    instances: int | None
    """Pairs of documents behind the pairs of prompts, where it is paired by instance."""
    coverage: tuple[Share, Share]
    """Questions used and asked, over the paired documents: the baseline's, the run's."""
    ratings: tuple[Share, Share]
    """Ratings that count and those that were due, likewise."""
    finding: Finding
    is_unit: bool
    """Whether its values lie from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that was compared."""

    options: Options
    named: str
    """What the baseline was called."""
    baselines: tuple[str, ...]
    """Their labels."""
    signatures: dict[str, str]
    """By scorer."""
    runs: tuple[Facts, ...]
    rows: tuple[Row, ...]
    pairs: Mapping[str, Pairs]
    """By run: the scores that its rows are made of."""
    base_of: Mapping[str, str]
    """By run: its baseline."""
    strays: dict[str, int]
    """By run: documents that were written after one that the baseline lacks, so that prompts are paired."""
    unmatched: tuple[str, ...]
    """Scorers that compare with population documents of every length, although lengths were to be matched."""
    unlike_coherence: str
    """Why the runs' coherence does not compare; empty where it does."""

    def called(self, *baselines: str) -> str:
        """Baselines by the name that was typed, with their labels where these are others."""
        labels = " and ".join(baselines)
        return labels if self.named in labels else f"{self.named} ({labels})"


def compare(paths: Iterable[str | Path], baseline: str, options: Options | None = None) -> Comparison:
    """Every run against the baseline; where that names a run of each model, against its own model's.

    Args:
        paths: Log files or folders.
        baseline: A run's label, strategy, task, model or file.
        options: Scorers, tests and margin; the defaults of `Options` when None.

    Raises:
        LogError: If there are fewer than two logs, one is not finished, the baseline is unknown or ambiguous, no
            prompt or no scorer is common, signatures differ, or what the selection asks for is not in the logs.
        UnknownChoiceError: If correction or equivalence is unknown, the margin is not above 0 or no coherence is
            as low or high as the one wanted.
    """
    options = options or Options()
    _check(options)
    return comparison_of(read_runs(paths, brief=True, signature=options.signature), baseline, options)


def comparison_of(runs: Sequence[ScoredLog], baseline: str, options: Options) -> Comparison:
    """As `compare`, of logs that are read, under the labels that they have there.

    Args:
        runs: All runs, baselines among them.
        baseline: A run's label, strategy, task, model or file.
        options: Scorers, tests and margin.

    Raises:
        LogError: As `compare`.
    """
    if len(runs) < 2:
        raise LogError(f"there is one log, {runs[0].file}, expected a baseline and another to compare with it")
    scorers = _scorers(runs, options.scorers)
    signatures = {scorer: one_signature(runs, scorer) for scorer in scorers}
    # coherence stands beside the scores: where it does not compare, only it is left out
    unlike_coherence = _unlike_coherence(runs, options.selection)
    base_of = baselines(runs, baseline)
    selections = [selected(run, options.selection) for run in runs]
    pairs = {place: paired(selections[base][0], selections[place][0], scorers) for place, base in base_of.items()}
    return Comparison(
        options=options,
        named=baseline,
        baselines=tuple(dict.fromkeys(runs[base].label for base in base_of.values())),
        signatures=signatures,
        runs=tuple(_facts(run, left_out, scorers, rated=not unlike_coherence) for run, left_out in selections),
        rows=tuple(_rows(runs, base_of, pairs, signatures, options)),
        pairs={runs[place].label: prompt_pairs for place, prompt_pairs in pairs.items()},
        base_of={runs[place].label: runs[base].label for place, base in base_of.items()},
        strays={runs[place].label: prompt_pairs.strays for place, prompt_pairs in pairs.items() if prompt_pairs.strays},
        unmatched=tuple(_unmatched(runs, scorers, options)),
        unlike_coherence=unlike_coherence,
    )


def _unmatched(runs: Sequence[ScoredLog], scorers: Sequence[str], options: Options) -> list[str]:
    if not options.selection.length_matched:
        return []
    matched = {name for run in runs for document in run.documents for name, s in document.scores.items() if s.matched}
    return [name for name in scorers if name not in matched]


def _check(options: Options) -> None:
    if options.correction not in CORRECTIONS:
        raise UnknownChoiceError("correction", options.correction, "one of " + ", ".join(CORRECTIONS))
    if options.equivalence not in METHODS:
        raise UnknownChoiceError("equivalence", options.equivalence, "one of " + ", ".join(METHODS))
    if options.margin is not None and not 0 < options.margin < math.inf:
        raise UnknownChoiceError("margin", options.margin, "a number above 0")
    if options.selection.min_coherence is not None:
        # the ends of both scales of the scorer `coherence`
        check_between("min_coherence", options.selection.min_coherence, 0, 5, "as coherence is rated")


def _rows(
    runs: Sequence[ScoredLog],
    base_of: Mapping[int, int],
    pairs: Mapping[int, Pairs],
    signatures: Mapping[str, str],
    options: Options,
) -> Iterator[Row]:
    """A row for each key of each run."""
    keys = {scorer: list(dict.fromkeys(key for run in runs for key in run.keys(scorer))) for scorer in signatures}
    tested = {(scorer, key) for scorer, names in keys.items() for key in keys_to_test(runs[0].declared(scorer), names)}
    columns = [
        (place, key, difference)
        for place, prompt_pairs in pairs.items()
        for key, difference in zip(prompt_pairs.keys, _differences(prompt_pairs, options, runs[place]), strict=True)
    ]
    # all tests of one scorer over all runs are corrected together, so they are made together
    corrected = families([(key, difference) for _, key, difference in columns], tested, options.correction)
    for (place, (scorer, key), _), instances, finding in zip(
        columns, [count for prompt_pairs in pairs.values() for count in prompt_pairs.instances], corrected, strict=True
    ):
        before, after = pairs[place].evidence[scorer]
        yield Row(
            run=runs[place].label,
            baseline=runs[base_of[place]].label,
            scorer=scorer,
            key=key,
            tested=(scorer, key) in tested,
            paired_by=pairs[place].by,
            prompts=pairs[place].prompts,
            instances=instances,
            coverage=(before.coverage.get(key, NO_SHARE), after.coverage.get(key, NO_SHARE)),
            ratings=(before.pairs.get(key, NO_SHARE), after.pairs.get(key, NO_SHARE)),
            finding=finding,
            is_unit=runs[place].known_range(scorer, key) == UNIT,
        )


def _differences(pairs: Pairs, options: Options, run: ScoredLog) -> list[Difference]:
    measured = differences(pairs.before, pairs.after, options.margin, equivalence=options.equivalence)
    # no difference is larger than the scale leaves above or below the baseline, whatever an interval of few pairs says
    ends = (run.known_range(*key) for key in pairs.keys)
    return [difference.within(*own) if own else difference for difference, own in zip(measured, ends, strict=True)]


def families(columns: Sequence[tuple[Key, Difference]], tested: Container[Key], correction: str) -> list[Finding]:
    """The finding of each difference: what is tested of one scorer, over all runs, is one family of tests.

    What is not tested has no p-value and holds nothing.

    Args:
        columns: Each with the key that it is of.
        tested: Keys that are tested.
        correction: As in `Options`.
    """
    families: dict[str, list[int]] = {}
    for place, (key, _) in enumerate(columns):
        if key in tested:
            families.setdefault(key[0], []).append(place)
    finding_of: dict[int, Finding] = {}
    for places in families.values():
        finding_of |= dict(zip(places, findings([columns[place][1] for place in places], correction), strict=True))
    return [
        finding_of[place] if place in finding_of else _untested(difference)
        for place, (_, difference) in enumerate(columns)
    ]


def _untested(difference: Difference) -> Finding:
    # the interval stays: it describes, and claims nothing
    bare = replace(difference, p_value=math.nan, p_unlike=math.nan)
    return Finding(bare, math.nan, math.nan, math.nan, math.nan, differs=False, is_equivalent=False)


def _scorers(runs: Sequence[ScoredLog], names: Sequence[str]) -> list[str]:
    """The scorers that are compared; coherence stands beside them instead.

    Raises:
        LogError: If a log lacks one that is wanted, or no two have one in common.
    """
    for run in runs:
        for name in names:
            if name not in run.signatures:
                listed = ", ".join(run.signatures) or "none"
                raise LogError(f"{run.file} has no scores by {name!r}, expected one of {listed}")
    # coherence is no novelty: it is a column of its own
    common = [name for name in runs[0].signatures if name != COHERENCE and all(name in run.signatures for run in runs)]
    if not (names or common):
        raise LogError(
            "these logs have no scorer in common: " + "; ".join(", ".join(run.signatures) or "none" for run in runs)
        )
    return list(names) or common


def _unlike_coherence(runs: Sequence[ScoredLog], selection: Selection) -> str:
    """Why the runs' coherence does not compare; empty where it does.

    Raises:
        LogError: If it does not, and the selection goes by it.
    """
    try:
        one_signature(runs, COHERENCE)
    except LogError as error:
        if selection.min_coherence is not None:
            raise
        return str(error)
    return ""


def _facts(run: ScoredLog, left_out: int, scorers: Sequence[str], *, rated: bool) -> Facts:
    measures = {scorer: results_of(run, scorer) for scorer in scorers}
    results = measures[scorers[0]]
    lengths = lengths_of([document for document in run.documents if not document.why_unscored(scorers[0])])
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
        words=lengths.words,
        population_words=lengths.population,
        coherence=next((interval.mean for interval in coherence), math.nan),
        refusals=results.refusals,
        left_out=left_out,
        unscored=results.unscored,
        fewer_responses=(sum(parsed < wanted for parsed, wanted in responses), len(responses)),
        measures=measures,
    )
