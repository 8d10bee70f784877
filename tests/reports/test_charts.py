"""Charts as they are drawn, in a process of their own, and the pictures of `genie compare` and `genie validate`."""

import atexit
import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.looks import rows
from tests.reports.made_logs import made_log, scored
from tests.reports.studies import (
    COSINE,
    FEATURES,
    Made,
    by_feature,
    is_edit,
    made,
    measure_of,
    one_number,
    sharp,
    study_log,
    together,
)

from genie_inspect.errors import MissingExtraError, UnknownChoiceError, UnwritableError
from genie_inspect.files.values import printable
from genie_inspect.reports import charts as drawing
from genie_inspect.reports.charts import (
    HIGHER,
    INK,
    LOWER,
    NONE,
    PAPER,
    STRONGEST,
    _drawable,
    cells_of,
    check_picture,
    comparison_chart,
    svg,
    write_chart,
)
from genie_inspect.reports.comparison import compare
from genie_inspect.reports.pairing import Options
from genie_inspect.reports.study import Study, study

altair = pytest.importorskip("altair", reason="needs the extra `charts`")
HOSTILE = "a\u202eb\x07"


def chart(name: str = "a", colour: str = INK) -> Any:
    """A dot with a name, in an order that names it too."""
    data = altair.InlineData(values=[{"x": 1, "y": name}])
    return altair.Chart(data).mark_point(color=colour).encode(x="x:Q", y=altair.Y("y:N", sort=[name]))


def test_names_are_printable_in_data_in_orders_and_as_columns() -> None:
    spec, _ = _drawable(chart(HOSTILE), PAPER)
    columns, _ = _drawable(altair.Chart({"values": [{HOSTILE: 1}]}).mark_point(), PAPER)
    for shown in (spec, columns):
        assert HOSTILE not in str(shown).encode().decode("unicode_escape")
    assert spec["encoding"]["y"]["sort"] == [printable(HOSTILE)]


def test_on_a_page_a_chart_stands_on_the_pages_own_ground_and_in_a_file_on_paper_a_png_twice_as_large(
    tmp_path: Path,
) -> None:
    assert "<rect" not in svg(chart())
    for name in ("svg", "png"):
        write_chart(chart, tmp_path / f"chart.{name}")
    drawing = (tmp_path / "chart.svg").read_text(encoding="utf-8")
    assert 'fill="#ffffff"' in drawing
    found = re.search('width="([0-9.]+)"', drawing)
    assert found
    # the width stands in a PNG's header from its sixteenth byte on
    assert int.from_bytes((tmp_path / "chart.png").read_bytes()[16:20], "big") == round(2 * float(found[1]))


def unasked() -> Any:
    raise AssertionError("it is drawn although it cannot be written")


def test_another_ending_and_a_folder_that_is_not_there_are_refused_before_anything_is_drawn(tmp_path: Path) -> None:
    for path in (tmp_path / name for name in ("chart.pdf", "chart", "chart.SVG")):
        with pytest.raises(UnknownChoiceError) as caught:
            write_chart(unasked, path)
        assert str(caught.value) == f"picture is {str(path)!r}, expected a file name ending in .svg or .png"
    with pytest.raises(UnwritableError, match="nowhere"):
        write_chart(unasked, tmp_path / "nowhere" / "chart.svg")


@pytest.mark.parametrize("library", ["altair", "vl_convert"])
def test_a_library_that_is_not_there_is_told_of_with_its_extra(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError, match=r"^a picture needs the extra charts: pip install "):
        check_picture(Path("chart.svg"))


