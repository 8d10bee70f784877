"""Prompts from r/WritingPrompts, loaded when the task is made."""

from inspect_ai import Task, task
from inspect_ai.solver import generate


@task
def writing_prompts(
    population: str = "none",
    judge: str = "list",
    embedder: str = "static",
    templates: str | list[str] | None = None,
    dataset: str = "euclaise/writingprompts",
    sample: int = 25,
    seed: int = 0,
    panel: str | list[str] = "none",
    cache: bool = True,
    answer_length: str = "concise",
    ratings: int | None = None,
    column: str = "prompt",
    split: str = "train",
    story_where: bool = False,
) -> Task:
    """Stories from prompts that people wrote for each other, scored when a population of such stories is given.

    Args:
        population: `none`: generation alone, for building a population; or the folder of a population, whose prompts
            are then the dataset.
        judge: As for `synthetic_prompts`.
        embedder: As for `synthetic_prompts`.
        templates: As for `synthetic_prompts`.
        dataset: Hub id, with `@<commit>` behind it where it is to be pinned (needs the extra `hub` and a network), or
            a local JSON Lines, CSV or Parquet file. SAA-Lab/LitBench-Train has prompts, too.
        sample: How many prompts are drawn.
        seed: Which ones.
        panel: As for `synthetic_prompts`.
        cache: As for `synthetic_prompts`.
        answer_length: As for `synthetic_prompts`.
        ratings: As for the scorer `genie`: how many answers an answer is rated against; all unless given.
        column: Where a row has its prompt.
        split: Which part of a hub dataset.
        story_where: Begin each prompt with "Write a story where:", as the study does, unless it asks for a story
            itself.

    Raises:
        RefusedError: If an option cannot be used; before anything is generated.
    """
    from genie_inspect.errors import check_count, check_switch
    from genie_inspect.graders.grader import refusals
    from genie_inspect.populations.prompts import writing_prompt_sample
    from genie_inspect.signature import TASKS
    from genie_inspect.tasks.novelty import EPOCHS, STUDY_CONFIG, beside, compared_dataset
    from genie_inspect.tasks.novelty_measures import NoveltyMeasures

    with refusals():
        measures = NoveltyMeasures(population, judge, embedder, templates, cache, panel, answer_length, ratings)
        check_count("sample", sample)
        check_switch("story_where", story_where)
        prompts: list[str] = []
        # with a population its prompts are taken, and nothing need be downloaded
        if not measures.scores:
            prompts = writing_prompt_sample(dataset, sample, seed, column=column, split=split, story_where=story_where)
        samples = compared_dataset("writing_prompts", prompts, measures)
        return Task(
            dataset=samples,
            setup=measures.setup(samples, EPOCHS),
            solver=generate(),
            # the scorer `genie`, and the panel's
            scorer=measures.scorers(),
            epochs=EPOCHS,
            config=STUDY_CONFIG,
            version=TASKS["writing_prompts"],
            **beside(measures),
        )
