import re
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import gaussian_kde
from tests.reports.made_logs import made_log, scored

from genie_inspect.reports.charts import DARK, LIGHT, Theme, darkened, in_words, number, svg
from genie_inspect.reports.figures import (
    Figure,
    colours,
    density,
    ends_of_axis,
    length_ridges,
    places,
    radars,
    ridges,
    shade,
    short_names,
)
from genie_inspect.reports.page import figures
from genie_inspect.reports.report import Cell, Measure, Range, Report, Spread, build_report
from genie_inspect.statistics.descriptive import Interval
from genie_inspect.tasks.novelty import score_view

FEATURES = ("plot", "style", "agent")
VIEW = score_view("made", {"genie": FEATURES}, dict.fromkeys(FEATURES, (0.0, 1.0)))


def report(folder: Path, *logs: tuple[float, ...]) -> Report:
    """A report on logs of documents whose features all have one value."""
    files = [
        made_log(
            folder,
            [{"genie": scored(dict.fromkeys(FEATURES, value))} for value in values],
            model=f"mock/{number}",
            viewer=VIEW,
        )
        for number, values in enumerate(logs)
    ]
    return build_report(files)


def luminance(colour: str) -> float:
    """Relative luminance, as WCAG 2 defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_marks_stand_off_the_paper_by_3_to_1_and_text_by_7_to_1(theme: Theme) -> None:
    assert min(contrast(colour, theme.paper) for colour in theme.series) >= 3
    assert contrast(theme.grey, theme.paper) >= 3
    assert contrast(theme.ink, theme.paper) >= 7


def test_two_features_from_0_to_1_make_no_radar_whatever_stands_beside_them(tmp_path: Path) -> None:
    signature = "measure:mine|version:0"
    for more, names in (({}, [[]]), ({"agent": 0.5}, [[["plot"], ["style"], ["agent"]]])):
        values = {"plot": 0.5, "style": 0.5, "words": 90.0} | more
        view = score_view("made", {"mine": tuple(values)}, dict.fromkeys(values, (0.0, 1.0)) | {"words": (0.0, 100.0)})
        found = build_report([made_log(tmp_path, [{"mine": scored(values, signature)}], viewer=view)])
        charts = [drawn(figure) for figure in radars(found, found.measures[0])]
        assert [[row["name"] for row in shown(chart, "name", "align")] for chart in charts] == [
            own for own in names if own
        ]


def test_every_run_is_named_in_the_radar_and_in_its_description(tmp_path: Path) -> None:
    found = report(tmp_path, (0.2, 0.4), (0.9, 0.8))
    (figure,) = radars(found, found.measures[0])
    drawn = svg(figure.draw())
    for name in ("mock/0", "mock/1", *FEATURES):
        assert f">{name}<" in drawn
    assert figure.name == "radar-genie"
    assert figure.title == "genie: means by feature, from 0 in the middle to 1 at the rim"
    assert figure.description == ("Radar chart of 3 features for mock/0, mock/1. The table above has the numbers.")


def test_a_run_that_is_not_in_the_radar_leaves_the_others_their_colours(tmp_path: Path) -> None:
    made_log(tmp_path, [{"mine": scored({"mine": 0.5})}], model="mock/other", viewer=VIEW)
    made_log(tmp_path, [{"genie": scored(dict.fromkeys(FEATURES, 0.5))}], model="mock/shown", viewer=VIEW)
    found = build_report([tmp_path])
    (figure,) = radars(found, found.measures[0])
    colour = colours(found.runs)["mock/shown"]
    assert colour == LIGHT.series[1]
    drawn = svg(figure.draw())
    assert colour in drawn
    assert LIGHT.series[0] not in drawn


def test_a_feature_that_was_not_measured_leaves_a_gap_in_the_radar(tmp_path: Path) -> None:
    values = {"plot": 0.5, "style": float("nan"), "agent": 0.5}
    found = build_report([made_log(tmp_path, [{"genie": scored(values)}], viewer=VIEW)])
    (figure,) = radars(found, found.measures[0])
    points = re.findall(r'aria-roledescription="point"', svg(figure.draw()))
    assert len(points) == 3, "plot twice, because the line comes back to it, and agent"


def test_a_feature_that_is_passed_or_not_has_no_distribution(tmp_path: Path) -> None:
    binary, graded = report(tmp_path / "binary", (0.0, 1.0, 1.0)), report(tmp_path / "graded", (0.0, 0.5, 1.0))
    assert ridges(binary, binary.measures[0]) == []
    assert [figure.title for figure in ridges(graded, graded.measures[0])] == list(FEATURES)


def test_on_dark_paper_a_chart_is_the_same_in_other_colours(tmp_path: Path) -> None:
    found = report(tmp_path, (0.1, 0.4, 0.7), (0.2, 0.5, 0.9))
    for figure in [*radars(found, found.measures[0]), *ridges(found, found.measures[0])]:
        light = svg(figure.draw())
        dark = darkened(light)
        used = set(re.findall(r'="(#[0-9a-fA-F]{3,6})"', light))
        assert used <= set(LIGHT.inks), "every colour has its like on dark paper"
        assert set(re.findall(r'="(#[0-9a-f]{6})"', dark)) <= set(DARK.inks)
        assert re.sub("#[0-9a-f]{6}", "", light) == re.sub("#[0-9a-f]{6}", "", dark)
        assert not re.search(r'(?:fill|stroke)="(?!#|none|transparent)', dark)


def test_every_word_of_a_chart_is_in_ink(tmp_path: Path) -> None:
    found = report(tmp_path, (0.1, 0.4, 0.7), (0.2, 0.5, 0.9))
    for figure in figures(found):
        words = re.findall("<text[^>]*>", svg(figure.draw()))
        assert words
        assert {re.sub('.* fill="([^"]*)".*', r"\1", word) for word in words} == {LIGHT.ink}


def test_documents_of_one_length_have_a_chart_all_the_same(tmp_path: Path) -> None:
    assert "words a document" in svg(length_ridges(report(tmp_path, (0.5, 0.5))).draw())


def test_the_area_of_a_density_stays_within_known_ends() -> None:
    points = density([0.9, 0.95, 1.0], Range(0, 1, known=True))
    assert (points[0][0], points[-1][0]) == (0, 1)
    assert max(height for _, height in points) == pytest.approx(0.6)
    assert points[-1][1] > 0.3, "what the kernel puts beyond 1 is reflected"
    assert density([0.5, 0.5], Range(0, 1, known=True)) == []


def test_an_axis_goes_a_little_beyond_what_was_seen_but_not_below_zero_words() -> None:
    assert ends_of_axis(Range(10, 20, known=False)) == (9.5, 20.5)
    assert ends_of_axis(Range(0, 20, known=False)) == (0, 21)
    assert ends_of_axis(Range(0, 1, known=True)) == (0, 1)


def test_a_run_has_one_colour_throughout_and_the_population_the_ink(tmp_path: Path) -> None:
    own = made_log(tmp_path, [{"genie": scored({"plot": 0.5}, left_out=["d"])}])
    runs = build_report([own, made_log(tmp_path, [{"genie": scored({"plot": 0.5})}])]).runs
    expected = {"mock/writer": LIGHT.series[0], "population, leave-one-out": LIGHT.ink}
    assert colours(runs) == colours(runs[::-1]) == expected


def test_beyond_the_last_colour_runs_begin_with_the_first_again(tmp_path: Path) -> None:
    runs = report(tmp_path, *[(0.5,)] * (len(LIGHT.series) + 2)).runs
    assert tuple(colours(runs).values()) == LIGHT.series + LIGHT.series[:2]


def drawn(figure: Figure) -> dict[str, Any]:
    """What altair is told to draw."""
    found: dict[str, Any] = figure.draw().to_dict(validate=False)
    return found


def shown(spec: dict[str, Any], *fields: str) -> list[dict[str, Any]]:
    """The rows of the first layer whose rows have these fields."""
    layers = [layer["data"] for layer in spec["layer"]]
    tables = [spec["datasets"][data["name"]] if "name" in data else data["values"] for data in layers]
    return next(rows for rows in tables if rows and set(fields) <= rows[0].keys())


def test_the_first_spoke_points_up_and_the_others_follow_clockwise(tmp_path: Path) -> None:
    (figure,) = radars(found := report(tmp_path, (0.5, 0.5)), found.measures[0])
    names = {"_".join(row["name"]): (row["x"], row["y"]) for row in shown(drawn(figure), "name", "align")}
    # 1.1 times the sine and cosine of 0, 120 and 240 degrees
    assert names == {"plot": (0, 1.1), "style": (0.9526, -0.55), "agent": (-0.9526, -0.55)}
    # half way to the rim, and back to where the line began
    line = [(row["x"], row["y"]) for row in shown(drawn(figure), "run", "order")]
    assert line == [(0, 0.5), (0.433, -0.25), (-0.433, -0.25), (0, 0.5)]


def test_an_axis_of_lengths_begins_at_0_and_ends_a_little_beyond_the_longest_document(tmp_path: Path) -> None:
    samples = [{"genie": scored({"plot": 0.5})}] * 2
    found = build_report([made_log(tmp_path, samples, texts=["word " * 10, "word " * 40])])
    layers = drawn(length_ridges(found))["layer"]
    # a twentieth of 40 beyond it
    assert layers[0]["encoding"]["x"]["scale"]["domain"] == [0, 42]
    other = build_report(
        [*(run.file for run in found.runs), made_log(tmp_path, samples, texts=["a", "word " * 100], model="z")]
    )
    assert drawn(length_ridges(other))["layer"][0]["encoding"]["x"]["scale"]["domain"] == [0, 105]


def test_a_long_name_is_cut_in_the_middle_in_the_legend_and_whole_in_the_description(tmp_path: Path) -> None:
    name = "openai-api/somewhere/a-model-with-a-rather-long-name-2026-01-01"
    file = made_log(tmp_path, [{"genie": scored(dict.fromkeys(FEATURES, 0.5))}], model=name, viewer=VIEW)
    found = build_report([file])
    (figure,) = radars(found, found.measures[0])
    short = "openai-api…h-a-rather-long-name-2026-01-01"
    assert short_names([name]) == {name: short}
    assert f">{short}<" in svg(figure.draw())
    assert name in figure.description
    assert [row["name"] for row in shown(drawn(length_ridges(found)), "name")] == [short]


def test_a_box_goes_from_the_first_quartile_to_the_third(tmp_path: Path) -> None:
    found = report(tmp_path, (0.0, 0.5, 1.0))
    (box,) = shown(drawn(ridges(found, found.measures[0])[0]), "low", "median", "high")
    assert (box["low"], box["median"], box["high"]) == (0.25, 0.5, 0.75)


def test_behind_the_ridges_stands_a_band_from_quartile_to_quartile_of_the_population_where_it_is_known(
    tmp_path: Path,
) -> None:
    # as means over prompts, however many documents of each were scored
    quartiles = {"a": (0.2, 0.6), "b": (0.4, 1.0)}
    prompts = ["a", "b", "b"]
    own = [
        {"plot": {"percentile": 50.0, "mean": 0.5, "low": low, "high": high}}
        for low, high in map(quartiles.__getitem__, prompts)
    ]
    samples = [
        {"genie": scored({"plot": value, "style": value}, standing=one)}
        for value, one in zip((0.1, 0.5, 0.9), own, strict=True)
    ]
    found = build_report([made_log(tmp_path, samples, prompts=prompts)])
    plot, style = ridges(found, found.measures[0])
    (band,) = shown(drawn(plot), "low", "high")
    assert band == {"low": pytest.approx(0.3), "high": pytest.approx(0.8)}
    assert drawn(plot)["layer"][0]["mark"]["type"] == "rect"
    assert "Band, the population's own documents: 0.3 to 0.8." in plot.description
    assert svg(plot.draw())
    assert "Band" not in style.description
    assert drawn(style)["layer"][0]["mark"]["type"] == "area"


def test_what_a_kernel_puts_beyond_either_known_end_is_reflected() -> None:
    ends = Range(1, 3, known=True)
    values = [1.1, 1.2, 2.8, 3.0]
    points = density(values, ends)
    kernel = gaussian_kde(values)
    heights = [float(kernel(at)[0] + kernel(2 - at)[0] + kernel(6 - at)[0]) for at, _ in points]
    assert [height for _, height in points] == pytest.approx([0.6 * one / max(heights) for one in heights], abs=1e-3)


NAN = float("nan")


def measure(low: float, high: float) -> Measure:
    return Measure("genie", "", ("plot",), {"plot": Range(low, high, known=True)}, (), (), (), ())


@pytest.mark.parametrize(
    ("low", "high", "decimals"),
    [
        (0, 1, 2),
        (0, 14, 2),
        (0, 999, 2),
        (0, 1_000, 0),
        (0.3, 0.30000001, 6),
        (0.01, 0.05, 3),
        (0.3, 0.3004, 5),
        (3, 3, 2),
        (NAN, NAN, 2),
    ],
)
def test_as_many_decimals_are_shown_as_tell_values_apart(low: float, high: float, decimals: int) -> None:
    assert places(measure(low, high), "plot") == decimals


@pytest.mark.parametrize(("mean", "shown"), [(1.0, "0%"), (2.5, "75%"), (9.0, "100%"), (NAN, "0%")])
def test_the_shade_is_where_the_mean_stands_in_its_range(mean: float, shown: str) -> None:
    cell = Cell(Interval(mean, NAN, NAN, 1, 1), Spread(NAN, NAN, NAN), 0, 0, 0, 0)
    assert shade(measure(1, 3), "plot", cell) == shown


def test_what_is_no_number_is_said_in_words() -> None:
    assert number(NAN) == "not measured"
    assert number(0.98765, 3) == "0.988"
    assert number(0.98765) == "0.99"
    assert in_words("plot_twist_late") == "plot twist late"


def test_one_value_of_an_unknown_range_is_neither_low_nor_high() -> None:
    cell = Cell(Interval(3, NAN, NAN, 1, 1), Spread(NAN, NAN, NAN), 0, 0, 0, 0)
    assert [shade(measure(*ends), "plot", cell) for ends in ((3, 3), (NAN, NAN))] == ["50%", "50%"]


def test_forty_two_characters_stand_above_a_ridge() -> None:
    assert short_names(["x" * 42, "y" * 43]) == {"x" * 42: "x" * 42, "y" * 43: "y" * 10 + "…" + "y" * 31}
