"""The report's pictures in files: means as heatmap, distributions as ridges, differences as forests."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle, product
from typing import TYPE_CHECKING, Any, TypeVar

from genie_inspect.logs.reading import ScoredLog
from genie_inspect.reports.charts import FAINT, GREY, INK, PAPER, SERIES, chart_of, grid_of, in_words, marked, number
from genie_inspect.reports.comparison import Row
from genie_inspect.reports.report import Cell, Measure, Range, Report, measured, spread
from genie_inspect.statistics.descriptive import Standing

if TYPE_CHECKING:
    from genie_inspect.reports.charts import Chart


MOST = 42  # characters that stand above a ridge


def short_names(labels: Sequence[str], most: int = MOST) -> dict[str, str]:
    """By label, its beginning and its end where it is longer than `most`; whole where two would be the same."""
    # names begin alike, with their provider, and differ at the end
    front = most // 4
    short = {label: label if len(label) <= most else f"{label[:front]}…{label[front - most + 1 :]}" for label in labels}
    names = list(short.values())
    return {label: name if names.count(name) == 1 else label for label, name in short.items()}


DOTS = 60  # documents up to which each is a dot
GRID = 96  # points of a density
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
MARGIN = 0.05  # of the values seen, on either side of them
T = TypeVar("T")
Rows = Sequence[tuple[ScoredLog, list[float]]]  # runs with their documents' values


def one_per_run(shapes: Sequence[T], runs: int) -> list[T]:
    """The shapes of so many runs: where a colour comes again, its shape is another."""
    return [shapes[(place + place // len(shapes)) % len(shapes)] for place in range(runs)]


@dataclass(frozen=True, slots=True)
class Figure:
    name: str  # for a file: letters, digits and dashes
    title: str
    description: str  # alternative text, which a screen reader reads aloud
    draw: Callable[[], "Chart"]


def ridges(report: Report, measure: Measure) -> list[Figure]:
    """One a key; one that takes two values alone (a test passed or not) has no distribution beyond its mean."""
    figures = []
    for key in measure.keys:
        rows = [(run, values) for run in report.runs if (values := measured(run, measure.scorer, key))]
        if len({value for _, values in rows for value in values}) > 2:
            name, title = f"spread-{measure.scorer}-{key}", in_words(key)
            figures.append(_ridges(name, title, rows, measure.ranges[key], report, measure.population.get(key)))
    return figures


def length_ridges(report: Report) -> Figure:
    rows = [(run, [float(document.words) for document in run.documents]) for run in report.runs]
    longest = max(value for _, values in rows for value in values)
    return _ridges("lengths", "words per document", rows, Range(0.0, longest, known=False), report)


def _ridges(name: str, title: str, rows: Rows, ends: Range, report: Report, band: Standing | None = None) -> Figure:
    medians = "; ".join(f"{run.label}: {spread(values)['median']:.4g}" for run, values in rows)
    own = f" Band, the population's own documents: {band.low:.4g} to {band.high:.4g}." if band else ""
    description = f"Distribution of {title}, one row per run. Medians: {medians}.{own}"
    return Figure(name, title, description, lambda: _ridge_chart(title, rows, ends, colours(report.runs), band))


def _ridge_chart(title: str, rows: Rows, ends: Range, colour_of: Mapping[str, str], band: Standing | None) -> "Chart":
    """A row a run: name and density; on the base line quartiles, median and, where they are few, documents."""
    import altair

    labels = [run.label for run, _ in rows]
    low, high = ends_of_axis(ends)
    scale = {"domain": labels, "range": [colour_of[name] for name in labels]}
    colour = altair.Color("run:N", scale=scale, legend=None)
    x = altair.X("x:Q", title=title, scale={"domain": [low, high], "nice": False}, axis={"tickCount": 5})
    y = altair.Y("y:Q", axis=None, scale={"domain": [-len(rows) + 0.85, 0.95], "nice": False})
    shown = short_names(labels)
    areas: list[dict[str, Any]] = []
    dots: list[dict[str, Any]] = []
    boxes = [{"run": run.label, "y": -place, **spread(values)} for place, (run, values) in enumerate(rows)]
    names = [{"run": run, "name": shown[run], "x": low, "y": 0.8 - place} for place, run in enumerate(labels)]
    for place, (run, values) in enumerate(rows):
        at = {"run": run.label, "base": -place}
        areas += [{**at, "x": x, "y": height - place} for x, height in density(values, ends)]
        dots += [{**at, "x": value, "y": -place} for value in values if len(values) <= DOTS]
    from_low, median = altair.X("low:Q", title=title), altair.X("median:Q", title=title)
    bands = [chart_of([{"low": band.low, "high": band.high}])] if band else []
    diamonds = chart_of(boxes).mark_point(shape="diamond", filled=True, size=70, color=INK, opacity=1)
    words = chart_of(names).mark_text(align="left", baseline="middle", fontSize=12, color=INK, limit=330)
    return altair.layer(
        *(own.mark_rect(color=FAINT, opacity=0.5).encode(x=from_low, x2="high:Q") for own in bands),
        chart_of(areas).mark_area(opacity=0.35, line=True).encode(x=x, y=y, y2="base:Q", color=colour, detail="run:N"),
        chart_of(dots).mark_tick(size=8, thickness=1.2, opacity=0.7).encode(x=x, y=y, color=colour),
        chart_of(boxes).mark_rule(strokeWidth=4, color=INK, opacity=0.55).encode(x=from_low, x2="high:Q", y=y),
        diamonds.encode(x=median, y=y),
        words.encode(x=x, y=y, text="name:N"),
    ).properties(width=340, height=66 * len(rows))


def density(values: Sequence[float], ends: Range) -> list[tuple[float, float]]:
    """A Gaussian kernel density, its highest point 0.6, over a grid from end to end; empty where all values are one.

    What the kernel would put beyond a known end is reflected, because no value can lie there.
    """
    import numpy as np
    from scipy.stats import gaussian_kde

    # a kernel density of equal values has no width: scipy refuses it
    if len(set(values)) < 2:
        return []
    low, high = ends_of_axis(ends)
    grid = np.linspace(low, high, GRID)
    kernel = gaussian_kde(values)
    heights = kernel(grid)
    if ends.known:
        heights = heights + kernel(2 * low - grid) + kernel(2 * high - grid)
    # rows are 1 apart: a ridge stays below the name of its run
    heights *= 0.6 / heights.max()
    return [(round(float(at), 5), round(float(height), 4)) for at, height in zip(grid, heights, strict=True)]


def ends_of_axis(ends: Range) -> tuple[float, float]:
    margin = 0.0 if ends.known else MARGIN * (ends.high - ends.low)
    # a lowest value of 0 is a natural end, as of word counts: no axis below it
    return ends.low - (margin if ends.low else 0.0), ends.high + margin


def colours(runs: Sequence[ScoredLog]) -> dict[str, str]:
    """A colour for each run by its name, the same in every chart; the population's is the ink."""
    # by place among all runs, so that a run keeps its colour in a chart that lacks others
    others = [run.label for run in runs if not run.is_population]
    return dict.fromkeys((run.label for run in runs), INK) | dict(zip(others, cycle(SERIES), strict=False))


