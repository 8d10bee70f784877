"""The line that says what a task will ask the grader, before anything is asked."""

import sys

from inspect_ai.model import model_roles

from genie_inspect.asking.grader import ROLE, held_to_json
from genie_inspect.costs.estimate import Known, task_cost
from genie_inspect.engines.embedders.choices import embedder
from genie_inspect.files.printable import one_line
from genie_inspect.judges.cache import Cache
from genie_inspect.judges.choices import EMBEDDED, cache_for, grader_for, reader_and_judge
from genie_inspect.populations.population import Population
from genie_inspect.tasks.instrument import Instrument


def announce_cost(population: Population, instrument: Instrument, epochs: int) -> None:
    """Calls and tokens of the scorer `genie` on standard error; nothing for a judge that asks no model.

    Where the grader role is bound, what this grader has said before is not counted, unless the cache is off.

    Args:
        population: What new documents are compared with.
        instrument: Judge, templates and cache of the task.
        epochs: New documents a prompt.
    """
    if instrument.judge == EMBEDDED:
        return
    total = task_cost(population, epochs, instrument.judge, instrument.templates, _reader_and_judge(instrument)).total
    line = (
        f"judge={instrument.judge} asks the grader: about {total.calls:,.0f} calls, {total.tokens_in:,.0f} tokens in "
        f"and {total.tokens_out:,.0f} out for {len(population.prompts)} prompts x {epochs} epochs (more: genie cost)"
    )
    sys.stderr.write(one_line(line) + "\n")  # noqa: TID251  # a task prints without the command, as one printable line


def _reader_and_judge(instrument: Instrument) -> Known:
    """The reader and judge of the scorer, where a grader is bound, and the cache of their earlier replies."""
    # a look at the task without a role is no error, see `requirement`
    model = grader_for(instrument.judge) if ROLE in model_roles() else None
    if model is None:
        return Known(keeps_none=not instrument.cache)
    return Known(
        *reader_and_judge(instrument.judge, model, embedder(), {}, instrument.templates),
        cache_for(model, Cache()) if instrument.cache else None,
        as_json=held_to_json(model),
    )
