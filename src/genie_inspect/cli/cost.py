"""`genie cost`: what judging will cost, before it is asked for."""

import importlib
import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from genie_inspect.building.costs import Known, TaskCost, task_cost
from genie_inspect.cli.running import ANSWER_LENGTH, named_models
from genie_inspect.cli.tables import text_table
from genie_inspect.cli.terminal import console, echo_json
from genie_inspect.errors import GenieError, UnknownChoiceError
from genie_inspect.graders.cost import Cost
from genie_inspect.graders.instrument import MODES, Instrument, mode_of
from genie_inspect.graders.list_judge import LIST
from genie_inspect.graders.quality import CHAT, PROTOCOLS
from genie_inspect.graders.rubrics import WAYS
from genie_inspect.populations.population import Population, open_population

if TYPE_CHECKING:
    from rich.table import Table

    from genie_inspect.tasks.novelty_measures import CostLine


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
    rows: list[list[str] | None] = []
    for mode, task in judges.items():
        for step, words in STEPS.items():
            cell = f"{words} {round(task.judged):,} of {round(task.pairs):,} pairs" if step == "rating" else words
            rows.append([mode if step == "reading" else "", cell, *_cells(getattr(task, step), prices)])
        rows.append(None)
    return _table("judge", title, NOTE, [*rows, *_measures(panel, prices)], prices)


def task_table(costs: Mapping[str, Cost], prices: Prices | None, title: str) -> "Table":
    total = [None, ["", STEPS["total"], *_cells(sum(costs.values(), Cost()), prices)]] if len(costs) > 1 else []
    return _table("measure", title, TASK_NOTE, [*_measures(costs, prices), *total], prices)


def _table(first: str, title: str, note: str, rows: Sequence[list[str] | None], prices: Prices | None) -> "Table":
    columns = (first, "step", "calls", "tokens in", "tokens out", *(["money"] if prices else []))
    return text_table(title, columns, rows, caption=note, words=2, justify="center")


def _measures(costs: Mapping[str, Cost], prices: Prices | None) -> list[list[str]]:
    return [[name, MEASURES.get(name, "judging"), *_cells(cost, prices)] for name, cost in costs.items()]


def _cells(cost: Cost, prices: Prices | None) -> list[str]:
    cells = [f"{round(value):,}" for value in (cost.calls, cost.tokens_in, cost.tokens_out)]
    return [*cells, f"{cost.money(*prices):,.2f}"] if prices else cells


TASKS = ("ttcw", "novelty_partition", "ttcw_stories")
# options of the table against a population
AGAINST = ("population", "judges", "answer_length", "panel", "graders", "templates")


def refuse_others(context: click.Context) -> None:
    """Refuse beside --task what says something of a population."""
    from click.core import ParameterSource

    given = [name for name in AGAINST if context.get_parameter_source(name) is not ParameterSource.DEFAULT]
    names = {parameter.name: parameter.opts[0] for parameter in context.command.params}
    if given:
        raise click.UsageError(f"{names[given[0]]} belongs to a population, and --task takes its options by -T")


def show_task(task: str, options: Sequence[str], epochs: int | None, prices: Prices | None, *, as_json: bool) -> None:
    from genie_inspect.tasks.novelty_measures import extent

    line = _line(task, options)
    epochs = epochs or line.epochs
    costs = line.costs(line.samples, epochs)
    if as_json:
        facts = {"task": line.name, "samples": len(line.samples), "epochs": epochs}
        total = plain_cost(sum(costs.values(), Cost()), prices)
        echo_json({**facts, "measures": plain_costs(costs, prices), "total": total})
        return
    console().print(task_table(costs, prices, f"{line.name}: {extent(len(line.samples), epochs)}"))


def _line(task: str, options: Sequence[str]) -> "CostLine":
    room = importlib.import_module(f"genie_inspect.tasks.{task}")
    known, counted = (inspect.signature(made).parameters for made in (getattr(room, task), room.cost_line))
    values = dict(_option(option) for option in options)
    for name in values.keys() - known.keys():
        raise UnknownChoiceError("-T", name, f"an option of {task}: {', '.join(known)}")
    # others, such as a cutoff, change no call
    line: CostLine = room.cost_line(**{name: value for name, value in values.items() if name in counted})
    if not line.asks:
        raise GenieError(f"{task} asks no model with {' '.join(options)}: there is nothing to count")
    return line


def _option(text: str) -> tuple[str, Any]:
    name, given, value = text.partition("=")
    if not given:
        raise UnknownChoiceError("-T", text, "OPTION=VALUE")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


EPOCHS = 5


