"""Mixed logistic models of a user's table: `genie close-reading fit` and `genie close-reading preference`."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from genie_inspect.agreement.votes import TableRow, VotesError, numbers, read_rows
from genie_inspect.cli.options import FILE, Answer, answering, flag, listed, option
from genie_inspect.files.tables import Table
from genie_inspect.measures.tokens import word_count
from genie_inspect.statistics.mixed import MixedModel, mixed_logistic

Values = NDArray[np.float64]
Columns = dict[str, Values]

Z_95 = 1.959963984540054  # two-sided 95%
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
    grouped = {name: [row.text(name) for row in used] for name in groups}
    model = mixed_logistic([row.verdict(outcome) for row in used], predictors, grouped)
    return model, gaps + len(rows) - model.rows


def complete_rows(path: Path, columns: Sequence[str]) -> tuple[list[TableRow], int]:
    """The rows of a file with a value in each of the columns, and how many others there are."""
    table = read_rows(path, columns)
    rows = [row for row in table if all(column in row for column in columns)]
    if not rows:
        raise VotesError(f"{path} has no row with a value in each of {', '.join(dict.fromkeys(columns))}")
    return rows, len(table) - len(rows)


def effects_of(model: MixedModel) -> dict[str, dict[str, float]]:
    """By predictor what one unit of it does to the odds of the outcome, with the odds ratio's 95% interval.

    The p-value is two-sided, of no effect (Wald).
    """
    from scipy.special import ndtr

    effects = {}
    for name, coefficient in model.coefficients.items():
        error = model.standard_errors[name]
        logs = {"odds_ratio": coefficient, "low": coefficient - Z_95 * error, "high": coefficient + Z_95 * error}
        effects[name] = {
            "coefficient": coefficient,
            "standard_error": error,
            **{of: math.exp(log) if log < LARGEST_LOG else math.inf for of, log in logs.items()},
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
        raise VotesError(
            f"predictor {name!r} has {len(categories)} categories, expected numbers or at most {MOST_CATEGORIES}"
        )
    baseline = baseline or categories[0]
    if baseline not in categories:
        raise VotesError(f"predictor {name!r} has no category {baseline!r}: it has {', '.join(categories)}")
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
        raise VotesError(f"a measure is named {ALL!r}, expected another name: it is that of the model of all metrics")
    named = [PREFERRED, *(f"{measure}_{side}" for measure in measures for side in (FIRST, SECOND)), *groups]
    rows, gaps = complete_rows(path, named)
    sides = [row.text(PREFERRED).strip().lower() for row in rows]
    for row, side in zip(rows, sides, strict=True):
        if side not in (FIRST, SECOND):
            raise VotesError(
                f"{row.where}, column {PREFERRED!r} is {side[:60]!r}, expected {FIRST} or {SECOND}, or nothing for "
                "neither"
            )
    columns = {name: [row.text(name) for row in rows] for name in groups}
    differences: Columns = {}
    for measure in measures:
        values = [_value(row, measure, FIRST) - _value(row, measure, SECOND) for row in rows]
        differences[measure] = standard(values) if standardised else np.array(values)
    predictors = {name: {name: values} for name, values in differences.items()}
    predictors |= {ALL: differences} if len(differences) > 1 else {}
    outcome = [side == FIRST for side in sides]
    return {name: mixed_logistic(outcome, fixed, columns) for name, fixed in predictors.items()}, gaps


def _value(row: TableRow, measure: str, side: str) -> float:
    """Of one text: the number that stands there, or marks per 100 words."""
    column = f"{measure}_{side}"
    marks = row.cells[column]
    if not isinstance(marks, list):
        return row.number(column)
    words = word_count(str(row.cells.get(side) or ""))
    if not words:
        raise VotesError(f"{row.where}, column {side!r} has no words, expected the text that {column!r} marks")
    return PER * len(marks) / words


def model_table(title: str, model: MixedModel, rows: str = "") -> Table:
    effects = [
        (
            name,
            f"{effect['coefficient']:.3f}",
            f"{effect['standard_error']:.3f}",
            f"{effect['odds_ratio']:.3g}",
            f"[{effect['low']:.3g}, {effect['high']:.3g}]",
            "< .001" if effect["p_value"] < 0.001 else f"{effect['p_value']:.3f}",
        )
        for name, effect in effects_of(model).items()
    ]
    variances = [f"{name} {variance:.3f} ({model.groups[name]} groups)" for name, variance in model.variances.items()]
    caption = (
        f"{rows}Log-likelihood {model.log_likelihood:.2f}, AIC {model.aic:.2f}.\n"
        f"Variances of random intercepts: {', '.join(variances)}."
    )
    heads = ("", "coefficient", "error", "odds ratio", "95% interval", "p")
    return Table(title, heads, effects, caption=caption, look="folded")


def model_facts(model: MixedModel) -> dict[str, Any]:
    fit = {"log_likelihood": model.log_likelihood, "aic": model.aic}
    return {"effects": effects_of(model), "variances": model.variances, **fit}


MODEL_GROUPS = option(
    "--group", "groups", required=True, metavar="COLUMN,...", callback=listed, help="Columns with random intercepts."
)


@click.command()
@click.argument("table", type=FILE)
@option("--outcome", required=True, metavar="COLUMN", help="Column to predict: 1 and 0, or true and false.")
@option("--fixed", required=True, metavar="COLUMN,...", callback=listed, help="Predictors; a:b is a product.")
@MODEL_GROUPS
@flag("--standardise", "standardised", help="Use numbers in standard deviations.")
@option("--within", type=click.FloatRange(0, min_open=True), help="Leave out rows beyond so many sd. Default: none.")
@answering("a table")
def fit(
    table: Path, outcome: str, fixed: tuple[str, ...], groups: tuple[str, ...], standardised: bool, within: float | None
) -> Answer:
    """Fit a mixed logistic model of verdicts.

    TABLE is a CSV or JSON Lines file. A predictor is a column of numbers, or of categories as name=baseline. Groupings
    have random intercepts and may be crossed. Rows with an empty cell are left out and counted.

    \b
    Example: genie close-reading fit ratings.csv --outcome creative --fixed log_ppl --group annotator,passage
    """
    model, left_out = fitted_table(table, outcome, fixed, groups, standardised=standardised, within=within)
    rows = f"{model.rows} rows{f', {left_out} left out' if left_out else ''}. "
    counts = {"outcome": outcome, "rows": model.rows, "left_out": left_out, "groups": model.groups}
    return Answer(counts | model_facts(model), [model_table(f"Log-odds of {outcome}", model, rows)])


@click.command()
@click.argument("pairs", type=FILE)
@option(
    "--measure",
    "measures",
    default="novel_per_100_words,awkward_per_100_words,creativity_index_mean",
    metavar="NAME,...",
    callback=listed,
    help="Metrics to compare.",
)
@MODEL_GROUPS
@flag("--standardise", "standardised", help="Use differences in standard deviations.")
@answering("tables")
def preference(pairs: Path, measures: tuple[str, ...], groups: tuple[str, ...], standardised: bool) -> Answer:
    """Test what predicts people's preference of two texts.

    PAIRS is a CSV or JSON Lines file with one row per judgement: preferred (a or b), and for each metric NAME the
    columns NAME_a and NAME_b: numbers, or in JSON Lines marks, counted per 100 words of the texts in a and b. Each
    metric has a model, and all together have one, over the same rows, so that their AIC compare.

    \b
    Example: genie close-reading preference pairs.jsonl --measure novel,creativity_index_mean --group reader,prompt
    """
    models, left_out = preferences(pairs, measures, groups, standardised=standardised)
    best = min(models, key=lambda name: models[name].aic)
    rows = models[best].rows
    tables = [model_table("All measures together" if name == ALL else name, model) for name, model in models.items()]
    counted = f"{rows} judgements{f', {left_out} left out' if left_out else ''}. Lowest AIC: {best}."
    facts = {name: model_facts(model) for name, model in models.items()}
    value = {"rows": rows, "left_out": left_out, "groups": models[best].groups, "models": facts}
    return Answer(value, [*tables, counted])
