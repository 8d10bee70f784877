"""Pictures: what all charts share, how they are written without a browser, and those of `genie compare` and `study`.

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
from genie_inspect.reports.drawing import converted, drawn

if TYPE_CHECKING:
    import altair

    from genie_inspect.reports.pairing import Comparison, Row
    from genie_inspect.reports.study import Study

    Chart: TypeAlias = altair.Chart | altair.LayerChart | altair.VConcatChart | altair.FacetChart


ENDINGS = (".svg", ".png")
Axis = dict[str, Any]  # properties of an axis, as Vega-Lite names them
SHARP = 2.0  # pixels of a PNG for each unit of the chart


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours of a page: ink on paper, faint lines, a grey, and series that the colour-blind tell apart."""

    paper: str
    ink: str
    faint: str
    grey: str  # for marks that claim nothing
    series: tuple[str, ...]

    @property
    def inks(self) -> tuple[str, ...]:
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

        write_bytes(path, converted(vl_convert.vegalite_to_png, spec, vl_version=version, scale=SHARP))
    else:
        write_bytes(path, drawn(spec, version).encode())


def svg(chart: "Chart") -> str:
    """The chart as SVG for light paper, on the page's own ground."""
    return drawn(*_drawable(chart, "transparent"))


def _drawable(chart: "Chart", background: str) -> tuple[Any, str]:
    """The Vega-Lite specification of a chart on a background colour, and its version as vl-convert names it."""
    import altair

    def made_printable(value: Any) -> Any:
        """Texts, names of columns included: at some characters vl-convert aborts the whole process."""
        if isinstance(value, dict):
            return {printable(key): made_printable(item) for key, item in value.items()}
        if isinstance(value, list):
            return list(map(made_printable, value))
        return printable(value) if isinstance(value, str) else value

    # altair's own writer takes four times as long, because it checks the data against its schema
    spec = chart.configure(background=background, **LIGHT.config).to_dict(validate=False)
    # vl-convert knows versions by major and minor alone, altair names the patch too
    return made_printable(spec), ".".join(altair.SCHEMA_VERSION.removeprefix("v").split(".")[:2])


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
# Vega-Lite breaks a label into lines where it is an array
LINES = "split(datum.label, ' ')"
NOT_MEASURED = "not measured"


def in_words(name: str) -> str:
    return name.replace("_", " ")


def number(value: float, decimals: int = 2) -> str:
    """A number as the page shows it; words where there is none.

    >>> [number(0.125), number(float("nan"))]
    ['0.12', 'not measured']
    """
    return NOT_MEASURED if math.isnan(value) else f"{value:.{decimals}f}"


def chart_of(rows: list[dict[str, Any]]) -> Any:
    """A chart of rows as a plain dict, because altair checks its own kinds of data row by row, slowly."""
    import altair

    return altair.Chart({"values": rows})


def marked(row: "Row") -> str:
    """A difference with a star where it holds, and = where it is equivalent."""
    mark = " *" if row.finding.differs else " =" if row.finding.is_equivalent else ""
    return f"{row.finding.difference.delta:+.3f}{mark}"


def grid_of(
    cells: list[dict[str, Any]], across: str, down: str, size: tuple[int, int], x_axis: Axis, y_axis: Axis
) -> "altair.Chart":
    """Cells of one size by two of their columns, in the order in which they come."""
    import altair

    columns, rows = (list(dict.fromkeys(str(cell[name]) for cell in cells)) for name in (across, down))
    grid: altair.Chart = (
        chart_of(cells)
        .encode(
            x=altair.X(f"{across}:N", title=None, sort=columns, axis=x_axis),
            y=altair.Y(f"{down}:N", title=None, sort=rows, axis=y_axis),
        )
        .properties(width=size[0] * len(columns), height=size[1] * len(rows))
    )
    return grid


def comparison_chart(comparison: "Comparison") -> "Chart":
    """Features down, runs across, the difference from the baseline as a number; with colour and star where it holds."""
    import altair

    cells: list[dict[str, Any]] = []
    for row in comparison.rows:
        name, delta = in_words(row.key), row.finding.difference.delta
        # with several scorers the key names its own
        with_scorer = len(comparison.signatures) > 1 and row.key != row.scorer
        cells.append(
            {
                "run": row.run,
                "key": f"{row.scorer}: {name}" if with_scorer else name,
                # what does not hold has the colour of no difference, however large it is
                "held": delta if row.finding.differs else 0.0,
                "shown": NOT_MEASURED if math.isnan(delta) else marked(row),
            }
        )
    # a scale from 0 to 0 has no colours
    furthest = max(abs(cell["held"]) for cell in cells) or 1.0
    for cell in cells:
        cell["dark"] = abs(cell["held"]) > DARK_FROM * furthest
    base = grid_of(cells, "run", "key", (CELL_WIDTH, CELL_HEIGHT), {"labelAngle": 0, "labelExpr": LINES}, {})
    title = altair.TitleParams(
        "Difference from " + comparison.called(*comparison.baselines),
        subtitle=f"colour and *: holds after correction ({comparison.options.correction}); =: within the margin",
        anchor="start",
    )
    squares = base.mark_rect(stroke="white").encode(color=_colour(furthest, "that holds", "+.2f"))
    return altair.layer(squares, _numbers(base), title=title)


def _colour(furthest: float, title: str, decimals: str, **scale: Any) -> "altair.Color":
    """The same distance on both sides, so that no difference is the middle colour."""
    import altair

    around = {"range": [LOWER, NONE, HIGHER], "domain": [-furthest, 0, furthest], **scale}
    return altair.Color("held:Q", scale=around, legend={"title": title, "format": decimals})