@click.command()
@click.option("--population", default="starter", show_default=True, help="`starter` or a folder.")
@click.option("--epochs", type=click.IntRange(1), help=f"New documents a prompt.  [default: {EPOCHS}; a task's own]")
@click.option("--judge", "judges", multiple=True, help=f"{', '.join(MODES)}; repeatable.  [default: all]")
@ANSWER_LENGTH
@click.option("--panel", default="all", show_default=True, help="As for a task; `none` leaves it out.")
@click.option("--task", type=click.Choice(TASKS), help="In place of a population: a task without one.")
@click.option("-T", "options", multiple=True, metavar="OPTION=VALUE", help="An option of that task.")
@click.option(
    "--grader",
    "graders",
    multiple=True,
    help="<provider/model>; what it has said before is not asked again. Repeatable: a jury, each of which is asked.",
)
@click.option("--templates", type=click.Path(), help="A folder of your own instruction templates.")
@click.option("--price-input", type=click.FloatRange(0), help="Of a million tokens that the grader reads.")
@click.option("--price-output", type=click.FloatRange(0), help="Of a million tokens that it writes.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a script instead of a table.")
@click.pass_context
def cost(
    context: click.Context,
    /,
    population: str,
    epochs: int | None,
    judges: tuple[str, ...],
    answer_length: str,
    panel: str,
    task: str | None,
    options: tuple[str, ...],
    graders: tuple[str, ...],
    templates: str | None,
    price_input: float | None,
    price_output: float | None,
    as_json: bool,
) -> None:
    """Calls and tokens that models will be asked for when what was written is judged.

    Against a population: of Genie by judge, and of the panel's measures that ask a model; a task with a population
    takes the population's prompts. Or, with --task, of a task without one. Equal answers are judged once, and what the
    named grader has said before is not asked again. The writing of the documents is not counted. A scorer asks on an
    old log what it asks in a task; `ttcw` then draws no plots.

    \b
    Example: genie cost --epochs 5 --judge list --judge pairwise --price-input 2.5 --price-output 10
             genie cost --task ttcw -T stories=stories.jsonl -T analyse=false
    """
    if (price_input is None) != (price_output is None):
        raise click.UsageError("--price-input and --price-output are given together, as they are billed")
    prices = (price_input, price_output) if price_input is not None and price_output is not None else None
    if task is not None:
        refuse_others(context)
        show_task(task, options, epochs, prices, as_json=as_json)
        return
    if options:
        raise click.UsageError("-T is an option of --task")
    opened = open_population(population)
    instruments = [
        Instrument(mode_of(judge).name, templates=templates, answer_length=answer_length) for judge in judges or MODES
    ]
    costs = _judges(opened, epochs or EPOCHS, instruments, graders, named=bool(judges))
    beside = _panel(opened, epochs or EPOCHS, panel, templates)
    _show_population(opened, costs, beside, epochs or EPOCHS, graders, prices, as_json=as_json)


def _show_population(
    population: Population,
    judges: Mapping[str, TaskCost],
    panel: Mapping[str, Cost],
    epochs: int,
    graders: Sequence[str],
    prices: Prices | None,
    *,
    as_json: bool,
) -> None:
    prompts = len(population.prompts)
    if as_json:
        named = ", ".join(graders) or None
        facts = {"population": population.name, "prompts": prompts, "epochs": epochs, "grader": named}
        by_judge = {mode: plain_judge(one, prices) for mode, one in judges.items()}
        echo_json({**facts, "judges": by_judge, "panel": plain_costs(panel, prices)})
        return
    documents = f"{prompts} prompts x {epochs} documents against {population.manifest.name}"
    title = f"{documents}, grader {' and '.join(graders)}" if graders else documents
    console().print(population_table(judges, panel, prices, title))


def _judges(
    population: Population, epochs: int, instruments: Sequence[Instrument], graders: Sequence[str], *, named: bool
) -> dict[str, TaskCost]:
    """What Genie costs by judge; one that a grader cannot serve is left out unless it was named with --judge."""
    models = named_models(graders, asked=False) or (None,)
    costs: dict[str, TaskCost] = {}
    for instrument in instruments:
        try:
            # what is in the cache will not be asked again
            known = [Known.by(instrument, model) for model in models]
        except UnknownChoiceError:
            # logit asks for log-probabilities, which many providers do not give
            if named:
                raise
        else:
            documents = dict.fromkeys(population.prompts, epochs)
            costs[instrument.judge] = TaskCost.by_all(
                [task_cost(population, documents, instrument, each) for each in known]
            )
    return costs


def _panel(population: Population, epochs: int, panel: str, templates: str | None) -> dict[str, Cost]:
    """What those measures cost that ask a model; of a population of answers alone there are none."""
    from genie_inspect.tasks.panel import chosen_panel

    chosen = chosen_panel(panel, LIST.name)
    if population.answers_alone:
        return {}
    documents = dict.fromkeys(population.prompts, epochs)
    return {name: asks(documents) for name, asks in chosen.costs(population, templates).items()}
