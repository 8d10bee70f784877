"""Pictures: what all charts share, how they are drawn without a browser, and those of `genie compare` and `study`.

The library is altair with vl-convert: of those that draw without a browser and open no connection it is the smallest
that is well kept. It is an extra, because nobody needs a picture to measure.

Run as a module it is the process that draws, so that what this file imports when it is loaded stays light.
"""

import atexit
import json
import math
import re
import subprocess
import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import IO, TYPE_CHECKING, Any, TypeAlias, cast

from genie_inspect.errors import MissingExtraError, UnknownChoiceError
from genie_inspect.files.values import printable
from genie_inspect.files.writing import check_writable, write_bytes

if TYPE_CHECKING:
    import altair

    from genie_inspect.reports.comparison import Comparison, Row
    from genie_inspect.reports.study import Study

    Chart: TypeAlias = altair.Chart | altair.LayerChart | altair.VConcatChart | altair.FacetChart


ENDINGS = (".svg", ".png")
Axis = dict[str, Any]  # properties of an axis, as Vega-Lite names them
SHARP = 2.0  # pixels of a PNG for each unit of the chart
# ink on paper, faint lines, a grey for marks that claim nothing, and series that the colour-blind tell apart: the
# palette of Okabe and Ito (2008), in the order of their contrast with the paper; orange and sky blue are darkened on
# light paper to reach a contrast of 3 : 1
PAPER, INK, FAINT, GREY = "#ffffff", "#1b1b1b", "#dcdcdc", "#767a7f"
SERIES = ("#0072b2", "#d55e00", "#00805e", "#b3578b", "#a87300", "#3a88ba")
_DARK_SERIES = ("#56b4e9", "#e69f00", "#2bc79b", "#e08fc0", "#f0e442", "#8ab4ff")
# by ink on light paper, that on dark paper (#14171a)
ON_DARK = dict(zip((INK, FAINT, GREY, *SERIES), ("#e8e8e8", "#454b52", "#8f959b", *_DARK_SERIES), strict=True))
_TEXT = {"labelColor": INK, "titleColor": INK}
CONFIG: Axis = {
    "view": {"stroke": None},
    "axis": {
        **_TEXT,
        **dict.fromkeys(("gridColor", "domainColor", "tickColor"), FAINT),
        **{"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"},
    },
    "legend": {**_TEXT, "labelFontSize": 12, "labelLimit": 400, "symbolStrokeWidth": 2},
    "title": {"color": INK, "subtitleColor": INK},
    "text": {"color": INK},
}


def check_pictures() -> None:
    try:
        import altair  # noqa: F401  # is it there?
        import vl_convert  # noqa: F401
    except ImportError:
        raise MissingExtraError("a picture", "charts") from None


def check_picture(path: Path) -> None:
    if path.suffix not in ENDINGS:
        raise UnknownChoiceError("picture", str(path), "a file name ending in " + " or ".join(ENDINGS))
    check_pictures()
    check_writable(path)


def write_chart(draw: Callable[[], "Chart"], path: Path) -> None:
    check_picture(path)
    if path.suffix == ".png":
        spec, version = _drawable(draw())
        write_bytes(path, _converted("png", spec, vl_version=version, scale=SHARP))
    else:
        write_bytes(path, svg(draw()).encode())


def svg(chart: "Chart") -> str:
    """The chart as SVG."""
    return drawn(*_drawable(chart))


def _drawable(chart: "Chart") -> tuple[Any, str]:
    """The Vega-Lite specification of a chart, and its version as vl-convert names it."""
    import altair

    def made_printable(value: Any) -> Any:
        # names of columns, too: at some characters vl-convert aborts the whole process
        if isinstance(value, dict):
            return {printable(key): made_printable(item) for key, item in value.items()}
        if isinstance(value, list):
            return list(map(made_printable, value))
        return printable(value) if isinstance(value, str) else value

    # text on no ground would be lost on a dark page
    # altair's own writer takes four times as long, because it checks the data against its schema
    spec = chart.configure(background=PAPER, **CONFIG).to_dict(validate=False)
    # vl-convert knows versions by major and minor alone, altair names the patch too
    return made_printable(spec), ".".join(altair.SCHEMA_VERSION.removeprefix("v").split(".")[:2])


