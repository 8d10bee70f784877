"""Charts as they are drawn: printable, on the page's own ground, and darkened."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from genie_inspect.errors import MissingExtraError, UnknownChoiceError, UnwritableError
from genie_inspect.files.printable import printable
from genie_inspect.reports.charts import DARK, LIGHT, SHARP, Theme, _drawable, check_picture, darkened, svg, write_chart

altair = pytest.importorskip("altair", reason="needs the extra `charts`")
HOSTILE = "a\u202eb\x07"


def chart(name: str = "a", colour: str = LIGHT.ink) -> Any:
    """A dot with a name, in an order that names it too."""
    data = altair.InlineData(values=[{"x": 1, "y": name}])
    return altair.Chart(data).mark_point(color=colour).encode(x="x:Q", y=altair.Y("y:N", sort=[name]))


def test_names_are_printable_in_data_and_in_orders() -> None:
    spec, _ = _drawable(chart(HOSTILE), LIGHT.paper)
    assert HOSTILE not in str(spec).encode().decode("unicode_escape")
    assert spec["encoding"]["y"]["sort"] == [printable(HOSTILE)]
    columns, _ = _drawable(altair.Chart({"values": [{HOSTILE: 1}]}).mark_point(), LIGHT.paper)
    assert HOSTILE not in str(columns).encode().decode("unicode_escape")


def test_a_specification_names_its_version_by_two_numbers_its_ground_and_the_colours_of_light_paper() -> None:
    spec, version = _drawable(chart(), "#123456")
    assert re.fullmatch(r"[0-9]+\.[0-9]+", version)
    assert spec["config"]["background"] == "#123456"
    ink, lines = ({"labelColor": LIGHT.ink, "titleColor": LIGHT.ink}, ("gridColor", "domainColor", "tickColor"))
    sizes = {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"}
    config = {part: {name: spec["config"][part][name] for name in own} for part, own in LIGHT.config.items()}
    assert config == {
        "view": {"stroke": None},
        "axis": ink | dict.fromkeys(lines, LIGHT.faint) | sizes,
        "legend": ink | {"labelFontSize": 12, "labelLimit": 400, "symbolStrokeWidth": 2},
        "title": {"color": LIGHT.ink, "subtitleColor": LIGHT.ink},
        "text": {"color": LIGHT.ink},
    }


def test_on_a_page_a_chart_stands_on_the_pages_own_ground_and_in_a_file_on_paper(tmp_path: Any) -> None:
    assert "<rect" not in svg(chart())
    write_chart(chart, tmp_path / "chart.svg")
    assert 'fill="#ffffff"' in (tmp_path / "chart.svg").read_text(encoding="utf-8")


def test_a_png_has_two_pixels_for_each_unit(tmp_path: Any) -> None:
    sizes = {}
    for name in ("svg", "png"):
        write_chart(chart, tmp_path / f"chart.{name}")
        sizes[name] = (tmp_path / f"chart.{name}").read_bytes()
    found = re.search(rb'width="([0-9.]+)"', sizes["svg"])
    assert found
    # the width stands in a PNG's header from its sixteenth byte on
    assert int.from_bytes(sizes["png"][16:20], "big") == round(SHARP * float(found[1]))


def test_every_ink_has_its_like_on_dark_paper_and_other_colours_stay() -> None:
    assert len(LIGHT.inks) == len(set(LIGHT.inks)) == len(DARK.inks) == 9
    for light, dark in zip(LIGHT.inks, DARK.inks, strict=True):
        assert darkened(f'<path stroke="{light}"/>') == f'<path stroke="{dark}"/>'
    for kept in ('<path fill="#123456"/>', "<text>#1b1b1b</text>", '<path fill="none"/>'):
        assert darkened(kept) == kept


def test_a_theme_has_its_inks_in_one_order() -> None:
    theme = Theme("#paper", "#ink", "#faint", "#grey", ("#one", "#two"))
    assert theme.inks == ("#ink", "#faint", "#grey", "#one", "#two")


def unasked() -> Any:
    raise AssertionError("it is drawn although it cannot be written")


@pytest.mark.parametrize("name", ["chart.pdf", "chart", "chart.SVG"])
def test_another_ending_is_refused_before_anything_is_drawn(name: str, tmp_path: Path) -> None:
    with pytest.raises(UnknownChoiceError) as caught:
        write_chart(unasked, tmp_path / name)
    assert str(caught.value) == (f"picture is {str(tmp_path / name)!r}, expected a file name ending in .svg or .png")


def test_a_folder_that_is_not_there_is_named_before_anything_is_drawn(tmp_path: Path) -> None:
    with pytest.raises(UnwritableError, match="nowhere"):
        write_chart(unasked, tmp_path / "nowhere" / "chart.svg")


@pytest.mark.parametrize("library", ["altair", "vl_convert"])
def test_a_library_that_is_not_there_is_told_of_with_its_extra(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError, match=r"^a picture needs the extra charts: pip install "):
        check_picture(Path("chart.svg"))
