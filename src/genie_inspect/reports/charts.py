"""Pictures of reports: Vega-Lite charts, written without a browser.

The library is altair with vl-convert: of those that draw without a browser and open no connection it is the smallest
that is well kept. It is an extra, because nobody needs a picture to measure.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from genie_inspect.errors import MissingExtraError, UnknownChoiceError
from genie_inspect.files.printable import printable
from genie_inspect.files.writing import check_writable, write_bytes
from genie_inspect.reports.drawing import drawn
from genie_inspect.reports.pairing import Comparison, Row

if TYPE_CHECKING:
    import altair

    Chart: TypeAlias = altair.Chart | altair.LayerChart | altair.VConcatChart | altair.FacetChart


ENDINGS = (".svg", ".png")
SHARP = 2.0  # pixels of a PNG for each unit of the chart


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours of a page: ink on paper, faint lines, a grey, and series that the colour-blind tell apart."""

    paper: str
    ink: str
    faint: str
    grey: str
    """For marks that claim nothing."""
    series: tuple[str, ...]

    @property
    def inks(self) -> tuple[str, ...]:
        """All that marks and text are drawn in."""
        return (self.ink, self.faint, self.grey, *self.series)

    @property
    def config(self) -> dict[str, Any]:
        """Altair configuration in these colours; the background is set when the chart is drawn."""
        text = {"labelColor": self.ink, "titleColor": self.ink}
        lines = {"gridColor": self.faint, "domainColor": self.faint, "tickColor": self.faint}
        return {
            "view": {"stroke": None},
            "axis": {**text, **lines, "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"},
            "legend": {**text, "labelFontSize": 12, "labelLimit": 400, "symbolStrokeWidth": 2},
            "title": {"color": self.ink, "subtitleColor": self.ink},
            "text": {"color": self.ink},
        }


# the palette of Okabe and Ito (2008), in the order of their contrast with the paper; orange and sky blue are darkened
# on light paper to reach a contrast of 3 : 1
_ON_LIGHT = ("#0072b2", "#d55e00", "#00805e", "#b3578b", "#a87300", "#3a88ba")
_ON_DARK = ("#56b4e9", "#e69f00", "#2bc79b", "#e08fc0", "#f0e442", "#8ab4ff")
LIGHT = Theme("#ffffff", "#1b1b1b", "#dcdcdc", "#767a7f", _ON_LIGHT)
DARK = Theme("#14171a", "#e8e8e8", "#454b52", "#8f959b", _ON_DARK)
# how vl-convert writes a colour: an attribute's whole value, six lower-case digits
_COLOUR = re.compile('="(#[0-9a-f]{6})"')


def check_pictures() -> None:
    """Say what is missing, before anything is computed."""
    try:
        import altair  # noqa: F401  # is it there?
        import vl_convert  # noqa: F401
    except ImportError:
        raise MissingExtraError("a picture", "charts") from None


def check_picture(path: Path) -> None:
    """Refuse a picture that cannot be written, before anything is computed."""
    if path.suffix not in ENDINGS:
        raise UnknownChoiceError("picture", str(path), "a file name ending in " + " or ".join(ENDINGS))
    check_pictures()
    check_writable(path)


def write_chart(draw: Callable[[], "Chart"], path: Path) -> None:
    """Write a chart for light paper as SVG or PNG, by the file's ending, over what may stand there."""
    check_picture(path)
    # text on no ground is lost on a dark page
    spec, version = _drawable(draw(), LIGHT.paper)
    if path.suffix == ".png":
        import vl_convert  # an extra, of which the check says when it is missing

        write_bytes(path, vl_convert.vegalite_to_png(spec, vl_version=version, scale=SHARP))
    else:
        write_bytes(path, drawn(spec, version).encode())


def svg(chart: "Chart") -> str:
    """The chart as SVG for light paper, on the page's own ground."""
    return drawn(*_drawable(chart, "transparent"))


