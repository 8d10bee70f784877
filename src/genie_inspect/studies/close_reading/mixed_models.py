"""A mixed logistic model of a user's table."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Effect:
    """What one unit of a predictor does to the odds of the outcome."""

    coefficient: float
    """Log-odds."""
    standard_error: float
    odds_ratio: float
    low: float
    """Of the odds ratio's 95% interval."""
    high: float
    p_value: float
    """Two-sided, of no effect (Wald)."""


@dataclass(frozen=True, slots=True)
class FittedTable:
    outcome: str
    rows: int
    left_out: int
    """Rows with an empty cell in a column of the model, or too far from the mean."""
    groups: dict[str, int]
    effects: dict[str, Effect]
    variances: dict[str, float]
    """Of the random intercepts, by grouping."""
    log_likelihood: float
    aic: float


def fitted_table(
    path: Path,
    outcome: str,
    fixed: Sequence[str],
    groups: Sequence[str],
    *,
    standardised: bool = False,
    within: float | None = None,
) -> FittedTable:
    parts = list(dict.fromkeys(part for term in fixed for part in term.split(":")))
    named = [outcome, *(part.partition("=")[0] for part in parts), *groups]
    rows, gaps = complete_rows(path, named)
    columns = {part: _columns(rows, part, standardised=standardised) for part in parts}
    kept = _within(rows, parts, within)
    predictors = {
        name: values[kept] for term in fixed for name, values in _product([columns[p] for p in term.split(":")]).items()
    }
    used = [row for row, keep in zip(rows, kept, strict=True) if keep]
    model = mixed_logistic(
        [row.verdict(outcome) for row in used],
        predictors,
        {name: [row.text(name) for row in used] for name in groups},
    )
    return FittedTable(
        outcome, model.rows, gaps + len(rows) - model.rows, model.groups, effects_of(model), model.variances,
        model.log_likelihood, model.aic,
    )  # fmt: skip


def complete_rows(path: Path, columns: Sequence[str]) -> tuple[list[TableRow], int]:
    """The rows of a file with a value in each of the columns, and how many others there are."""
    table = read_rows(path, columns)
    rows = [row for row in table if all(column in row for column in columns)]
    if not rows:
        raise TableError(f"{path} has no row with a value in each of {', '.join(dict.fromkeys(columns))}")
    return rows, len(table) - len(rows)


def effects_of(model: MixedModel) -> dict[str, Effect]:
    from scipy.special import ndtr

    return {
        name: Effect(
            coefficient,
            error := model.standard_errors[name],
            _odds(coefficient),
            _odds(coefficient - CONFIDENCE_Z * error),
            _odds(coefficient + CONFIDENCE_Z * error),
            2 * float(ndtr(-abs(coefficient) / error)),
        )
        for name, coefficient in model.coefficients.items()
    }


def standard(values: Iterable[float]) -> Values:
    """Numbers in standard deviations from their mean; all 0 where they do not differ."""
    column = np.array(list(values), dtype=float)
    spread = column.std(ddof=1) if len(column) > 1 else 0.0
    scaled: Values = (column - column.mean()) / (spread or 1.0)
    return scaled


def _columns(rows: Sequence[TableRow], part: str, *, standardised: bool) -> Columns:
    """The columns of one predictor: its numbers, or an indicator for each category but the baseline."""
    name, is_category, baseline = part.partition("=")
    values = None if is_category else numbers(rows, name)
    if values is not None:
        return {name: standard(values) if standardised else np.array(values)}
    texts = [row.text(name) for row in rows]
    categories = sorted(set(texts))
    if len(categories) > MOST_CATEGORIES:
        raise TableError(
            f"predictor {name!r} has {len(categories)} categories, expected numbers or at most {MOST_CATEGORIES}"
        )
    baseline = baseline or categories[0]
    if baseline not in categories:
        raise TableError(f"predictor {name!r} has no category {baseline!r}: it has {', '.join(categories)}")
    return {
        f"{name}[{category}]": np.array([text == category for text in texts], dtype=float)
        for category in categories
        if category != baseline
    }


def _within(rows: Sequence[TableRow], parts: Sequence[str], within: float | None) -> NDArray[np.bool_]:
    kept = np.ones(len(rows), dtype=bool)
    for part in parts if within is not None else ():
        values = None if "=" in part else numbers(rows, part)
        if values is not None:
            kept &= np.abs(standard(values)) < within
    return kept


def _product(factors: Sequence[Columns]) -> Columns:
    product: Columns = factors[0]
    for factor in factors[1:]:
        product = {f"{a}:{b}": first * second for a, first in product.items() for b, second in factor.items()}
    return product


def _odds(log: float) -> float:
    return math.exp(log) if log < LARGEST_LOG else math.inf


PREFERRED = "preferred"
FIRST, SECOND = "a", "b"
ALL = "all"
PER = 100  # words


@dataclass(frozen=True, slots=True)
class PreferenceModel:
    effects: dict[str, Effect]
    """By measure, of one unit more in the first text than in the second; `intercept`: of standing first."""
    variances: dict[str, float]
    log_likelihood: float
    aic: float
    """Smaller = better; comparable between the models of one table, which are of the same rows."""


@dataclass(frozen=True, slots=True)
class Preferences:
    rows: int
    left_out: int
    """Rows without a preference, or with an empty cell in a column of the models."""
    groups: dict[str, int]
    models: dict[str, PreferenceModel]
    """By measure; `all` is the model of all of them."""


def preferences(
    path: Path, measures: Sequence[str], groups: Sequence[str], *, standardised: bool = False
) -> Preferences:
    """Which differences between texts predict which of the two people prefer."""
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
    models = {}
    for name, fixed in predictors.items():
        model = mixed_logistic(outcome, fixed, columns)
        models[name] = PreferenceModel(effects_of(model), model.variances, model.log_likelihood, model.aic)
    sizes = {name: len(set(column)) for name, column in columns.items()}
    return Preferences(len(rows), gaps, sizes, models)


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
