"""The line that says what a task will ask the grader, before anything is asked."""

import sys

from inspect_ai.model import model_roles

from genie_inspect.asking.grader import ROLE, held_to_json
from genie_inspect.engines.embedders import embedder
from genie_inspect.judges.cache import Cache
from genie_inspect.judges.choices import EMBEDDED, cache_for, grader_for, reader_and_judge
from genie_inspect.populations.population import Population
from genie_inspect.scorers.cost import Known, task_cost


def announce_cost(population: Population, judge: str, epochs: int, templates: str | None = None) -> None:
    """Calls and tokens of the scorer `genie` on standard error; nothing for a judge that asks no model.

    Where the grader role is bound, what this grader has said before is not counted.

    Args:
        population: What new documents are compared with.
        judge: As for the scorer.
        epochs: New documents a prompt.
        templates: As for the scorer.
    """
    if judge == EMBEDDED:
        return
    known = None
    if ROLE in model_roles() and (model := grader_for(judge)):
        known = Known(
            *reader_and_judge(judge, model, embedder(), {}, templates),
            cache_for(model, Cache()),
            as_json=held_to_json(model),
        )
    total = task_cost(population, epochs, judge, templates, known).total
    sys.stderr.write(
        f"judge={judge} asks the grader: about {total.calls:,.0f} calls, {total.tokens_in:,.0f} tokens in and "
        f"{total.tokens_out:,.0f} out for {len(population.prompts)} prompts x {epochs} epochs (more: genie cost)\n"
    )
