"""The tables of summaries, counts and shares, and errors in one line: what several verbs print."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from rich import box
from rich.console import Console, JustifyMethod  # noqa: TID251  # types, whose objects come from the door
from rich.table import Table
from rich.text import Text

from genie_inspect.files.printable import printable
from genie_inspect.graders.protocols import caution
from genie_inspect.logs.evidence import NO_SHARE, Share
from genie_inspect.logs.measures import shown_key
from genie_inspect.logs.results import Results
from genie_inspect.reports.summary import Column, Summary
from genie_inspect.signature import facts_of
from genie_inspect.statistics.descriptive import NO_INTERVAL, Interval

LEGEND = (
    "Means over prompts with 95% intervals. Where questions are asked: the share of them that was used / of the ratings"
    " due that count."
)
STANDING = (
    "Percentile, mean: of the population's own documents for the same prompts. For the percentile each is compared with"
    " the others and the scored document, so that one like them lands at 50 on average; for the mean with the others."
)
NO_YARDSTICK = "Where means fall among the population's own documents: {command}, then score again."
NEAREST = (
    "Nearest: one minus the highest similarity, 0 (some answer of the population is interchangeable) to 1. It falls as"
    " the population grows: compare it within one population."
)
UNBOUND = 10_000  # columns: what a table takes where nothing has to fold
FINE = 0.1  # a row of means that are all nearer to 0 gets a third decimal
BIASED = 0.5  # points, from which a judge's preference for a place is pointed out


def text_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str | Text] | None],
    *,
    caption: str = "",
    words: int = 1,
    justify: JustifyMethod = "left",
    fold: bool = False,
    no_wrap: bool = False,
    **style: Any,
) -> Table:
    """The one table of all verbs: what stands in it is text, and never markup; a row that is None is a line across.

    The first `words` columns hold words, the others figures; with `fold` these break a long name and cut nothing off.
    """
    shown = Table(
        title=Text(title, "table.title") if title else None,
        caption=Text(caption, "table.caption") if caption else None,
        title_justify=justify,
        caption_justify=justify,
        **style,
    )
    for place, name in enumerate(columns):
        is_figure = place >= words
        shown.add_column(
            Text(printable(name)),
            justify="right" if is_figure else "left",
            overflow="fold" if fold and is_figure else "ellipsis",
            no_wrap=no_wrap,
        )
    for row in rows:
        if row is None:
            shown.add_section()
        else:
            shown.add_row(*(Text(printable(cell)) if isinstance(cell, str) else cell for cell in row))
    return shown


ColumnT = TypeVar("ColumnT")


def fitting(
    columns: Sequence[ColumnT], made: Callable[[Sequence[ColumnT]], Table], console: Console
) -> list[list[ColumnT]]:
    """The columns in as many blocks as keep names and figures whole in the console's width; at least one in each."""
    # measured without a limit: rich would fold a cell to make any table fit
    unbound = console.options.update_width(UNBOUND)
    blocks: list[list[ColumnT]] = [[]]
    for column in columns:
        wider = [*blocks[-1], column]
        if blocks[-1] and console.measure(made(wider), options=unbound).maximum > console.width:
            blocks.append([column])
        else:
            blocks[-1] = wider
    return blocks


def summary_tables(summary: Summary, console: Console, *, nearest: bool = False) -> list[Table]:
    """Features down, models across: mean, 95% interval, and the shares of questions and of ratings that count."""

    def made(columns: Sequence[Column], title: str = "", caption: str = "") -> Table:
        # a name is broken at its spaces alone, and a figure nowhere, as long as one column fits
        names = ["feature", *(column.label.replace(" ", "\n") for column in columns)]
        rows = _summary_rows(summary, [column.results for column in columns], nearest=nearest)
        return text_table(title, names, rows, caption=caption, fold=True)

    *blocks, last = fitting(summary.columns, made, console)
    width = min(console.width, console.measure(made(last)).maximum)
    notes = [in_parts(summary.signature, width), caution(facts_of(summary.signature).get("judge", ""))]
    titles = [summary.scorer, *[""] * len(blocks)]
    captions = [*[""] * len(blocks), "\n".join(filter(None, notes))]
    return [made(*block) for block in zip([*blocks, last], titles, captions, strict=True)]


