"""The part of `genie cost` that is about a task without a population."""

import importlib
import inspect
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from genie_inspect.asking.cost import Cost
from genie_inspect.cli.cost_tables import Prices, plain_cost, plain_costs, task_table
from genie_inspect.cli.terminal import console, echo_json
from genie_inspect.errors import GenieError, UnknownChoiceError

if TYPE_CHECKING:
    from genie_inspect.tasks.cost_line import CostLine

TASKS = {name: name for name in ("ttcw", "novelty_partition")} | {"ttcw_stories": "existing.ttcw_stories"}
"""Where each stands among the tasks."""
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
    """What a task asks for, as a table or as JSON.

    Raises:
        GenieError: If an option or what it names cannot be used.
    """
    from genie_inspect.tasks.cost_line import extent

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
    """The cost line of a task with these options.

    Raises:
        GenieError: If an option or what it names cannot be used.
    """
    room = importlib.import_module(f"genie_inspect.tasks.{TASKS[task]}")
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
