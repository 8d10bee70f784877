"""The page's own figures: lanes on one scale, drawn by its template as SVG; no chart library, no script."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from genie_inspect.logs.reading import ScoredLog
from genie_inspect.reports.charts import GREY, ON_DARK, in_words, marked, number
from genie_inspect.reports.comparison import Row
from genie_inspect.reports.figures import DOTS, colours, density, ends_of_axis, one_per_run, places, reach, tested_rows
from genie_inspect.reports.report import Cell, Measure, Range, Report, measured, spread
from genie_inspect.reports.study import Study
from genie_inspect.statistics.descriptive import Standing

# outlines around 0, 0 of markers of about 11 pixels, in the order of those in pictures
SHAPES = (
    "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z",  # circle
    "M-4.5-4.5h9v9h-9z",  # square
    "M0-5.5L5.5 4.5h-11z",  # triangle
    "M0-6.5L6 0L0 6.5L-6 0z",  # diamond
    "M-1.7-5.5h3.4v3.8h3.8v3.4h-3.8v3.8h-3.4v-3.8h-3.8v-3.4h3.8z",  # cross
    "M0 5.5L5.5-4.5h-11z",  # triangle on its tip
)
BAR = "M-1.5-7h3v14h-3z"  # of the population's own documents
HEIGHT = 60  # of a density, in units of its drawing
Ends = tuple[float, float]  # of a scale
WHOLE = ((0.0, "0"), (50.0, "0.5"), (100.0, "1"))
ROOM = 15  # percent of a scale that a number below it takes


@dataclass(frozen=True, slots=True)
class Marker:
    light: str  # colour on light paper
    dark: str
    shape: str  # path of an SVG


NO_MARKER = Marker(GREY, ON_DARK[GREY], SHAPES[0])


@dataclass(frozen=True, slots=True)
class Lane:
    """A name, a number, and places from 0 to 100 on the scale; None is not drawn."""

    name: str
    shown: str
    ends: str  # of the interval, in words; empty where there is none
    marker: Marker
    at: float | None = None
    low: float | None = None
    high: float | None = None
    band: tuple[float, float] | None = None  # its beginning and its width
    rule: float | None = None  # a line to compare with
    heights: str = ""  # path of a density, 100 wide and HEIGHT high
    ticks: str = ""  # path of single documents, likewise
    is_bar: bool = False  # from `low` to `high`, in place of a marker with an interval


@dataclass(frozen=True, slots=True)
class Panel:
    title: str  # empty where the lanes say it
    lanes: list[Lane]
    scale: tuple[tuple[float, str], ...]  # places below it, each with its number
    names_runs: bool = True  # whether a lane is a run, so that its name has the run's marker


def markers(runs: Sequence[ScoredLog]) -> dict[str, Marker]:
    """By label: colour and shape of a run, the same wherever it is shown."""
    shapes = one_per_run(SHAPES, len(runs))
    return {
        run.label: Marker(colour, ON_DARK[colour], BAR if run.is_population else shape)
        for run, colour, shape in zip(runs, colours(runs).values(), shapes, strict=True)
    }


def means_lanes(report: Report, measure: Measure) -> list[Panel]:
    """The means on a scale from 0 to 1, the highest first: a panel per key; of one run one panel, a lane per key."""
    keys = [key for key in ordered_keys(report, measure) if measure.ranges[key].is_unit]
    rows = [(run, row) for run, row in zip(report.runs, measure.rows, strict=True) if row]
    mark_of = markers(report.runs)

    def lane(name: str, run: ScoredLog, key: str, cell: Cell) -> Lane:
        own, decimals = cell.interval, places(measure, key)
        return _lane(name, (own.mean, own.low, own.high), (0, 1), decimals, mark_of[run.label], _band(measure, key))

    if len(rows) == 1:
        ((run, row),) = rows
        lanes = [lane(in_words(key), run, key, row[key]) for key in keys]
        return [Panel("", lanes, WHOLE, names_runs=False)] if keys else []
    panels = []
    for key in keys:
        ordered = sorted(rows, key=lambda pair: (pair[0].is_population, -_mean(pair[1][key])))
        lanes = [lane(run.label, run, key, row[key]) for run, row in ordered]
        panels.append(Panel(in_words(key), lanes, WHOLE))
    return panels


def ordered_keys(report: Report, measure: Measure) -> list[str]:
    """Those from 0 to 1 by their mean over the runs, the highest first; then the others."""
    rows = [row for row in measure.rows if row]
    return sorted(
        measure.keys,
        key=lambda key: (not (unit := measure.ranges[key].is_unit), -fmean(_mean(row[key]) for row in rows) * unit),
    )


def _mean(cell: Cell) -> float:
    # what was not measured is last
    return value if not math.isnan(value := cell.interval.mean) else -1.0


def forest_lanes(report: Report) -> Iterator[tuple[str, list[Panel]]]:
    """By scorer a panel per run, all on one scale: the differences, with the margin of equivalence as band."""
    mark_of = markers(report.runs)
    for scorer, has_one_key, tested in tested_rows(report):
        ends = reach(tested)

        def lane(name: str, row: Row, ends: Ends = ends) -> Lane:
            own, marker = row.finding.difference, mark_of[row.run] if row.finding.differs else NO_MARKER
            values = own.delta, own.low, own.high
            found = _lane(name, values, ends, 3, marker, (-own.margin, own.margin), rule=0.0, sign="+")
            return replace(found, shown=marked(row))

        zero = _place(0, *ends) or 0.0
        outer = [(place, f"{end:+.2f}") for place, end in zip((0.0, 100.0), ends, strict=True)]
        scale = ((zero, "0"), *((place, text) for place, text in outer if abs(place - zero) > ROOM))
        panels = []
        for title, rows in tested.items():
            lanes = [lane(row.run if has_one_key else in_words(row.key), row) for row in rows]
            panels.append(Panel(title, lanes, scale, names_runs=has_one_key))
        yield scorer, panels


def spread_lanes(report: Report, measure: Measure) -> list[Panel]:
    """A panel per key: median and quartiles of each run's documents, with density and, where few, single documents."""
    panels = []
    for key in measure.keys:
        rows = [(run, measured(run, measure.scorer, key)) for run in report.runs if measure.scorer in run.ours]
        band, decimals = _band(measure, key), places(measure, key)
        panels += _spreads(in_words(key), rows, measure.ranges[key], decimals, report, band)
    return panels