def places(measure: Measure, key: str) -> int:
    """The decimals with which the values of a key differ: two, or more where the range is small."""
    span = measure.ranges[key].high - measure.ranges[key].low
    if math.isnan(span) or span == 0:
        return 2
    # two digits of the span's own magnitude, at most six
    return min(6, max(0 if span >= 1000 else 2, 1 - math.floor(math.log10(span))))


def shade(measure: Measure, key: str, cell: Cell) -> str:
    """How far a mean stands from the low to the high end of its key's range, in percent.

    The range is the values' own where no view says it, so that there the shade compares runs and says nothing else.
    """
    ends = measure.ranges[key]
    if math.isnan(cell.interval.mean):
        return "0%"
    # one value, of which nobody says what it could be: neither low nor high
    if not ends.high > ends.low:
        return "50%"
    return f"{100 * min(1.0, max(0.0, (cell.interval.mean - ends.low) / (ends.high - ends.low))):.0f}%"


WIDTH, HEIGHT = 240, 26  # of the scale, of a row
NAMES, FEW = 120, 17  # width that names of rows have, and how many characters that is
# a browser's letters may be wider than those that the chart was measured with
ROOM = {"left": 8, "top": 4, "right": 24, "bottom": 4}
Line = tuple[str, Row, str]  # its name in the chart, the difference, and the colour of its run


def tested_rows(report: Report) -> Iterator[tuple[str, bool, dict[str, list[Row]]]]:
    """By scorer the differences that are tested and measured, by the title of what they are drawn in.

    That is a panel for each run; or, where only one key is tested, which is then told, one with a row for each run.
    """
    if report.comparison is None:
        return
    tested = [row for row in report.comparison.rows if row.tested and not math.isnan(row.finding.difference.delta)]
    for scorer in report.comparison.signatures:
        rows = [row for row in tested if row.scorer == scorer]
        has_one_key = len({row.key for row in rows}) == 1
        panels: dict[str, list[Row]] = {}
        for row in rows:
            title = in_words(row.key) if has_one_key else f"{row.run} against {row.baseline}"
            panels.setdefault(title, []).append(row)
        yield scorer, has_one_key, panels


def forests(report: Report) -> Iterator[Figure]:
    """A figure for each run of a measure, on one scale; one with a row a run where one key alone is tested."""
    colour_of = colours(report.runs)
    for scorer, has_one_key, panels in tested_rows(report):
        for place, (what, rows) in enumerate(panels.items(), start=1):
            names = short_names([row.run for row in rows], FEW) if has_one_key else {}
            lines = [(names.get(row.run) or in_words(row.key), row, colour_of[row.run]) for row in rows]
            title = f"{in_words(scorer)}: {what}"
            told = "; ".join(f"{name} {marked(row)}" for name, row, _ in lines)
            description = f"Paired differences, {title}. {told}. The tables below have the intervals."
            suffix = "" if has_one_key else f"-{place}"
            draw = partial(_forest_chart, lines, reach(panels))
            yield Figure(f"forest-{scorer}{suffix}", title, description, draw)