def _summary_rows(summary: Summary, results: Sequence[Results], *, nearest: bool) -> Iterator[Sequence[str] | None]:
    """The rows of some of the columns; decimals are those of all."""
    for key in summary.keys:
        # `nan >= FINE` is false, so that an empty row does not decide
        decimals = 2 if any(abs(column.results.mean(key)) >= FINE for column in summary.columns) else 3
        lines = (_lines(result, key, decimals, nearest=nearest) for result in results)
        yield shown_key(summary.signature, key), *("\n".join(shown) for shown in lines)
    yield None
    reasons = (f", {counted(result.unscored)}" if result.unscored else "" for result in results)
    scored = (f"{result.scored} of {result.documents}" for result in results)
    yield "documents scored", *map("".join, zip(scored, reasons, strict=True))
    if any(column.results.refusals for column in summary.columns):
        yield "refused", *(str(result.refusals) for result in results)
    if any(not math.isnan(column.results.position_bias) for column in summary.columns):
        # only judges that see two texts at once have a place to prefer
        yield "judge's points for standing first", *(_bias(result.position_bias) for result in results)


def in_parts(signature: str, width: int) -> str:
    """A signature in lines that end between its parts, where a part is no longer than a line.

    >>> in_parts("measure:genie|judge:list(m)|version:0", 30)
    'measure:genie|judge:list(m)|\\nversion:0'
    """
    lines = [""]
    for part in re.findall(r"[^|]+\|?|\|", signature):
        if lines[-1] and len(lines[-1] + part) > width:
            lines.append(part)
        else:
            lines[-1] += part
    return "\n".join(lines)


def legend(summaries: Iterable[Summary], *, nearest: bool = False) -> list[str]:
    """What the lines in the cells of some summaries say."""
    is_known = any(column.results.standing for summary in summaries for column in summary.columns)
    return [LEGEND, *([STANDING] if is_known else []), *([NEAREST] if nearest else [])]


def without_yardstick(summaries: Iterable[Summary]) -> list[str]:
    """How the population gets a yardstick, a line for each summary that lacks one."""
    return [NO_YARDSTICK.format(command=one.yardstick_command) for one in summaries if one.yardstick_command]


def summary_notes(summary: Summary) -> list[str]:
    """Lines below a summary: what is missing in a run, and its warnings."""
    missing = [
        f"Missing in {column.label}: {counted(column.results.faults)}."
        for column in summary.columns
        if column.results.faults
    ]
    beware = [f"{column.label}: {line}" for column in summary.columns for line in column.results.warnings]
    return missing + [f"Beware: {line}." for line in [*summary.warnings, *beware]]


def length_notes(tables: Iterable[Summary]) -> list[str]:
    """Lines for each log whose documents are of another length than the population's, or have no end.

    Each once, however many tables the log is in.
    """
    # by log: a label may be another in each table
    columns = {column.log: column for table in tables for column in table.columns}
    warned = [warning for column in columns.values() for warning in (column.unlike_length, column.cut)]
    return [f"Beware: {warning}." for warning in warned if warning]


def counted(reasons: Mapping[str, int]) -> str:
    """Counts of missing answers, ratings or scores, by reason.

    >>> counted({"refusal": 2, "no_response": 1})
    '2 refusal, 1 no_response'
    """
    return ", ".join(f"{count} {reason}" for reason, count in reasons.items())


def used(questions: Share, ratings: Share) -> str:
    """The share of questions that was used, and behind a slash of the ratings due that count, as far as they are known.

    >>> used((3, 4), (30, 48)), used((3, 4), (0, 0)), used((0, 0), (0, 0))
    ('75/62%', '75%', '')
    """
    percentages = [f"{100 * part / whole:.0f}" for part, whole in (questions, ratings) if whole]
    return "/".join(percentages) + "%" if percentages else ""


