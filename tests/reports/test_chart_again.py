"""The pictures of `genie study`, as altair is told to draw them."""

from pathlib import Path
from typing import Any

import pytest
from tests.reports.made_logs import scored
from tests.reports.studies import (
    COSINE,
    FEATURES,
    Made,
    by_feature,
    is_edit,
    made,
    measure_of,
    one_number,
    sharp,
    study_log,
    together,
)

from genie_inspect.populations.interventions import PARAPHRASE
from genie_inspect.reports.charts import (
    HIGHER,
    LIGHT,
    LOWER,
    NONE,
    STRONGEST,
    bars,
    cells_of,
    study_chart,
    study_heatmap,
    svg,
)
from genie_inspect.reports.study import Study, study

LENGTH = "length in words"  # stands beside the measures of every study
pytest.importorskip("altair", reason="needs the extra `charts`")


def cosine(text: Made) -> dict[str, object]:
    return {"cosine": scored({"cosine_mean": 0.1 * text.number - (0.5 if is_edit(text, "plot") else 0)}, COSINE)}


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Study:
    measures = together(by_feature(sharp), cosine, one_number(lambda text: 0.5, "flat"))  # type: ignore[arg-type]
    return study(study_log(tmp_path_factory.mktemp("study"), made(8), measures))


def cells(result: Study) -> dict[tuple[str, str], dict[str, Any]]:
    return {(cell["row"], cell["column"]): cell for cell in cells_of(result)}


def data(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """What a chart draws."""
    source = spec.get("data") or spec["spec"]["data"]
    return list(spec["datasets"][source["name"]] if "name" in source else source["values"])


def test_a_cell_shows_d_and_what_holds_of_it(result: Study) -> None:
    shown = {place: cell["shown"] for place, cell in cells(result).items()}
    effect = next(effect for effect in measure_of(result, "genie").own if effect.key.name == "plot")
    assert shown["plot", "genie: plot"] == f"{effect.difference.effect:+.2f} *"
    assert shown["paraphrase", "genie: plot"].endswith(" =")
    assert shown["plot", "cosine mean"] == "no spread *"  # always 0.5 lower
    assert shown["paraphrase", "cosine mean"] == "· ="
    assert shown["agent", "flat"] == "·"


def test_colour_and_white_ink_are_for_what_holds_alone(result: Study) -> None:
    own, lower = cells(result)["plot", "genie: plot"], cells(result)["plot", "cosine mean"]
    assert own["held"] > STRONGEST
    assert lower["held"] == -STRONGEST
    assert own["dark"] is lower["dark"] is True
    for cell in cells_of(result):
        if not cell["shown"].endswith("*"):
            assert (cell["held"], cell["dark"]) == (0, False)


def test_the_edited_features_own_scores_are_framed(result: Study) -> None:
    framed = {(cell["row"], cell["column"]) for cell in cells_of(result) if cell["own"]}
    assert framed == {(feature, f"genie: {feature}") for feature in FEATURES}


def test_the_heatmap_has_interventions_down_and_scores_across_on_a_scale_with_0_in_the_middle(result: Study) -> None:
    spec: dict[str, Any] = study_heatmap(result).to_dict()
    squares, frames, numbers = spec["layer"]
    assert squares["encoding"]["y"]["sort"] == [*FEATURES, "paraphrase"]
    assert squares["encoding"]["x"]["sort"] == [*(f"genie: {name}" for name in FEATURES), "cosine mean", "flat", LENGTH]
    assert squares["encoding"]["color"]["scale"] == {
        "range": [LOWER, NONE, HIGHER],
        "domain": [-STRONGEST, 0, STRONGEST],
        "clamp": True,
    }
    assert frames["transform"] == [{"filter": "datum.own"}]
    assert numbers["encoding"]["color"]["condition"] == {"test": "datum.dark", "value": "white"}


def test_a_measure_has_a_panel_with_a_bar_for_each_intervention_and_a_line_at_paraphrases(result: Study) -> None:
    spec: dict[str, Any] = bars(result).to_dict()
    rows = data(spec)
    shares = measure_of(result, "genie").shares
    assert {row["row"]: row["share"] for row in rows if row["measure"] == "genie"} == {
        one.name: share for one, share in shares.items()
    }
    # what gives every text the same value has no panel
    assert spec["facet"]["sort"] == ["genie", "cosine mean"]
    drawn, line = spec["spec"]["layer"]
    assert drawn["encoding"]["color"]["scale"] == {"domain": ["edit", "paraphrase"], "range": list(LIGHT.series[:2])}
    assert line["transform"] == [{"filter": f"datum.kind == '{PARAPHRASE}'"}]
    assert (spec["columns"], bars(result, 2).to_dict()["columns"]) == (4, 2)


def test_the_picture_is_both_with_colours_of_their_own(result: Study, tmp_path: Path) -> None:
    spec: dict[str, Any] = study_chart(result).to_dict()
    assert len(spec["vconcat"]) == 2
    assert spec["resolve"] == {"scale": {"color": "independent"}}
    drawn = svg(study_chart(result))
    assert "How far edits and paraphrases move each measure" in drawn
    # the page's dark twin exchanges inks alone: the bars are drawn in those
    assert LIGHT.series[0] in drawn
    assert LIGHT.series[1] in drawn
