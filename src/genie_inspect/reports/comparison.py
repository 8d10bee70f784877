"""Strategies against a baseline: pairs, differences by key, and what to know beside them."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from genie_inspect.errors import UnknownChoiceError
from genie_inspect.reports.pairing import Pairs, paired
from genie_inspect.reports.runs import COHERENCE, Run, labels, read_run
from genie_inspect.reports.scored_logs import do_not_compare
from genie_inspect.reports.selection import Selection, selected
from genie_inspect.reports.summary import ReportError, log_files
from genie_inspect.statistics.differences import CORRECTIONS, Difference, Finding, differences, findings
from genie_inspect.statistics.equivalence import METHODS


@dataclass(frozen=True, slots=True)
class Options:
    """How runs are compared."""

    scorers: tuple[str, ...] = ()
    """Whose scores; none: of all that every log has."""
    correction: str = "holm"
    margin: float | None = None
    selection: Selection = field(default_factory=Selection)
    equivalence: str = "t"
    """Method of `tost`."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What to know of a run beside its scores."""

    label: str
    file: str
    documents: int
    scored: int
    """By the first scorer."""
    words: float
    """Mean over the scored documents; NaN without any. So are the next two."""
    population_words: float
    coherence: float
    refusals: int
    left_out: int
    """By the selection."""
    unscored: dict[str, int]
    """By reason."""


