from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.viewer import ViewerConfig
from tests.looks import rows
from tests.reports.made_logs import made_log, scored

from genie_inspect.reports.charts import LIGHT, svg
from genie_inspect.reports.figures import colours
from genie_inspect.reports.forests import forests, heatmap
from genie_inspect.reports.report import Report, build_report

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
    assert [row["colour"] for row in deltas] == [colours(found.runs)["mock/1"], LIGHT.grey]
    assert found.comparison
    difference = found.comparison.rows[1].finding.difference
    assert (intervals[1]["low"], intervals[1]["high"]) == pytest.approx((difference.low, difference.high))
    assert (margins[1]["low"], margins[1]["high"]) == pytest.approx((-difference.margin, difference.margin))


def test_one_prompt_leaves_a_dot_without_an_interval(tmp_path: Path) -> None:
    files = [made_log(tmp_path, [{"genie": scored({"plot": v, "style": v})}], model=f"mock/{v}") for v in (0.2, 0.5)]
    ((_, _, intervals, deltas, _),) = layers(build_report(files, baseline="mock/0.2"))
    assert {(row["low"], row["high"]) for row in intervals} == {(None, None)}
    assert deltas[0]["low"] == pytest.approx(0.3)


def test_a_measure_tested_by_one_key_has_a_row_a_run(tmp_path: Path) -> None:
    found = report(tmp_path, {"plot": [v + 0.1 for v in BASE]}, {"plot": [v + 0.2 for v in BASE]})
    ((_, _, _, deltas, _),) = layers(found)
    assert [row["name"] for row in deltas] == ["mock/1", "mock/2"]


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


def test_each_measure_has_its_own_figure_with_its_own_rows(tmp_path: Path) -> None:
    files = [
        made_log(
            tmp_path,
            [
                {
                    "genie": scored({"plot": v + step, "style": v}),
                    "cosine": scored({"cosine_mean": v + step}, "measure:cosine|version:0"),
                }
                for v in BASE
            ],
            model=f"mock/{number}",
        )
        for number, step in enumerate((0.0, 0.1, 0.2))
    ]
    found = build_report(files, baseline="mock/0")
    assert [(figure.name, figure.title) for figure in forests(found)] == [
        ("forest-genie-1", "genie: mock/1 against mock/0"),
        ("forest-genie-2", "genie: mock/2 against mock/0"),
        ("forest-cosine", "cosine: cosine mean"),
    ]
    assert [[row["name"] for row in chart[-1]] for chart in layers(found)] == [
        *[["plot", "style"]] * 2,
        ["mock/1", "mock/2"],
    ]


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


def test_what_was_not_measured_is_said(tmp_path: Path) -> None:
    found = build_report([made_log(tmp_path, [{"genie": scored({"plot": float("nan"), "style": 0.5})}])])
    assert ">not measured<" in svg(heatmap(found, found.measures[0]).draw())


def test_its_title_is_words_and_its_name_one_for_a_file(tmp_path: Path) -> None:
    signature = "measure:creativity_index|version:0"
    file = made_log(tmp_path, [{"creativity_index": scored({"creativity_index_mean": 0.5}, signature)}])
    found = build_report([file])
    figure = heatmap(found, found.measures[0])
    assert (figure.name, figure.title) == (
        "means-creativity_index",
        "creativity index: means over prompts [95% interval]",
    )
    assert figure.description == "Heatmap of the means of 1 features for mock/writer."


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
