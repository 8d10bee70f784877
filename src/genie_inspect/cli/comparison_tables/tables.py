"""The tables of a comparison: differences of each run, power, and what stands beside the scores."""

import math

from rich.console import Console  # noqa: TID251  # a type, whose object comes from the door
from rich.markup import escape
from rich.table import Table

from genie_inspect.cli.comparison_tables.blocks import Head, blocks, figure, starred
from genie_inspect.cli.tables import used
from genie_inspect.logs.measures import shown_key
from genie_inspect.reports.comparison.compared import Comparison, Facts, Row
from genie_inspect.reports.comparison.power import RowPower, powers
from genie_inspect.statistics.paired.differences import LEVEL


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
    heads = [head for head in DIFFERENCE if head.name != COMMON or any(row.questions[1] for row in rows)]
    return blocks(escape(title), "feature", lines, heads, console)


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


COMMON = "common"
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
    Head(COMMON, lambda row: "{} of {}".format(*row.questions) if row.questions[1] else "-"),
    Head("used", _used),
)
POWER: tuple[Head[RowPower], ...] = (
    Head("prompts", lambda row: str(row.prompts)),
    Head("pairs", lambda row: str(row.pairs)),
    Head("power", lambda row: figure(row.power, ".0%")),
    Head("corrected", lambda row: figure(row.corrected, ".0%")),
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
