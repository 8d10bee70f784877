"""The report's charts of differences, and how radars and ridges look."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.viewer import ViewerConfig
from tests.looks import rows
from tests.reports.made_logs import made_log, scored
from tests.reports.test_figures import VIEW, drawn
from tests.reports.test_figures import report as looks_report

from genie_inspect.reports.charts import GREY, INK, SERIES, svg
from genie_inspect.reports.figures import colours, forests, heatmap, radars, ridges
from genie_inspect.reports.report import Report, build_report
from genie_inspect.tasks.novelty import score_view

BASE = (0.1, 0.3, 0.2, 0.4, 0.15, 0.25, 0.35, 0.45)


def report(folder: Path, *runs: Mapping[str, Sequence[float]]) -> Report:
    """A baseline and runs of these scores, by key."""
    base: Mapping[str, Sequence[float]] = dict.fromkeys(runs[0], BASE)
    files = [
        made_log(
            folder,
            [{"genie": scored(dict(zip(run, values, strict=True)))} for values in zip(*run.values(), strict=True)],
            model=f"mock/{number}",
        )
        for number, run in enumerate((base, *runs))
    ]
    return build_report(files, baseline="mock/0")


def layers(found: Report) -> list[list[list[dict[str, Any]]]]:
    """Of each chart the rows of each layer."""
    specs = [figure.draw().to_dict(validate=False) for figure in forests(found)]
    return [[spec["datasets"][layer["data"]["name"]] for layer in spec["layer"]] for spec in specs]


def test_a_difference_that_holds_has_its_runs_colour_and_a_star_and_others_are_grey(tmp_path: Path) -> None:
    higher = [value + 0.3 for value in BASE]
    mixed = [value + step for value, step in zip(BASE, (0.1, -0.1) * 4, strict=True)]
    found = report(tmp_path, {"plot": higher, "style": mixed})
    ((margins, _, intervals, deltas, numbers),) = layers(found)
    assert [(row["name"], row["shown"]) for row in numbers] == [("plot", "+0.300 *"), ("style", "+0.000")]
    assert [row["colour"] for row in deltas] == [colours(found.runs)["mock/1"], GREY]
    assert found.comparison
    difference = found.comparison.rows[1].finding.difference
    assert (intervals[1]["low"], intervals[1]["high"]) == pytest.approx((difference.low, difference.high))
    assert (margins[1]["low"], margins[1]["high"]) == pytest.approx((-difference.margin, difference.margin))


def test_one_prompt_leaves_a_dot_without_an_interval(tmp_path: Path) -> None:
    files = [made_log(tmp_path, [{"genie": scored({"plot": v, "style": v})}], model=f"mock/{v}") for v in (0.2, 0.5)]
    ((_, _, intervals, deltas, _),) = layers(build_report(files, baseline="mock/0.2"))
    assert {(row["low"], row["high"]) for row in intervals} == {(None, None)}
    assert deltas[0]["low"] == pytest.approx(0.3)


def test_what_could_not_be_measured_is_left_out_and_without_a_baseline_there_is_no_chart(tmp_path: Path) -> None:
    found = report(tmp_path, {"plot": [v + 0.1 for v in BASE], "style": [float("nan")] * 8})
    assert [[row["name"] for row in chart[-1]] for chart in layers(found)] == [["mock/1"]]
    file = made_log(tmp_path / "alone", [{"genie": scored({"plot": 0.5})}])
    assert list(forests(build_report([file]))) == []


def test_a_measure_of_which_nothing_could_be_measured_has_no_chart(tmp_path: Path) -> None:
    values = {"genie": scored({"plot": float("nan")}), "mine": scored({"mine": 0.5}, "measure:mine|version:0")}
    for model in ("mock/0", "mock/1"):
        made_log(tmp_path, [values] * 2, model=model)
    assert [figure.name for figure in forests(build_report([tmp_path], baseline="mock/0"))] == ["forest-mine"]


def test_long_names_of_runs_and_of_the_baseline(tmp_path: Path) -> None:
    names = ("mock/some-long-name-base", "mock/some-long-name-one", "mock/some-long-name-two")
    signature = "measure:creativity_index|version:0"
    both = {"creativity_index_mean": 0.5, "creativity_index_longest": 0.5}
    for name in names:
        made_log(
            tmp_path,
            [{"genie": scored({"plot": v, "style": v}), "creativity_index": scored(both, signature)} for v in BASE],
            model=name,
        )
    found = build_report([tmp_path], baseline="log-0.eval")
    titles = {figure.name: figure.title for figure in forests(found)}
    # against the baseline by its label; of the creativity index one key alone is tested
    assert titles == {
        "forest-genie-1": f"genie: {names[1]} against {names[0]}",
        "forest-genie-2": f"genie: {names[2]} against {names[0]}",
        "forest-creativity_index": "creativity index: creativity index mean",
    }
    assert [row["name"] for row in layers(found)[-1][-1]] == ["mock…ong-name-one", "mock…ong-name-two"]


def test_the_charts_of_one_measure_have_one_scale(tmp_path: Path) -> None:
    found = report(tmp_path, *({"plot": [v + step for v in BASE], "style": BASE} for step in (0.1, 0.4)))
    scales = [
        figure.draw().to_dict(validate=False)["layer"][0]["encoding"]["x"]["scale"]["domain"]
        for figure in forests(found)
    ]
    assert len(scales) == 2
    assert scales[0] == scales[1]


def test_it_has_the_tables_numbers_and_the_deepest_colour_at_the_top_of_the_range(tmp_path: Path) -> None:
    # 0.5 +- 12.706 * 0.1 cut to the ends
    samples = [{"genie": scored({"plot": value, "style": 1.0})} for value in (0.4, 0.6)]
    found = build_report([made_log(tmp_path, samples)])
    figure = heatmap(found, found.measures[0])
    drawn = svg(figure.draw())
    for shown in ("mock/writer", "plot", "style", "0.50", "[0.00, 1.00]"):
        assert f">{shown}<" in drawn
    assert 'fill="rgb(106, 174, 214)"' in drawn
    assert figure.name == "means-genie"


def test_a_run_that_the_measure_did_not_score_has_no_row_and_a_long_name_is_cut(tmp_path: Path) -> None:
    signature, name = "measure:mine|version:0", "mock/a-model-with-a-rather-long-name-of-2026-01-01"
    own = [{"mine": scored({"plot_twist": value}, signature)} for value in (0.30001, 0.30002)]
    files = [
        made_log(tmp_path, own, model=name, viewer=ViewerConfig()),
        made_log(tmp_path, [{"genie": scored({"plot": 0.5})}]),
    ]
    lone = made_log(
        tmp_path, [{"mine": scored({"plot_twist": 0.30001}, signature)}], model="mock/lone", viewer=ViewerConfig()
    )
    found = build_report([*files, lone])
    figure = heatmap(found, found.measures[1])
    assert rows(figure.draw().to_dict(validate=False), 0) == [
        {"run": label, "key": "plot twist", "share": share, "mean": mean, "ends": ends}
        for label, share, mean, ends in (
            # as many decimals as tell these values apart; of one prompt there is no interval
            ("mock/a-mod…-rather-long-name-of-2026-01-01", 50.0, "0.300015", "[0.299951, 0.300079]"),
            ("mock/lone", 0.0, "0.300010", ""),
        )
    ]
    assert figure.description == f"Heatmap of the means of 1 features for {name}, mock/lone."


NAN = float("nan")


def test_a_ring_of_a_radar_is_drawn_round(tmp_path: Path) -> None:
    (figure,) = radars(found := looks_report(tmp_path, (0.1, 0.4)), found.measures[0])
    spec = drawn(figure)
    across, down = (spec["layer"][0]["encoding"][axis]["scale"]["domain"] for axis in ("x", "y"))
    assert (across, down, spec["width"]) == ([-1.85, 1.85], [-1.3, 1.3], 400)
    assert spec["height"] / spec["width"] == pytest.approx(1.3 / 1.85, abs=0.001)
    # three corners and the first again, on four rings; the outermost last
    assert [(row["ring"], row["order"]) for row in rows(spec, 0)] == [
        (ring, place) for ring in (0.25, 0.5, 0.75, 1.0) for place in range(4)
    ]
    assert [(row["x"], row["y"]) for row in rows(spec, 0)[-4:]] == [(0, 1), (0.866, -0.5), (-0.866, -0.5), (0, 1)]
    assert [(row["x"], row["y"]) for row in rows(spec, 1)] == [(0, 1), (0.866, -0.5), (-0.866, -0.5)]


def test_names_around_a_radar_are_written_away_from_it_and_above_and_below_in_the_middle(tmp_path: Path) -> None:
    keys = ("north", "north_east", "east", "south", "west", "north_west")
    view = score_view("made", {"genie": keys}, dict.fromkeys(keys, (0.0, 1.0)))
    found = build_report([made_log(tmp_path, [{"genie": scored(dict.fromkeys(keys, 0.5))}], viewer=view)])
    (figure,) = radars(found, found.measures[0])
    names = rows(drawn(figure), 5)
    assert [row["name"] for row in names[:3]] == [["north"], ["north", "east"], ["east"]]
    assert [row["align"] for row in names] == ["center", "left", "left", "center", "right", "right"]


def test_beyond_six_runs_each_stands_beside_the_mean_of_all_that_were_measured(tmp_path: Path) -> None:
    values = [(0.1 * number,) for number in range(1, 7)]
    found = looks_report(tmp_path, *values, (NAN,))
    figures = radars(found, found.measures[0])
    assert [figure.name for figure in figures] == [f"radar-genie-{number}" for number in range(1, 8)]
    line = rows(drawn(figures[0]), 2)
    # the mean of 0.1 to 0.6
    assert [row["y"] for row in line if row["order"] == 0] == [0.1, 0.35]
    assert {row["run"] for row in line} == {"mock/0", "mean of all"}
    colours = drawn(figures[0])["layer"][2]["encoding"]["color"]["scale"]["range"]
    assert colours == [SERIES[0], INK]


def test_a_measure_with_twelve_features_has_a_radar_and_with_thirteen_none(tmp_path: Path) -> None:
    for count, charts in ((12, 1), (13, 0)):
        keys = [f"k{number}" for number in range(count)]
        view = score_view("made", {"genie": keys}, dict.fromkeys(keys, (0.0, 1.0)))
        file = made_log(tmp_path / str(count), [{"genie": scored(dict.fromkeys(keys, 0.5))}], viewer=view)
        found = build_report([file])
        assert len(radars(found, found.measures[0])) == charts


@pytest.mark.parametrize(("documents", "dots"), [(60, 60), (61, 0)])
def test_up_to_sixty_documents_are_each_a_tick(tmp_path: Path, documents: int, dots: int) -> None:
    found = looks_report(tmp_path, tuple(number / 100 for number in range(documents)))
    assert len(rows(drawn(ridges(found, found.measures[0])[0]), 1)) == dots


def test_where_nobody_says_how_far_values_go_the_colours_are_between_the_lowest_and_the_highest(tmp_path: Path) -> None:
    samples = [{"mine": scored({"words": value}, "measure:mine|version:0")} for value in (3.0, 7.0)]
    found = build_report([made_log(tmp_path, [sample], model=f"m/{n}") for n, sample in enumerate(samples)])
    spec = drawn(heatmap(found, found.measures[0]))
    assert spec["layer"][0]["encoding"]["color"]["legend"]["labelExpr"] == (
        "datum.value ? 'highest of its column' : 'lowest'"
    )
    assert [row["share"] for row in rows(spec, 0)] == [0, 100]


def compared(folder: Path, **by: float) -> Report:
    """A baseline, and a run whose features lie by so much above it."""
    steps: tuple[dict[str, float], ...] = ({}, by)
    files = [
        made_log(
            folder,
            [{"genie": scored({key: value + step.get(key, 0) for key in by})} for value in BASE],
            model=f"m/{number}",
            viewer=VIEW,
        )
        for number, step in enumerate(steps)
    ]
    return build_report(files, baseline="m/0")


def test_the_scale_of_a_forest_goes_a_twentieth_beyond_what_is_reached_and_holds_0(tmp_path: Path) -> None:
    def domain(**by: float) -> list[float]:
        (figure,) = forests(compared(tmp_path / str(by), **by))
        ends: list[float] = drawn(figure)["layer"][0]["encoding"]["x"]["scale"]["domain"]
        return ends

    # 0.2 standard deviations of the baseline: 0.2 x 0.11456 = 0.022913 below 0, which is the margin; 0.3 above
    below, above = -0.022913, 0.3
    room = 0.05 * (above - below)
    assert domain(plot=0.3, style=0.0) == pytest.approx([below - room, above + room], abs=1e-5)
    room = 0.05 * (0.1 - below)
    assert domain(plot=-0.1, style=0.0) == pytest.approx([-0.1 - room, -below + room], abs=1e-5)


def test_one_prompt_alone_has_a_scale_from_0_and_where_nothing_differs_there_is_one_too(tmp_path: Path) -> None:
    for before, after, ends in ((0.2, 0.5, [-0.015, 0.315]), (0.5, 0.2, [-0.315, 0.015]), (0.5, 0.5, [-0.5, 0.5])):
        folder = tmp_path / f"{before}-{after}"
        for model, value in (("m/0", before), ("m/1", after)):
            made_log(folder, [{"genie": scored({"plot": value})}], model=model)
        (figure,) = forests(build_report([folder], baseline="m/0"))
        assert drawn(figure)["layer"][0]["encoding"]["x"]["scale"]["domain"] == pytest.approx(ends)
