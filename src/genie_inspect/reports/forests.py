"""The report's comparison as charts: each difference with its interval, in colour where it holds."""

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from genie_inspect.reports.charts import LIGHT, chart_of, grid_of, in_words, marked, number
from genie_inspect.reports.figures import MARGIN, Figure, colours, places, shade, short_names
from genie_inspect.reports.pairing import Row
from genie_inspect.reports.report import Measure, Report

if TYPE_CHECKING:
    from genie_inspect.reports.charts import Chart


WIDTH, HEIGHT = 240, 26  # of the scale, of a row
NAMES, FEW = 120, 17  # width that names of rows have, and how many characters that is
# a browser's letters may be wider than those that the chart was measured with
ROOM = {"left": 8, "top": 4, "right": 24, "bottom": 4}
Ends = tuple[float, float]
Line = tuple[str, Row, str]  # its name in the chart, the difference, and the colour of its run


def forests(report: Report) -> Iterator[Figure]:
    """A figure for each run and measure that was tested; those of one measure have one scale.

    A measure that is tested by one key alone has one figure, with a row a run.
    """
    if report.comparison is None:
        return
    colour_of = colours(report.runs)
    tested = [row for row in report.comparison.rows if row.tested and not math.isnan(row.finding.difference.delta)]
    for scorer in report.comparison.signatures:
        rows = [row for row in tested if row.scorer == scorer]
        by_run = {run: [row for row in rows if row.run == run] for run in dict.fromkeys(row.run for row in rows)}
        measure, ends = in_words(scorer), _ends(rows)
        if len({row.key for row in rows}) == 1:
            names = short_names(list(by_run), FEW)
            lines = [(names[row.run], row, colour_of[row.run]) for row in rows]
            yield _forest(f"forest-{scorer}", f"{measure}: {in_words(rows[0].key)}", lines, ends)
            continue
        for place, (run, own) in enumerate(by_run.items(), start=1):
            lines = [(in_words(row.key), row, colour_of[run]) for row in own]
            yield _forest(f"forest-{scorer}-{place}", f"{measure}: {run} against {own[0].baseline}", lines, ends)


def _forest(name: str, title: str, lines: Sequence[Line], ends: Ends) -> Figure:
    told = "; ".join(f"{name} {marked(row)}" for name, row, _ in lines)
    description = f"Paired differences, {title}. {told}. The tables below have the intervals."
    return Figure(name, title, description, lambda: _forest_chart(lines, ends))


def _forest_chart(lines: Sequence[Line], ends: Ends) -> "Chart":
    """A row a line: the margin as a pale bar around 0, the interval as a rule, the difference as a dot and a number."""
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
        shown = {"colour": own_colour if row.finding.differs else LIGHT.grey, "shown": marked(row)}
        for rows, low, high in ((margins, -d.margin, d.margin), (intervals, d.low, d.high), (deltas, d.delta, None)):
            # an end that too few pairs leave open is not drawn
            known = {"low": low if math.isfinite(low) else None, "high": high if math.isfinite(high or 0) else None}
            rows.append({"name": name, **known, **shown})
    beside = chart_of(deltas).mark_text(align="left", fontSize=12, color=LIGHT.ink)
    return altair.layer(
        chart_of(margins).mark_bar(color=LIGHT.faint, opacity=0.6, size=14).encode(x=x, x2="high:Q", y=y),
        chart_of([{"low": 0}]).mark_rule(color=LIGHT.ink, opacity=0.6).encode(x=x),
        chart_of(intervals).mark_rule(strokeWidth=2.5).encode(x=x, x2="high:Q", y=y, color=colour),
        chart_of(deltas).mark_point(filled=True, size=70, opacity=1).encode(x=x, y=y, color=colour),
        beside.encode(x=altair.value(WIDTH + 8), y=y, text="shown:N"),
    ).properties(width=WIDTH, height=HEIGHT * len(lines), padding=ROOM)


def _ends(rows: Sequence[Row]) -> Ends:
    """From the lowest to the highest that any run of the measure reaches, and a little more; 0 is among them."""
    differences = [row.finding.difference for row in rows]
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
    description = f"Heatmap of the means of {len(measure.keys)} features for {', '.join(rows)}."
    return Figure(f"means-{measure.scorer}", title, description, lambda: _heatmap_chart(title, cells, measure.is_unit))


def _heatmap_chart(title: str, cells: list[dict[str, Any]], is_unit: bool) -> "Chart":
    import altair

    across = {"labelAngle": 0, "orient": "top", "labelLimit": CELL_WIDTH}
    base = grid_of(cells, "key", "run", (CELL_WIDTH, CELL_HEIGHT), across, {"labelLimit": 400})
    ends = "datum.value ? '1' : '0'" if is_unit else "datum.value ? 'highest of its column' : 'lowest'"
    length = CELL_HEIGHT * len({cell["run"] for cell in cells})
    legend = {"title": None, "values": [0, 100], "labelExpr": ends, "gradientLength": length}
    colour = altair.Color("share:Q", scale={"domain": [0, 100], "range": [LOW, HIGH]}, legend=legend)
    return altair.layer(
        base.mark_rect(stroke=LIGHT.paper, strokeWidth=2).encode(color=colour),
        base.mark_text(dy=-7, fontSize=13, fontWeight="bold").encode(text="mean:N"),
        base.mark_text(dy=9, fontSize=11).encode(text="ends:N"),
        title=altair.TitleParams(title, anchor="start"),
    )
