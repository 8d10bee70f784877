"""Strategies against a baseline: pairs, differences by key, and what to know beside them."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from genie_inspect.errors import UnknownChoiceError
from genie_inspect.logs.files import LogError
from genie_inspect.logs.measures import COHERENCE
from genie_inspect.logs.scored_log import ScoredLog
from genie_inspect.logs.signatures import one_signature
from genie_inspect.options import check_between
from genie_inspect.reports.comparison.baselines import baselines
from genie_inspect.reports.comparison.compared import FAMILIES, Comparison, Options
from genie_inspect.reports.comparison.facts import facts_of, unlike_coherence
from genie_inspect.reports.comparison.families import rows_of
from genie_inspect.reports.comparison.pairing import paired
from genie_inspect.reports.comparison.selection import selected
from genie_inspect.reports.pooling import read_runs
from genie_inspect.statistics.equivalence import METHODS
from genie_inspect.statistics.paired.differences import CORRECTIONS


def compare(paths: Iterable[str | Path], baseline: str, options: Options | None = None) -> Comparison:
    """Every run against the baseline; where that names a run of each model, against its own model's.

    Args:
        paths: Log files or folders.
        baseline: A run's label, strategy, task, model or file.
        options: Scorers, tests and margin; the defaults of `Options` when None.

    Raises:
        LogError: If there are fewer than two logs, one is not finished, the baseline is unknown or ambiguous, no
            prompt or no scorer is common, a key is unknown, signatures differ, or what the selection asks for is not
            in the logs.
        UnknownChoiceError: If correction, family or equivalence is unknown, the margin is not above 0 or no coherence
            is as low or high as the one wanted.
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
    unlike = unlike_coherence(runs, options.selection)
    base_of = baselines(runs, baseline)
    selections = [selected(run, options.selection) for run in runs]
    pairs = {place: paired(selections[base][0], selections[place][0], scorers) for place, base in base_of.items()}
    return Comparison(
        options=options,
        named=baseline,
        baselines=tuple(dict.fromkeys(runs[base].label for base in base_of.values())),
        signatures=signatures,
        runs=tuple(facts_of(run, left_out, scorers, rated=not unlike) for run, left_out in selections),
        rows=tuple(rows_of(runs, base_of, pairs, signatures, options)),
        pairs={runs[place].label: prompt_pairs for place, prompt_pairs in pairs.items()},
        base_of={runs[place].label: runs[base].label for place, base in base_of.items()},
        strays={runs[place].label: prompt_pairs.strays for place, prompt_pairs in pairs.items() if prompt_pairs.strays},
        unmatched=tuple(_unmatched(runs, scorers, options)),
        unlike_coherence=unlike,
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
    if options.family not in FAMILIES:
        raise UnknownChoiceError("family", options.family, "one of " + ", ".join(FAMILIES))
    if options.margin is not None and not 0 < options.margin < math.inf:
        raise UnknownChoiceError("margin", options.margin, "a number above 0")
    if options.selection.min_coherence is not None:
        # the ends of both scales of the scorer `coherence`
        check_between("min_coherence", options.selection.min_coherence, 0, 5, "as coherence is rated")


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
