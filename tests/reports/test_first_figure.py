"""The report's first figure, on the page and as a picture for a paper, and its letters."""

import math
import re
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.looks import rows
from tests.reports.made_logs import made_log, scored

from genie_inspect.logs.files import LogError
from genie_inspect.reports.charts import SERIES
from genie_inspect.reports.first_figure import LETTERS, POINTS, first_figure, outlined, width_of, write_first_figure
from genie_inspect.reports.report import build_report
from genie_inspect.tasks.novelty import score_view

altair = pytest.importorskip("altair", reason="needs the extra `charts`")
NAN = math.nan
LONG = "openrouter/meta-llama/llama-3.3-70b-instruct-turbo-free-extended-2026-02-11, plan and then write it all again"
STANDING = {"percentile": 60, "mean": 0.5, "low": 0.45, "high": 0.58}


def logs(folder: Path, runs: Mapping[str, Sequence[Mapping[str, float]]], scorer: str = "genie", **facts: Any) -> Path:
    """A log for each model, with scores from 0 to 1 by key for each of its documents."""
    for model, documents in runs.items():
        signature = f"measure:{scorer}|judge:test|population:small-1@0|version:0"
        keys = list(documents[0])
        ranges = dict.fromkeys(keys, (0.0, 1.0)) if scorer == "genie" else {}
        view = score_view("made", {scorer: keys}, ranges)
        made_log(folder, [{scorer: scored(own, signature, **facts)} for own in documents], model=model, viewer=view)
    return folder


def spec(folder: Path, width: float = 89) -> dict[str, Any]:
    figure = first_figure(build_report([folder]), width)
    assert figure is not None
    found: dict[str, Any] = figure.draw().to_dict(validate=False)
    return found


