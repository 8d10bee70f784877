"""The table of strategies pooled over models."""

from collections.abc import Mapping
from functools import partial

from rich.console import Console  # noqa: TID251  # a type, whose object comes from the door
from rich.markup import escape
from rich.table import Table

from genie_inspect.cli.comparison_tables.blocks import Head, blocks, figure
from genie_inspect.logs.measures import shown_key
from genie_inspect.reports.comparison.compared import Comparison
from genie_inspect.reports.comparison.pooled import PooledRow, pooled
from genie_inspect.statistics.paired.differences import LEVEL


def pooled_tables(comparison: Comparison, console: Console) -> list[Table]:
    """Strategies down; models, prompts, mean difference of each key, words and coherence across."""
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
    title = "pooled over models: prompts are the units"
    return blocks(title, "strategy", lines, [*POOLED[:2], *heads, *POOLED[2:]], console)


def _pooled_name(comparison: Comparison, scorer: str, key: str, *, several: bool) -> str:
    name = shown_key(comparison.signatures[scorer], key)
    return f"{scorer}: {name}" if several else name


def _pooled_cell(cells: Mapping[tuple[str, str], PooledRow], key: tuple[str, str]) -> str:
    if key not in cells:
        return "-"
    row, finding = cells[key], cells[key].finding
    over_models = finding.differs and row.p_models < LEVEL
    mark = "**" if over_models else "*" if finding.differs else "=" if finding.is_equivalent else " "
    return f"{figure(finding.difference.delta, '+.3f')}{mark} {row.same_sign}/{row.models}"


def _pooled_pairs(cells: Mapping[tuple[str, str], PooledRow]) -> str:
    pairs = sorted({row.finding.difference.pairs for row in cells.values()})
    return str(pairs[0]) if len(pairs) == 1 else f"{pairs[0]} to {pairs[-1]}"


def _any(cells: Mapping[tuple[str, str], PooledRow]) -> PooledRow:
    # what is no difference is the same in every row of a strategy
    return next(iter(cells.values()))


POOLED: tuple[Head[Mapping[tuple[str, str], PooledRow]], ...] = (
    Head("models", lambda cells: str(_any(cells).models)),
    Head("prompts", _pooled_pairs),
    Head("words", lambda cells: figure(_any(cells).run.words, ".0f")),
    Head("baseline", lambda cells: figure(_any(cells).baseline.words, ".0f")),
    Head("population", lambda cells: figure(_any(cells).run.population_words, ".0f")),
    Head("coherence", lambda cells: figure(_any(cells).run.coherence, ".2f")),
    Head("baseline's", lambda cells: figure(_any(cells).baseline.coherence, ".2f")),
)
POOLED_KEY = (
    "Differences of a model's two runs on one prompt, averaged over models, then over prompts. *: holds, =: equivalent"
    " within the margin; prompts are the units, so that this is said of these models on other prompts. **: holds with"
    " models as units, too (from three models), and so of others like them. 2/3: models whose own difference has that"
    " sign, of all. words, coherence: of the strategy's documents, beside them those of its baselines and, of"
    " words, the population's."
)
