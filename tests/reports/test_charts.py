"""Charts: what they draw, in which colours and on which scales, and the process that draws them."""

import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.viewer import ViewerConfig
from scipy.stats import gaussian_kde
from tests.browser.conftest import contrast
from tests.looks import rows
from tests.reports.made_logs import made_log, scored
from tests.reports.studies import (
    FEATURES,
    by_feature,
    is_edit,
    made,
    measure_of,
    one_number,
    sharp,
    study_log,
    together,
)

from genie_inspect.files.values import printable
from genie_inspect.logs.scores import NONE
from genie_inspect.reports import charts as drawing
from genie_inspect.reports import figures
from genie_inspect.reports.charts import GREY, INK, ON_DARK, PAPER, SERIES, in_words, number, svg
from genie_inspect.reports.comparison import compare
from genie_inspect.reports.page import every_figure
from genie_inspect.reports.pairing import Options
from genie_inspect.reports.report import Cell, Measure, Range, Report, build_report
from genie_inspect.reports.study import study
from genie_inspect.statistics.descriptive import Interval
from genie_inspect.tasks.novelty import score_view

altair = pytest.importorskip("altair", reason="needs the extra `charts`")
HOSTILE = "a\u202eb\x07"


def chart(name: str = "a", colour: str = INK) -> Any:
    data = altair.InlineData(values=[{"x": 1, "y": name}])
    return altair.Chart(data).mark_point(color=colour).encode(x="x:Q", y=altair.Y("y:N", sort=[name]))


def test_names_are_printable_in_data_in_orders_and_as_columns() -> None:
    spec, _ = drawing._drawable(chart(HOSTILE))
    columns, _ = drawing._drawable(altair.Chart({"values": [{HOSTILE: 1}]}).mark_point())
    for shown in (spec, columns):
        assert HOSTILE not in str(shown).encode().decode("unicode_escape")
    assert spec["encoding"]["y"]["sort"] == [printable(HOSTILE)]


def test_a_file_has_its_chart_on_paper_and_a_png_twice_as_large(tmp_path: Path) -> None:
    for name in ("svg", "png"):
        drawing.write_chart(chart, tmp_path / f"chart.{name}")
    written = (tmp_path / "chart.svg").read_text(encoding="utf-8")
    assert 'fill="#ffffff"' in written
    found = re.search('width="([0-9.]+)"', written)
    assert found
    # the width stands in a PNG's header from its sixteenth byte on
    assert int.from_bytes((tmp_path / "chart.png").read_bytes()[16:20], "big") == round(2 * float(found[1]))


