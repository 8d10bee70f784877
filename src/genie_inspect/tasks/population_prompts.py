"""A population's own prompts, whatever kind of text they ask for."""

from inspect_ai import Task, task

from genie_inspect.asking.prerequisites import unmet
from genie_inspect.engines.prompt_sources import prompt_lines
from genie_inspect.errors import GenieError
from genie_inspect.populations.catalogue import NONE
from genie_inspect.tasks.novelty import novelty_task


@task
def population_prompts(
    population: str = NONE,
    prompts: str | None = None,
    judge: str = "list",
    embedder: str = "static",
    templates: str | None = None,
) -> Task:
    """Documents for a population's prompts, scored along its features; or for prompts that shall get a population.

    Args:
        population: A bundled population (`starter`, `abstracts`) or the folder of one.
        prompts: Instead of a population: a text file of a prompt a line, to generate for one.
        judge: As for `synthetic_prompts`.
        embedder: As for `synthetic_prompts`.
        templates: As for `synthetic_prompts`.
    """
    if (population == NONE) == (prompts is None):
        raise unmet("give either population=<name or folder> or prompts=<text file of a prompt a line>")
    try:
        given = prompt_lines(prompts) if prompts is not None else []
    except GenieError as error:
        raise unmet(error) from error
    return novelty_task("population_prompts", given, population, judge, embedder, templates)
