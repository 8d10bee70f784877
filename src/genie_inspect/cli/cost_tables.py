"""What judging will cost, as a table or as plain values: of Genie a step a row, of other measures a row each."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from genie_inspect.asking.cost import Cost
from genie_inspect.costs.estimate import TaskCost
from genie_inspect.critic.ways import WAYS
from genie_inspect.panel_judges.protocols import CHAT, PROTOCOLS

if TYPE_CHECKING:
    from rich.table import Table

Prices = tuple[float, float]
"""Of a million tokens in and out."""
STEPS = {
    "reading": "reading new documents",
    "population": "reading the population",
    "rating": "judging",
    "total": "in all",
}
MEASURES = {
    "partition": "telling kinds, at most",
    "litbench": CHAT.said,
    **{f"litbench/{protocol.name}": protocol.said for protocol in PROTOCOLS.values()},
    "close_reading": "marking, an aspect a call",
    "novelty_bench": "telling kinds and rating, at most",
    "plots": "drawing the plots of references",
    "ttcw": "testing stories",
    **{f"ttcw {way.name}": f"testing stories: {way.said}" for way in WAYS.values()},
}
NOTE = "estimated from the population's documents and answers; tokens by the bundled tokenizer, yours will differ"
TASK_NOTE = "for texts of the expected length; tokens by the bundled tokenizer, yours will differ"


def plain_costs(costs: Mapping[str, Cost], prices: Prices | None) -> dict[str, dict[str, float]]:
    """The same of several, by name."""
    return {name: plain_cost(cost, prices) for name, cost in costs.items()}


def plain_judge(task: TaskCost, prices: Prices | None) -> dict[str, object]:
    """What Genie asks with one judge, in whole numbers: an expected half call is no claim of precision."""
    steps = {step: plain_cost(getattr(task, step)) for step in STEPS}
    return {
        "documents": task.documents,
        "pairs": round(task.pairs),
        "judged": round(task.judged),
        **steps,
        **_money(task.total, prices),
    }


def plain_cost(cost: Cost, prices: Prices | None = None) -> dict[str, float]:
    """Calls and tokens in whole numbers, and the money where there are prices."""
    return {key: round(value) for key, value in asdict(cost).items()} | _money(cost, prices)


def _money(cost: Cost, prices: Prices | None) -> dict[str, float]:
    return {"money": round(cost.money(*prices), 4)} if prices else {}


def population_table(
    judges: Mapping[str, TaskCost], panel: Mapping[str, Cost], prices: Prices | None, title: str
) -> "Table":
    """Of each judge its steps, and below them the measures of the panel."""
    table = _empty_table("judge", prices, title, NOTE)
    for mode, task in judges.items():
        for step, words in STEPS.items():
            cell = f"{words} {round(task.judged):,} of {round(task.pairs):,} pairs" if step == "rating" else words
            table.add_row(
                mode if step == "reading" else "",
                cell,
                *_cells(getattr(task, step), prices),
                end_section=step == "total",
            )
    _add_measures(table, panel, prices)
    return table


def task_table(costs: Mapping[str, Cost], prices: Prices | None, title: str) -> "Table":
    """A row for each measure of a task, and one for all."""
    table = _empty_table("measure", prices, title, TASK_NOTE)
    _add_measures(table, costs, prices)
    if len(costs) > 1:
        table.add_section()
        table.add_row("", STEPS["total"], *_cells(sum(costs.values(), Cost()), prices))
    return table


def _empty_table(first: str, prices: Prices | None, title: str, note: str) -> "Table":
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=escape(title), caption=note)
    for name in (first, "step"):
        table.add_column(name)
    for name in ("calls", "tokens in", "tokens out", *(["money"] if prices else [])):
        table.add_column(name, justify="right")
    return table


def _add_measures(table: "Table", costs: Mapping[str, Cost], prices: Prices | None) -> None:
    for name, cost in costs.items():
        table.add_row(name, MEASURES.get(name, "judging"), *_cells(cost, prices))


def _cells(cost: Cost, prices: Prices | None) -> list[str]:
    cells = [f"{round(value):,}" for value in (cost.calls, cost.tokens_in, cost.tokens_out)]
    return [*cells, f"{cost.money(*prices):,.2f}"] if prices else cells
