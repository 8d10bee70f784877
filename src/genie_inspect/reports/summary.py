"""Logs in, tables out: means a measure, features down and models across; or for data analysis, a row a document."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspect_ai.log import EvalStats
from inspect_ai.model import ModelUsage

from genie_inspect.errors import MissingExtraError
from genie_inspect.files.tables import plain
from genie_inspect.graders.protocols import caution
from genie_inspect.logs.evidence import NO_SHARE
from genie_inspect.logs.files import LogError
from genie_inspect.logs.measures import shown_key
from genie_inspect.logs.reading import (
    ScoredLog,
    by_signature,
    cut_warning,
    labelled,
    length_warning,
    one_signature,
    read_logs,
)
from genie_inspect.logs.results import Results, reference_scores_command, results_of
from genie_inspect.prompting.texts import shortened
from genie_inspect.signature import Signature

if TYPE_CHECKING:
    import pandas

SHOWN = 5  # ids in an error


def read_runs(paths: Iterable[str | Path], *, brief: bool = False, signature: str = "") -> list[ScoredLog]:
    """As `read_logs`, with parts of one run together."""
    return labelled(pooled(read_logs(paths, signature=signature)), brief=brief)


def pooled(logs: Sequence[ScoredLog]) -> list[ScoredLog]:
    """The logs, those that are parts of one run as one, where the first of them stood.

    Parts have one model, task, method, settings and signatures, and samples of their own: halves by `--limit`, a job
    array's. Logs with the very same samples are runs that were repeated, and stay apart.
    """
    groups: dict[str, list[ScoredLog]] = {}
    for place, log in enumerate(logs):
        spec = log.header.eval
        whose = (log.model, spec.task, spec.dataset.name, log.strategy, log.is_population, spec.config.epochs)
        settings = (spec.model_generate_config.model_dump_json(), spec.model_args, spec.task_args, log.options)
        signatures = sorted((scorer, *sorted(signed)) for scorer, signed in log.signatures.items())
        # nothing tells of a log without documents what it is a part of
        run = repr((whose, settings, signatures)) if log.documents else str(place)
        groups.setdefault(run, []).append(log)
    return [run for group in groups.values() for run in _runs(group)]


def _runs(group: Sequence[ScoredLog]) -> list[ScoredLog]:
    samples = [{str(document.sample) for document in (*log.documents, *log.changed)} for log in group]
    if all(own == samples[0] for own in samples):
        return list(group)
    for (one, here), (other, there) in combinations(zip(group, samples, strict=True), 2):
        if both := sorted(here & there):
            listed = ", ".join(map(shortened, both[:SHOWN])) + (", ..." if len(both) > SHOWN else "")
            raise LogError(
                f"{one.file} and {other.file} have one model, task, prompting method, settings and signature, as parts "
                f"of a run have, and share {len(both)} samples ({listed}), expected parts without a sample in common, "
                "or one of the two"
            )
    # the first header, with the samples, the tokens and the time of all
    headers = [log.header for log in group]
    stats = [header.stats for header in headers]
    usage: dict[str, ModelUsage] = {}
    for model, used in (pair for own in stats for pair in own.model_usage.items()):
        usage[model] = usage[model] + used if model in usage else used
    begun, ended = min(own.started_at for own in stats), max(own.completed_at for own in stats)
    whole = EvalStats(started_at=begun, completed_at=ended, model_usage=usage)
    spec = headers[0].eval
    ids = [name for header in headers for name in header.eval.dataset.sample_ids or []]
    dataset = spec.dataset.model_copy(update={"sample_ids": ids, "samples": len(ids)})
    run = replace(
        group[0],
        file=" + ".join(log.file for log in group),
        header=headers[0].model_copy(update={"stats": whole, "eval": spec.model_copy(update={"dataset": dataset})}),
        documents=tuple(document for log in group for document in log.documents),
        changed=tuple(document for log in group for document in log.changed),
        parts=tuple(Path(log.file).name for log in group),
    )
    return [run]


FEW_SHARED = 0.5  # of the prompts of two logs
UNLIKE = 0.1  # share of questions from which two means are of other questions


@dataclass(frozen=True, slots=True)
class Column:
    label: str
    log: str
    results: Results
    unlike_length: str = ""  # the warning that its documents are of another length than the population's
    cut: str = ""  # the warning that documents end at the limit of their tokens


@dataclass(frozen=True, slots=True)
class Summary:
    """Columns that may be compared: they share one signature."""

    scorer: str
    signature: Signature
    keys: tuple[str, ...]
    names: tuple[str, ...]  # of the keys, as they are shown
    caution: str  # what to know of the judge; empty where there is nothing
    columns: tuple[Column, ...]
    warnings: tuple[str, ...] = ()  # what to beware of where columns are compared, a line each
    reference_scores_command: str = ""  # what makes the population's; empty where the scores have them, or need none


def summarise(paths: Iterable[str | Path], scorer: str = "genie") -> Summary:
    """The summary of finished logs that one scorer scored with one signature."""
    return _summary(_scored_by(scorer, read_runs(paths)), scorer)


def summaries(paths: Iterable[str | Path], scorer: str | None = None, signature: str = "") -> list[Summary]:
    """One summary for each measure of ours that every log has scores by, and for each of its signatures."""
    logs = read_runs(paths, signature=signature)
    names = [scorer] if scorer else [name for name in logs[0].ours if all(name in log.ours for log in logs)]
    if not names:
        by_log = ", ".join(f"{log.file}: {', '.join(log.ours) or 'none'}" for log in logs)
        raise LogError(f"no measure of this package scored every log, expected one that did ({by_log})")
    groups = [(name, group) for name in names for group in by_signature(_scored_by(name, logs), name)]
    # what tells the logs of one table apart need not be what tells all of them apart
    return [_summary(labelled(group), name) for name, group in groups]


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
    command = reference_scores_command(logs[0], scorer) if lacking else ""
    names = tuple(shown_key(signature, key) for key in keys)
    beware = caution(signature.facts.get("judge", ""))
    warned = tuple(filter(None, (_few_shared(logs), _unlike_questions(logs, scorer, keys))))
    return Summary(scorer, signature, tuple(keys), names, beware, columns, warned, command)


def _few_shared(logs: Sequence[ScoredLog]) -> str:
    """The warning of the two logs that share least prompts."""
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
        apart = [(0.0, "", "")]
        for one, other in combinations(logs, 2):
            here, there = _used(one, scorer, key), _used(other, scorer, key)
            # a mean over the questions of their common prompts
            if both := [asked for asked in here if asked in there]:
                mean = math.fsum(abs(here[asked] - there[asked]) for asked in both) / len(both)
                apart.append((mean, one.label, other.label))
        if (most := max(apart))[0] > UNLIKE:
            named.append(f"{key.replace('_', ' ')} {most[0]:.0%} ({most[1]} and {most[2]})")
    if not named:
        return ""
    return (
        f"the questions used differ: {', '.join(named)}: the means of these are of other questions; genie compare "
        "takes the questions that both answered"
    )


def _used(log: ScoredLog, scorer: str, key: str) -> dict[tuple[str, str], float]:
    """By prompt and question, as far as the log says it, the share of the prompt's documents that used it."""
    shares: dict[tuple[str, str], list[bool]] = {}
    for document in log.documents:
        table = document.scores[scorer].questions.get(key, {}) if scorer in document.scores else {}
        for question, novelty in table.items():
            shares.setdefault((document.prompt, question), []).append(not math.isnan(novelty))
    return {asked: sum(used) / len(used) for asked, used in shares.items()}


