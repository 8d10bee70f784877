"""A population's own prompts, whatever kind of text they ask for."""

from inspect_ai import Task, task
from inspect_ai.solver import generate

from genie_inspect.errors import GenieError


@task
def population_prompts(
    population: str = "none",
    prompts: str | None = None,
    judge: str = "list",
    embedder: str = "static",
    templates: str | list[str] | None = None,
    panel: str | list[str] = "none",
    cache: bool = True,
    answer_length: str = "concise",
    ratings: int | None = None,
) -> Task:
    """Documents for a population's prompts, scored along its features; or for prompts that shall get a population.

    Args:
        population: A bundled population (`starter`, `abstracts`) or the folder of one.
        prompts: Instead of a population: a text file with one prompt per line, or JSON Lines with a field `prompt` as
            `genie prompts` writes, to generate for one.
        judge: As for `synthetic_prompts`.
        embedder: As for `synthetic_prompts`.
        templates: As for `synthetic_prompts`.
        panel: As for `synthetic_prompts`; of documents without questions only it is taken, and `cheap` asks no model.
        cache: As for `synthetic_prompts`.
        answer_length: As for `synthetic_prompts`.
        ratings: As for the scorer `genie`: how many answers an answer is rated against; all unless given.

    Raises:
        RefusedError: If an option cannot be used; before anything is generated.
    """
    from genie_inspect.graders.grader import refusals
    from genie_inspect.populations.prompts import prompt_lines
    from genie_inspect.signature import TASKS
    from genie_inspect.tasks.novelty import EPOCHS, STUDY_CONFIG, beside, compared_dataset
    from genie_inspect.tasks.novelty_measures import NoveltyMeasures

    with refusals():
        measures = NoveltyMeasures(population, judge, embedder, templates, cache, panel, answer_length, ratings)
        # both, or neither
        if measures.scores == (prompts is not None):
            raise GenieError(
                f"population is {population!r} and prompts is {prompts!r}, expected one of population=<name or folder> "
                "and prompts=<text file with one prompt per line>"
            )
        lines = prompt_lines(prompts) if prompts is not None else []
        dataset = compared_dataset("population_prompts", lines, measures)
        return Task(
            dataset=dataset,
            setup=measures.setup(dataset, EPOCHS),
            solver=generate(),
            # the scorer `genie`, and the panel's
            scorer=measures.scorers(),
            epochs=EPOCHS,
            config=STUDY_CONFIG,
            version=TASKS["population_prompts"],
            **beside(measures),
        )
