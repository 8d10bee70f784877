"""`genie close-reading fit` and `preference`: tables for people, JSON for scripts, one line for what cannot be."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.studies.close_reading import test_mixed_models as test_fitting
from tests.studies.close_reading import test_mixed_models as test_preferences
from tests.studies.close_reading.test_mixed_models import written

from genie_inspect.studies.close_reading.commands import fit, preference
from genie_inspect.studies.close_reading.mixed_models import fitted_table


@pytest.fixture
def ratings(tmp_path: Path) -> str:
    return str(written(tmp_path / "ratings.csv", test_fitting.MADE))


@pytest.fixture
def pairs(tmp_path: Path) -> str:
    return str(written(tmp_path / "pairs.jsonl", test_preferences.PREFERENCES_MADE))


def test_fit_shows_coefficients_odds_variances_and_how_well_it_fits(ratings: str) -> None:
    options = ["--outcome", "creative", "--fixed", "log_ppl, source=human", "--group", "reader"]
    shown = CliRunner().invoke(fit, [ratings, *options])
    assert shown.exit_code == 0, shown.output
    model = fitted_table(Path(ratings), "creative", ["log_ppl", "source=human"], ["reader"])
    effect = model.effects["log_ppl"]
    row = next(line for line in shown.output.splitlines() if "log_ppl" in line)
    assert f"{effect.coefficient:.3f}" in row
    assert f"{effect.odds_ratio:.3g}" in row
    assert f"[{effect.low:.3g}, {effect.high:.3g}]" in row
    assert "< .001" in row
    assert "source[olmo]" in shown.output
    assert f"400 rows. Log-likelihood {model.log_likelihood:.2f}, AIC {model.aic:.2f}." in shown.output
    assert f"reader {model.variances['reader']:.3f} (12 groups)" in shown.output


def test_fit_prints_json_for_a_script(ratings: str) -> None:
    options = ["--outcome", "creative", "--fixed", "log_ppl", "--group", "reader", "--json"]
    found = json.loads(CliRunner().invoke(fit, [ratings, *options]).output)
    assert found["rows"] == 400
    assert set(found) == {
        "outcome", "rows", "left_out", "groups", "effects", "variances", "log_likelihood", "aic"
    }  # fmt: skip
    assert set(found["effects"]["log_ppl"]) == {
        "coefficient", "standard_error", "odds_ratio", "low", "high", "p_value"
    }  # fmt: skip


def test_preference_shows_a_model_a_measure_and_names_the_lowest_aic(pairs: str) -> None:
    options = ["--measure", "novel,index", "--group", "reader"]
    shown = CliRunner().invoke(preference, [pairs, *options])
    assert shown.exit_code == 0, shown.output
    assert "All measures together" in shown.output
    assert "400 judgements. Lowest AIC: novel." in shown.output
    found = json.loads(CliRunner().invoke(preference, [pairs, *options, "--json"]).output)
    assert list(found["models"]) == ["novel", "index", "all"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fixed", "length", "--group", "reader"], "has no column 'length'"),
        (["--fixed", "log_ppl", "--group", "creative"], "told apart|variance of grouping 'creative' grows"),
        (["--fixed", ",", "--group", "reader"], "',' holds no name, expected names with commas between them"),
        (["--fixed", "log_ppl", "--group", "reader", "--within", "0.0001"], "rows are too few|outcome is"),
    ],
)
def test_what_cannot_be_fitted_is_one_line(ratings: str, arguments: list[str], message: str) -> None:
    failed = CliRunner().invoke(fit, [ratings, "--outcome", "creative", *arguments])
    assert failed.exit_code != 0
    assert isinstance(failed.exception, SystemExit)
    assert re.search(message, failed.output)