def _drawable(chart: "Chart", background: str) -> tuple[Any, str]:
    """The Vega-Lite specification of a chart on a background colour, and its version as vl-convert names it.

    Altair's own writer takes four times as long, because it checks the data against its schema. Labels are made
    printable: at some characters vl-convert aborts the whole process.
    """
    import altair

    spec = chart.configure(background=background, **LIGHT.config).to_dict(validate=False)
    # vl-convert knows versions by major and minor alone, altair names the patch too
    return _printable(spec), ".".join(altair.SCHEMA_VERSION.removeprefix("v").split(".")[:2])


def _printable(value: Any) -> Any:
    """A chart's specification with the texts in it printable, names of columns included."""
    if isinstance(value, dict):
        return {printable(key): _printable(item) for key, item in value.items()}
    if isinstance(value, list):
        return list(map(_printable, value))
    return printable(value) if isinstance(value, str) else value


def darkened(image: str) -> str:
    """An SVG for light paper in the colours of dark paper, far sooner than it could be drawn anew.

    >>> darkened('<path stroke="#1b1b1b"/>')
    '<path stroke="#e8e8e8"/>'
    """
    # the two themes have the same number of inks, in the same order
    dark = dict(zip(LIGHT.inks, DARK.inks, strict=True))
    return _COLOUR.sub(lambda colour: f'="{dark.get(colour[1], colour[1])}"', image)


CELL_WIDTH, CELL_HEIGHT = 120, 34
LOWER, NONE, HIGHER = "#8e4b10", "#f7f7f7", "#542788"  # told apart by the colour-blind
DARK_FROM = 0.6  # share of the scale from which white ink reads better


def comparison_chart(comparison: Comparison) -> "altair.LayerChart":
    """Features down, runs across, the difference from the baseline as a number; with colour and star where it holds."""
    import altair

    cells = [_cell(row, several=len(comparison.signatures) > 1) for row in comparison.rows]
    # a scale from 0 to 0 has no colours
    furthest = max(abs(cell["held"]) for cell in cells) or 1.0
    for cell in cells:
        cell["dark"] = abs(cell["held"]) > DARK_FROM * furthest
    keys, runs = (list(dict.fromkeys(str(cell[name]) for cell in cells)) for name in ("key", "run"))
    # Vega-Lite breaks a label into lines where it is an array
    x = altair.X("run:N", title=None, sort=runs, axis=altair.Axis(labelAngle=0, labelExpr="split(datum.label, ' ')"))
    base = (
        altair.Chart(altair.InlineData(values=cells))
        .encode(x=x, y=altair.Y("key:N", title=None, sort=keys))
        .properties(width=CELL_WIDTH * len(runs), height=CELL_HEIGHT * len(keys))
    )
    # the same distance on both sides, so that no difference is the middle colour
    scale = altair.Scale(range=[LOWER, NONE, HIGHER], domain=[-furthest, 0, furthest])
    colour = altair.Color("held:Q", scale=scale, legend=altair.Legend(title="that holds", format="+.2f"))
    ink = altair.condition("datum.dark", altair.value("white"), altair.value("#1b1b1b"))
    title = altair.TitleParams(
        "Difference from " + comparison.called(*comparison.baselines),
        subtitle=f"colour and *: holds after correction ({comparison.options.correction}); =: within the margin",
        anchor="start",
    )
    squares = base.mark_rect(stroke="white").encode(color=colour)
    numbers = base.mark_text(fontSize=12).encode(text="shown:N", color=ink)
    return altair.LayerChart(layer=[squares, numbers], title=title)


def _cell(row: Row, *, several: bool) -> dict[str, Any]:
    """One cell of the heatmap: run, key, difference and label; with several scorers the key names its own."""
    name = row.key.replace("_", " ")
    delta = row.finding.difference.delta
    mark = " *" if row.finding.differs else " =" if row.finding.is_equivalent else ""
    measured = not math.isnan(delta)
    return {
        "run": row.run,
        "key": f"{row.scorer}: {name}" if several and row.key != row.scorer else name,
        # what does not hold has the colour of no difference, however large it is
        "held": delta if row.finding.differs else 0.0,
        "shown": f"{delta:+.3f}{mark}" if measured else "not measured",
    }