EXTRA = "frames"
COLUMNS = (
    *("run", "model", "task", "sample", "epoch", "prompt", "scorer", "key", "score", "nearest_novelty"),
    *("nearest_document", "percentile", "population_mean", "coverage", "words", "reason", "signature"),
    *("eval_id", "sample_id", "log"),
)
NUMBERS = ("score", "nearest_novelty", "percentile", "population_mean", "coverage")  # also where all are missing
# what stands before the scores of a wide row; named as in Inspect's `evals_df` where that has it
WIDE_COLUMNS = ("run", "model", "task_id", "task_name", "documents", "eval_id", "log")
Row = dict[str, str | int | float | None]


def rows(paths: Iterable[str | Path]) -> Iterator[Row]:
    """A row for each document, scorer of ours and key, one at a time: `COLUMNS`, None where nothing is known.

    Scores under several signatures stand side by side, each with its own.
    """
    logs = read_logs(paths)  # at once: what cannot be read is told before the first row
    return (row for log in logs for row in _rows(log))


def wide_rows(paths: Iterable[str | Path]) -> list[Row]:
    """A row per log: `WIDE_COLUMNS`, and under `score_<scorer>_<key>` a summary's mean over prompts."""
    logs = read_logs(paths)
    scorers = dict.fromkeys(scorer for log in logs for scorer in log.ours)
    for scorer in scorers:
        one_signature(logs, scorer)
    table: list[Row] = []
    for log in logs:
        spec = log.header.eval
        facts = (log.label, log.model, spec.task_id, log.task, len(log.documents), spec.eval_id, log.file)
        row: Row = dict(zip(WIDE_COLUMNS, facts, strict=True))
        for scorer in log.ours:
            cells = results_of(log, scorer).cells
            row |= {f"score_{scorer}_{key}": plain(cell.mean) for key, cell in cells.items()}
        table.append(row)
    # every row has the scores of all
    names = dict.fromkeys(name for row in table for name in row)
    return [{name: row.get(name) for name in names} for row in table]