@dataclass(frozen=True, slots=True)
class Row:
    """One key of one run against its baseline."""

    run: str
    baseline: str
    scorer: str
    key: str
    paired_by: str
    instances: int | None
    """Pairs of documents behind the pairs of prompts, where it is paired by instance."""
    coverage: tuple[tuple[int, int], tuple[int, int]]
    """Questions used and asked: the baseline's, the run's."""
    finding: Finding


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that was compared."""

    options: Options
    baselines: tuple[str, ...]
    signatures: dict[str, str]
    """By scorer."""
    runs: tuple[Facts, ...]
    rows: tuple[Row, ...]
    strays: dict[str, int]
    """By run: documents that were written after one that the baseline lacks, so that prompts are paired."""
    unmatched: tuple[str, ...]
    """Scorers that compare with population documents of every length, although lengths were to be matched."""


def compare(paths: Iterable[str | Path], baseline: str, options: Options | None = None) -> Comparison:
    """Every run against the baseline; where that names a run of each model, against its own model's.

    Args:
        paths: Log files or folders.
        baseline: A run's label, strategy, task, model or file.
        options: How.

    Raises:
        ReportError: If there are fewer than two logs, one is not finished, the baseline is unknown or ambiguous, no
            prompt or no scorer is common, signatures differ, or what the selection asks for is not in the logs.
        UnknownChoiceError: If correction or equivalence is unknown or the margin is not above 0.
    """
    options = options or Options()
    _check(options)
    runs = [read_run(file) for file in dict.fromkeys(log_files(paths))]
    if len(runs) < 2:
        raise ReportError(f"there is one log, {runs[0].file}, expected a baseline and another to compare with it")
    names = labels(runs)
    scorers = _scorers(runs, options.scorers)
    signatures = {scorer: _signature(runs, scorer) for scorer in scorers}
    bases = _baselines(runs, names, baseline)
    kept = [selected(run, options.selection) for run in runs]
    pairs = {
        index: paired(kept[bases[index]][0], kept[index][0], scorers) for index in range(len(runs)) if index in bases
    }
    columns = [
        difference for index, found in pairs.items() for difference in _differences(found, options, runs[index].spans)
    ]
    judged = iter(findings(columns, options.correction))
    rows = [
        Row(names[index], names[bases[index]], scorer, key, found.by, instances, coverage, next(judged))
        for index, found in pairs.items()
        for (scorer, key), instances, coverage in zip(found.keys, found.instances, found.coverage, strict=True)
    ]
    facts = [_facts(name, run, left_out, scorers[0]) for name, (run, left_out) in zip(names, kept, strict=True)]
    baselines = tuple(dict.fromkeys(names[base] for base in bases.values()))
    strays = {names[index]: found.strays for index, found in pairs.items() if found.strays}
    return Comparison(
        options, baselines, signatures, tuple(facts), tuple(rows), strays, tuple(_unmatched(runs, scorers, options))
    )


def _unmatched(runs: Sequence[Run], scorers: Sequence[str], options: Options) -> list[str]:
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


def _differences(pairs: Pairs, options: Options, spans: Mapping[str, float]) -> list[Difference]:
    found = differences(pairs.before, pairs.after, options.margin, equivalence=options.equivalence)
    return [one.within(spans.get(key, math.inf)) for one, (_, key) in zip(found, pairs.keys, strict=True)]


def _scorers(runs: Sequence[Run], wanted: Sequence[str]) -> list[str]:
    """The scorers that are compared; coherence stands beside them instead.

    Raises:
        ReportError: If a log lacks one that is wanted, or no two have one in common.
    """
    present = [dict.fromkeys(name for document in run.documents for name in document.scores) for run in runs]
    for run, names in zip(runs, present, strict=True):
        for name in wanted:
            if name not in names:
                raise ReportError(f"{run.file} has no scores by {name!r}, expected one of {', '.join(names) or 'none'}")
    common = [name for name in present[0] if name != COHERENCE and all(name in names for names in present)]
    if not (wanted or common):
        raise ReportError(
            "these logs have no scorer in common: " + "; ".join(", ".join(names) or "none" for names in present)
        )
    return list(wanted) or common


def _signature(runs: Sequence[Run], scorer: str) -> str:
    """The one signature of a scorer's scores.

    Raises:
        ReportError: If there are several.
    """
    found: dict[str, str] = {}
    for run in runs:
        for document in run.documents:
            if scorer in document.scores:
                found.setdefault(document.scores[scorer].signature, run.file)
    if len(found) > 1:
        one, other, *_ = found.items()
        raise ReportError(do_not_compare(scorer, one, other))
    return next(iter(found))


def _baselines(runs: Sequence[Run], names: Sequence[str], baseline: str) -> dict[int, int]:
    """For each run that is no baseline, its baseline: the one there is, or its own model's.

    Raises:
        ReportError: If there is none, or more than one.
    """
    called = [
        (name, r.strategy, r.task, r.model, r.file, Path(r.file).name) for name, r in zip(names, runs, strict=True)
    ]
    bases = [index for index, known in enumerate(called) if baseline in known]
    if not bases:
        raise ReportError(f"baseline is {baseline!r}, expected one of: " + "; ".join(names))
    others = [index for index in range(len(runs)) if index not in bases]
    if not others:
        raise ReportError(
            f"baseline {baseline!r} names every log, expected another to compare with it: " + "; ".join(names)
        )
    return {index: _own_baseline(runs, index, bases, names) for index in others}


def _own_baseline(runs: Sequence[Run], index: int, bases: Sequence[int], names: Sequence[str]) -> int:
    own = bases if len(bases) == 1 else [base for base in bases if runs[base].model == runs[index].model]
    if len(own) != 1:
        raise ReportError(
            f"the baseline of {names[index]} is not clear, it could be "
            f"{'; '.join(names[base] for base in own or bases)}: name one of these, or a log file"
        )
    return own[0]


def _facts(label: str, run: Run, left_out: int, scorer: str) -> Facts:
    scored = [d for d in run.documents if scorer in d.scores and not d.scores[scorer].is_unscored]
    silent = [d.scores[scorer].reason for d in run.documents if scorer in d.scores and d.scores[scorer].is_unscored]
    return Facts(
        label=label,
        file=run.file,
        documents=len(run.documents),
        scored=len(scored),
        words=_mean(document.words for document in scored),
        population_words=_mean(document.population_words for document in scored),
        coherence=_mean(document.coherence for document in scored),
        refusals=sum(document.refused for document in run.documents),
        left_out=left_out,
        unscored=dict(Counter(silent)),
    )


def _mean(values: Iterable[float]) -> float:
    """Mean of what is known; NaN without anything."""
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan
