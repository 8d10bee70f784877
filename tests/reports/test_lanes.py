"""The page's own figures: what stands where on a lane."""

import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.reports.made_logs import made_log, scored
from tests.reports.studies import by_feature, made, sharp, study_log

from genie_inspect.reports.charts import GREY, INK, ON_DARK, SERIES, in_words
from genie_inspect.reports.lanes import (
    BAR,
    Lane,
    Marker,
    forest_lanes,
    length_lanes,
    markers,
    means_lanes,
    spread_lanes,
    study_lanes,
)
from genie_inspect.reports.report import Report, build_report

NAN = math.nan
OWN = {"plot": {"percentile": 75.0, "mean": 0.4, "low": 0.25, "high": 0.75}}


def report(folder: Path, *logs: Sequence[float], baseline: str = "") -> Report:
    """A report on logs of documents with these scores for plot, and half of them for style."""
    for place, values in enumerate(logs):
        samples = [{"genie": scored({"plot": value, "style": value / 2}, standing=OWN)} for value in values]
        made_log(folder, samples, model=f"m/{place}")
    return build_report([folder], baseline=baseline)


def placed(lane: Lane) -> tuple[object, ...]:
    return lane.name, lane.shown, lane.at, lane.band


def test_means_are_placed_on_the_whole_scale_the_highest_first_with_the_populations_quartiles(tmp_path: Path) -> None:
    found = report(tmp_path, (0.2, 0.4), (0.5, 0.7))
    plot, style = means_lanes(found, found.measures[0])
    # means 0.3 and 0.6; the band from 0.25 to 0.75
    assert [placed(lane) for lane in plot.lanes] == [
        ("m/1", "0.60", 60.0, (25.0, 50.0)),
        ("m/0", "0.30", 30.0, (25.0, 50.0)),
    ]
    assert (plot.title, style.title) == ("plot", "style")
    assert [placed(lane) for lane in style.lanes] == [("m/1", "0.30", 30.0, None), ("m/0", "0.15", 15.0, None)]
    assert [place for place, _ in plot.scale] == [0, 50, 100]
    low, high = (NAN if end is None else end for end in (plot.lanes[0].low, plot.lanes[0].high))
    assert low < 60 < high
    assert plot.lanes[0].ends == f"[{low / 100:.2f}, {high / 100:.2f}]"


def test_what_was_not_measured_says_so_and_is_drawn_nowhere(tmp_path: Path) -> None:
    found = report(tmp_path, (NAN, NAN), (0.5,))
    plot, _ = means_lanes(found, found.measures[0])
    last = plot.lanes[-1]
    told = (last.name, last.shown, last.ends, last.at, last.low, last.high)
    assert told == ("m/0", "not measured", "", None, None, None)
    # one prompt has a mean and no interval
    assert (plot.lanes[0].at, plot.lanes[0].low) == (50.0, None)


def test_no_two_of_thirty_six_runs_have_one_colour_and_one_shape_and_the_population_stands_apart(
    tmp_path: Path,
) -> None:
    runs = report(tmp_path, *[(0.5,)] * 36).runs
    assert len({(marker.light, marker.shape) for marker in markers(runs).values()}) == 36
    own = made_log(tmp_path / "own", [{"genie": scored({"plot": 0.5}, left_out=["d"])}])
    (population,) = build_report([own]).runs
    assert list(markers([population]).values()) == [Marker(INK, ON_DARK[INK], BAR)]


def test_a_difference_has_its_margin_as_band_and_grey_unless_it_holds(tmp_path: Path) -> None:
    low = [0.1, 0.2, 0.3, 0.15, 0.25, 0.35, 0.2, 0.3]
    found = report(tmp_path, low, [value + 0.4 + value / 10 for value in low], [*low[1:], low[0]], baseline="m/0")
    ((scorer, panels),) = forest_lanes(found)
    assert scorer == "genie"
    assert [panel.title for panel in panels] == ["m/1 against m/0", "m/2 against m/0"]
    higher, same = (panel.lanes[0] for panel in panels)
    assert higher.marker.light == SERIES[1]
    assert higher.shown.endswith(" *")
    assert same.marker.light == GREY
    (zero,) = [place for place, text in panels[0].scale if text == "0"]
    assert {lane.rule for panel in panels for lane in panel.lanes} == {zero}
    start, width = higher.band or (0, 0)
    assert start + width / 2 == pytest.approx(zero, abs=0.02)
    assert list(forest_lanes(report(tmp_path / "alone", low))) == []


def test_documents_spread_by_quartiles_density_and_ticks_up_to_sixty(tmp_path: Path) -> None:
    found = report(tmp_path, [0.2, 0.3, 0.4, 0.5, 0.6])
    (lane,) = spread_lanes(found, found.measures[0])[0].lanes
    assert (lane.low, lane.at, lane.high) == (30, 40, 50)
    assert (lane.shown, lane.ends) == ("0.40", "(0.30 to 0.50)")
    assert lane.ticks.count("M") == 5
    assert lane.heights.startswith("M0 60L0 ")
    # what is passed or not has no distribution beyond its median
    for values, ticks, has_density in (([number / 100 for number in range(61)], 0, True), ([0.0, 1.0, 1.0], 0, False)):
        other = report(tmp_path / str(len(values)), values)
        (lane,) = spread_lanes(other, other.measures[0])[0].lanes
        assert (lane.ticks.count("M"), bool(lane.heights)) == (ticks, has_density)
    (words,) = length_lanes(found)
    # two words each, on a scale from 0 to a little beyond
    assert [text for _, text in words.scale] == ["0", "2"]
    assert words.lanes[0].at == pytest.approx(100 / 1.05, abs=0.01)


@pytest.mark.filterwarnings("ignore:.* is a metric study")
def test_a_study_has_a_bar_per_intervention_and_a_line_at_the_paraphrases(tmp_path: Path) -> None:
    (study,) = build_report([study_log(tmp_path, made(8), by_feature(sharp))]).studies
    moved = [measure for measure in study.measures if measure.shares]
    for panel, measure in zip(study_lanes(study), moved, strict=True):
        assert [lane.name for lane in panel.lanes] == [in_words(name) for name in measure.shares]
        assert all(lane.is_bar and lane.low == 0 for lane in panel.lanes)
        assert {lane.rule for lane in panel.lanes} == {round(100 * measure.shares["paraphrase"], 2)}
