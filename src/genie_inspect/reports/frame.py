"""Logs as rows for data analysis: one a document and key with everything said of it, or one a log with its means."""

import math
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genie_inspect.errors import MissingExtraError
from genie_inspect.logs.evidence import NO_SHARE
from genie_inspect.logs.reading import read_logs
from genie_inspect.logs.results import results_of
from genie_inspect.logs.scored_log import ScoredLog, one_signature

if TYPE_CHECKING:
    import pandas

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
            row |= {f"score_{scorer}_{key}": _known(cell.mean) for key, cell in cells.items()}
        table.append(row)
    # every row has the scores of all
    names = dict.fromkeys(name for row in table for name in row)
    return [{name: row.get(name) for name in names} for row in table]


def frame(logs: str | Path | Iterable[str | Path], *, wide: bool = False) -> "pandas.DataFrame":
    """Finished logs as a data frame: a row a document, scorer and key; `sample_id` joins it to Inspect's `samples_df`.

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
        raise MissingExtraError("frame()", EXTRA, "genie frame LOGS writes the same as CSV without it") from None
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
            _known(document.value(scorer, key)),
            _known(scores.nearest.get(key, math.nan)) if scores else None,
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


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