def _numbers(base: "altair.Chart") -> "altair.Chart":
    """What each cell shows, white on dark."""
    import altair

    ink = altair.condition("datum.dark", altair.value("white"), altair.value(LIGHT.ink))
    numbers: altair.Chart = base.mark_text(fontSize=12).encode(text="shown:N", color=ink)
    return numbers


EFFECT_WIDTH, EFFECT_HEIGHT = 68, 30
STRONGEST = 1.5  # d from which colours go no deeper: one effect of 20 would leave no colour for the others
BAR_WIDTH, BAR_HEIGHT = 130, 15
BARS = "How far edits and paraphrases move each measure, either way"
BARS_SCALE = "mean |difference|, 0 at the text that went least far and 1 at the one that went farthest"
ABREAST, ON_A_PHONE = 4, 2  # measures beside each other
LETTER = 7.5  # width for each of a label, which a browser may draw wider than the chart was measured with


def study_chart(study: "Study") -> "altair.VConcatChart":
    """Both pictures, one below the other."""
    import altair

    title = altair.TitleParams(BARS, subtitle=BARS_SCALE, anchor="start")
    both: altair.VConcatChart = altair.vconcat(study_heatmap(study), bars(study).properties(title=title), spacing=36)
    # each has colours of its own
    independent: altair.VConcatChart = both.resolve_scale(color="independent")
    return independent


def study_heatmap(study: "Study") -> "Chart":
    """Interventions down, measures and features across, d as a number; with colour and star where it holds."""
    import altair

    across = {"labelAngle": 0, "labelExpr": LINES, "domain": False, "ticks": False}
    down = {"domain": False, "ticks": False, "labelLimit": 300}
    base = grid_of(cells_of(study), "column", "row", (EFFECT_WIDTH, EFFECT_HEIGHT), across, down)
    colour = _colour(STRONGEST, "d that holds", "+.1f", clamp=True)
    squares = base.mark_rect(stroke="white", strokeWidth=2).encode(color=colour)
    frames = base.transform_filter("datum.own").mark_rect(filled=False, stroke=LIGHT.ink, strokeWidth=1.5)
    title = altair.TitleParams(
        "Cohen's d of each intervention on each score",
        subtitle=[
            "colour and *: holds after correction; =: paraphrases are equivalent; ·: no text differs",
            "framed: the edited feature's own score",
        ],
        anchor="start",
    )
    return altair.layer(squares, frames, _numbers(base), title=title)


def cells_of(study: "Study") -> list[dict[str, Any]]:
    """The cells of the heatmap, here and on the report's page: where they stand, what they show, what holds.

    `held` is the effect size where it holds and 0 elsewhere, however large it is.
    """
    cells = []
    for measure, effect in ((one, effect) for one in study.measures for effect in one.effects):
        difference, size = effect.difference, effect.difference.effect
        held = effect.moved and not effect.is_equivalent
        if effect.is_constant:
            shown = "·"
        elif not math.isnan(size):
            shown = f"{size:+.2f}"
        else:
            shown = "no spread" if difference.pairs > 1 else "–"
        name = in_words(measure.name)
        cells.append(
            {
                "row": in_words(effect.intervention.name),
                "column": f"{name}: {in_words(effect.key.name)}" if measure.is_by_feature else name,
                # differences that are all the same have no d: they hold as much as any can
                "held": (math.copysign(STRONGEST, difference.delta) if math.isnan(size) else size) if held else 0.0,
                "dark": held and not abs(size) < DARK_FROM * STRONGEST,
                "own": measure.is_by_feature and effect.is_own,
                "shown": shown + (" =" if effect.is_equivalent else " *" if effect.moved else ""),
            }
        )
    return cells


def bars(study: "Study", abreast: int = ABREAST) -> "Chart":
    """A panel a measure: how far each intervention moves it, with a line at how far paraphrases do."""
    import altair

    rows = [
        {"measure": in_words(measure.name), "row": in_words(one.name), "kind": one.kind, "share": share}
        for measure in study.measures
        for one, share in measure.shares.items()
    ]
    names = list(dict.fromkeys(str(row["measure"]) for row in rows))
    labels = list(dict.fromkeys(in_words(one.name) for one in study.interventions))
    x = altair.X("share:Q", title=None, scale={"domain": [0, 1]}, axis={"values": [0, 0.5, 1], "format": "g"})
    extent = LETTER * max(map(len, labels), default=0)
    y = altair.Y("row:N", title=None, sort=labels, axis={"domain": False, "ticks": False, "minExtent": extent})
    kinds = {"domain": ["edit", "paraphrase"], "range": list(LIGHT.series[:2])}
    colour = altair.Color("kind:N", scale=kinds, legend={"title": None, "orient": "top"})
    base = chart_of(rows)
    paraphrases = base.transform_filter("datum.kind == 'paraphrase'")
    line = paraphrases.mark_rule(color=LIGHT.series[1], strokeWidth=1.5, strokeDash=[4, 3])
    layered = altair.layer(
        base.mark_bar(height=BAR_HEIGHT - 4).encode(x=x, y=y, color=colour), line.encode(x=altair.X("share:Q"))
    ).properties(width=BAR_WIDTH, height=BAR_HEIGHT * len(labels))
    header = {"labelColor": LIGHT.ink, "labelFontSize": 12}
    return layered.facet(altair.Facet("measure:N", title=None, sort=names, header=header), columns=abreast)
