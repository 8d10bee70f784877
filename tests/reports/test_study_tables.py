"""A study for scripts and spreadsheets."""

import csv
import json
import math
from io import StringIO

import pytest
from tests.reports.made_logs import scored
from tests.reports.studies import (
    COSINE,
    FEATURES,
    Made,
    by_feature,
    found,
    made,
    measure_of,
    sharp,
    study_log,
    together,
)

from genie_inspect.reports.study import Study, study
from genie_inspect.reports.study_verdict import (
    COLUMNS,
    EFFECTS,
    MATRIX,
    Published,
    as_csv,
    as_values,
    sentence,
    warnings,
)
from genie_inspect.reports.study_verdict import FEATURES as PUBLISHED_FEATURES

TABLE = [{"id": "q", "feature": "plot", "question": "What?", "answer": "x"}]


def cosine(text: Made) -> dict[str, object]:
    value = math.nan if text.number == 1 else 0.1 * text.number
    return {"cosine": scored({"cosine_mean": value, "cosine_nearest": 0.1}, COSINE)}


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Study:
    scores = together(by_feature(sharp, questions=TABLE), cosine)  # type: ignore[arg-type]  # scores
    return study(study_log(tmp_path_factory.mktemp("study"), made(8), scores))


def test_json_says_of_each_measure_what_its_sentence_says(result: Study) -> None:
    values = json.loads(json.dumps(as_values(result), allow_nan=False))
    genie, other, length = values["measures"]
    assert genie["sentence"] == sentence(measure_of(result, "genie"))
    assert genie["sensitive_to"] == genie["edited_feature_moves_most"] == list(FEATURES)
    assert (genie["under_paraphrase"], genie["confounds"], genie["is_by_feature"]) == ("equivalent", [], True)
    assert set(genie["shares"]) == {*FEATURES, "paraphrase"}
    assert (other["measure"], other["keys"], other["sensitive_to"]) == ("cosine_mean", ["cosine_mean"], [])
    assert (length["measure"], length["scorer"], length["keys"]) == ("length in words", "", ["words"])
    assert values["originals"] == 8
    assert values["test"] == "sign-flip permutation test"
    assert values["interventions"][-1] == {
        "kind": "paraphrase",
        "intervention": "paraphrase",
        "texts": 16,
        "without_original": 0,
        "same_as_original": 0,
    }
    assert values["warnings"] == warnings(result) != []
    assert {one["intervention"] for one in values["agreements"] if one["first"] == "genie"} == set(FEATURES)
    assert {(one["intervention"], one["changed"], one["compared"]) for one in values["answers"]} == {
        *((feature, 0, 8) for feature in FEATURES),
        ("paraphrase", 0, 16),
    }


def test_every_intervention_and_key_is_a_row_and_no_figure_is_another_than_the_effects(result: Study) -> None:
    rows = {(row["key"], row["intervention"]): row for row in as_values(result)["effects"]}
    assert len(rows) == 4 * 6
    row, effect = rows["plot", "plot"], found(result, "genie", "plot", "plot")
    assert row["delta"] == effect.difference.delta
    assert (row["feature"], row["is_own"], row["tested"], row["tests"]) == ("plot", True, True, 3)
    assert row["p_value_corrected"] == effect.p_value > row["p_value"] == effect.difference.p_value
    assert row["bootstrap_p_corrected"] == effect.bootstrap_p
    assert rows["plot", "agent"]["is_own"] is False
    told = rows["cosine_mean", "paraphrase"]
    assert (told["prompts"], told["originals"], told["texts"], told["left_out"]) == (7, 7, 14, 2)
    assert told["is_constant"]
    assert (told["effect"], told["p_value"], told["feature"]) == (None, None, None)
    assert rows["cosine_nearest", "plot"]["tested"] is False


def test_the_printed_figures_are_there_where_they_are_asked_for(result: Study) -> None:
    assert "published" not in as_values(result)
    printed = as_values(result, published=True)["published"]
    assert printed["effects"]["genie"]["setting"] == {"effect": 0.93, "holds": True}
    assert printed["matrix"]["agent"]["plot"] == 0.39


def test_csv_has_the_rows_of_json_with_nothing_for_what_is_no_number(result: Study) -> None:
    rows = list(csv.DictReader(StringIO(as_csv(result))))
    expected = as_values(result)["effects"]
    assert tuple(rows[0]) == COLUMNS == tuple(expected[0])
    assert [[row[name] for name in COLUMNS] for row in rows] == [
        ["" if row[name] is None else str(row[name]) for name in COLUMNS] for row in expected
    ]


def test_each_number_of_a_difference_stands_in_its_own_column(result: Study) -> None:
    rows = {(row["key"], row["intervention"]): row for row in as_values(result)["effects"]}
    effect = found(result, "genie", "plot", "plot")
    row = rows["plot", "plot"]
    names = ("before", "after", "delta", "low", "high", "spread", "effect", "p_value", "margin", "p_unlike")
    assert [row[name] for name in names] == pytest.approx([getattr(effect.difference, name) for name in names])
    assert row["low"] < row["delta"] < row["high"]


def test_a_column_has_a_figure_for_each_feature_and_the_paraphrase_with_its_mark() -> None:
    assert EFFECTS["genie"]["perspective"] == Published(1.01, holds=True)
    assert EFFECTS["genie"]["paraphrase"] == Published(0.03, holds=True)
    assert EFFECTS["compression_novelty"]["perspective"] == Published(-0.19, holds=True)
    assert EFFECTS["partition_novel"]["style"] == Published(0.07, holds=False)
    assert EFFECTS["litbench_win_rate"]["paraphrase"] == Published(-0.94, holds=False)
    assert {tuple(column) for column in EFFECTS.values()} == {(*PUBLISHED_FEATURES, "paraphrase")}


def test_the_matrix_has_the_column_of_genie_on_its_diagonal_and_its_paraphrase_as_the_mean_of_a_row() -> None:
    assert [MATRIX[name][name] for name in PUBLISHED_FEATURES] == [
        EFFECTS["genie"][name].effect for name in PUBLISHED_FEATURES
    ]
    told = MATRIX["paraphrase"].values()
    assert round(sum(told) / len(told), 2) == EFFECTS["genie"]["paraphrase"].effect
    assert MATRIX["plot"] == dict(zip(PUBLISHED_FEATURES, (0.55, 0.04, 0.71, 0.35, 0.21, 0.23), strict=True))