_TWO_HALVES = re.compile(r"[\U00010000-\U0010ffff]")
_turn = Lock()


def drawn(spec: dict[str, Any], version: str) -> str:
    """The SVG of a Vega-Lite specification, drawn by a process of its own; in this one where no other can be had.

    The engine takes a hundred megabytes, as much as Inspect does. The process reads a specification a line and writes
    its SVG a line, both JSON; it ends when its standard input does, however this process ended.
    """
    try:
        with _turn:
            process = _process()
            specifications, drawings = cast("tuple[IO[str], IO[str]]", (process.stdin, process.stdout))
            specifications.write(json.dumps([spec, version]) + "\n")
            specifications.flush()
            # an empty line, where it has ended, is no JSON and so a ValueError
            return str(json.loads(drawings.readline()))
    except (OSError, ValueError):
        # a machine that allows no more processes, one that ended, or a specification that cannot be drawn
        return str(_converted("svg", spec, vl_version=version))


@lru_cache(maxsize=1)
def _process() -> "subprocess.Popen[str]":
    # started anew and not forked: a fork would hold all that this process holds
    process = subprocess.Popen(  # noqa: S603  # this Python and this module
        [sys.executable, "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    )
    atexit.register(process.communicate)  # closes its standard input and waits
    return process


def _converted(form: str, spec: dict[str, Any], **options: Any) -> Any:
    import vl_convert

    convert = getattr(vl_convert, f"vegalite_to_{form}")
    try:
        return convert(spec, **options)
    except ValueError:
        # Vega cuts long labels in the middle of characters that take two halves in JavaScript
        text = _TWO_HALVES.sub("\N{REPLACEMENT CHARACTER}", json.dumps(spec, ensure_ascii=False))
        return convert(json.loads(text), **options)


LOWER, NONE, HIGHER = "#8e4b10", "#f7f7f7", "#542788"  # told apart by the colour-blind
DARK_FROM = 0.6  # share of the scale from which white ink reads better
# Vega-Lite breaks a label into lines where it is an array
LINES = "split(datum.label, ' ')"
NOT_MEASURED = "not measured"


def in_words(name: str) -> str:
    return name.replace("_", " ")


def number(value: float, decimals: int = 2) -> str:
    """A number as the page shows it; words where there is none."""
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
    """Cells of one size by two of their columns, in their order."""
    import altair

    columns, rows = (list(dict.fromkeys(str(cell[name]) for cell in cells)) for name in (across, down))
    x = altair.X(f"{across}:N", title=None, sort=columns, axis=x_axis)
    y = altair.Y(f"{down}:N", title=None, sort=rows, axis=y_axis)
    extent = {"width": size[0] * len(columns), "height": size[1] * len(rows)}
    grid: altair.Chart = chart_of(cells).encode(x=x, y=y).properties(**extent)
    return grid


def _heatmap(
    base: "altair.Chart", furthest: float, legend: Axis, scale: Axis, title: Axis, *above: Any, **squares: Any
) -> "Chart":
    """Cells in the colour of `held`, of which no difference is the middle, and above them what is `shown`."""
    import altair

    around = {"range": [LOWER, NONE, HIGHER], "domain": [-furthest, 0, furthest], **scale}
    colour = altair.Color("held:Q", scale=around, legend=legend)
    ink = altair.condition("datum.dark", altair.value("white"), altair.value(INK))
    rectangles = base.mark_rect(stroke="white", **squares).encode(color=colour)
    numbers = base.mark_text(fontSize=12).encode(text="shown:N", color=ink)
    return altair.layer(rectangles, *above, numbers, title=altair.TitleParams(**title, anchor="start"))


def comparison_chart(comparison: "Comparison") -> "Chart":
    """Features down, runs across, the difference from the baseline as a number; with colour and star where it holds."""
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
    base = grid_of(cells, "run", "key", (120, 34), {"labelAngle": 0, "labelExpr": LINES}, {})
    title = {
        "text": "Difference from " + comparison.called(*comparison.baselines),
        "subtitle": f"colour, *: significant after correction ({comparison.options.correction}); =: within the margin",
    }
    return _heatmap(base, furthest, {"title": "significant", "format": "+.2f"}, {}, title)


STRONGEST = 1.5  # d from which colours go no deeper: one effect of 20 would leave no colour for the others
BAR_HEIGHT = 15
BARS = "How far edits and paraphrases move each measure, either way"
BARS_SCALE = "mean |difference|, 0 at the text that went least far and 1 at the one that went farthest"
ABREAST, ON_A_PHONE = 4, 2  # measures beside each other
LETTER = 7.5  # width for each of a label, which a browser may draw wider than the chart was measured with


def study_chart(study: "Study") -> "Chart":
    """Both pictures, one below the other, each with colours of its own."""
    import altair

    title = altair.TitleParams(BARS, subtitle=BARS_SCALE, anchor="start")
    both: altair.VConcatChart = altair.vconcat(study_heatmap(study), bars(study).properties(title=title), spacing=36)
    independent: altair.VConcatChart = both.resolve_scale(color="independent")
    return independent


def study_heatmap(study: "Study") -> "Chart":
    """Interventions down, measures and features across, d as a number; with colour and star where it holds."""
    bare = {"domain": False, "ticks": False}
    across, down = bare | {"labelAngle": 0, "labelExpr": LINES}, bare | {"labelLimit": 300}
    base = grid_of(cells_of(study), "column", "row", (68, 30), across, down)
    frames = base.transform_filter("datum.own").mark_rect(filled=False, stroke=INK, strokeWidth=1.5)
    title = {
        "text": "Cohen's d of each edit and of paraphrases on each score",
        "subtitle": [
            "colour and *: significant after correction; =: paraphrases are equivalent; ·: no text differs",
            "framed: the edited feature's own score",
        ],
    }
    legend = {"title": "significant d", "format": "+.1f"}
    return _heatmap(base, STRONGEST, legend, {"clamp": True}, title, frames, strokeWidth=2)


def cells_of(study: "Study") -> list[dict[str, Any]]:
    """The cells of the heatmap, here and on the page; `held` is the effect size where it holds and 0 elsewhere."""
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
                "row": in_words(effect.intervention),
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

    paraphrase, edit = "paraphrase", "edit"
    rows = []
    for measure in study.measures:
        for one, share in measure.shares.items():
            kind = paraphrase if one == paraphrase else edit
            rows.append({"measure": in_words(measure.name), "row": in_words(one), "kind": kind, "share": share})
    names = list(dict.fromkeys(str(row["measure"]) for row in rows))
    labels = list(map(in_words, study.texts.changed))
    x = altair.X("share:Q", title=None, scale={"domain": [0, 1]}, axis={"values": [0, 0.5, 1], "format": "g"})
    extent = LETTER * max(map(len, labels), default=0)
    y = altair.Y("row:N", title=None, sort=labels, axis={"domain": False, "ticks": False, "minExtent": extent})
    scale = {"domain": [edit, paraphrase], "range": list(SERIES[:2])}
    colour = altair.Color("kind:N", scale=scale, legend={"title": None, "orient": "top"})
    base = chart_of(rows)
    paraphrases = base.transform_filter(f"datum.kind == '{paraphrase}'")
    line = paraphrases.mark_rule(color=SERIES[1], strokeWidth=1.5, strokeDash=[4, 3])
    layered = altair.layer(
        base.mark_bar(height=BAR_HEIGHT - 4).encode(x=x, y=y, color=colour), line.encode(x=altair.X("share:Q"))
    ).properties(width=130, height=BAR_HEIGHT * len(labels))
    header = {"labelColor": INK, "labelFontSize": 12}
    return layered.facet(altair.Facet("measure:N", title=None, sort=names, header=header), columns=abreast)


if __name__ == "__main__":
    for row in sys.stdin:
        specification, version = json.loads(row)
        image = json.dumps(_converted("svg", specification, vl_version=version))
        sys.stdout.write(image + "\n")  # noqa: TID251  # a pipe to the process above
        sys.stdout.flush()
