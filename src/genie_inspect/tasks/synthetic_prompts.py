"""The study's 25 concept pairs, two things that seldom meet in one story."""

from inspect_ai import Task, task
from inspect_ai.solver import generate


@task
def synthetic_prompts(
    population: str = "starter",
    judge: str = "list",
    embedder: str = "static",
    templates: str | list[str] | None = None,
    panel: str | list[str] = "none",
    cache: bool = True,
    answer_length: str = "concise",
    ratings: int | None = None,
) -> Task:
    """Short stories about two things that rarely meet, scored for novelty by feature.

    Args:
        population: `starter` (8 of the 25 prompts), the folder of a population (its own prompts are the dataset), or
            `none`: all 25 prompts are generated and nothing is scored, for building a population.
        judge: `list`, `sheet`, `pairwise`, `logit`, `embedding` (all ask the role `grader`), `offline` (no model: a
            smoke test), see the scorer `genie`; or `none`: the panel alone scores, without Genie.
        embedder: For `embedding` and `offline`: static, openai/<model> or sentence-transformers/<id or folder>.
        templates: A folder of your own instruction templates.
        panel: Holistic measures on the same documents: `none`, `cheap` (cosine, compression, creativity_index,
            expression_novelty and partition by embeddings: none asks a model, but Genie beside them does unless
            judge=none), `all` (litbench too, which asks `--model-role preference=...` or the grader, and
            close_reading, which asks the grader), or names with commas between them, `litbench/generative` for a
            protocol of the scorer's.
        cache: As for the scorer `genie`: false asks the grader again.
        answer_length: As for the scorer `genie`: `concise`, `sentence` or `free`.
        ratings: As for the scorer `genie`: how many answers an answer is rated against; all unless given.

    Raises:
        RefusedError: If an option cannot be used; before anything is generated.

    Source: Genie (arXiv 2606.12790).
    """
    from genie_inspect.graders.grader import refusals
    from genie_inspect.signature import TASKS
    from genie_inspect.tasks.novelty import EPOCHS, STUDY_CONFIG, beside, compared_dataset
    from genie_inspect.tasks.novelty_measures import NoveltyMeasures

    with refusals():
        measures = NoveltyMeasures(population, judge, embedder, templates, cache, panel, answer_length, ratings)
        # the prompts that the population has; all 25 without one
        dataset = compared_dataset("synthetic_prompts", concept_pairs(), measures)
        return Task(
            dataset=dataset,
            setup=measures.setup(dataset, EPOCHS),
            solver=generate(),
            # the scorer `genie`, and the panel's
            scorer=measures.scorers(),
            epochs=EPOCHS,
            config=STUDY_CONFIG,
            version=TASKS["synthetic_prompts"],
            **beside(measures),
        )


def concept_pairs() -> list[str]:
    from genie_inspect.files.writing import DATA

    return (DATA / "synthetic_prompts.txt").read_text(encoding="utf-8").splitlines()
