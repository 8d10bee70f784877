"""Mixed logistic models of a user's table: of an outcome, and of which of two texts people prefer."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from genie_inspect.agreement.votes import TableError, TableRow, numbers, read_rows
from genie_inspect.measures.tokens import word_count
from genie_inspect.statistics.mixed import MixedModel, mixed_logistic

Values = NDArray[np.float64]
Columns = dict[str, Values]

CONFIDENCE_Z = 1.959963984540054  # two-sided 95%
MOST_CATEGORIES = 50
LARGEST_LOG = 700.0  # whose exponential is a number still


def fitted_table(
    path: Path,
    outcome: str,
    fixed: Sequence[str],
    groups: Sequence[str],
    *,
    standardised: bool = False,
    within: float | None = None,
) -> tuple[MixedModel, int]:
    """The model, and how many rows are left out: with an empty cell in one of its columns, or too far from the mean."""
    parts = dict.fromkeys(part for term in fixed for part in term.split(":"))
    rows, gaps = complete_rows(path, [outcome, *(part.partition("=")[0] for part in parts), *groups])
    columns: dict[str, Columns] = {}
    kept = np.ones(len(rows), dtype=bool)
    for part in parts:
        name, is_category, baseline = part.partition("=")
        values = None if is_category else numbers(rows, name)
        if values is None:
            columns[part] = _indicators([row.text(name) for row in rows], name, baseline)
        else:
            scaled = standard(values)
            columns[part] = {name: scaled if standardised else np.array(values)}
            kept &= np.abs(scaled) < (math.inf if within is None else within)
    predictors: Columns = {}
    for term in fixed:
        product, *factors = (columns[part] for part in term.split(":"))
        for factor in factors:
            product = {f"{a}:{b}": first * second for a, first in product.items() for b, second in factor.items()}
        predictors |= {name: values[kept] for name, values in product.items()}
    used = [row for row, keep in zip(rows, kept, strict=True) if keep]
    model = mixed_logistic(
        [row.verdict(outcome) for row in used],
        predictors,
        {name: [row.text(name) for row in used] for name in groups},
    )
    return model, gaps + len(rows) - model.rows


def complete_rows(path: Path, columns: Sequence[str]) -> tuple[list[TableRow], int]:
    """The rows of a file with a value in each of the columns, and how many others there are."""
    table = read_rows(path, columns)
    rows = [row for row in table if all(column in row for column in columns)]
    if not rows:
        raise TableError(f"{path} has no row with a value in each of {', '.join(dict.fromkeys(columns))}")
    return rows, len(table) - len(rows)


def effects_of(model: MixedModel) -> dict[str, dict[str, float]]:
    """By predictor what one unit of it does to the odds of the outcome, with the odds ratio's 95% interval.

    The p-value is two-sided, of no effect (Wald).
    """
    from scipy.special import ndtr

    def odds(log: float) -> float:
        return math.exp(log) if log < LARGEST_LOG else math.inf

    effects = {}
    for name, coefficient in model.coefficients.items():
        error = model.standard_errors[name]
        effects[name] = {
            "coefficient": coefficient,
            "standard_error": error,
            "odds_ratio": odds(coefficient),
            "low": odds(coefficient - CONFIDENCE_Z * error),
            "high": odds(coefficient + CONFIDENCE_Z * error),
            "p_value": 2 * float(ndtr(-abs(coefficient) / error)),
        }
    return effects


def standard(values: Iterable[float]) -> Values:
    """Numbers in standard deviations from their mean; all 0 where they do not differ."""
    column = np.array(list(values), dtype=float)
    spread = column.std(ddof=1) if len(column) > 1 else 0.0
    return np.asarray((column - column.mean()) / (spread or 1.0))


def _indicators(texts: Sequence[str], name: str, baseline: str) -> Columns:
    """An indicator for each category but the baseline."""
    categories = sorted(set(texts))
    if len(categories) > MOST_CATEGORIES:
        raise TableError(
            f"predictor {name!r} has {len(categories)} categories, expected numbers or at most {MOST_CATEGORIES}"
        )
    baseline = baseline or categories[0]
    if baseline not in categories:
        raise TableError(f"predictor {name!r} has no category {baseline!r}: it has {', '.join(categories)}")
    others = (category for category in categories if category != baseline)
    return {f"{name}[{other}]": np.array([text == other for text in texts], dtype=float) for other in others}


PREFERRED = "preferred"
FIRST, SECOND = "a", "b"
ALL = "all"
PER = 100  # words


def preferences(
    path: Path, measures: Sequence[str], groups: Sequence[str], *, standardised: bool = False
) -> tuple[dict[str, MixedModel], int]:
    """Which differences between texts predict which of the two people prefer, and how many rows lack a value.

    A model a measure and one of all of them, over the same rows: of one unit more in the first text than in the
    second, and as `intercept` of standing first.
    """
    if ALL in measures:
        raise TableError(f"a measure is named {ALL!r}, expected another name: it stands for the model of all of them")
    named = [PREFERRED, *(f"{measure}_{side}" for measure in measures for side in (FIRST, SECOND)), *groups]
    rows, gaps = complete_rows(path, named)
    outcome = [_prefers_first(row) for row in rows]
    columns = {name: [row.text(name) for row in rows] for name in groups}
    differences: Columns = {}
    for measure in measures:
        values = [_value(row, measure, FIRST) - _value(row, measure, SECOND) for row in rows]
        differences[measure] = standard(values) if standardised else np.array(values)
    predictors = {name: {name: values} for name, values in differences.items()}
    if len(differences) > 1:
        predictors[ALL] = differences
    return {name: mixed_logistic(outcome, fixed, columns) for name, fixed in predictors.items()}, gaps


def _prefers_first(row: TableRow) -> bool:
    side = row.text(PREFERRED).strip().lower()
    if side not in (FIRST, SECOND):
        raise TableError(
            f"{row.where}, column {PREFERRED!r} is {side[:60]!r}, expected {FIRST} or {SECOND}, or nothing for neither"
        )
    return side == FIRST


def _value(row: TableRow, measure: str, side: str) -> float:
    """Of one text: the number that stands there, or marks per 100 words."""
    column = f"{measure}_{side}"
    marks = row.cells[column]
    if not isinstance(marks, list):
        return row.number(column)
    words = word_count(str(row.cells.get(side) or ""))
    if not words:
        raise TableError(f"{row.where}, column {side!r} has no words, expected the text that {column!r} marks")
    return PER * len(marks) / words
