"""The population's own documents, each compared with the others: the scores that a report shows beside a model."""

from typing import TYPE_CHECKING

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample

from genie_inspect.errors import UnknownChoiceError

if TYPE_CHECKING:
    from genie_inspect.graders.instrument import Instrument
    from genie_inspect.populations.population import Population


@task
def leave_one_out(
    population: str = "starter",
    judge: str = "list",
    embedder: str = "static",
    templates: str | list[str] | None = None,
    panel: str | list[str] = "none",
    cache: bool = True,
    answer_length: str = "concise",
    ratings: int | None = None,
) -> Task:
    """How novel each document of a population is among the others; nothing is generated.

    The scorers leave a document out of its own comparison. Give the log to `genie report` beside those of models that
    were scored with the same options. Any `--model` will do, for instance `mockllm/model`.

    Args:
        population: `starter` or the folder of a population with documents.
        judge: As for `synthetic_prompts`.
        embedder: As for `synthetic_prompts`.
        templates: As for `synthetic_prompts`.
        panel: As for `synthetic_prompts`.
        cache: As for `synthetic_prompts`.
        answer_length: As for `synthetic_prompts`.
        ratings: As for the scorer `genie`: how many answers an answer is rated against; all unless given.

    Raises:
        RefusedError: If an option cannot be used; before anything is asked.
    """
    from genie_inspect.graders.grader import refusals
    from genie_inspect.inspect_private import run_has_begun
    from genie_inspect.populations.population import NONE, open_population
    from genie_inspect.signature import TASKS
    from genie_inspect.solvers.generations import DOCUMENT, recorded
    from genie_inspect.tasks.novelty import STUDY_CONFIG, beside
    from genie_inspect.tasks.novelty_measures import NoveltyMeasures

    with refusals():
        if population == NONE:
            raise UnknownChoiceError("population", population, "starter or the folder of a population")
        measures = NoveltyMeasures(
            population, judge, embedder, templates, cache, panel, answer_length, ratings, is_reference_scores=True
        )
        opened = open_population(population)
        if measures.with_genie and run_has_begun():
            _check_recorded(opened, measures.instruments[0])
        documents = [document for prompt in opened.prompts for document in opened.documents(prompt)]
        # word for word, so that scorers know the document again and leave it out of its comparison
        samples = [Sample(input=d.prompt, id=d.id, metadata={"prompt": d.prompt, DOCUMENT: d.text}) for d in documents]
        dataset = MemoryDataset(samples, name="leave_one_out")
        return Task(
            dataset=dataset,
            setup=measures.setup(dataset, epochs=1),
            solver=recorded(),
            # the scorer `genie`, and the panel's
            scorer=measures.scorers(),
            epochs=1,
            config=STUDY_CONFIG,
            version=TASKS["leave_one_out"],
            **beside(measures),
        )


def _check_recorded(population: "Population", instrument: "Instrument") -> None:
    """Refuse a grader that replays what is on record where that does not do for these documents."""
    from inspect_ai.model import ModelName, model_roles

    from genie_inspect.graders.grader import RECORDED, ROLE, unmet
    from genie_inspect.graders.instrument import mode_of
    from genie_inspect.providers.replay import starter_record

    # where none is bound another check says so
    if instrument.is_smoke_test or ROLE not in model_roles():
        return
    for model in instrument.graders():
        if ModelName(model).api != RECORDED:
            continue
        readers = {wording.reader_and_judge(model)[0].signature for wording in instrument.wordings}
        asks_pairs = mode_of(instrument.judge).asks_pairs
        every = (starter_record().missing_of(population, reader, pairs=asks_pairs) for reader in readers)
        missing = next(filter(None, every), "")
        if missing:
            raise unmet(
                f"{model} cannot compare the documents of {population.name}: it has no record of {missing}. Name a "
                "real grader, --model-role grader=<provider/model>, or use judge=offline"
            )
