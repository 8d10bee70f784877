"""The tables of `genie compare`, in as many blocks of columns as the width asks for: no figure is cut off."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from rich import box
from rich.console import Console  # noqa: TID251  # a type, whose object comes from the door
from rich.markup import escape
from rich.table import Table

from genie_inspect.cli.tables import UNBOUND, counted, used
from genie_inspect.logs.measures import shown_key
from genie_inspect.reports.comparison.comparison import Comparison, Facts, Row
from genie_inspect.reports.comparison.pooled import PooledRow, pooled
from genie_inspect.reports.comparison.power import RowPower, powers
from genie_inspect.statistics.equivalence import METHODS
from genie_inspect.statistics.paired.differences import LEVEL, TEST

LineT = TypeVar("LineT")  # a Row, its power or a run's Facts
NAMES = 0.3  # of the width, at most, so that long keys leave room for figures


@dataclass(frozen=True, slots=True)
class Head(Generic[LineT]):
    """A column of figures."""

    name: str
    cell: Callable[[LineT], str]


def difference_tables(comparison: Comparison, run: str, console: Console) -> list[Table]:
    """Keys down; means, difference with interval, Cohen's d, raw and corrected p-values, power, pairs, coverage across.

    Both ends of an interval that too few pairs leave open are dashes.
    """
    rows = [row for row in comparison.rows if row.run == run]
    scorers = list(dict.fromkeys(row.scorer for row in rows))
    lines: list[tuple[str, Row | None]] = []
    for scorer in scorers:
        # a line without figures heads each scorer's rows
        lines += [(f"[bold]{escape(scorer)}[/bold]", None)] if len(scorers) > 1 else []
        lines += [
            (escape(shown_key(comparison.signatures[scorer], row.key)), row) for row in rows if row.scorer == scorer
        ]
    title = f"{run} against {comparison.called(rows[0].baseline)}, paired by {rows[0].paired_by}"
    return blocks(escape(title), "feature", lines, DIFFERENCE, console)


def run_tables(comparison: Comparison, console: Console) -> list[Table]:
    """Runs down; documents, words, coherence and refusals across."""
    # without a selection nothing is left out, and a column of zeros says nothing
    heads = [head for head in RUN if head.name != LEFT_OUT or any(run.left_out for run in comparison.runs)]
    return blocks("beside the scores", "run", [(escape(run.label), run) for run in comparison.runs], heads, console)


def power_tables(comparison: Comparison, effect: float, console: Console) -> list[Table]:
    """Runs and keys down; prompts, pairs that survived, and what the test could have found across."""
    lines: list[tuple[str, RowPower | None]] = [
        (escape(f"{row.run} {shown_key(comparison.signatures[row.scorer], row.key)}"), row)
        for row in powers(comparison, effect)
    ]
    title = f"power to find an effect of d {effect:g}: at {LEVEL:.0%}, and at the level that the correction asks for"
    return blocks(title, "run, feature", lines, POWER, console)


def pooled_tables(comparison: Comparison, console: Console) -> list[Table]:
    """Strategies down; models, pairs by prompt and model, mean difference of each key, words and coherence across."""
    rows = list(pooled(comparison))
    by_strategy: dict[str, dict[tuple[str, str], PooledRow]] = {}
    for row in rows:
        by_strategy.setdefault(row.strategy, {})[row.scorer, row.key] = row
    several = len({row.scorer for row in rows}) > 1
    heads = [
        Head(_pooled_name(comparison, *key, several=several), partial(_pooled_cell, key=key))
        for key in dict.fromkeys((row.scorer, row.key) for row in rows)
    ]
    lines: list[tuple[str, Mapping[tuple[str, str], PooledRow] | None]] = [
        (escape(strategy), cells) for strategy, cells in by_strategy.items()
    ]
    title = "pooled over models, paired by prompt and model"
    return blocks(title, "strategy", lines, [*POOLED[:2], *heads, *POOLED[2:]], console)


def _pooled_name(comparison: Comparison, scorer: str, key: str, *, several: bool) -> str:
    name = shown_key(comparison.signatures[scorer], key)
    return f"{scorer}: {name}" if several else name


def _pooled_cell(cells: Mapping[tuple[str, str], PooledRow], key: tuple[str, str]) -> str:
    if key not in cells:
        return "-"
    finding = cells[key].finding
    return figure(finding.difference.delta, "+.3f") + (
        "*" if finding.differs else "=" if finding.is_equivalent else " "
    )


def _pooled_pairs(cells: Mapping[tuple[str, str], PooledRow]) -> str:
    pairs = sorted({row.finding.difference.pairs for row in cells.values()})
    return str(pairs[0]) if len(pairs) == 1 else f"{pairs[0]} to {pairs[-1]}"


def _any(cells: Mapping[tuple[str, str], PooledRow]) -> PooledRow:
    # what is no difference is the same in every row of a strategy
    return next(iter(cells.values()))


def legend(comparison: Comparison) -> str:
    """The legend of the tables: tests, correction, and what each column shows."""
    # each measure's tests are a family of their own
    tests = Counter(row.scorer for row in comparison.rows if not math.isnan(row.finding.p_value))
    several = ", ".join(f"{scorer} {count}" for scorer, count in tests.items())
    over = f"the tests of each measure ({several})" if len(tests) > 1 else f"{tests.total()} tests"
    rated = any(due for row in comparison.rows for _, due in row.ratings)
    by_instance = any(row.instances is not None for row in comparison.rows)
    return (
        f"p raw: {TEST}; p: corrected ({comparison.options.correction}) over {over}. equivalence p: of a difference "
        f"beyond the margin, two one-sided {METHODS[comparison.options.equivalence]}, corrected likewise; small where "
        "both are equivalent. *: holds."
        + (" -: not tested; of a measure its headline is." if any(not row.tested for row in comparison.rows) else "")
        + " power: a paired t test's chance of finding a difference as large as the margin; 0% where no p of so few "
        "pairs could hold. pairs: prompts"
        + (" (pairs of documents in them)" if by_instance else "")
        + f". used: share of questions{' / of the ratings due that count' if rated else ''}, baseline → run."
        f" Means are over the prompts that both have. Intervals are of the same test, uncorrected: 0 is outside where "
        f"its p is below {LEVEL:.0%} by itself; [-, -]: too few pairs."
    )


def missing_lines(comparison: Comparison) -> list[str]:
    """Why documents have no score, and why answers and ratings are missing: lines for each run and measure."""
    lines = []
    for run in comparison.runs:
        for scorer, results in run.measures.items():
            where = f"{run.label}, {scorer}" if len(run.measures) > 1 else run.label
            lines += [f"{where} not scored: {counted(results.unscored)}"] if results.unscored else []
            lines += [f"Missing in {where}: {counted(results.faults)}."] if results.faults else []
    return lines


def blocks(
    title: str,
    name: str,
    lines: Sequence[tuple[str, LineT | None]],
    heads: Sequence[Head[LineT]],
    console: Console,
) -> list[Table]:
    """The table, or so many parts of it side by side as fit, one below the other.

    Args:
        title: Of the first part.
        name: What the lines are.
        lines: Each with its label; one without a value has no figures.
        heads: Columns.
        console: Where it is shown.
    """
    # measured without a limit: rich would fold a cell to make any table fit
    unbound = console.options.update_width(UNBOUND)

    def table(columns: Sequence[Head[LineT]], title: str) -> Table:
        part = Table(
            title=title or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True
        )
        part.add_column(name, overflow="fold", max_width=max(len(name), int(NAMES * console.width)))
        for head in columns:
            part.add_column(head.name, justify="right", no_wrap=True)
        for label, line in lines:
            part.add_row(label, *(head.cell(line) if line else "" for head in columns))
        return part

    parts: list[list[Head[LineT]]] = [[]]
    for head in heads:
        wider = [*parts[-1], head]
        # a block has at least one column, however narrow the terminal is
        if parts[-1] and console.measure(table(wider, ""), options=unbound).maximum > console.width:
            parts.append([head])
        else:
            parts[-1] = wider
    return [table(columns, title if number == 0 else "") for number, columns in enumerate(parts)]


def _delta(row: Row) -> str:
    difference = row.finding.difference
    delta = figure(difference.delta, "+.3f")
    if math.isnan(difference.low):
        return delta
    return f"{delta} [{figure(difference.low, '+.3f')}, {figure(difference.high, '+.3f')}]"


def _pairs(row: Row) -> str:
    # prompts are the witnesses, documents stand in brackets: those of one prompt are alike
    pairs = str(row.finding.difference.pairs)
    return pairs if row.instances is None else f"{pairs} ({row.instances})"


def _used(row: Row) -> str:
    before, after = map(used, row.coverage, row.ratings)
    return f"{before or '-'} → {after or '-'}" if before or after else "-"


def starred(value: float, holds: bool) -> str:
    """A p-value, with a star where its difference holds."""
    return figure(value, ".3f") + ("*" if holds else " ")


def figure(value: float, form: str) -> str:
    """A number in a form such as `.3f`; a dash where there is none."""
    return format(value, form) if math.isfinite(value) else "-"


DIFFERENCE: tuple[Head[Row], ...] = (
    Head("baseline", lambda row: figure(row.finding.difference.before, ".3f")),
    Head("mean", lambda row: figure(row.finding.difference.after, ".3f")),
    Head("difference [95%]", _delta),
    Head("d", lambda row: figure(row.finding.difference.effect, "+.2f")),
    Head("p raw", lambda row: figure(row.finding.difference.p_value, ".3f")),
    Head("p", lambda row: starred(row.finding.p_value, row.finding.differs)),
    Head("margin", lambda row: figure(row.finding.difference.margin, ".3f") if row.tested else "-"),
    Head("equivalence p", lambda row: starred(row.finding.p_unlike, row.finding.is_equivalent)),
    Head("power", lambda row: figure(row.finding.power, ".0%")),
    Head("pairs", _pairs),
    Head("used", _used),
)
POWER: tuple[Head[RowPower], ...] = (
    Head("prompts", lambda row: str(row.prompts)),
    Head("pairs", lambda row: str(row.pairs)),
    Head("power", lambda row: figure(row.power, ".0%")),
    Head("corrected", lambda row: figure(row.corrected, ".0%")),
)
POOLED: tuple[Head[Mapping[tuple[str, str], PooledRow]], ...] = (
    Head("models", lambda cells: str(_any(cells).models)),
    Head("pairs", _pooled_pairs),
    Head("words", lambda cells: figure(_any(cells).run.words, ".0f")),
    Head("baseline", lambda cells: figure(_any(cells).baseline.words, ".0f")),
    Head("population", lambda cells: figure(_any(cells).run.population_words, ".0f")),
    Head("coherence", lambda cells: figure(_any(cells).run.coherence, ".2f")),
    Head("baseline's", lambda cells: figure(_any(cells).baseline.coherence, ".2f")),
)
POOLED_KEY = (
    "Mean differences over pairs of a model's two runs on one prompt. *: holds; =: equivalent within the margin. words,"
    " coherence: of the strategy's documents, beside them those of its baselines and, of words, the population's."
)
LEFT_OUT = "left out"
RUN: tuple[Head[Facts], ...] = (
    Head("scored", lambda run: f"{run.scored} of {run.documents}"),
    Head("words", lambda run: figure(run.words, ".0f")),
    Head("population", lambda run: figure(run.population_words, ".0f")),
    Head("coherence", lambda run: figure(run.coherence, ".1f")),
    Head("refused", lambda run: str(run.refusals)),
    Head(LEFT_OUT, lambda run: str(run.left_out)),
)
