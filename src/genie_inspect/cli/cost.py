"""`genie cost`: the calls, tokens and money that scoring will take."""

import inspect
import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from genie_inspect.building.costs import TaskCost, task_cost
from genie_inspect.cli import options as cli
from genie_inspect.cli.running import named_models
from genie_inspect.errors import GenieError, UnknownChoiceError
from genie_inspect.files.tables import Table
from genie_inspect.graders.cost import Cost
from genie_inspect.graders.instrument import MODES, Instrument, mode_of
from genie_inspect.graders.list_judge import LIST
from genie_inspect.graders.quality import CHAT, PROTOCOLS
from genie_inspect.graders.rubrics import SETUPS
from genie_inspect.populations.population import open_population
from genie_inspect.populations.survey import SPREAD

if TYPE_CHECKING:
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
    "partition": "telling classes, at most",
    "litbench": CHAT.said,
    **{f"litbench/{protocol.name}": protocol.said for protocol in PROTOCOLS.values()},
    "close_reading": "marking, one call per aspect",
    "novelty_bench": "telling classes and rating, at most",
    "plots": "drawing the plots of references",
    "ttcw": "testing stories",
    **{f"ttcw {setup.name}": f"testing stories: {setup.said}" for setup in SETUPS.values()},
}
ERRORS = (
    "{ratings} ratings add to a document's score of a feature a standard error of at most {document_error:.3f}, to the"
    " mean of all documents at most {mean_error:.3f} (for similarities with a spread of {spread:g}). Judging then costs"
    " the same for a population of any size; reading a population still takes one call per document, once per grader."
)
EPOCHS = 5
NOTE = "estimated from the population's documents and answers; tokens by the bundled tokenizer, yours will differ"
TASK_NOTE = "for texts of the expected length; tokens by the bundled tokenizer, yours will differ"


def _counts(cost: Cost, prices: Prices | None = None) -> dict[str, float]:
    """Calls and tokens in whole numbers, for an expected half call is no claim of precision; and the money."""
    return {key: round(value) for key, value in asdict(cost).items()} | _money(cost, prices)


def _money(cost: Cost, prices: Prices | None) -> dict[str, float]:
    return {"money": round(cost.money(*prices), 4)} if prices else {}


def _table(
    first: str, title: str, note: str, rows: Sequence[tuple[str, str, Cost] | None], prices: Prices | None
) -> Table:
    """Calls and tokens, and with prices the money; a row that is None is a line across."""

    def cells(name: str, step: str, cost: Cost) -> list[str]:
        money = [f"{cost.money(*prices):,.2f}"] if prices else []
        return [name, step, *(f"{round(n):,}" for n in (cost.calls, cost.tokens_in, cost.tokens_out)), *money]

    columns = (first, "step", "calls", "tokens in", "tokens out", *(["money"] if prices else []))
    return Table(title, columns, [row and cells(*row) for row in rows], note, words=2, look="centred")


def _measures(costs: Mapping[str, Cost]) -> list[tuple[str, str, Cost]]:
    return [(name, MEASURES.get(name, "judging"), cost) for name, cost in costs.items()]


TASKS = ("ttcw", "novelty_partition", "ttcw_stories")


def _of_task(task: str, options: Sequence[str], epochs: int | None, prices: Prices | None) -> cli.Answer:
    from genie_inspect.tasks.novelty_measures import extent

    line = _line(task, options)
    epochs = epochs or line.epochs
    costs = line.costs(line.samples, epochs)
    total = sum(costs.values(), Cost())
    measures = {name: _counts(cost, prices) for name, cost in costs.items()}
    facts = {"task": line.name, "samples": len(line.samples), "epochs": epochs}
    rows = [*_measures(costs), *([None, ("", STEPS["total"], total)] if len(costs) > 1 else [])]
    table = _table("measure", f"{line.name}: {extent(len(line.samples), epochs)}", TASK_NOTE, rows, prices)
    return cli.Answer({**facts, "measures": measures, "total": _counts(total, prices)}, [table])


def _line(task: str, options: Sequence[str]) -> "CostLine":
    from genie_inspect.tasks import critiques, ttcw, ttcw_stories
    from genie_inspect.tasks import novelty_partition as partition

    parts: dict[str, tuple[Callable[..., Any], ...]] = {
        "ttcw": (ttcw.ttcw, critiques.plots, critiques.plots_line),
        "novelty_partition": (partition.novelty_partition, partition.prompts_of, partition.cost_line),
        "ttcw_stories": (ttcw_stories.ttcw_stories, critiques.written_stories, critiques.setups_line),
    }
    made, dataset, asked = parts[task]
    values: dict[str, Any] = {name: option.default for name, option in inspect.signature(made).parameters.items()}
    known = list(values)
    for text in options:
        name, given, value = text.partition("=")
        if not given:
            raise UnknownChoiceError("-T", text, "OPTION=VALUE")
        if name not in known:
            raise UnknownChoiceError("-T", name, f"an option of {task}: {', '.join(known)}")
        try:
            values[name] = json.loads(value)
        except ValueError:
            values[name] = value
    # others, such as a cutoff, change no call
    values["samples"] = dataset(**_taken(dataset, values))
    line: CostLine = asked(**_taken(asked, values))
    if not line.asks:
        raise GenieError(f"{task} calls no model with {' '.join(options)}, so it costs nothing")
    return line


def _taken(function: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: values[name] for name in inspect.signature(function).parameters}


