"""Tables in the terminal, those of summaries, and counts and figures in words: what several verbs print."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from rich import box
from rich.console import Console, RenderableType  # noqa: TID251  # types, whose objects come from the door
from rich.table import Table as RichTable
from rich.text import Text

from genie_inspect.agreement.variety import Variety, why_none
from genie_inspect.cli.terminal import Unbroken, console
from genie_inspect.files.tables import Table
from genie_inspect.files.values import printable
from genie_inspect.logs.evidence import NO_SHARE, Share
from genie_inspect.logs.results import Results
from genie_inspect.reports.repeats import Repeats
from genie_inspect.reports.summary import Summary
from genie_inspect.signature import Signature
from genie_inspect.statistics.descriptive import NO_INTERVAL

LEGEND = (
    "Means over prompts with 95% intervals. Where questions are asked: the share of them that was used / of the"
    " expected ratings that count."
)
STANDING = (
    "Percentile: the share of the population's own documents for the same prompts that are less novel; 50 is usual."
    " Mean: that of these documents."
)
NO_REFERENCE_SCORES = "Where means fall among the population's own documents: {command}, then score again."
NEAREST = (
    "Nearest: one minus the highest similarity, 0 (some answer of the population is interchangeable) to 1. It falls as"
    " the population grows: compare it within one population."
)
SIMILARITY = (
    "Similarity: mean over pairs of a run's own documents for one prompt, 0 (different) to 1 (interchangeable), as"
    " {judge} rates their answers, whatever judge the novelty is by. One minus it is the variety within the run."
    " Novelty against others and variety within are two numbers: a run can have much of one and little of the other."
)
JURY = (
    "Means over prompts by grader, each over the documents that it measured; the jury's mean is over those that every"
    " grader measured. Alpha: Krippendorff's, over the novelties of all questions; 1 the same, 0 as by chance."
)
FINE = 0.1  # a row of means that are all nearer to 0 gets a third decimal
BIASED = 0.5  # points, from which a judge's preference for a place is pointed out
UNBOUND = 10_000  # columns: what a table takes where nothing has to fold
NAMES = 0.3  # of the width, at most, so that long keys leave room for figures
NARROW = {"box": box.SIMPLE_HEAD, "pad_edge": False, "collapse_padding": True}
# by look: what folds where a window is too narrow, instead of being cut off, and what rich has to know
LOOKS: dict[str, tuple[str, dict[str, Any]]] = {
    "": ("", {}),
    "centred": ("", {"title_justify": "center", "caption_justify": "center"}),
    "lined": ("", {"show_lines": True}),
    "records": ("", {}),  # breaks no cell
    "folded": ("words and figures", {}),
    "summary": ("words and figures", {}),
    "narrow": ("words", NARROW),
}
PARTED = ("summary", "narrow")  # as many tables as keep names and figures whole in the window's width
Part = RenderableType | Table


def print_parts(parts: Iterable[Part]) -> None:
    """Print tables and lines, one below the other; what they hold is text, and never markup."""
    screen = console()
    for part in parts:
        whole = in_parts(part, screen.width) if isinstance(part, Signature) else part
        for shown in drawn(part, screen) if isinstance(part, Table) else [whole]:
            screen.print(shown, highlight=False, markup=False, soft_wrap=isinstance(part, Unbroken | Signature))


def drawn(table: Table, screen: Console) -> Iterator[RichTable]:
    folding, style = LOOKS[table.look]
    rows = list(table.rows)

    def made(places: Iterable[int], title: str = "", caption: str = "") -> RichTable:
        """The columns of words and some of those of figures."""
        shown = RichTable(
            title=Text(title, "table.title") if title else None,
            caption=Text(caption, "table.caption") if caption else None,
            **{"title_justify": "left", "caption_justify": "left", **style},
        )
        columns = [*range(table.words), *places]
        for place in columns:
            kind = "words" if place < table.words else "figures"
            is_label = table.look == "narrow" and kind == "words"
            shown.add_column(
                Text(printable(table.columns[place])),
                justify="left" if kind == "words" else "right",
                overflow="fold" if kind in folding else "ellipsis",
                no_wrap=table.look in ("narrow", "records") and not is_label,
                max_width=max(len(table.columns[0]), int(NAMES * screen.width)) if is_label else None,
            )
        for row in rows:
            if row is None:
                shown.add_section()
            elif len(row) == 1 < len(table.columns):
                shown.add_row(Text(printable(row[0]), "bold"), *[""] * (len(columns) - 1))
            else:
                shown.add_row(*(Text(printable(row[place])) for place in columns))
        return shown

    # measured without a limit: rich would fold a cell to make any table fit
    unbound = screen.options.update_width(UNBOUND)
    blocks: list[list[int]] = [[]]
    for place in range(table.words, len(table.columns)):
        wider = [*blocks[-1], place]
        is_full = table.look in PARTED and screen.measure(made(wider), options=unbound).maximum > screen.width
        if blocks[-1] and is_full:
            blocks.append([place])
        else:
            blocks[-1] = wider
    # no wider than the table
    width = min(screen.width, screen.measure(made(blocks[-1])).maximum) if table.caption else 0
    lines = [in_parts(line, width) if Signature(line).is_ours else line for line in table.caption.splitlines()]
    for number, block in enumerate(blocks, start=1):
        yield made(block, table.title if number == 1 else "", "\n".join(lines) if number == len(blocks) else "")


def record_table(
    title: str, rows: Sequence[Mapping[str, Any]], heads: Mapping[str, str] = MappingProxyType({})
) -> Table:
    """A row a record; the first column in words, the others numbers, a blank where there is none."""
    columns = [heads.get(name, name.replace("_", "\n")) for name in (rows[0] if rows else ())]
    cells = [[figure(v, none="") if isinstance(v, float) else str(v) for v in row.values()] for row in rows]
    return Table(title, columns, cells, look="records")


Within = Mapping[tuple[str, str], tuple[Repeats, Variety]]  # by scorer and log how similar its documents are


def summary_table(summary: Summary, within: Within = MappingProxyType({}), *, nearest: bool = False) -> Table:
    """Features down, models across: mean, 95% interval, and the shares of questions and of ratings that count."""
    results = [column.results for column in summary.columns]
    alike = [within.get((summary.scorer, column.log)) for column in summary.columns]
    rows: list[Sequence[str] | None] = []
    for key, name in zip(summary.keys, summary.names, strict=True):
        # `nan >= FINE` is false, so that an empty row does not decide
        decimals = 2 if any(abs(result.mean(key)) >= FINE for result in results) else 3
        cells = []
        for result, own in zip(results, alike, strict=True):
            lines = [*_lines(result, key, f".{decimals}f", nearest=nearest)]
            if own:
                one = own[1].features.get(key, (NO_INTERVAL,))[0]
                lines.append(f"similarity {ranged(one.mean, one.low, one.high, none='not measured')}")
            cells.append("\n".join(lines))
        rows.append([name, *cells])
    reasons = (f", {counted(result.unscored)}" if result.unscored else "" for result in results)
    scored = (f"{result.scored} of {result.documents}" for result in results)
    rows += [None, ["documents scored", *map("".join, zip(scored, reasons, strict=True))]]
    if any(result.refusals for result in results):
        rows.append(["refused", *(str(result.refusals) for result in results)])
    # only judges that see two texts at once have a place to prefer
    if any(not math.isnan(result.position_bias) for result in results):
        points = [result.position_bias for result in results]
        biases = (figure(bias, "+.2f", "not measured") + " biased" * (abs(bias) >= BIASED) for bias in points)
        rows.append(["judge's points for standing first", *biases])
    # a name is broken at its spaces alone, and a figure nowhere, as long as one column fits
    names = ["feature", *(column.label.replace(" ", "\n") for column in summary.columns)]
    return Table(
        summary.scorer, names, rows, "\n".join(filter(None, (summary.signature, summary.caution))), look="summary"
    )


def jury_table(summary: Summary, label: str, results: Results) -> Table:
    graders = results.graders.values()
    rows: list[list[str] | None] = []
    for key, name in zip(summary.keys, summary.names, strict=True):
        means = [own.cells.get(key, NO_INTERVAL).mean for own in graders]
        shown = [figure(value, none="not measured") for value in (*means, results.agreement.get(key, math.nan))]
        rows.append([name, *shown])
    rows += [None, ["documents measured", *(f"{own.documents} of {results.documents}" for own in graders), ""]]
    title = f"{summary.scorer}, the jury of {label}"
    return Table(title, ["feature", *results.graders, "alpha"], rows, JURY, look="folded")


def _lines(results: Results, key: str, form: str, *, nearest: bool) -> Iterator[str]:
    interval, closest = results.cells.get(key, NO_INTERVAL), results.nearest.get(key, NO_INTERVAL)
    if math.isnan(interval.mean):
        yield "not measured"
        return
    shares = {
        name: used(*(of.get(name, NO_SHARE) for of in (results.coverage, results.pairs))) for name in results.cells
    }
    # as wide as that of any key, so that the intervals stand one below the other
    width = max(map(len, shares.values()))
    yield ranged(interval.mean, interval.low, interval.high, form) + (f" {shares[key]:>{width}}" if width else "")
    if standing := results.standing.get(key):
        yield f"percentile {standing.percentile:.0f}, mean {standing.mean:{form}}"
    if nearest and not math.isnan(closest.mean):
        yield f"nearest {ranged(closest.mean, closest.low, closest.high, form)}"


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


def summary_parts(
    tables: Sequence[Summary], within: Within = MappingProxyType({}), *, nearest: bool = False
) -> Iterator[Table | str]:
    """The tables of summaries, with what is missing and what to beware of, and below all of them how to read them."""
    for summary in tables:
        results = {column.label: column.results for column in summary.columns}
        yield summary_table(summary, within, nearest=nearest)
        yield from (jury_table(summary, label, own) for label, own in results.items() if own.graders)
        yield from (f"Missing in {label}: {counted(own.faults)}." for label, own in results.items() if own.faults)
        yield from _not_similar(summary, within)
        yield from (sampling_line(label, own.sampling) for label, own in results.items() if own.sampling)
        beware = [f"{label}: {warning}" for label, own in results.items() for warning in own.warnings]
        yield from (f"Warning: {line}." for line in [*summary.warnings, *beware])
    # by log, so that each is warned of once: a label may be another in each table
    columns = {column.log: column for summary in tables for column in summary.columns}.values()
    warned = (warning for column in columns for warning in (column.unlike_length, column.cut) if warning)
    yield from (f"Warning: {warning}." for warning in warned)
    yield LEGEND
    if any(column.results.standing for summary in tables for column in summary.columns):
        yield STANDING
    if nearest:
        yield NEAREST
    for judge in dict.fromkeys(alike.judge for _, alike in within.values()):
        yield SIMILARITY.format(judge=judge)
    for command in filter(None, (table.reference_scores_command for table in tables)):
        yield NO_REFERENCE_SCORES.format(command=command)


def _not_similar(summary: Summary, within: Within) -> Iterator[str]:
    """Why there is no similarity, by column and reason."""
    for column in summary.columns:
        if not (known := within.get((summary.scorer, column.log))):
            continue
        own, alike = known
        reasons: dict[str, list[str]] = {}
        for key, name in zip(summary.keys, summary.names, strict=True):
            if math.isnan(alike.features.get(key, (NO_INTERVAL,))[0].mean):
                reasons.setdefault(why_none(own, key), []).append(name)
        yield from (f"No similarity in {column.label} ({', '.join(names)}): {why}." for why, names in reasons.items())


def sampling_line(label: str, errors: Mapping[str, float]) -> str:
    """What the rating of a sample adds to the error of means.

    >>> sampling_line("mine", {"plot": 0.01, "social_atmosphere": 0.004})
    'Sampled ratings in mine: standard errors of 0.004 (social atmosphere) to 0.010 (plot), part of the intervals.'
    """
    known = sorted((error, key.replace("_", " ")) for key, error in errors.items() if not math.isnan(error))
    if not known:
        return f"Sampled ratings in {label}: their standard error is not known."
    least, most = (f"{error:.3f} ({key})" for error, key in (known[0], known[-1]))
    return f"Sampled ratings in {label}: standard errors of {least} to {most}, part of the intervals."


def counted(reasons: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in reasons.items())


def used(questions: Share, ratings: Share) -> str:
    """The share of questions that was used, and behind a slash of the expected ratings that count, where known.

    >>> used((3, 4), (30, 48)), used((3, 4), (0, 0)), used((0, 0), (0, 0))
    ('75/62%', '75%', '')
    """
    percentages = [f"{100 * part / whole:.0f}" for part, whole in (questions, ratings) if whole]
    return "/".join(percentages) + "%" if percentages else ""


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