VERSION = ".".join(altair.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
BARS: dict[str, Any] = {
    "data": {"values": [{"a": 1}]},
    "mark": "bar",
    "encoding": {"x": {"field": "a", "type": "quantitative"}},
}
KILLED = f"""
import os, signal
from genie_inspect.reports import charts as drawing
drawing.drawn({BARS}, {VERSION!r})
print(drawing._process().pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
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
    ended = subprocess.Popen(["true"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
    ended.wait()

    def refuse() -> None:
        assert drawing._turn.locked(), "it is asked by one thread at a time"
        raise BlockingIOError("no more processes")

    for process in (lambda: ended, refuse):
        monkeypatch.setattr(drawing, "_process", process)
        assert drawing.drawn(BARS, VERSION).startswith("<svg")
        assert not drawing._turn.locked()
    drawing._end(ended)


def test_it_ends_when_the_process_that_started_it_is_killed() -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, text=True, check=False)
    assert killed.returncode < 0, killed.stderr
    pid = int(killed.stdout)
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError(f"process {pid} is still there")


def test_it_is_ended_with_this_process_and_killed_where_it_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    ends: list[Any] = []
    monkeypatch.setattr(atexit, "register", lambda *end: ends.append(end))
    process = drawing._process.__wrapped__()
    ((end, *whom),) = ends
    assert whom == [process]
    end(*whom)
    assert process.returncode == 0
    monkeypatch.setattr(drawing, "LONGEST", 0.01)
    with subprocess.Popen(["sleep", "60"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as endless:
        drawing._end(endless)
        assert endless.wait(5) == -signal.SIGKILL


BASE = (0.50, 0.52, 0.48, 0.55, 0.51, 0.49, 0.53, 0.50, 0.51, 0.51)


def drawn(folder: Path, baseline: str, options: Options, **runs: Sequence[float]) -> dict[str, Any]:
    """The chart of these runs' plots."""
    for model, plots in runs.items():
        made_log(folder, [{"genie": scored({"plot": plot})} for plot in plots], model=f"m/{model}")
    found: dict[str, Any] = comparison_chart(compare([folder], baseline, options)).to_dict()
    return found


def test_a_difference_that_does_not_hold_has_no_colour_however_large_it_is(tmp_path: Path) -> None:
    raised = [value + 0.05 + value / 100 for value in BASE]
    wild = [value + (0.45 if place < 3 else -0.1) for place, value in enumerate(BASE)]
    none = [math.nan] * len(BASE)
    spec = drawn(tmp_path / "wild", "m/plain", Options(), plain=BASE, raised=raised, wild=wild, none=none)
    plots = {cell["run"]: cell for cell in rows(spec, 0)}
    assert (plots["m/none"]["shown"], plots["m/none"]["held"]) == ("not measured", 0)
    assert [run for run, cell in plots.items() if cell["dark"]] == ["m/raised"], "white ink where the colour is deep"
    assert float(plots["m/wild"]["shown"]) > float(plots["m/raised"]["shown"].removesuffix(" *"))
    assert plots["m/wild"]["held"] == 0 < plots["m/raised"]["held"]
    # the scale ends at the largest difference that holds, either way
    scale, furthest = spec["layer"][0]["encoding"]["color"]["scale"], plots["m/raised"]["held"]
    assert (scale["range"], scale["domain"]) == ([LOWER, NONE, HIGHER], [-furthest, 0, furthest])
    # without any difference the colours have a range all the same
    spec = drawn(tmp_path / "same", "log-0.eval", Options(correction="none"), plain=BASE, same=BASE)
    assert spec["layer"][0]["encoding"]["color"]["scale"]["domain"] == [-1, 0, 1]
    title = spec["title"]
    assert (title["text"], title["subtitle"]) == (
        "Difference from log-0.eval (m/plain)",
        "colour, *: significant after correction (none); =: within the margin",
    )


def cosine(text: Made) -> dict[str, object]:
    return {"cosine": scored({"cosine_mean": 0.5 + 0.1 * text.number - (0.5 if is_edit(text, "plot") else 0)}, COSINE)}


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Study:
    measures = together(by_feature(sharp), cosine, one_number(lambda text: 0.5, "flat"))  # type: ignore[arg-type]
    return study(study_log(tmp_path_factory.mktemp("study"), made(8), measures))


def cells(result: Study) -> dict[tuple[str, str], dict[str, Any]]:
    return {(cell["row"], cell["column"]): cell for cell in cells_of(result)}


def test_a_cell_shows_d_and_what_holds_of_it(result: Study) -> None:
    shown = {place: cell["shown"] for place, cell in cells(result).items()}
    effect = next(effect for effect in measure_of(result, "genie").own if effect.key.name == "plot")
    assert shown["plot", "genie: plot"] == f"{effect.difference.effect:+.2f} *"
    assert shown["paraphrase", "genie: plot"].endswith(" =")
    assert shown["plot", "cosine mean"] == "no spread *"  # always 0.5 lower
    assert shown["paraphrase", "cosine mean"] == "· ="
    assert shown["agent", "flat"] == "·"
    # the edited features' own scores are framed
    framed = {(cell["row"], cell["column"]) for cell in cells_of(result) if cell["own"]}
    assert framed == {(feature, f"genie: {feature}") for feature in FEATURES}


def test_colour_and_white_ink_are_for_what_holds_alone(result: Study) -> None:
    own, lower = cells(result)["plot", "genie: plot"], cells(result)["plot", "cosine mean"]
    assert own["held"] > STRONGEST
    assert lower["held"] == -STRONGEST
    assert own["dark"] is lower["dark"] is True
    for cell in cells_of(result):
        if not cell["shown"].endswith("*"):
            assert (cell["held"], cell["dark"]) == (0, False)
