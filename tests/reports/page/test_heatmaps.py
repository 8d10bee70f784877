from pathlib import Path

from inspect_ai.viewer import ViewerConfig
from tests.looks import rows
from tests.reports.made_logs import made_log, scored

from genie_inspect.reports.charts import svg
from genie_inspect.reports.page.heatmaps import heatmap
from genie_inspect.reports.page.report import build_report


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