@click.command()
@cli.POPULATION
@cli.option("--epochs", type=click.IntRange(1), help=f"Documents per prompt. Default: {EPOCHS} or the task's.")
@cli.option("--judge", "judges", multiple=True, help=f"Judge mode: {', '.join(MODES)}; repeatable. Default: all.")
@cli.ANSWER_LENGTH
@cli.RATINGS
@cli.option("--panel", default="all", help="Further metrics, or `none`.")
@cli.option("--task", type=click.Choice(TASKS), metavar="NAME", help=f"Another task: {', '.join(TASKS)}.")
@cli.option("-T", "options", multiple=True, metavar="OPTION=VALUE", help="Option of that task; repeatable.")
@cli.option(
    "--grader",
    "graders",
    multiple=True,
    metavar="MODEL",
    help="Grader; its kept replies are free. Repeatable: several are a jury.",
)
@cli.WORDINGS
@cli.option("--price-input", type=click.FloatRange(0), help="Price per million input tokens.")
@cli.option("--price-output", type=click.FloatRange(0), help="Price per million output tokens.")
@cli.answering("a table")
@click.pass_context
def cost(
    context: click.Context,
    /,
    task: str | None,
    options: tuple[str, ...],
    epochs: int | None,
    price_input: float | None,
    price_output: float | None,
    **against: Any,
) -> cli.Answer:
    """Estimate the calls, tokens and money that scoring will take.

    It counts the grader's calls for a task with a population, by judge mode, and those of the panel's metrics; --task
    estimates another task. Equal answers are rated once. Writing the documents is not counted. Scoring an existing log
    makes the same calls; `ttcw` then draws no plots.

    \b
    Example: genie cost --epochs 5 --judge list --price-input 2.5 --price-output 10
             genie cost --task ttcw -T stories=stories.jsonl -T analyse=false
    """
    if (price_input is None) != (price_output is None):
        raise click.UsageError("--price-input and --price-output must be given together")
    prices = (price_input, price_output) if price_input is not None and price_output is not None else None
    if task is not None:
        for parameter in context.command.params:
            name = parameter.name or ""
            if name in against and context.get_parameter_source(name) is not ParameterSource.DEFAULT:
                raise click.UsageError(f"{parameter.opts[0]} is not for --task, whose options are given with -T")
        return _of_task(task, options, epochs, prices)
    if options:
        raise click.UsageError("-T needs --task")
    return _of_population(epochs=epochs or EPOCHS, prices=prices, **against)


def _of_population(
    population: str,
    judges: Sequence[str],
    answer_length: str,
    ratings: int | None,
    panel: str,
    graders: Sequence[str],
    templates: str | None,
    epochs: int,
    prices: Prices | None,
) -> cli.Answer:
    from genie_inspect.tasks.panel import chosen_panel

    opened = open_population(population)
    models = named_models(graders, asked=False) or (None,)
    documents = dict.fromkeys(opened.prompts, epochs)
    rows: list[tuple[str, str, Cost] | None] = []
    by_mode: dict[str, dict[str, Any]] = {}
    for judge in judges or MODES:
        mode = mode_of(judge)
        drawn = ratings if mode.asks_pairs else None
        instrument = Instrument(mode.name, templates=templates, answer_length=answer_length, ratings=drawn)
        try:
            # what is in the cache will not be asked again
            costs = [task_cost(opened, documents, instrument, model) for model in models]
        except UnknownChoiceError:
            # a judge that a grader cannot serve: logit asks for log-probabilities, which many providers do not give
            if judges:
                raise
            continue
        task, name = TaskCost.by_all(costs), instrument.judge
        steps: dict[str, Cost] = {step: getattr(task, step) for step in STEPS}
        counts = {"documents": task.documents, "pairs": round(task.pairs), "judged": round(task.judged)}
        shown = {step: _counts(cost) for step, cost in steps.items()}
        by_mode[name] = {**counts, **shown, **_money(task.total, prices)}
        said = STEPS | {"rating": f"{STEPS['rating']} {round(task.judged):,} of {round(task.pairs):,} pairs"}
        rows += [(name if step == "reading" else "", said[step], cost) for step, cost in steps.items()]
        rows.append(None)
    chosen = chosen_panel(panel, LIST.name)
    # the measures of the panel that ask a model; of a population of answers alone there are none
    asking = {} if opened.answers_alone else chosen.costs(opened, templates)
    beside = {name: asks(documents) for name, asks in asking.items()}
    title = f"{len(documents)} prompts x {epochs} documents against {opened.manifest.name}"
    title += f", grader {' and '.join(graders)}" if graders else ""
    facts = {
        "population": opened.name,
        "prompts": len(documents),
        "epochs": epochs,
        "grader": ", ".join(graders) or None,
        "judges": by_mode,
        "panel": {name: _counts(cost, prices) for name, cost in beside.items()},
    }
    table = _table("judge", title, NOTE, [*rows, *_measures(beside)], prices)
    if not ratings or opened.answers_alone:
        return cli.Answer(facts, [table])
    # of a feature with the fewest questions, for a draw at random: the standard error is at most this
    most = max(len(opened.documents(prompt)) for prompt in opened.prompts)
    asked = Counter((prompt, asked.feature) for prompt in opened.prompts for asked in opened.questions(prompt))
    error = SPREAD * math.sqrt(max(0.0, 1 - ratings / most) / ratings / min(asked.values()))
    errors = {"document_error": error, "mean_error": error / math.sqrt(len(documents) * epochs)}
    return cli.Answer(facts | errors, [table, ERRORS.format(ratings=ratings, **errors, spread=SPREAD)])
