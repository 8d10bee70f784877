"""`genie cost`: what judging will cost, before it is asked for."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from genie_inspect.asking.grader import held_to_json
from genie_inspect.cli.graders import named_model
from genie_inspect.cli.tables import shown_errors
from genie_inspect.cli.terminal import console, echo_json
from genie_inspect.costs.estimate import Known, TaskCost, task_cost
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.judges.cache import Cache
from genie_inspect.judges.choices import MODES, cache_for, mode_of
from genie_inspect.judges.grader_reader import GraderReader
from genie_inspect.judges.merging import RatingMemo
from genie_inspect.populations.catalogue import open_population

if TYPE_CHECKING:
    from rich.table import Table

STEPS = {
    "reading": "reading new documents",
    "population": "reading the population",
    "rating": "judging",
    "total": "in all",
}
NOTE = "estimated from the population's documents and answers; tokens by the bundled tokenizer, yours will differ"


@click.command()
@click.option("--population", default="starter", show_default=True, help="`starter` or a folder.")
@click.option("--epochs", default=5, show_default=True, type=click.IntRange(1), help="New documents a prompt.")
@click.option("--judge", "judges", multiple=True, help="list, pairwise or logit; repeatable.  [default: all]")
@click.option("--grader", help="<provider/model>; what it has said before is not asked again.")
@click.option("--templates", type=click.Path(path_type=Path), help="A folder of your own instruction templates.")
@click.option("--price-input", type=click.FloatRange(0), help="Of a million tokens that the grader reads.")
@click.option("--price-output", type=click.FloatRange(0), help="Of a million tokens that it writes.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a script instead of a table.")
def cost(
    population: str,
    epochs: int,
    judges: tuple[str, ...],
    grader: str | None,
    templates: Path | None,
    price_input: float | None,
    price_output: float | None,
    as_json: bool,
) -> None:
    """Calls and tokens that the grader will be asked for, by judge, when a task is run against a population.

    A task with a population takes the population's prompts. Equal answers are judged once, and what the named grader
    has said before is not asked again. The writing of the documents is not counted.

    \b
    Example: genie cost --epochs 5 --judge list --judge pairwise --price-input 2.5 --price-output 10
    """
    if (price_input is None) != (price_output is None):
        raise click.UsageError("--price-input and --price-output are given together, as they are billed")
    prices = (price_input, price_output) if price_input is not None and price_output is not None else None
    with shown_errors():
        opened = open_population(population)
        graders_by_judge = _graders(judges or tuple(MODES), grader, templates, strict=bool(judges))
        costs = {
            mode: task_cost(opened, epochs, mode, templates, reader_and_judge)
            for mode, reader_and_judge in graders_by_judge.items()
        }
    if as_json:
        facts = {"population": opened.name, "prompts": len(opened.prompts), "epochs": epochs, "grader": grader}
        echo_json({**facts, "judges": {mode: _plain(task, prices) for mode, task in costs.items()}})
        return
    documents = f"{len(opened.prompts)} prompts x {epochs} documents against {opened.manifest.name}"
    console().print(_table(costs, prices, f"{documents}, grader {grader}" if grader else documents))


def _graders(judges: tuple[str, ...], grader: str | None, templates: Path | None, *, strict: bool) -> dict[str, Known]:
    """The grader by judge; a judge that the grader cannot serve is left out unless it was named with --judge."""
    modes = [mode_of(judge) for judge in judges]
    if grader is None:
        return {judge: Known() for judge in judges}
    model = named_model(grader)
    # what is in the cache will not be asked again
    cache = cache_for(model, Cache())
    graders_by_judge: dict[str, Known] = {}
    for mode in modes:
        try:
            readers = GraderReader(model, templates), mode.judge(model, templates, RatingMemo())
            graders_by_judge[mode.name] = Known(*readers, cache, as_json=held_to_json(model))
        except UnknownChoiceError:
            # logit asks for log-probabilities, which many providers do not give
            if strict:
                raise
    return graders_by_judge


def _plain(task: TaskCost, prices: tuple[float, float] | None) -> dict[str, object]:
    """Whole numbers: an expected half call is no claim of precision."""
    steps = {step: {key: round(value) for key, value in asdict(getattr(task, step)).items()} for step in STEPS}
    money = {"money": round(task.total.money(*prices), 4)} if prices else {}
    return {"documents": task.documents, "pairs": round(task.pairs), "judged": round(task.judged), **steps, **money}


def _table(costs: dict[str, TaskCost], prices: tuple[float, float] | None, title: str) -> "Table":
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=escape(title), caption=NOTE)
    for name in ("judge", "step"):
        table.add_column(name)
    for name in ("calls", "tokens in", "tokens out", *(["money"] if prices else [])):
        table.add_column(name, justify="right")
    for mode, task in costs.items():
        for step, words in STEPS.items():
            part = getattr(task, step)
            cells = [f"{round(value):,}" for value in (part.calls, part.tokens_in, part.tokens_out)]
            cells += [f"{part.money(*prices):,.2f}"] if prices else []
            cell = f"{words} {round(task.judged):,} of {round(task.pairs):,} pairs" if step == "rating" else words
            table.add_row(mode if step == "reading" else "", cell, *cells, end_section=step == "total")
    return table