def frame(logs: str | Path | Iterable[str | Path], *, wide: bool = False) -> "pandas.DataFrame":
    """Finished logs as a data frame: one row per document, scorer and key; joins `samples_df` by `sample_id`.

    Args:
        logs: Log files or folders.
        wide: A row a log instead, with its means under `score_<scorer>_<key>`.

    Raises:
        LogError: If a log cannot be read or is not finished; for `wide` also if scores do not compare.
        MissingExtraError: If pandas is not installed.
    """
    try:
        import pandas
    except ImportError:
        raise MissingExtraError("frame()", EXTRA, "genie export LOGS writes the same as CSV without it") from None
    paths = [logs] if isinstance(logs, str | Path) else logs
    table = wide_rows(paths) if wide else list(rows(paths))
    # a column of None alone would be no column of numbers
    return pandas.DataFrame(table, columns=columns_of(table)).astype(dict.fromkeys(_numbers(table), float))


def columns_of(table: Sequence[Row]) -> list[str]:
    return list(table[0]) if table else list(COLUMNS)


def parquet(table: Sequence[Row]) -> bytes:
    try:
        import pyarrow
        from pyarrow.parquet import write_table
    except ImportError:
        raise MissingExtraError("Parquet", EXTRA, "CSV needs none: -o scores.csv") from None
    file = BytesIO()
    columns: dict[str, list[Any]] = {name: [row[name] for row in table] for name in columns_of(table)}
    types = dict.fromkeys(_numbers(table), pyarrow.float64())
    arrays = {name: pyarrow.array(values, types.get(name)) for name, values in columns.items()}
    write_table(pyarrow.table(arrays), file)
    return file.getvalue()


def _numbers(table: Sequence[Row]) -> list[str]:
    return [name for name in columns_of(table) if name in NUMBERS or name.startswith("score_")]


def _rows(log: ScoredLog) -> Iterator[Row]:
    # where no document was scored nobody knows the keys: the reason still stands in a row
    keys = [(scorer, key) for scorer in log.ours for key in log.keys(scorer) or ("",)]
    for document, (scorer, key) in product(log.documents, keys):
        scores = document.scores.get(scorer)
        part, whole = scores.evidence.coverage.get(key, NO_SHARE) if scores else NO_SHARE
        standing = scores.standing.get(key) if scores else None
        values = (
            *(log.label, log.model, log.task, str(document.sample), document.epoch, document.prompt, scorer, key),
            plain(document.value(scorer, key)),
            plain(scores.nearest.get(key, math.nan)) if scores else None,
            (scores.nearest_document if scores else "") or None,
            standing.percentile if standing else None,
            standing.mean if standing else None,
            part / whole if whole else None,
            document.words,
            document.why_unscored(scorer) or None,
            scores.signature if scores else log.signatures[scorer][0],
            *(log.header.eval.eval_id, document.sample_id or None, log.file),
        )
        yield dict(zip(COLUMNS, values, strict=True))
