"""Is a measure to be trusted: originals, edits of one feature each and paraphrases, scored by any scorers."""

from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset

NAME = "metric_study"


@task
def metric_study(
    pairs: str = "starter",
    population: str = "starter",
    judge: str | list[str] = "list",
    embedder: str = "static",
    templates: str | list[str] | None = None,
    panel: str | list[str] = "none",
    scorer: str | list[str] | dict[str, Any] | None = None,
    cache: bool = True,
    answer_length: str = "concise",
    ratings: int | None = None,
) -> Task:
    """How far measures move when one feature of a text is edited, and when all is said in other words.

    Nothing is written: every text is a sample of its own, scored as any document is; a text is compared neither with
    itself nor with the text of which it was made. `genie validate LOG` reads the log. Any `--model` will do, for
    instance `mockllm/model`.

    Args:
        pairs: `starter`, or the folder or file that `genie edits write` makes.
        population: `starter` or the folder of a population: what texts are compared with. Prompts that it does not have
            are unscored.
        judge: As for `synthetic_prompts`, or several: Genie once with each.
        embedder: As for `synthetic_prompts`.
        templates: As for `synthetic_prompts`.
        panel: As for `synthetic_prompts`.
        scorer: Further scorers by name, as `inspect score --scorer` takes them (`genie_inspect/ttcw`,
            `my_scorer.py@name`), also alone, with `judge=none`; with options as a mapping, `{"genie_inspect/ttcw":
            {"reference": false}}`. A sample's target, with which `ttcw` compares, is the population's first document
            for its prompt that is neither the text nor its original.
        cache: As for `synthetic_prompts`.
        answer_length: As for `synthetic_prompts`.
        ratings: As for the scorer `genie`: how many answers an answer is rated against; all unless given.

    Raises:
        RefusedError: If an option cannot be used; before anything is asked.
    """
    from genie_inspect.errors import InterventionsError, UnknownChoiceError
    from genie_inspect.graders.grader import refusals
    from genie_inspect.populations.interventions import Interventions
    from genie_inspect.populations.population import NONE, open_population
    from genie_inspect.signature import TASKS
    from genie_inspect.solvers.generations import recorded
    from genie_inspect.tasks.novelty import STUDY_CONFIG, beside, text_samples
    from genie_inspect.tasks.novelty_measures import NoveltyMeasures, named_scorers

    with refusals():
        if population == NONE:
            raise UnknownChoiceError("population", population, "starter or the folder of a population")
        texts = Interventions(pairs)
        judges = judge.split(",") if isinstance(judge, str) else judge
        if not isinstance(judges, list) or not judges or not all(isinstance(name, str) for name in judges):
            raise UnknownChoiceError("judge", judge, "a judge, or several with commas between them")
        first, *others = (name.strip() for name in judges)
        measures = NoveltyMeasures(
            population, first, embedder, templates, cache, panel, answer_length, ratings, others, named_scorers(scorer)
        )
        if not texts.changed:
            raise InterventionsError(
                f"{texts.file} has no usable edit or paraphrase: {len(texts.left_out)} are left out, "
                f"{len(texts.orphans)} lack their original"
            )
        # each original before what was made of it
        dataset = MemoryDataset(text_samples(texts, open_population(population)), name=NAME)
        return Task(
            dataset=dataset,
            setup=measures.setup(dataset, epochs=1),
            solver=recorded(),
            # `genie` by each judge, the panel's, those that `scorer` names
            scorer=measures.scorers(),
            epochs=1,
            config=STUDY_CONFIG,
            version=TASKS[NAME],
            **beside(measures, edits=texts.name, left_out=len(texts.left_out)),
        )
