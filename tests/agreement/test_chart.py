"""The picture of `genie agreement`, as altair is told to draw it."""

import math
from typing import Any

import pytest
from tests.looks import marks, rows, told_by

from genie_inspect.agreement.figures import Agreement, JudgeAgreement, Ranking, agreement_chart
from genie_inspect.statistics.bootstrap import BootstrapInterval

pytest.importorskip("altair", reason="needs the extra `charts`")
NAN = math.nan
NAMES = {"spearman": "rho", "pairwise_accuracy": "accuracy"}


def drawn() -> list[dict[str, Any]]:
    """The panels of a judge with an interval, named last in the alphabet but first in order, and of one without."""
    keen = Ranking(BootstrapInterval(0.5, 0.25, 0.75, 0), 1, {"1": 0.4, "2": 0.6, "3": NAN})
    dull = Ranking(BootstrapInterval(0.1, NAN, NAN, 0), 0, {"1": 0.1})
    silent = Ranking(BootstrapInterval(NAN, NAN, NAN, 9), 1, {"1": NAN})
    judges = {
        name: JudgeAgreement(dict.fromkeys(NAMES, own), {}, 0)
        for name, own in {"keen": keen, "dull": dull, "a silent one": silent}.items()
    }
    found = Agreement(prompts=3, stories=9, raters=2, judges=judges, people={})
    spec: dict[str, Any] = agreement_chart(found, NAMES).to_dict()
    return [panel | {"datasets": spec["datasets"]} for panel in spec["vconcat"]]


def test_dots_are_the_prompts_that_have_a_value_and_a_mean_lies_on_its_interval() -> None:
    for panel in drawn():
        assert [(row["judge"], row["value"]) for row in rows(panel, 0)] == [("keen", 0.4), ("keen", 0.6), ("dull", 0.1)]
        assert (
            rows(panel, 1)
            == rows(panel, 2)
            == [
                {"judge": "keen", "value": 0.5, "low": 0.25, "high": 0.75},
                {"judge": "dull", "value": 0.1, "low": None, "high": None},
            ]
        )


def test_an_accuracy_goes_from_0_and_a_correlation_from_minus_1_each_under_its_name() -> None:
    axes = [panel["layer"][0]["encoding"]["x"] for panel in drawn()]
    assert [(axis["title"], axis["scale"]["domain"]) for axis in axes] == [("rho", [-1, 1]), ("accuracy", [0, 1])]


def test_judges_stand_in_their_order() -> None:
    for panel in drawn():
        orders = [layer["encoding"]["y"]["sort"] for layer in panel["layer"]]
        assert orders == [["keen", "dull", "a silent one"]] * 3


def test_dots_lie_under_the_intervals_and_these_under_the_diamonds_a_row_a_judge() -> None:
    for panel in drawn():
        assert marks(panel) == [
            {"type": "circle", "color": "#0072b2", "opacity": 0.5},
            {"type": "rule", "color": "#1b1b1b", "strokeWidth": 2},
            {"type": "point", "color": "#1b1b1b", "filled": True, "opacity": 1, "shape": "diamond", "size": 90},
        ]
        assert told_by(panel, 1) == {"x": "low", "x2": "high", "y": "judge"}
        assert told_by(panel, 2) == {"x": "value", "y": "judge"}
        # a larger dot for several prompts of one value
        size = panel["layer"][0]["encoding"]["size"]
        assert (size["aggregate"], size["scale"], size["legend"]) == ("count", {"range": [40, 300]}, None)
        assert (panel["width"], panel["height"]) == (420, 3 * 34)


def test_the_picture_says_how_much_it_rests_on() -> None:
    judges = {"keen": JudgeAgreement({"spearman": Ranking(BootstrapInterval(0.5, 0.2, 0.7, 0), 0, {"1": 0.5})}, {}, 0)}
    found = Agreement(prompts=3, stories=9, raters=2, judges=judges, people={})
    assert agreement_chart(found, NAMES).to_dict()["title"] == {
        "text": "How far machines rank stories as people do",
        "subtitle": "3 prompts (dots, larger for several), 9 stories, 2 raters; diamonds: means with 95% intervals",
        "anchor": "start",
    }