def _bias(points: float) -> str:
    return figure(points, "+.2f", "not measured") + (" biased" if abs(points) >= BIASED else "")


def _lines(results: Results, key: str, decimals: int, *, nearest: bool) -> Iterator[str]:
    """The lines of one cell: the mean, and below it what belongs to it."""
    interval = results.cells.get(key, NO_INTERVAL)
    if math.isnan(interval.mean):
        yield "not measured"
        return
    # as wide as that of any key, so that the intervals stand one below the other
    width = max(len(_used(results, other)) for other in results.cells)
    yield _figure(interval, decimals) + (f" {_used(results, key):>{width}}" if width else "")
    if standing := results.standing.get(key):
        yield f"percentile {standing.percentile:.0f}, mean {standing.mean:.{decimals}f}"
    if nearest and not math.isnan((closest := results.nearest.get(key, NO_INTERVAL)).mean):
        yield f"nearest {_figure(closest, decimals)}"


def _figure(interval: Interval, decimals: int) -> str:
    return ranged(interval.mean, interval.low, interval.high, f".{decimals}f")


def _used(results: Results, key: str) -> str:
    return used(results.coverage.get(key, NO_SHARE), results.pairs.get(key, NO_SHARE))


def record_table(title: str, rows: Sequence[Mapping[str, Any]], heads: Mapping[str, str] | None = None) -> Table:
    """A row a record; the first column in words, the others numbers, a blank where there is none."""
    columns = [(heads or {}).get(name, name.replace("_", "\n")) for name in (rows[0] if rows else ())]
    cells = [[figure(v, none="") if isinstance(v, float) else str(v) for v in row.values()] for row in rows]
    return text_table(title, columns, cells, no_wrap=True)


LineT = TypeVar("LineT")  # a Row, its power or a run's Facts
NAMES = 0.3  # of the width, at most, so that long keys leave room for figures


@dataclass(frozen=True, slots=True)
class Head(Generic[LineT]):
    name: str
    cell: Callable[[LineT], str]


def blocks(
    title: str,
    name: str,
    lines: Sequence[tuple[str, LineT | None]],
    heads: Sequence[Head[LineT]],
    console: Console,
) -> list[Table]:
    """The table, or so many parts of it as fit, one below the other; a label without a line heads those below it."""

    def made(columns: Sequence[Head[LineT]], title: str = "") -> Table:
        rows: list[list[str | Text]] = [
            [label, *(head.cell(line) for head in columns)] if line else [Text(label, "bold"), *[""] * len(columns)]
            for label, line in lines
        ]
        names = [name, *(head.name for head in columns)]
        shown = text_table(title, names, rows, no_wrap=True, box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
        labels = shown.columns[0]
        labels.overflow, labels.no_wrap, labels.max_width = "fold", False, max(len(name), int(NAMES * console.width))
        return shown

    return [made(part, "" if place else title) for place, part in enumerate(fitting(heads, made, console))]


def starred(value: float, holds: bool) -> str:
    return figure(value, ".3f") + ("*" if holds else " ")


def figure(value: float, form: str = ".2f", none: str = "-") -> str:
    """A number in a form such as `.3f`; a dash, or what is given for it, where there is none."""
    return format(value, form) if math.isfinite(value) else none


def ranged(value: float, low: float, high: float, form: str = ".2f", none: str = "-", gap: str = " ") -> str:
    """A figure and its ends, as far as they are known.

    >>> ranged(0.5, 0.25, 0.75), ranged(0.5, math.nan, math.nan), ranged(0.5, -math.inf, math.inf)
    ('0.50 [0.25, 0.75]', '0.50', '0.50 [-, -]')
    """
    ends = "" if math.isnan(low) else f"{gap}[{figure(low, form)}, {figure(high, form)}]"
    return none if math.isnan(value) else figure(value, form) + ends
