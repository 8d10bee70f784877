"""Logs in, one table out: features down, models across, means with intervals clustered by prompt."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log
from inspect_ai.scorer import Score

from genie_inspect.errors import GenieError
from genie_inspect.reports.ranges import known_range
from genie_inspect.statistics.intervals import Interval, clustered_interval


class ReportError(GenieError):
    """Logs cannot be put into one report; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Column:
    """One log: what was evaluated and what it got."""

    label: str
    log: str
    cells: dict[str, Interval]
    """By key of the score; `values` counts the scored documents."""
    coverage: dict[str, tuple[int, int]]
    """By key: questions that could be used, questions asked, over all scored documents."""
    documents: int
    unscored: dict[str, int]
    """Documents without any score, by reason."""
    position_bias: float = math.nan
    """Mean points that a judge of pairs gives a document for standing first; NaN where none judged pairs."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Columns that may be compared: they share one signature."""

    scorer: str
    signature: str
    keys: tuple[str, ...]
    columns: tuple[Column, ...]


def log_files(paths: Iterable[str | Path]) -> list[str]:
    """Every log file that the paths stand for: files as they are, folders searched.

    Raises:
        ReportError: If a path does not exist or holds no log.
    """
    found: list[str] = []
    for path in map(str, paths):
        if not Path(path).exists():
            raise ReportError(f"{path} does not exist, expected a log file or a folder of logs")
        logs = [path] if Path(path).is_file() else [info.name for info in list_eval_logs(path, descending=False)]
        if not logs:
            raise ReportError(f"{path} holds no log")
        found += logs
    return found


def summarise(paths: Iterable[str | Path], scorer: str = "genie") -> Summary:
    """The summary of finished logs that one scorer scored with one signature.

    Args:
        paths: Log files or folders.
        scorer: Whose scores.

    Raises:
        ReportError: If a log cannot be read, is not finished, lacks the scorer, or signatures differ.
    """
    return _summary([(file, finished_log(file)) for file in log_files(paths)], scorer)


def summaries(paths: Iterable[str | Path]) -> list[Summary]:
    """One summary for each measure that every log has scores by, in the order of the first log.

    Raises:
        ReportError: As `summarise`, and if there is no such measure.
    """
    logs = [(file, finished_log(file)) for file in log_files(paths)]
    measured = [_measured(log) for _, log in logs]
    shared = [scorer for scorer in measured[0] if all(scorer in own for own in measured)]
    if not shared:
        each = ", ".join(f"{file}: {', '.join(own) or 'none'}" for (file, _), own in zip(logs, measured, strict=True))
        raise ReportError(f"no measure of this package scored every log, expected one that did ({each})")
    return [_summary(logs, scorer) for scorer in shared]


def _measured(log: EvalLog) -> list[str]:
    """The scorers of this package that a log has scores by: theirs carry a signature."""
    scores = [scored for sample in log.samples or [] for scored in (sample.scores or {}).items()]
    return list(dict.fromkeys(scorer for scorer, score in scores if "signature" in (score.metadata or {})))


def _summary(logs: Sequence[tuple[str, EvalLog]], scorer: str) -> Summary:
    columns: list[Column] = []
    tasks: list[str] = []
    keys: list[str] = []
    signatures: dict[str, str] = {}
    for file, log in logs:
        scored = list(_scores(log, scorer))
        if not scored:
            raise ReportError(f"{file} has no scores by {scorer!r}, score it with: inspect score {file} --scorer ...")
        for _, score in scored:
            signatures.setdefault(str((score.metadata or {}).get("signature", "none")), file)
        columns.append(_column(log, file, scored))
        tasks.append(log.eval.task.split("/")[-1])
        keys += [key for key in columns[-1].cells if key not in keys]
    if len(signatures) > 1:
        shown = "\n".join(f"  {signature}  ({file})" for signature, file in signatures.items())
        raise ReportError(f"these scores do not compare, their signatures differ:\n{shown}")
    labels = told_apart([column.label for column in columns], tasks)
    named = tuple(replace(column, label=name) for column, name in zip(columns, labels, strict=True))
    return Summary(scorer, next(iter(signatures)), tuple(keys), named)


def told_apart(labels: Sequence[str], tasks: Sequence[str]) -> list[str]:
    """The labels, with the task's name where logs of several tasks share one.

    >>> told_apart(["writer", "writer", "other"], ["grid_baseline", "grid_outline", "grid_outline"])
    ['writer grid_baseline', 'writer grid_outline', 'other']
    """
    shared = {label for label in labels if len({t for o, t in zip(labels, tasks, strict=True) if o == label}) > 1}
    return [f"{label} {task}" if label in shared else label for label, task in zip(labels, tasks, strict=True)]


def finished_log(file: str, *, header_only: bool = False) -> EvalLog:
    """The log in a file.

    Raises:
        ReportError: If it cannot be read or is not finished.
    """
    try:
        log = read_eval_log(file, header_only=header_only)
    except (OSError, ValueError) as error:
        raise ReportError(f"{file} cannot be read as a log: {error}") from error
    if log.status != "success":
        raise ReportError(f"{file} is not finished: its status is {log.status!r}, expected 'success'")
    return log


def _scores(log: EvalLog, scorer: str) -> Iterator[tuple[str, Score]]:
    """Each sample's prompt and score; the prompt is what epochs of one sample share."""
    for sample in log.samples or []:
        if sample.scores and scorer in sample.scores:
            yield str(sample.id), sample.scores[scorer]


def _column(log: EvalLog, file: str, scored: Sequence[tuple[str, Score]]) -> Column:
    keys = dict.fromkeys(key for _, score in scored if isinstance(score.value, dict) for key in score.value)
    prompts = [prompt for prompt, _ in scored]
    unscored: dict[str, int] = {}
    for _, score in scored:
        if all(math.isnan(_value(score, key)) for key in keys):
            reason = str(score.reason or "not said")
            unscored[reason] = unscored.get(reason, 0) + 1
    cells = {key: clustered_interval([_value(score, key) for _, score in scored], prompts) for key in keys}
    cells = {key: cell.within(*ends) if (ends := known_range(log, key)) else cell for key, cell in cells.items()}
    coverage = {key: _coverage(key, (score for _, score in scored)) for key in keys}
    return Column(label(log), file, cells, coverage, len(scored), unscored, _position_bias(scored))


def _position_bias(scored: Iterable[tuple[str, Score]]) -> float:
    found = [(score.metadata or {}).get("position_bias") for _, score in scored]
    biases = [float(bias) for bias in found if bias is not None]
    return math.fsum(biases) / len(biases) if biases else math.nan


def _coverage(key: str, scores: Iterable[Score]) -> tuple[int, int]:
    shares = [str((score.metadata or {}).get("coverage", {}).get(key, "0/0")).split("/") for score in scores]
    return sum(int(used) for used, _ in shares), sum(int(asked) for _, asked in shares)


def _value(score: Score, key: str) -> float:
    value = score.value.get(key) if isinstance(score.value, dict) else None
    return float(value) if isinstance(value, int | float) else math.nan


def label(log: EvalLog) -> str:
    """The model, with the solver where it is not plain generation."""
    solver = log.eval.solver
    return log.eval.model if solver in (None, "generate") else f"{log.eval.model} ({solver})"