def layer(found: dict[str, Any], mark: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """What stands in the layer of a mark, and how it is drawn."""
    (place,) = (place for place, one in enumerate(found["layer"]) if one["mark"]["type"] == mark)
    return rows(found, place), found["layer"][place]["encoding"]


TWO = {
    "m/first": [{"style": 0.2, "plot": 0.5, "setting": NAN}, {"style": 0.3, "plot": 0.7, "setting": NAN}],
    "m/second": [{"style": 0.3, "plot": 0.9, "setting": NAN}, {"style": 0.4, "plot": 0.8, "setting": NAN}],
}


def test_every_run_has_a_dot_for_each_feature_the_highest_first_on_a_scale_that_is_not_cut(tmp_path: Path) -> None:
    found = spec(logs(tmp_path, TWO))
    dots, own = layer(found, "point")
    assert [dot["mean"] for dot in dots[:4]] == pytest.approx([0.6, 0.85, 0.25, 0.35])
    assert own["x"]["scale"]["domain"] == [0, 1]
    assert own["x"]["axis"]["title"] == "novelty (mean, 95% interval)"
    assert own["y"]["axis"]["labelExpr"].startswith('[["plot"], ["style"], ["setting"]]')
    assert own["color"]["legend"]["labelExpr"].startswith('[["m/first"], ["m/second"]]')
    # what was not measured has words and no dot
    assert [(dot["key"], dot["mean"]) for dot in layer(found, "text")[0]] == [(2, None)] * 2
    figure = first_figure(build_report([tmp_path]))
    assert figure is not None
    assert "plot: m/first 0.60, m/second 0.85; style" in figure.description
    assert "setting: m/first not measured" in figure.description


def test_the_populations_own_documents_are_a_band_and_a_single_run_needs_no_legend(tmp_path: Path) -> None:
    one = logs(tmp_path / "one", {"m/one": [{"plot": 0.5}] * 3}, standing={"plot": STANDING})
    found = spec(one)
    bands, own = layer(found, "bar")
    assert [(band["low"], band["high"]) for band in bands] == [(0.45, 0.58)]
    assert "middle half of the population's own documents" in own["fill"]["legend"]["labelExpr"]
    assert layer(found, "point")[1]["color"]["legend"] is None
    bare = spec(logs(tmp_path / "bare", {"m/one": [{"plot": 0.5}]}))
    assert [one["mark"]["type"] for one in bare["layer"]] == ["rule", "point", "text"]


def test_of_keys_on_scales_of_their_own_the_first_alone_is_drawn_from_0_on(tmp_path: Path) -> None:
    documents = [{"perplexity": 11.0, "share": 0.6}, {"perplexity": 12.0, "share": 0.9}]
    _, own = layer(spec(logs(tmp_path, {"m/one": documents}, scorer="other")), "point")
    low, high = own["x"]["scale"]["domain"]
    assert low == 0
    assert high > 12
    assert own["y"]["axis"]["labelExpr"].startswith('[["perplexity"]]')
    assert own["x"]["axis"]["title"] == "other (mean, 95% interval)"
    # a run that the metric did not score leaves the others their colour and shape
    _, own = layer(spec(logs(tmp_path, {"n/two": [{"plot": 0.5}]})), "point")
    assert (own["color"]["scale"]["range"], own["shape"]["scale"]["range"]) == ([SERIES[1]], ["square"])


def test_without_any_mean_there_is_no_figure_and_nothing_is_written(tmp_path: Path) -> None:
    report = build_report([logs(tmp_path / "logs", {"m/one": [{"plot": NAN}]})])
    assert first_figure(report) is None
    with pytest.raises(LogError, match=r"means\.svg would be empty: no document has a score"):
        write_first_figure(report, tmp_path / "means.svg")
    assert not (tmp_path / "means.svg").exists()


@pytest.mark.parametrize("width", [89, 183])
def test_a_picture_is_as_wide_as_it_is_to_be_and_its_words_are_outlines_of_7_points(
    width: float, tmp_path: Path
) -> None:
    key = "a_feature_whose_name_nobody_would_call_short"
    runs = {LONG: [{key: 0.5, "plot": NAN}], "m/second": [{key: 0.7, "plot": NAN}]}
    report = build_report([logs(tmp_path / "logs", runs, standing={key: STANDING})])
    for ending in ("svg", "png"):
        write_first_figure(report, tmp_path / f"means.{ending}", width)
    svg = (tmp_path / "means.svg").read_text(encoding="utf-8")
    assert f'width="{width}mm"' in svg
    (box,) = re.findall(r'viewBox="0 0 ([0-9.]+) [0-9.]+"', svg)
    assert float(box) == pytest.approx(width * POINTS)
    assert "<text" not in svg
    words = re.findall('aria-label="([^"]*)"><path|<g aria-label="([^"]*)"', svg)
    said = "|".join(a or b for a, b in words)
    # nothing is cut, be it broken into lines
    for name in (LONG, "m/second", key.replace("_", " "), "not measured", "novelty (mean, 95% interval)"):
        assert name.replace(" ", "").replace("-", "") in said.replace(" ", "").replace("-", "")
    heights = {float(scale) for scale in re.findall(r"scale\(([0-9.]+),", svg)}
    assert heights == {round(points / 2048, 6) for points in (6, LETTERS)}
    png = (tmp_path / "means.png").read_bytes()
    assert struct.unpack(">I", png[16:20]) == (int(width / 25.4 * 300),)
    (per_metre,) = struct.unpack(">I", png[png.index(b"pHYs") + 4 :][:4])
    assert per_metre == round(300 / 0.0254)


def test_a_text_is_outlined_where_it_stood_and_stays_a_text_where_a_letter_is_unknown() -> None:
    text = '<text text-anchor="end" transform="translate(9,2)" font-size="10px" fill="#1b1b1b">{}</text>'
    plain = outlined(text.format("a &amp; b"))
    assert plain.startswith('<g aria-label="a &amp; b" transform="translate(9,2)" fill="#1b1b1b"><path')
    first, *_, last = (float(at) for at in re.findall(r'transform="translate\(([-0-9.]+),', plain)[1:])
    assert first == pytest.approx(-width_of("a & b", 10), abs=0.01)
    assert last == pytest.approx(-width_of("b", 10), abs=0.01)
    assert plain.count("<path") == 3, "a space has no outline"
    unknown = text.format("\N{CJK UNIFIED IDEOGRAPH-5C0F}\N{CJK UNIFIED IDEOGRAPH-8AAA}")
    assert outlined(unknown) == unknown
    assert width_of("mm", 10) > width_of("ii", 10) > 0
    lines = outlined(text.format('<tspan>one</tspan><tspan x="0" dy="8">two</tspan>'))
    assert {y for _, y in re.findall(r"translate\(([-0-9.]+),([0-9.]+)\) scale", lines)} == {"0.00", "8.00"}
