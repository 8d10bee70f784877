"""Logs in, one table a measure out: features down, models across, means with intervals by prompt."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from genie_inspect.logs.files import LogError
from genie_inspect.logs.labels import labelled
from genie_inspect.logs.lengths import cut_warning, length_warning
from genie_inspect.logs.results import Results, results_of
from genie_inspect.logs.scored_log import ScoredLog
from genie_inspect.logs.signatures import by_signature, one_signature
from genie_inspect.logs.yardstick import yardstick_command
from genie_inspect.reports.pooling import read_runs

FEW_SHARED = 0.5  # of the prompts of two logs
UNLIKE = 0.1  # share of questions from which two means are of other questions


@dataclass(frozen=True, slots=True)
class Column:
    """One log: what was evaluated and what it got."""

    label: str
    log: str
    results: Results
    unlike_length: str = ""
    """The warning that its documents are of another length than the population's; empty where there is no cause."""
    cut: str = ""
    """The warning that documents end at the limit of their tokens; empty where none does."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Columns that may be compared: they share one signature."""

    scorer: str
    signature: str
    keys: tuple[str, ...]
    columns: tuple[Column, ...]
    warnings: tuple[str, ...] = ()
    """What to beware of where columns are compared, a line each."""
    yardstick_command: str = ""
    """What makes the population's yardstick; empty where the scores have one, or need none."""


def summarise(paths: Iterable[str | Path], scorer: str = "genie") -> Summary:
    """The summary of finished logs that one scorer scored with one signature.

    Args:
        paths: Log files or folders.
        scorer: Whose scores.

    Raises:
        LogError: If logs cannot be read, are not finished, lack the scorer, or signatures differ.
    """
    return _summary(_scored_by(scorer, read_runs(paths)), scorer)


def summaries(paths: Iterable[str | Path], scorer: str | None = None, signature: str = "") -> list[Summary]:
    """One summary for each measure of ours that every log has scores by, and for each of its signatures.

    Args:
        paths: Log files or folders.
        scorer: Whose scores; without one those of every measure, in the order of the first log.
        signature: Only logs with a score under a signature that holds these words.

    Raises:
        LogError: If logs cannot be read, are not finished or lack the scorer, there is no such measure or signature,
            or one log has several signatures.
    """
    logs = read_runs(paths, signature=signature)
    names = [scorer] if scorer else _shared(logs)
    groups = [(name, group) for name in names for group in by_signature(_scored_by(name, logs), name)]
    # what tells the logs of one table apart need not be what tells all of them apart
    return [_summary(labelled(group), name) for name, group in groups]


def _shared(logs: Sequence[ScoredLog]) -> list[str]:
    shared = [scorer for scorer in logs[0].ours if all(scorer in log.ours for log in logs)]
    if not shared:
        by_log = ", ".join(f"{log.file}: {', '.join(log.ours) or 'none'}" for log in logs)
        raise LogError(f"no measure of this package scored every log, expected one that did ({by_log})")
    return shared


def _scored_by(scorer: str, logs: Sequence[ScoredLog]) -> Sequence[ScoredLog]:
    for log in logs:
        if scorer not in log.signatures:
            raise LogError(
                f"{log.file} has no scores by {scorer!r}, score it with: inspect score {log.file} --scorer ..."
            )
    return logs


def _summary(logs: Sequence[ScoredLog], scorer: str) -> Summary:
    # a table of scores that do not compare is refused here, before a mean is taken
    signature = one_signature(logs, scorer)
    columns = tuple(
        Column(log.label, log.file, results_of(log, scorer), length_warning(log), cut_warning(log)) for log in logs
    )
    # a run may lack a key, so that the rows are the keys of all columns, each once
    keys = dict.fromkeys(key for column in columns for key in column.results.cells)
    # of one instrument, as the signature is: where one log has it, the others need only be scored again
    lacking = not any(column.results.standing for column in columns)
    command = yardstick_command(logs[0], scorer) if lacking else ""
    warned = tuple(filter(None, (_few_shared(logs), _unlike_questions(logs, scorer, keys))))
    return Summary(scorer, signature, tuple(keys), columns, warned, command)


def _few_shared(logs: Sequence[ScoredLog]) -> str:
    """The warning that two logs have few prompts in common, of the two that share least."""
    given = [(log.label, {document.prompt for document in log.documents}) for log in logs if log.documents]
    shares = [
        (len(one & other) / len(one | other), len(one & other), len(one | other), here, there)
        for (here, one), (there, other) in combinations(given, 2)
    ]
    least, shared, whole, *names = min(shares, default=(1.0, 0, 0, "", ""))
    if least >= FEW_SHARED:
        return ""
    return f"{' and '.join(names)} share {shared} of {whole} prompts: their means are of other prompts"


def _unlike_questions(logs: Sequence[ScoredLog], scorer: str, keys: Iterable[str]) -> str:
    """The warning that the means of two logs rest on other questions, of each key for the two that differ most."""
    named = []
    for key in keys:
        pairs = combinations([(log.label, _used(log, scorer, key)) for log in logs], 2)
        apart = max(((_apart(one, other), here, there) for (here, one), (there, other) in pairs), default=(0.0, "", ""))
        if apart[0] > UNLIKE:
            named.append(f"{key.replace('_', ' ')} {apart[0]:.0%} ({apart[1]} and {apart[2]})")
    return (
        f"the questions used differ: {', '.join(named)}: the means of these are of other questions; genie compare "
        "takes the questions that both answered"
        if named
        else ""
    )


def _used(log: ScoredLog, scorer: str, key: str) -> dict[str, dict[str, float]]:
    """By prompt and question, the share of the prompt's documents that used it; no prompt whose log does not say it."""
    shares: dict[str, dict[str, list[bool]]] = {}
    for document in log.documents:
        table = document.scores[scorer].questions.get(key, {}) if scorer in document.scores else {}
        for question, novelty in table.items():
            shares.setdefault(document.prompt, {}).setdefault(question, []).append(not math.isnan(novelty))
    return {
        prompt: {question: sum(used) / len(used) for question, used in questions.items()}
        for prompt, questions in shares.items()
    }


def _apart(one: dict[str, dict[str, float]], other: dict[str, dict[str, float]]) -> float:
    """How far the shares of two logs lie apart, as a mean over the questions of their common prompts; 0 without any."""
    apart = [
        abs(share - other[prompt][question])
        for prompt in one.keys() & other.keys()
        for question, share in one[prompt].items()
        if question in other[prompt]
    ]
    return math.fsum(apart) / len(apart) if apart else 0.0
