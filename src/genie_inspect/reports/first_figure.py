"""The report's first figure: each run's means with intervals, by feature, beside the population's own documents.

A unit of the chart is a point, a 72nd of an inch, so that its letters have their size at its width on paper.
They are outlines of Roboto's, written by `tools/outline_letters.py`, and look the same in every program without a font.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from html import escape, unescape
from pathlib import Path
from statistics import fmean
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from genie_inspect.files.values import printable
from genie_inspect.files.writing import DATA, write_bytes
from genie_inspect.logs.files import LogError
from genie_inspect.logs.measures import GENIE, shown_key
from genie_inspect.reports.charts import FAINT, INK, NOT_MEASURED, Axis, chart_of, check_picture, in_words, number, svg
from genie_inspect.reports.figures import MARGIN, SHAPES, Figure, colours, one_per_run
from genie_inspect.reports.report import Measure, Report
from genie_inspect.statistics.descriptive import Interval

if TYPE_CHECKING:
    from genie_inspect.reports.charts import Chart

COLUMN = 89  # millimetres: a column of a journal
POINTS = 72 / 25.4  # of a millimetre
LETTERS, SMALL = 7, 6  # points
LINE, GAP = 8, 6  # height of a run and of a line of text, and what is free between features
NAMES = 0.35  # share of the width that names of features may take
SPACE, MARK = 4, 12  # what is free beside a name, and the width of a mark in the legend
AXIS, EDGE = 26, 8  # height of the axis with its title, and what is free at the right
MIDDLE_HALF = "middle half of the population's own documents"
DOT = 18  # square points
DOTS_PER_INCH = 300
SIZES = {"labelFontSize": LETTERS, "titleFontSize": LETTERS}
Dot = dict[str, Any]
Means = Mapping[str, Mapping[str, Interval]]  # by key and run
_EXTENT = re.compile('(width|height)="([0-9.]+)"')


def first_figure(report: Report, width: float = COLUMN) -> Figure | None:
    """The first metric's means over prompts with their intervals, highest feature first; None where it has no mean.

    It has the metric's keys that share one scale, which is drawn whole: all features of `genie`; of a metric whose keys
    have scales of their own the first alone. Bands are the middle half of the population's own documents.

    Args:
        report: Whose runs are drawn, each that the metric scored.
        width: Millimetres; letters have 6 to 7 points at that width.
    """
    measure = next((one for one in report.measures if any(not math.isnan(c.interval.mean) for c in one.cells)), None)
    if measure is None:
        return None
    first, ranges = measure.keys[0], measure.ranges
    keys = [key for key in measure.keys if key == first or (ranges[key].known and ranges[key] == ranges[first])]
    rows = {run.label: row for run, row in zip(report.runs, measure.rows, strict=True) if row}
    by_key = {key: {run: row[key].interval for run, row in rows.items()} for key in keys}
    middle_of: dict[str, float] = {}
    for key, by_run in by_key.items():
        known = [own.mean for own in by_run.values() if not math.isnan(own.mean)]
        middle_of[key] = fmean(known) if known else -math.inf  # what was not measured stands last
    means = {key: by_key[key] for key in sorted(keys, key=middle_of.__getitem__, reverse=True)}
    told = "; ".join(
        f"{shown_key(measure.signature, key)}: " + ", ".join(f"{run} {number(own.mean)}" for run, own in by_run.items())
        for key, by_run in means.items()
    )
    title = f"{in_words(measure.scorer)}: means over prompts [95% interval]"
    # a run that the metric did not score leaves the others their markers
    shapes = one_per_run(SHAPES, len(report.runs))
    colour_of = colours(report.runs)
    looks = {run.label: (colour_of[run.label], shape) for run, shape in zip(report.runs, shapes, strict=True)}
    draw = partial(_dots, measure, means, looks, width * POINTS)
    return Figure(f"first-{measure.scorer}", title, f"Means with 95% intervals, the highest first. {told}.", draw)


def write_first_figure(report: Report, path: Path, width: float = COLUMN) -> None:
    """Write the first figure for a paper: text as outlines, an SVG so many millimetres wide or a PNG with 300 dpi.

    Raises:
        LogError: If no run has a mean.
    """
    check_picture(path)
    figure = first_figure(report, width)
    if figure is None:
        raise LogError(f"{path} would be empty: no document has a score. genie summary LOGS says why")
    image = outlined(svg(figure.draw()))
    if path.suffix == ".png":
        import vl_convert

        write_bytes(path, vl_convert.svg_to_png(image, ppi=DOTS_PER_INCH))
    else:
        measured = _EXTENT.sub(lambda size: f'{size[1]}="{float(size[2]) / POINTS:g}mm"', image, count=2)
        write_bytes(path, measured.encode())


def _dots(measure: Measure, means: Means, looks: Mapping[str, tuple[str, str]], width: float) -> "Chart":
    """A row for each feature, and in it a line for each run: interval and dot."""
    import altair

    runs = list(next(iter(means.values())))
    dots: list[Dot] = []
    # places instead of names, which are a log's words
    for place, by_run in enumerate(means.values()):
        for run, own in enumerate(by_run.values()):
            # an end that too few prompts leave open is not drawn
            mean, low, high = (end if math.isfinite(end) else None for end in (own.mean, own.low, own.high))
            dots.append({"key": place, "run": run, "mean": mean, "low": low, "high": high})
    standings = [(place, measure.population.get(key)) for place, key in enumerate(means)]
    bands: list[Dot] = [{"key": place, "what": 0, "low": own.low, "high": own.high} for place, own in standings if own]
    names = [_wrapped(shown_key(measure.signature, key), NAMES * width) for key in means]
    left = max(width_of(line, LETTERS) for name in names for line in name) + 2 * SPACE
    row = {**SIZES, "domain": False, "ticks": False, "labelLimit": 0, "labelPadding": SPACE, "labelLineHeight": LINE}
    y = altair.Y("key:O", title=None, axis={**row, "labelExpr": _lines(names)}, scale={"padding": 0})
    x = _across(measure, means, bands)
    # the legends one above the other, bands below
    of_bands, below = _legend([[MIDDLE_HALF]] if bands else [], width, left, 0)
    shown = [_wrapped(run, width - MARK - SPACE) for run in runs] if runs[1:] else []
    of_runs, above = _legend(shown, width, left, below)
    places = [*range(len(runs))]

    def by_run_of(kind: Any, choices: Sequence[str]) -> Any:
        return kind("run:O", scale={"domain": places, "range": list(choices)}, legend=of_runs)

    colours_of_runs, shapes_of_runs = zip(*(looks[run] for run in runs), strict=True)
    colour, shape = by_run_of(altair.Color, colours_of_runs), by_run_of(altair.Shape, shapes_of_runs)
    fill = altair.Fill("what:O", scale={"range": [FAINT]}, legend=of_bands and of_bands | {"symbolType": "square"})
    line = {"y": y, "yOffset": altair.YOffset("run:O", scale={"domain": places, "padding": GAP / LINE / 2})}
    from_low, middle = altair.X("low:Q", **x), altair.X("mean:Q", **x)
    unmeasured = chart_of([dot for dot in dots if dot["mean"] is None])
    words = unmeasured.mark_text(align="left", baseline="middle", dx=2, fontSize=SMALL, color=INK)
    ground = chart_of(bands).mark_bar(height={"band": 0.85})
    layers = [
        *([ground.encode(x=from_low, x2="high:Q", y=y, fill=fill)] if bands else []),
        chart_of(dots).mark_rule(strokeWidth=1).encode(x=from_low, x2="high:Q", color=colour, **line),
        chart_of(dots).mark_point(filled=True, size=DOT, opacity=1).encode(x=middle, color=colour, shape=shape, **line),
        words.encode(x=altair.value(0), text=altair.value(NOT_MEASURED), **line),
    ]
    high = LINE * max(len(runs), *map(len, names)) + GAP
    return altair.layer(*layers).properties(
        width=width - left - EDGE,
        height=high * len(means),
        # what is around the dots is known: so the whole is as wide as it is to be
        autosize="none",
        padding={"left": left, "top": above + SPACE, "right": EDGE, "bottom": AXIS},
    )


def _across(measure: Measure, means: Means, bands: Iterable[Dot]) -> dict[str, Any]:
    """The whole of a scale that has ends; else from 0 to the farthest that is drawn, and a little more."""
    ends = measure.ranges[next(iter(means))]
    low, high = ends.low, ends.high
    if not (ends.known and math.isfinite(low) and math.isfinite(high)):
        drawn = [end for by_run in means.values() for own in by_run.values() for end in (own.mean, own.low, own.high)]
        reached = [0.0, *filter(math.isfinite, drawn), *(band[end] for band in bands for end in ("low", "high"))]
        low, high = min(reached), max(reached)
        margin = MARGIN * (high - low) or 0.5
        low, high = low - margin * (low < 0), high + margin * (high > 0)
    what = "novelty" if measure.signature.measure == GENIE else in_words(measure.scorer)
    ticks = {"format": ".2~f", "values": [0, 0.25, 0.5, 0.75, 1]} if (low, high) == (0, 1) else {"tickCount": 5}
    title = {"title": f"{what} (mean, 95% interval)", "titleAnchor": "end", "titlePadding": SPACE}
    axis = {**SIZES, **ticks, **title, "tickSize": 3, "gridWidth": 0.5}
    return {"scale": {"domain": [low, high], "nice": False}, "axis": axis}


def _lines(names: Sequence[Sequence[str]]) -> str:
    """The expression of a label that stands for the place of its name, a name a list of lines."""
    return json.dumps([[printable(line) for line in name] for name in names], ensure_ascii=False) + "[datum.value]"


def _legend(names: Sequence[Sequence[str]], width: float, left: float, below: float) -> tuple[Axis | None, float]:
    """A legend from the left edge on, and how far above the dots it begins; none without names."""
    if not names:
        return None, below
    longest = max(width_of(line, LETTERS) for name in names for line in name)
    columns = max(1, int(width / (MARK + longest + 2 * SPACE)))
    above = below + SPACE
    above += sum(LINE * max(map(len, names[at : at + columns])) + 2 for at in range(0, len(names), columns))
    at = {"title": None, "orient": "none", "legendX": SPACE - left, "legendY": -above, "columns": columns}
    marks = {"rowPadding": 2, "symbolSize": DOT, "symbolStrokeWidth": 0}
    return {**at, **marks, "labelLimit": 0, "labelFontSize": LETTERS, "labelExpr": _lines(names)}, above


def _wrapped(name: str, most: float) -> list[str]:
    """A name in lines that are at most so wide."""
    count = max(1, len(name))
    while count > 1 and max(width_of(line, LETTERS) for line in wrap(name, count)) > most:
        count -= 1
    return wrap(name, count) or [""]


_UNKNOWN = 0.7  # width, in ems, that a character without an outline is given
_TEXT = re.compile("<text ([^>]*)>(.*?)</text>", re.DOTALL)
_LINE = re.compile('<tspan(?: x="0" dy="([0-9.]+)")?>(.*?)</tspan>', re.DOTALL)
_ATTRIBUTE = re.compile('([a-z-]+)="([^"]*)"')
_ANCHORS = {"start": 0.0, "middle": 0.5, "end": 1.0}


@cache
def _letters() -> tuple[int, dict[str, tuple[int, str]]]:
    """Units of an em, and by character its advance and its outline."""
    kept = json.loads((DATA / "letters.json").read_text(encoding="utf-8"))
    return kept["em"], kept["letters"]


def width_of(text: str, size: float) -> float:
    """The width of a text in letters of a size, in the unit of the size."""
    em, letters = _letters()
    return size * sum(letters[one][0] / em if one in letters else _UNKNOWN for one in text)


def outlined(svg: str) -> str:
    """An SVG by vl-convert with outlines for its texts; one with a character that has no outline stays a text."""
    return _TEXT.sub(_group, svg)


def _group(text: re.Match[str]) -> str:
    em, letters = _letters()
    attributes = dict(_ATTRIBUTE.findall(text[1]))
    lines = [(float(dy or 0), unescape(line)) for dy, line in _LINE.findall(text[2])] or [(0.0, unescape(text[2]))]
    if any(one not in letters for _, line in lines for one in line):
        return text[0]
    size = float(attributes["font-size"].removesuffix("px"))
    paths, y = [], 0.0
    for dy, line in lines:
        x, y = -_ANCHORS[attributes.get("text-anchor", "start")] * width_of(line, size), y + dy
        for one in line:
            advance, outline = letters[one]
            if outline:
                # outlines have y upwards
                scale = f"translate({x:.2f},{y:.2f}) scale({size / em:.6f},{-size / em:.6f})"
                paths.append(f'<path transform="{scale}" d="{outline}"/>')
            x += size * advance / em
    kept = "".join(f' {name}="{attributes[name]}"' for name in ("transform", "fill", "opacity") if name in attributes)
    return f'<g aria-label="{escape(" ".join(line for _, line in lines))}"{kept}>{"".join(paths)}</g>'
