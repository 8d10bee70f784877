"""What every novelty task is made of: prompts, generation settings, scorer, columns."""

import re
from collections.abc import Iterable, Mapping

from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.solver import Solver, generate

from genie_inspect.measures.length import median_words
from genie_inspect.populations.catalogue import open_population
from genie_inspect.populations.population import Population
from genie_inspect.providers.replay import check_recorded
from genie_inspect.signature import PACKAGE, digest, package_version
from genie_inspect.solvers.announce_cost import Line, announce_cost
from genie_inspect.tasks.cost_line import CostLine, no_genie_line
from genie_inspect.tasks.length_watch import length_watch
from genie_inspect.tasks.novelty_measures import NO_GENIE, NoveltyMeasures
from genie_inspect.tasks.views import feature_view, score_view
from genie_inspect.versions import TASKS

# generation settings of the study (arXiv 2606.12790): five documents a prompt, some 500 words each
EPOCHS = 5
STUDY_CONFIG = GenerateConfig(temperature=0.7, top_p=0.9, max_tokens=750)


def novelty_task(
    name: str,
    prompts: Iterable[str],
    measures: NoveltyMeasures,
    solver: Solver | None = None,
    samples: list[Sample] | None = None,
) -> Task:
    """A task that writes a document for each prompt and scores its novelty by feature.

    Args:
        name: The task's name in the dataset and the log.
        prompts: What to write about when there is no population; else the population's own prompts are taken.
        measures: What the documents are compared with, and how.
        solver: How documents are made; plain generation unless given.
        samples: The population's own documents, each once; else a sample for each prompt.

    Raises:
        GenieError: If an option cannot be used; before anything is generated.
        PrerequisiteError: If a run has begun without a model that is asked.
    """
    if not measures.scores:
        return _generation(name, prompts, solver)
    # where there is a population its prompts are the task: others have no questions
    population = open_population(measures.population)
    if not samples:
        check_recorded(population.prompts)
    dataset = MemoryDataset(samples, name=name) if samples else _dataset(name, population)
    epochs = 1 if samples else EPOCHS
    line = CostLine(name, list(dataset), epochs, measures.asks(population, own=samples is not None))
    # who leaves Genie out knows it
    untold = not measures.with_genie and measures.judge != NO_GENIE
    lines: list[Line] = [no_genie_line(population), line] if untold else [line]
    features = [feature.name for feature in population.features] if measures.with_genie else []
    return Task(
        dataset=dataset,
        setup=[*measures.requirements(), *map(announce_cost, lines)],
        solver=solver or generate(),
        scorer=measures.scorers(),
        epochs=epochs,
        config=STUDY_CONFIG,
        viewer=feature_view("genie", features, measures.beside.keys),
        headline_metric=measures.headline,
        cleanup=length_watch(),
        metadata={
            "population": population.name,
            "features": {f.name: f.definition for f in population.features},
            **package(),
        },
        version=TASKS[name],
    )


def _generation(name: str, prompts: Iterable[str], solver: Solver | None) -> Task:
    prompts = list(prompts)
    check_recorded(prompts)
    return Task(
        dataset=prompt_dataset(name, prompts),
        solver=solver or generate(),
        epochs=EPOCHS,
        config=STUDY_CONFIG,
        viewer=score_view("Documents", {}, {}),
        metadata=package(),
        version=TASKS[name],
    )


def package() -> dict[str, str]:
    """The package's version, as a task's metadata: the log of a task that is run from a file does not name it."""
    return {PACKAGE: package_version()}


def prompt_dataset(name: str, prompts: Iterable[str], words: Mapping[str, int] | None = None) -> MemoryDataset:
    """One sample a prompt, which also stands in its metadata; `words` there tells strategies how long to write."""
    facts = {prompt: {"words": count} for prompt, count in (words or {}).items()}
    samples = [
        Sample(input=prompt, id=sample_id(prompt), metadata={"prompt": prompt, **facts.get(prompt, {})})
        for prompt in prompts
    ]
    return MemoryDataset(samples, name=name)


def _dataset(name: str, population: Population) -> MemoryDataset:
    """One sample for each of a population's prompts."""
    return prompt_dataset(name, population.prompts, _lengths(population))


def _lengths(population: Population) -> dict[str, int]:
    """Median length of each prompt's documents, in words."""
    medians = {prompt: median_words(d.text for d in population.documents(prompt)) for prompt in population.prompts}
    return {prompt: words for prompt, words in medians.items() if words is not None}


def sample_id(prompt: str) -> str:
    """A short readable id of a prompt that stays the same whatever else is in the dataset.

    >>> sample_id("Write a story about an owl and an airport runway.")
    'owl-airport-runway-f52c'
    """
    words = [word for word in re.findall(r"[a-z0-9]+", prompt.lower()) if word not in UNTELLING]
    # the first words that a column of Inspect View has room for; four digits tell prompts with the same ones apart
    told = [word for place, word in enumerate(words) if len("-".join(words[: place + 1])) <= WIDTH] or words[:1]
    return "-".join([*(word[:WIDTH] for word in told), digest(prompt)[:4]])


WIDTH = 18  # characters of its words
# words that most prompts share
UNTELLING = frozenset({"write", "a", "an", "the", "story", "about", "and", "of", "in", "to", "that", "is"})