VERSION = ".".join(altair.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
ACROSS = {"x": {"field": "a", "type": "quantitative"}}
BARS: dict[str, Any] = {"data": {"values": [{"a": 1}]}, "mark": "bar", "encoding": ACROSS}
ENDED = """
import os, signal, sys
from genie_inspect.reports import charts as drawing
print(drawing._process().pid, flush=True)
if sys.argv[1] == "killed": os.kill(os.getpid(), signal.SIGKILL)
"""


def test_charts_are_drawn_one_after_the_other_in_one_process_beside_this_one() -> None:
    beside = drawing.drawn(BARS, VERSION)
    process = drawing._process()
    assert beside.startswith("<svg")
    assert drawing.drawn(BARS | {"mark": "point"}, VERSION) != beside
    assert drawing._process() is process
    assert process.pid != os.getpid()
    # what cannot be drawn is an error here, and the next is drawn there
    with pytest.raises(ValueError, match="conversion failed"):
        drawing.drawn({"mark": "not a specification"}, VERSION)
    assert drawing.drawn(BARS, VERSION) == beside == drawing._converted("svg", BARS, vl_version=VERSION)


def test_where_the_process_has_ended_or_none_can_be_had_they_are_drawn_in_this_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with subprocess.Popen(["true"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as ended:
        ended.wait()

    def refuse() -> None:
        assert drawing._turn.locked(), "it is asked by one thread at a time"
        raise BlockingIOError("no more processes")

    for process in (lambda: ended, refuse):
        monkeypatch.setattr(drawing, "_process", process)
        assert drawing.drawn(BARS, VERSION).startswith("<svg")
        assert not drawing._turn.locked()


@pytest.mark.parametrize(("how", "code"), [("by itself", 0), ("killed", -signal.SIGKILL)])
def test_it_ends_when_the_process_that_started_it_does(how: str, code: int) -> None:
    ended = subprocess.run([sys.executable, "-c", ENDED, how], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (code, "")
    pid = int(ended.stdout)
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError(f"process {pid} is still there")


def comparison_spec(folder: Path, baseline: str, options: Options, **runs: Sequence[float]) -> dict[str, Any]:
    for model, plots in runs.items():
        made_log(folder, [{"genie": scored({"plot": plot})} for plot in plots], model=f"m/{model}")
    found: dict[str, Any] = drawing.comparison_chart(compare([folder], baseline, options)).to_dict()
    return found


def test_a_difference_that_does_not_hold_has_no_colour_however_large_it_is(tmp_path: Path) -> None:
    raised = [value + 0.05 + value / 100 for value in BASE]
    wild = [value + (0.45 if place < 3 else -0.1) for place, value in enumerate(BASE)]
    none = [math.nan] * len(BASE)
    spec = comparison_spec(tmp_path / "wild", "m/plain", Options(), plain=BASE, raised=raised, wild=wild, none=none)
    plots = {cell["run"]: cell for cell in rows(spec, 0)}
    assert (plots["m/none"]["shown"], plots["m/none"]["held"]) == ("not measured", 0)
    assert [run for run, cell in plots.items() if cell["dark"]] == ["m/raised"], "white ink where the colour is deep"
    assert float(plots["m/wild"]["shown"]) > float(plots["m/raised"]["shown"].removesuffix(" *"))
    assert plots["m/wild"]["held"] == 0 < plots["m/raised"]["held"]
    # the scale ends at the largest difference that holds, either way
    scale, furthest = spec["layer"][0]["encoding"]["color"]["scale"], plots["m/raised"]["held"]
    assert (scale["range"], scale["domain"]) == (
        [drawing.LOWER, drawing.NONE, drawing.HIGHER],
        [-furthest, 0, furthest],
    )
    # without any difference the colours have a range all the same
    spec = comparison_spec(tmp_path / "same", "log-0.eval", Options(correction="none"), plain=BASE, same=BASE)
    assert spec["layer"][0]["encoding"]["color"]["scale"]["domain"] == [-1, 0, 1]
    assert spec["title"]["text"] == "Difference from log-0.eval (m/plain)"


def test_a_cell_of_a_study_shows_d_and_colour_and_white_ink_are_for_what_holds(tmp_path: Path) -> None:
    lowered = one_number(lambda text: 0.5 + 0.1 * text.number - 0.5 * is_edit(text, "plot"), "lowered")
    measures = together(by_feature(sharp), lowered, one_number(lambda text: 0.5, "flat"))
    result = study(study_log(tmp_path, made(8), measures))
    cells = {(cell["row"], cell["column"]): cell for cell in drawing.cells_of(result)}
    shown = {place: cell["shown"] for place, cell in cells.items()}
    effect = next(effect for effect in measure_of(result, "genie").own if effect.key.name == "plot")
    assert shown["plot", "genie: plot"] == f"{effect.difference.effect:+.2f} *"
    assert shown["paraphrase", "genie: plot"].endswith(" =")
    assert shown["plot", "lowered"] == "no spread *"  # always 0.5 lower
    assert (shown["paraphrase", "lowered"], shown["agent", "flat"]) == ("· =", "·")
    # the edited features' own scores are framed
    framed = {place for place, cell in cells.items() if cell["own"]}
    assert framed == {(feature, f"genie: {feature}") for feature in FEATURES}
    own, lower = cells["plot", "genie: plot"], cells["plot", "lowered"]
    assert own["held"] > drawing.STRONGEST == -lower["held"]
    assert own["dark"] is lower["dark"] is True
    assert {(cell["held"], cell["dark"]) for cell in cells.values() if "*" not in cell["shown"]} == {(0, False)}


NAN = float("nan")
KEYS = ("plot", "style", "agent")
MINE = "measure:mine|version:0"
BASE = (0.1, 0.3, 0.2, 0.4, 0.15, 0.25, 0.35, 0.45)


def view_of(*keys: str) -> ViewerConfig:
    return score_view("made", {"genie": keys}, dict.fromkeys(keys, (0.0, 1.0)))


def report(folder: Path, *logs: Sequence[float]) -> Report:
    """A report on logs of documents whose features all have one value."""
    for place, values in enumerate(logs):
        samples = [{"genie": scored(dict.fromkeys(KEYS, value))} for value in values]
        made_log(folder, samples, model=f"mock/{place}", viewer=view_of(*KEYS))
    return build_report([folder])


def drawn(figure: figures.Figure) -> dict[str, Any]:
    found: dict[str, Any] = figure.draw().to_dict(validate=False)
    return found


def channels(colour: str) -> list[float]:
    return [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]


def test_marks_stand_off_the_paper_by_3_to_1_and_text_by_7_to_1() -> None:
    for paper, shown in ((PAPER, {ink: ink for ink in ON_DARK}), ("#14171a", ON_DARK)):
        ratios = {ink: contrast(channels(shown[ink]), channels(paper)) for ink in ON_DARK}
        assert min(ratios[colour] for colour in (*SERIES, GREY)) >= 3
        assert ratios[INK] >= 7


def test_every_word_of_a_chart_is_in_ink(tmp_path: Path) -> None:
    assert len(ON_DARK) == len({*ON_DARK.values()}) == 9
    for figure in every_figure(report(tmp_path, (0.1, 0.4, 0.7), (0.2, 0.5, 0.9))):
        words = re.findall("<text[^>]*>", svg(figure.draw()))
        assert {re.sub('.* fill="([^"]*)".*', r"\1", word) for word in words} == {INK}


def test_a_run_has_one_colour_throughout_the_population_the_ink_and_the_seventh_that_of_the_first(
    tmp_path: Path,
) -> None:
    own = made_log(tmp_path, [{"genie": scored({"plot": 0.5}, left_out=["d"])}])
    runs = build_report([own, made_log(tmp_path, [{"genie": scored({"plot": 0.5})}])]).runs
    expected = {"mock/writer": SERIES[0], "population, leave-one-out": INK}
    assert figures.colours(runs) == figures.colours(runs[::-1]) == expected
    many = report(tmp_path / "many", *[(0.5,)] * (len(SERIES) + 2)).runs
    assert tuple(figures.colours(many).values()) == SERIES + SERIES[:2]


def test_a_name_of_more_than_42_characters_is_cut_in_the_middle_unless_two_would_be_the_same(tmp_path: Path) -> None:
    assert figures.short_names(["x" * 42, "y" * 43]) == {"x" * 42: "x" * 42, "y" * 43: "y" * 10 + "…" + "y" * 31}
    assert figures.short_names(["abcdefgh", "abcdefghi"], 8) == {"abcdefgh": "abcdefgh", "abcdefghi": "ab…efghi"}
    # the same two letters and the same five: both whole
    assert figures.short_names(["abXefghi", "abYefghi"], 7) == {name: name for name in ("abXefghi", "abYefghi")}
    name = "openai-api/somewhere/a-model-with-a-rather-long-name-2026-01-01"
    found = build_report([made_log(tmp_path, [{"genie": scored({"plot": 0.5})}], model=name)])
    figure = figures.heatmap(found, found.measures[0])
    assert name in figure.description
    assert rows(drawn(figure), 0)[0]["run"] == "openai-api…h-a-rather-long-name-2026-01-01"


def test_a_key_has_a_ridge_with_its_quartiles_and_the_populations_unless_it_is_passed_or_not(tmp_path: Path) -> None:
    own = {"plot": {"percentile": 50.0, "mean": 0.5, "low": 0.3, "high": 0.8}}
    for name, values in (("binary", (0.0, 1.0, 1.0)), ("graded", (0.0, 0.5, 1.0))):
        samples = [{"genie": scored({"plot": value, "style": value}, standing=own)} for value in values]
        made_log(tmp_path / name, samples, texts=["word " * count for count in (10, 20, 40)])
    binary, graded = build_report([tmp_path / "binary"]), build_report([tmp_path / "graded"])
    assert figures.ridges(binary, binary.measures[0]) == []
    plot, style = figures.ridges(graded, graded.measures[0])
    assert (plot.title, style.title) == ("plot", "style")
    (box,) = rows(drawn(style), 2)
    assert (box["low"], box["median"], box["high"]) == (0.25, 0.5, 0.75)
    assert rows(drawn(plot), 0) == [{"low": pytest.approx(0.3), "high": pytest.approx(0.8)}]
    assert "Band, the population's own documents: 0.3 to 0.8." in plot.description
    assert "Band" not in style.description
    assert [drawn(figure)["layer"][0]["mark"]["type"] for figure in (plot, style)] == ["rect", "area"]
    # an axis goes a twentieth beyond what was seen, but not below zero words
    assert figures.ends_of_axis(Range(10, 20, known=False)) == (9.5, 20.5)
    assert figures.ends_of_axis(Range(0, 1, known=True)) == (0, 1)
    assert drawn(figures.length_ridges(graded))["layer"][0]["encoding"]["x"]["scale"]["domain"] == [0, 42]


def test_what_a_kernel_puts_beyond_either_known_end_is_reflected() -> None:
    ends = Range(1, 3, known=True)
    values = [1.1, 1.2, 2.8, 3.0]
    points = figures.density(values, ends)
    assert (points[0][0], points[-1][0]) == (1, 3)
    kernel = gaussian_kde(values)
    heights = [float(kernel(at)[0] + kernel(2 - at)[0] + kernel(6 - at)[0]) for at, _ in points]
    assert [height for _, height in points] == pytest.approx([0.6 * one / max(heights) for one in heights], abs=1e-3)
    assert figures.density([0.5, 0.5], ends) == []


def measure(low: float, high: float) -> Measure:
    by_run: dict[str, Any] = dict.fromkeys(("rows", "unscored", "faults", "warnings", "graders", "agreement"), ())
    return Measure("genie", NONE, ("plot",), {"plot": Range(low, high, known=True)}, population={}, **by_run)


def test_as_many_decimals_are_shown_as_tell_values_apart_and_a_shade_as_high_as_the_mean_in_its_range() -> None:
    for low, high, decimals in (
        *((0, 1, 2), (0, 999, 2), (0, 1_000, 0), (0.3, 0.30000001, 6), (0.01, 0.05, 3), (0.3, 0.3004, 5)),
        *((3, 3, 2), (NAN, NAN, 2)),
    ):
        assert figures.places(measure(low, high), "plot") == decimals
    assert [number(NAN), number(0.98765, 3), number(0.98765)] == ["not measured", "0.988", "0.99"]
    assert in_words("plot_twist_late") == "plot twist late"

    # the shade is where the mean stands in its range, and one value of an unknown range in the middle
    for mean, ends, shown in (
        *((1.0, (1, 3), "0%"), (2.5, (1, 3), "75%"), (9.0, (1, 3), "100%"), (NAN, (1, 3), "0%")),
        *((3.0, (3, 3), "50%"), (3.0, (NAN, NAN), "50%")),
    ):
        assert figures.shade(measure(*ends), "plot", Cell(Interval(mean, NAN, NAN, 1, 1), {}, 0, 0, 0, 0)) == shown


def test_a_heatmap_has_the_tables_numbers_and_the_deepest_colour_at_the_top_of_the_range(tmp_path: Path) -> None:
    # 0.5 +- 12.706 * 0.1 cut to the ends
    samples = [{"genie": scored({"plot": value, "style": 1.0})} for value in (0.4, 0.6)]
    found = build_report([made_log(tmp_path, samples)])
    figure = figures.heatmap(found, found.measures[0])
    drawn = svg(figure.draw())
    assert all(f">{shown}<" in drawn for shown in ("mock/writer", "plot", "style", "0.50", "[0.00, 1.00]"))
    assert 'fill="rgb(106, 174, 214)"' in drawn
    # nobody says how far values could go: the colours are between the lowest and the highest
    for value in (0.30001, 0.30002):
        samples = [{"mine": scored({"mine": value}, MINE)}]
        made_log(tmp_path, samples, model=f"m/{value}", viewer=ViewerConfig())
    found = build_report([tmp_path])
    spec = figures.heatmap(found, found.measures[1]).draw().to_dict(validate=False)
    shown = [(cell["run"], cell["share"], cell["mean"], cell["ends"]) for cell in rows(spec, 0)]
    # as many decimals as tell these values apart; of one prompt there is no interval, and an unscored run has no row
    assert shown == [("m/0.30001", 0.0, "0.300010", ""), ("m/0.30002", 100.0, "0.300020", "")]
    legend = spec["layer"][0]["encoding"]["color"]["legend"]
    assert legend["labelExpr"] == "datum.value ? 'highest of its column' : 'lowest'"


def compared(folder: Path, *runs: Mapping[str, Sequence[float]], base: Sequence[float] = BASE) -> Report:
    """A baseline and runs of these scores, by key."""
    for place, run in enumerate((dict.fromkeys(runs[0], base), *runs)):
        samples = [{"genie": scored(dict(zip(run, values, strict=True)))} for values in zip(*run.values(), strict=True)]
        made_log(folder, samples, model=f"mock/{place}")
    return build_report([folder], baseline="mock/0")


def test_a_difference_that_holds_has_its_runs_colour_and_a_star_and_others_are_grey(tmp_path: Path) -> None:
    mixed = [value + step for value, step in zip(BASE, (0.1, -0.1) * 4, strict=True)]
    found = compared(tmp_path, {"plot": [value + 0.3 for value in BASE], "style": mixed})
    (figure,) = figures.forests(found)
    margins, _, intervals, deltas, numbers = (rows(drawn(figure), layer) for layer in range(5))
    assert [(row["name"], row["shown"]) for row in numbers] == [("plot", "+0.300 *"), ("style", "+0.000")]
    assert [row["colour"] for row in deltas] == [figures.colours(found.runs)["mock/1"], GREY]
    assert found.comparison
    difference = found.comparison.rows[1].finding.difference
    assert (intervals[1]["low"], intervals[1]["high"]) == pytest.approx((difference.low, difference.high))
    assert (margins[1]["low"], margins[1]["high"]) == pytest.approx((-difference.margin, difference.margin))


def test_what_could_not_be_measured_has_no_row_no_chart_and_without_a_baseline_there_is_none(tmp_path: Path) -> None:
    # one key alone: a row a run
    found = compared(tmp_path / "a", {"plot": [v + 0.1 for v in BASE], "style": [NAN] * 8})
    (figure,) = figures.forests(found)
    assert ([row["name"] for row in rows(drawn(figure), 4)], figure.title) == (["mock/1"], "genie: plot")
    assert list(figures.forests(build_report([tmp_path / "a"]))) == []
    values = {"genie": scored({"plot": NAN}), "mine": scored({"mine": 0.5}, MINE)}
    for model in ("mock/0", "mock/1"):
        made_log(tmp_path / "b", [values] * 2, model=model)
    assert [figure.name for figure in figures.forests(build_report([tmp_path / "b"], baseline="mock/0"))] == [
        "forest-mine"
    ]


def test_the_forests_of_a_measure_have_one_scale_a_twentieth_beyond_what_is_reached(tmp_path: Path) -> None:
    # 0.2 standard deviations of the baseline: 0.2 x 0.11456 = 0.022913 either way, which is the margin
    margin = 0.022913
    for before, after, low, high in (
        (BASE, [[value + step for value in BASE] for step in (0.1, 0.3)], -margin, 0.3),
        (BASE, [[value - 0.1 for value in BASE]], -0.1, margin),
        # one prompt alone has neither interval nor margin, and where nothing differs there is a scale, too
        *(([0.2], [[0.5]], 0.0, 0.3), ([0.5], [[0.2]], -0.3, 0.0), ([0.5], [[0.5]], 0.0, 0.0)),
    ):
        runs = [{"plot": values, "style": before} for values in after]
        drawings = list(figures.forests(compared(tmp_path / f"{before}-{after}", *runs, base=before)))
        room = 0.05 * (high - low) or 0.5
        for figure in drawings:
            ends = drawn(figure)["layer"][0]["encoding"]["x"]["scale"]["domain"]
            assert ends == pytest.approx([low - room, high + room], abs=1e-5)
        assert len(drawings) == len(after)
        if len(before) == 1:
            interval, delta = rows(drawn(drawings[0]), 2)[0], rows(drawn(drawings[0]), 3)[0]
            assert (interval["low"], interval["high"]) == (None, None)
            assert delta["low"] == pytest.approx(after[0][0] - before[0])