def length_lanes(report: Report) -> list[Panel]:
    rows = [(run, [float(document.words) for document in run.documents]) for run in report.runs]
    longest = max(value for _, values in rows for value in values)
    return _spreads("words per document", rows, Range(0.0, longest, known=False), 0, report)


def study_lanes(study: Study) -> list[Panel]:
    """A panel per measure: how far each intervention moves it, with a line at how far paraphrases do."""
    panels = []
    # a measure that nothing moves has no shares
    for measure in (one for one in study.measures if one.shares):
        paraphrases = measure.shares.get("paraphrase", math.nan)
        lanes = [
            replace(
                _lane(in_words(name), (share, 0.0, share), (0, 1), 2, NO_MARKER, rule=paraphrases), is_bar=True, ends=""
            )
            for name, share in measure.shares.items()
        ]
        panels.append(Panel(in_words(measure.name), lanes, WHOLE, names_runs=False))
    return panels


def _spreads(
    title: str,
    rows: Sequence[tuple[ScoredLog, list[float]]],
    ends: Range,
    decimals: int,
    report: Report,
    band: Ends | None = None,
) -> list[Panel]:
    if not any(values for _, values in rows):
        return []
    low, high = ends_of_axis(ends)
    mark_of, lanes = markers(report.runs), []
    # what takes two values alone (a test passed or not) has no distribution beyond its mean
    is_spread = len({value for _, values in rows for value in values}) > 2
    for run, values in rows:
        own = spread(values)
        quarters = own["median"], own["low"], own["high"]
        lane = _lane(run.label, quarters, (low, high), decimals, mark_of[run.label], band, said="({} to {})")
        curve = density(values, ends) if is_spread else []
        points = [f"{_place(x, low, high):.4g} {HEIGHT * (1 - height):.3g}" for x, height in curve]
        few = values if is_spread and len(values) <= DOTS else []
        lanes.append(
            replace(
                lane,
                heights=f"M0 {HEIGHT}L{'L'.join(points)}L100 {HEIGHT}z" if points else "",
                ticks="".join(f"M{_place(value, low, high):.4g} {HEIGHT}v-14" for value in few),
            )
        )
    return [Panel(title, lanes, ((0.0, number(low, decimals)), (100.0, number(high, decimals))))]


def _band(measure: Measure, key: str) -> Ends | None:
    own: Standing | None = measure.population.get(key)
    return (own.low, own.high) if own else None


def _lane(
    name: str,
    values: tuple[float, float, float],
    ends: Ends,
    decimals: int,
    marker: Marker,
    band: Ends | None = None,
    rule: float = math.nan,
    sign: str = "",
    said: str = "[{}, {}]",  # brackets are intervals alone
) -> Lane:
    """The lane of a value with the ends of its interval, NaN where it has none."""
    at, low, high = (_place(value, *ends) for value in values)
    start, stop = (_place(end, *ends) for end in band or (math.nan, math.nan))
    bounds = [f"{end:{sign}.{decimals}f}" if math.isfinite(end) else "open" for end in values[1:]]
    return Lane(
        name=name,
        shown=number(values[0], decimals),
        ends="" if any(map(math.isnan, values[1:])) else said.format(*bounds),
        marker=marker,
        at=at,
        # an end that too few pairs leave open is drawn to the end of the scale
        low=low,
        high=high,
        band=None if start is None or stop is None else (start, stop - start),
        rule=_place(rule, *ends),
    )


def _place(value: float, low: float, high: float) -> float | None:
    if math.isnan(value) or math.isnan(low) or math.isnan(high):
        return None
    # one value alone, of which nobody says what it could be
    if not high > low:
        return 50.0
    return round(100 * min(1.0, max(0.0, (value - low) / (high - low))), 2)