def _forest_chart(lines: Sequence[Line], ends: tuple[float, float]) -> "Chart":
    """A row a line: the margin a pale bar around 0, the interval a rule, the difference a dot and a number."""
    import altair

    scale, axis = {"domain": list(ends), "nice": False}, {"tickCount": 4, "labelOverlap": True}
    x = altair.X("low:Q", title="difference", scale=scale, axis=axis)
    room = {"domain": False, "ticks": False, "labelLimit": NAMES, "minExtent": NAMES, "maxExtent": NAMES}
    y = altair.Y("name:N", title=None, sort=[name for name, _, _ in lines], axis=room)
    colour = altair.Color("colour:N", legend=None, scale=None)
    margins: list[dict[str, Any]] = []
    intervals: list[dict[str, Any]] = []
    deltas: list[dict[str, Any]] = []
    for name, row, own_colour in lines:
        d = row.finding.difference
        shown = {"colour": own_colour if row.finding.differs else GREY, "shown": marked(row)}
        for rows, *ends_of in ((margins, -d.margin, d.margin), (intervals, d.low, d.high), (deltas, d.delta, d.delta)):
            # an end that too few pairs leave open is not drawn
            low, high = (end if math.isfinite(end) else None for end in ends_of)
            rows.append({"name": name, "low": low, "high": high, **shown})
    beside = chart_of(deltas).mark_text(align="left", fontSize=12, color=INK)
    return altair.layer(
        chart_of(margins).mark_bar(color=FAINT, opacity=0.6, size=14).encode(x=x, x2="high:Q", y=y),
        chart_of([{"low": 0}]).mark_rule(color=INK, opacity=0.6).encode(x=x),
        chart_of(intervals).mark_rule(strokeWidth=2.5).encode(x=x, x2="high:Q", y=y, color=colour),
        chart_of(deltas).mark_point(filled=True, size=70, opacity=1).encode(x=x, y=y, color=colour),
        beside.encode(x=altair.value(WIDTH + 8), y=y, text="shown:N"),
    ).properties(width=WIDTH, height=HEIGHT * len(lines), padding=ROOM)


def reach(panels: Mapping[str, Sequence[Row]]) -> tuple[float, float]:
    """From the lowest to the highest that any run of the measure reaches, and a little more; 0 is among them."""
    differences = (row.finding.difference for rows in panels.values() for row in rows)
    values = [value for d in differences for value in (d.delta, d.low, d.high, d.margin, -d.margin)]
    reached = [0.0, *filter(math.isfinite, values)]
    low, high = min(reached), max(reached)
    # where nothing differs at all, a scale still has a width
    margin = MARGIN * (high - low) or 0.5
    return low - margin, high + margin


LOW, HIGH = "#f5f6f7", "#6aaed6"  # those of the page's own table
CELL_WIDTH, CELL_HEIGHT = 112, 44


def heatmap(report: Report, measure: Measure) -> Figure:
    """Runs down, keys across, the mean with its interval on a ground that is bluer the higher it is in its range."""
    rows = {run.label: row for run, row in zip(report.runs, measure.rows, strict=True) if row}
    names = short_names(list(rows))
    cells = []
    for label, key in product(rows, measure.keys):
        decimals, interval = places(measure, key), rows[label][key].interval
        ends = f"[{number(interval.low, decimals)}, {number(interval.high, decimals)}]"
        cells.append(
            {
                "run": names[label],
                "key": in_words(key),
                "share": float(shade(measure, key, rows[label][key]).rstrip("%")),
                "mean": number(interval.mean, decimals),
                "ends": "" if math.isnan(interval.low) else ends,
            }
        )
    title = f"{in_words(measure.scorer)}: means over prompts [95% interval]"

    def draw() -> "Chart":
        import altair

        across = {"labelAngle": 0, "orient": "top", "labelLimit": CELL_WIDTH}
        base = grid_of(cells, "key", "run", (CELL_WIDTH, CELL_HEIGHT), across, {"labelLimit": 400})
        ends = "datum.value ? '1' : '0'" if measure.is_unit else "datum.value ? 'highest of its column' : 'lowest'"
        length = CELL_HEIGHT * len({cell["run"] for cell in cells})
        legend = {"title": None, "values": [0, 100], "labelExpr": ends, "gradientLength": length}
        colour = altair.Color("share:Q", scale={"domain": [0, 100], "range": [LOW, HIGH]}, legend=legend)
        return altair.layer(
            base.mark_rect(stroke=PAPER, strokeWidth=2).encode(color=colour),
            base.mark_text(dy=-7, fontSize=13, fontWeight="bold").encode(text="mean:N"),
            base.mark_text(dy=9, fontSize=11).encode(text="ends:N"),
            title=altair.TitleParams(title, anchor="start"),
        )

    description = f"Heatmap of the means of {len(measure.keys)} features for {', '.join(rows)}."
    return Figure(f"means-{measure.scorer}", title, description, draw)
