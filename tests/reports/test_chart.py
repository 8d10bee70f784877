"""The picture of `genie compare`, as altair is told to draw it."""

from pathlib import Path
from typing import Any

import pytest
from tests.looks import marks, rows, told_by
from tests.reports.made_logs import made_log, scored

from genie_inspect.reports.charts import HIGHER, LOWER, NONE, comparison_chart
from genie_inspect.reports.comparison import compare
from genie_inspect.reports.pairing import Options

pytest.importorskip("altair", reason="needs the extra `charts`")
BASE = (0.50, 0.52, 0.48, 0.55, 0.51, 0.49, 0.53, 0.50, 0.51, 0.51)
MIXED = (0.3, 0.7, 0.2, 0.9, 0.3, 0.8, 0.4, 0.6, 0.5, 0.55)
ECHO = "measure:echo|version:0"


def log(folder: Path, model: str, *plots: float, echo: bool = False) -> None:
    """A log with so many prompts, the last of which has a style too; perhaps scored by a second scorer."""
    more = {"echo": scored({"echo": 0.5, "plot_twist": 0.5}, ECHO)} if echo else {}
    made_log(
        folder,
        [{"genie": scored({"plot": plot} | ({"style": 0.5} if model != "b" else {})), **more} for plot in plots],
        model=f"m/{model}",
    )


def drawn(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = comparison_chart(compare([folder], "m/plain")).to_dict()
    return found


def test_a_cell_shows_the_difference_with_its_sign_and_what_holds_of_it(tmp_path: Path) -> None:
    log(tmp_path, "plain", *BASE)
    log(tmp_path, "raised", *(value + 0.2 + value / 10 for value in BASE))
    log(tmp_path, "lowered", *(value - 0.1 - value / 10 for value in BASE))
    log(tmp_path, "slight", *(value + 0.001 + value / 1000 for value in BASE))  # it holds, and is within the margin
    log(tmp_path, "same", *BASE)
    log(tmp_path, "mixed", *MIXED)
    log(tmp_path, "b", *BASE)
    shown = {(cell["run"], cell["key"]): cell for cell in rows(drawn(tmp_path), 0)}
    # means: 0.51, so +0.2 + 0.051, -0.1 - 0.051; mixed 0.525
    assert {run: cell["shown"] for (run, key), cell in shown.items() if key == "plot"} == {
        "m/raised": "+0.251 *",
        "m/lowered": "-0.151 *",
        "m/slight": "+0.002 *",
        "m/same": "+0.000 =",
        "m/mixed": "+0.015",
        "m/b": "+0.000 =",
    }
    lacking = shown["m/b", "style"]
    assert (lacking["shown"], lacking["held"], lacking["dark"]) == ("not measured", 0, False)
    # of 0.251 six tenths are 0.1506: white ink on both of these cells, whatever their sign
    assert {run for (run, _), cell in shown.items() if cell["dark"]} == {"m/raised", "m/lowered"}


def test_the_colours_go_as_far_as_the_furthest_difference_either_way(tmp_path: Path) -> None:
    log(tmp_path, "plain", *BASE)
    log(tmp_path, "lowered", *(value - 0.25 for value in BASE))
    scale = drawn(tmp_path)["layer"][0]["encoding"]["color"]["scale"]
    assert scale["range"] == [LOWER, NONE, HIGHER]
    assert scale["domain"] == pytest.approx([-0.25, 0, 0.25])


def test_a_difference_that_does_not_hold_has_no_colour_however_large_it_is(tmp_path: Path) -> None:
    log(tmp_path, "plain", *BASE)
    log(tmp_path, "raised", *(value + 0.05 + value / 100 for value in BASE))
    log(tmp_path, "wild", *(value + (0.6 if place < 3 else -0.1) for place, value in enumerate(BASE)))
    spec = drawn(tmp_path)
    plots = {cell["run"]: cell for cell in rows(spec, 0) if cell["key"] == "plot"}
    assert float(plots["m/wild"]["shown"]) > float(plots["m/raised"]["shown"].removesuffix(" *"))
    assert plots["m/wild"]["held"] == 0 < plots["m/raised"]["held"]
    # the scale ends at the largest difference that holds
    assert spec["layer"][0]["encoding"]["color"]["scale"]["domain"][-1] == plots["m/raised"]["held"]


def test_without_any_difference_the_colours_have_a_range_all_the_same(tmp_path: Path) -> None:
    log(tmp_path, "plain", *BASE)
    log(tmp_path, "same", *BASE)
    assert drawn(tmp_path)["layer"][0]["encoding"]["color"]["scale"]["domain"] == [-1, 0, 1]
    title = comparison_chart(compare([tmp_path], "log-0.eval", Options(correction="none"))).to_dict()["title"]
    assert (title["text"], title["subtitle"]) == (
        "Difference from log-0.eval (m/plain)",
        "colour and *: holds after correction (none); =: within the margin",
    )


def test_runs_and_keys_stand_in_their_order_and_keys_of_two_scorers_say_whose_they_are(tmp_path: Path) -> None:
    for model in ("plain", "zebra", "ant"):
        log(tmp_path, model, *BASE, echo=True)
    spec = drawn(tmp_path)
    encoding = spec["layer"][0]["encoding"]
    assert (spec["width"], spec["height"]) == (2 * 120, 4 * 34)
    assert encoding["x"]["sort"] == ["m/zebra", "m/ant"]
    # a key that is its scorer's own name says enough
    assert encoding["y"]["sort"] == ["genie: plot", "genie: style", "echo", "echo: plot twist"]


def test_keys_of_one_scorer_are_words_alone(tmp_path: Path) -> None:
    for model in ("plain", "other"):
        made_log(tmp_path, [{"genie": scored({"plot_twist": value})} for value in BASE], model=f"m/{model}")
    assert drawn(tmp_path)["layer"][0]["encoding"]["y"]["sort"] == ["plot twist"]


def test_numbers_stand_on_squares_of_one_size_and_are_white_on_dark_ones(tmp_path: Path) -> None:
    for model, step in (("plain", 0.0), ("raised", 0.2), ("lowered", -0.2)):
        log(tmp_path, model, *(value + step for value in BASE))
    spec = drawn(tmp_path)
    assert marks(spec) == [{"type": "rect", "stroke": "white"}, {"type": "text", "fontSize": 12}]
    assert told_by(spec, 0) == {"x": "run", "y": "key", "color": "held"}
    assert told_by(spec, 1) == {"x": "run", "y": "key", "text": "shown", "color": "#1b1b1b"}
    assert spec["layer"][1]["encoding"]["color"]["condition"] == {"test": "datum.dark", "value": "white"}
    assert (spec["width"], spec["height"]) == (2 * 120, 2 * 34)
    assert spec["layer"][0]["encoding"]["color"]["legend"] == {"title": "that holds", "format": "+.2f"}
    assert spec["layer"][0]["encoding"]["x"]["axis"] == {"labelAngle": 0, "labelExpr": "split(datum.label, ' ')"}
    assert spec["title"] == {
        "text": "Difference from m/plain",
        "subtitle": "colour and *: holds after correction (holm); =: within the margin",
        "anchor": "start",
    }
