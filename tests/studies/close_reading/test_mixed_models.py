"""Models of tables: the rows of files, predictors of every kind, and what cannot be read."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from tests.cli.called import lines_of

from genie_inspect.agreement.votes import VotesError
from genie_inspect.cli import main
from genie_inspect.files.tables import csv_text
from genie_inspect.statistics.mixed import MixedModel, mixed_logistic
from genie_inspect.studies.close_reading.mixed_models import (
    fit,
    fitted_table,
    model_table,
    preference,
    preferences,
    standard,
)

Rows = Sequence[Mapping[str, Any]]
DRAW = np.random.default_rng(3)
SIZE = 400
X, SOURCE, READER = DRAW.normal(size=SIZE), DRAW.integers(0, 3, SIZE), DRAW.integers(0, 12, SIZE)
WRITERS = ("human", "olmo", "claude")
LOG_ODDS = -0.5 + 0.8 * X + np.array([0, 0.7, -0.7])[SOURCE] + DRAW.normal(size=12)[READER]
CREATIVE = (DRAW.random(SIZE) < 1 / (1 + np.exp(-LOG_ODDS))).astype(int)
MADE: Rows = [
    {"creative": int(one), "log_ppl": float(x), "source": WRITERS[source], "reader": f"r{reader}"}
    for one, x, source, reader in zip(CREATIVE, X, SOURCE, READER, strict=True)
]


def written(path: Path, rows: Rows) -> Path:
    if path.suffix == ".jsonl":
        return lines_of(path, rows)
    path.write_text(csv_text(list(rows[0]), (list(row.values()) for row in rows)), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["rows.csv", "rows.jsonl"])
def test_fit_shows_the_model_of_the_columns_of_a_table_of_either_kind(tmp_path: Path, name: str) -> None:
    arguments = [
        str(written(tmp_path / name, MADE)),
        "--outcome",
        "creative",
        "--fixed",
        "log_ppl",
        "--group",
        "reader",
    ]
    model = mixed_logistic(CREATIVE, {"log_ppl": X}, {"reader": READER.tolist()})
    found = json.loads(CliRunner().invoke(fit, [*arguments, "--json"]).output)
    assert list(found) == [
        "outcome", "rows", "left_out", "groups", "effects", "variances", "log_likelihood", "aic"
    ]  # fmt: skip
    assert (found["outcome"], found["rows"], found["groups"]) == ("creative", SIZE, {"reader": 12})
    assert (found["log_likelihood"], found["aic"]) == pytest.approx((model.log_likelihood, model.aic))
    effect = found["effects"]["log_ppl"]
    assert effect["coefficient"] == pytest.approx(model.coefficients["log_ppl"])
    assert effect["odds_ratio"] == pytest.approx(math.exp(effect["coefficient"]))
    ends = [math.exp(effect["coefficient"] + sign * 1.96 * effect["standard_error"]) for sign in (-1, 1)]
    assert [effect["low"], effect["high"]] == pytest.approx(ends, rel=1e-4)
    assert effect["p_value"] < 1e-6
    shown = CliRunner().invoke(fit, arguments).output
    row = next(line for line in shown.splitlines() if "log_ppl" in line)
    for cell in (f"{effect['coefficient']:.3f}", f"{effect['odds_ratio']:.3g}", "< .001"):
        assert cell in row
    assert f"[{effect['low']:.3g}, {effect['high']:.3g}]" in row
    assert f"400 rows. Log-likelihood {model.log_likelihood:.2f}, AIC {model.aic:.2f}." in shown
    assert f"reader {model.variances['reader']:.3f} (12 groups)" in shown


def test_categories_are_compared_with_the_baseline_and_products_multiply(tmp_path: Path) -> None:
    table = written(tmp_path / "rows.jsonl", MADE)
    fitted, _ = fitted_table(table, "creative", ["log_ppl", "source=human", "log_ppl:source=human"], ["reader"])
    assert list(fitted.coefficients) == [
        "intercept", "log_ppl", "source[claude]", "source[olmo]", "log_ppl:source[claude]", "log_ppl:source[olmo]"
    ]  # fmt: skip
    is_olmo, is_claude = (np.array(number == SOURCE, dtype=float) for number in (1, 2))
    fixed = {"x": X, "c": is_claude, "o": is_olmo, "xc": X * is_claude, "xo": X * is_olmo}
    model = mixed_logistic(CREATIVE, fixed, {"reader": READER.tolist()})
    assert list(fitted.coefficients.values()) == pytest.approx(list(model.coefficients.values()))
    # without a name for it the first in alphabetical order
    assert "source[human]" in fitted_table(table, "creative", ["source"], ["reader"])[0].coefficients


def test_rows_with_an_empty_cell_and_those_too_far_from_the_mean_are_left_out_and_counted(tmp_path: Path) -> None:
    gaps: dict[int, Any] = dict(enumerate((None, "", " ", math.nan))) | {5: 40.0}
    rows = [{**row, "log_ppl": gaps.get(place, row["log_ppl"])} for place, row in enumerate(MADE)]
    table = written(tmp_path / "rows.jsonl", rows)
    fitted, left_out = fitted_table(table, "creative", ["log_ppl"], ["reader"], standardised=True, within=4)
    z = standard([row["log_ppl"] for row in rows[4:]])
    kept = np.abs(z) < 4
    readers = [reader for reader, keep in zip(READER[4:].tolist(), kept, strict=True) if keep]
    model = mixed_logistic(CREATIVE[4:][kept], {"log_ppl": z[kept]}, {"reader": readers})
    assert (fitted.rows, left_out) == (SIZE - 5, 5)
    assert fitted.coefficients["log_ppl"] == pytest.approx(model.coefficients["log_ppl"])


@pytest.mark.parametrize(
    ("changed", "arguments", "message"),
    [
        ({"creative": "perhaps"}, {}, "line 3, column 'creative' is 'perhaps', expected 1 or 0, true or false"),
        ({"log_ppl": "high"}, {}, "line 3, column 'log_ppl' is 'high', expected a number"),
        ({"log_ppl": [1]}, {}, "line 3, column 'log_ppl' is"),
        ({}, {"groups": ["annotator"]}, "has no column 'annotator': it has creative, log_ppl, source, reader"),
        ({}, {"fixed": ["source=gpt"]}, "predictor 'source' has no category 'gpt': it has claude, human, olmo"),
        ({}, {"fixed": ["log_ppl=1"]}, "predictor 'log_ppl' has 400 categories, expected numbers or at most 50"),
    ],
)
def test_a_table_that_does_not_fit_is_named_with_row_and_column(
    tmp_path: Path, changed: dict[str, object], arguments: dict[str, Any], message: str
) -> None:
    rows = [{**row, **changed} if place == 2 else row for place, row in enumerate(MADE)]
    options = {"fixed": ["log_ppl"], "groups": ["reader"]} | arguments
    with pytest.raises(VotesError, match=message):
        fitted_table(written(tmp_path / "rows.jsonl", rows), "creative", **options)
    with pytest.raises(VotesError, match="no row with a value in each of creative, log_ppl, reader"):
        fitted_table(written(tmp_path / "gaps.jsonl", [{**MADE[0], "reader": ""}]), "creative", ["log_ppl"], ["reader"])


DRAWN = np.random.default_rng(5)
NOVEL = DRAWN.integers(0, 9, (SIZE, 2)).astype(float)
INDEX = DRAWN.random((SIZE, 2))
JUDGED_BY = DRAWN.integers(0, 15, SIZE)
PREFERENCES_LOG_ODDS = 0.3 * (NOVEL[:, 0] - NOVEL[:, 1]) + 0.6 * DRAWN.normal(size=15)[JUDGED_BY]
FIRST = DRAWN.random(SIZE) < 1 / (1 + np.exp(-PREFERENCES_LOG_ODDS))
PAIRS: list[dict[str, Any]] = [
    {
        "preferred": "a" if first else "B",
        "novel_a": novel[0],
        "novel_b": novel[1],
        "index_a": index[0],
        "index_b": index[1],
        "reader": f"r{reader}",
    }
    for first, novel, index, reader in zip(FIRST, NOVEL.tolist(), INDEX.tolist(), JUDGED_BY, strict=True)
]


def test_preference_shows_a_model_a_measure_and_one_of_all_over_the_same_rows_and_the_lowest_aic(
    tmp_path: Path,
) -> None:
    pairs = str(written(tmp_path / "pairs.jsonl", [*PAIRS, {**PAIRS[0], "preferred": None}]))
    arguments = [pairs, "--measure", "novel,index", "--group", "reader"]
    shown = CliRunner().invoke(preference, arguments)
    assert shown.exit_code == 0, shown.output
    assert "All measures together" in shown.output
    assert "400 judgements, 1 left out. Lowest AIC: novel." in shown.output
    found = json.loads(CliRunner().invoke(preference, [*arguments, "--json"]).output)
    assert (found["rows"], found["left_out"], found["groups"]) == (SIZE, 1, {"reader": 15})
    models = found["models"]
    assert list(models) == ["novel", "index", "all"]
    assert list(models["all"]) == ["effects", "variances", "log_likelihood", "aic"]
    novel, index = NOVEL[:, 0] - NOVEL[:, 1], INDEX[:, 0] - INDEX[:, 1]
    for name, fixed in {"novel": {"novel": novel}, "all": {"novel": novel, "index": index}}.items():
        model = mixed_logistic(FIRST, fixed, {"reader": JUDGED_BY.tolist()})
        coefficients = {part: effect["coefficient"] for part, effect in models[name]["effects"].items()}
        assert coefficients == pytest.approx(model.coefficients)
        assert models[name]["aic"] == pytest.approx(model.aic)
    # the novel marks made the preferences, and nothing else
    assert models["novel"]["effects"]["novel"]["p_value"] < 0.001
    assert models["index"]["effects"]["index"]["p_value"] > 0.01


def test_lists_of_marks_count_per_100_words_of_their_text(tmp_path: Path) -> None:
    texts = {"a": "word " * 50, "b": "word " * 100}
    marked = [{**row, **texts, **{side: ["m"] * int(row[side]) for side in ("novel_a", "novel_b")}} for row in PAIRS]
    counted = [{**row, "novel_a": 2 * row["novel_a"]} for row in PAIRS]
    found, expected = (
        preferences(written(tmp_path / f"{len(rows[0])}.jsonl", rows), ["novel"], ["reader"])
        for rows in (marked, counted)
    )
    assert found == expected
    assert list(found[0]) == ["novel"]


def test_in_standard_deviations_the_coefficient_is_as_many_times_greater(tmp_path: Path) -> None:
    # without a preference a row is left out
    table = written(tmp_path / "pairs.csv", [{**row, "preferred": ""} for row in PAIRS[:9]] + PAIRS)
    (plain, left_out), (standardised, _) = (
        preferences(table, ["novel"], ["reader"], standardised=each) for each in (False, True)
    )
    spread = float((NOVEL[:, 0] - NOVEL[:, 1]).std(ddof=1))
    effects = [found["novel"].coefficients["novel"] for found in (plain, standardised)]
    assert effects[1] == pytest.approx(spread * effects[0], rel=1e-4)
    assert math.isclose(plain["novel"].aic, standardised["novel"].aic, rel_tol=1e-9)
    assert (plain["novel"].rows, left_out) == (SIZE, 9)


@pytest.mark.parametrize(
    ("changed", "measures", "message"),
    [
        ({"preferred": "first"}, ["novel"], "line 3, column 'preferred' is 'first', expected a or b, or nothing"),
        ({"novel_a": ["m"]}, ["novel"], "line 3, column 'a' has no words, expected the text that 'novel_a' marks"),
        ({"novel_a": "1e308"}, ["novel"], "line 3, column 'novel_a' is '1e308', expected a number of at most"),
        ({"novel_a": 10**400}, ["novel"], "line 3, column 'novel_a' is 1000"),
        ({}, ["awkward"], "has no column 'awkward_a'"),
        ({}, ["all"], "a measure is named 'all'"),
    ],
)
def test_pairs_that_cannot_be_compared_are_named(
    tmp_path: Path, changed: dict[str, object], measures: list[str], message: str
) -> None:
    rows = [{**row, **changed} if place == 2 else row for place, row in enumerate(PAIRS)]
    with pytest.raises(VotesError, match=message):
        preferences(written(tmp_path / "pairs.jsonl", rows), measures, ["reader"])


def test_a_p_value_has_three_decimals_or_is_below_the_least_of_them() -> None:
    # two-sided: .0004, .0042 and .0421
    model = MixedModel({"a": 3.54, "b": -2.863, "c": 2.0325}, dict.fromkeys("abc", 1.0), {}, 0, 9, {})
    table = model_table("", model)
    assert [dict(zip(table.columns, row or (), strict=True))["p"] for row in table.rows] == ["< .001", "0.004", "0.042"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fixed", "log_ppl", "--group", "creative"], "told apart|variance of grouping 'creative' grows"),
        (["--fixed", ",", "--group", "reader"], "',' has no name, expected names with commas between them"),
        (["--fixed", "log_ppl", "--group", "reader", "--within", "0.0001"], "rows are too few|outcome is"),
    ],
)
def test_what_cannot_be_fitted_is_one_line(tmp_path: Path, arguments: list[str], message: str) -> None:
    ratings = str(written(tmp_path / "ratings.csv", MADE))
    failed = CliRunner().invoke(main, ["close-reading", "fit", ratings, "--outcome", "creative", *arguments])
    assert failed.exit_code != 0
    assert isinstance(failed.exception, SystemExit)
    assert re.search(message, failed.output)
