"""What every novelty task is made of: prompts, generation settings, scorer, columns."""

import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.solver import TaskState
from inspect_ai.viewer import SampleScoreView, ScoreColorScale, TaskSamplesColumn, TaskSamplesView, ViewerConfig

from genie_inspect.logs.reading import are_unlike, unlike_lengths
from genie_inspect.measures.tokens import median_words, word_count
from genie_inspect.populations.interventions import Edit, Interventions, Original
from genie_inspect.populations.population import Population, open_population
from genie_inspect.providers.replay import check_recorded
from genie_inspect.samples import PROMPT_KEY, InterventionFacts, document_of, unusable
from genie_inspect.scorers.assessment import Others
from genie_inspect.scorers.genie import RANGES
from genie_inspect.signature import PACKAGE, digest, package_version
from genie_inspect.solvers.generations import DOCUMENT as RECORDED
from genie_inspect.tasks.novelty_measures import NoveltyMeasures

ENOUGH = 5  # documents; one alone may be of any length
LOGGER = logging.getLogger(__name__)


def length_watch() -> Callable[[TaskState], Awaitable[None]]:
    """What a task does after each sample: count its words, and after five documents warn once where there is cause."""
    lengths: list[tuple[int, int]] = []

    async def counted(state: TaskState) -> None:
        others = state.metadata.get("words")
        if not isinstance(others, int) or unusable(state):
            return
        lengths.append((word_count(document_of(state)), others))
        own, population = (fmean(side) for side in zip(*lengths, strict=True))
        # at the fifth alone: said once, and early
        if len(lengths) == ENOUGH and are_unlike(own, population):
            LOGGER.warning("%s (see genie summary)", unlike_lengths(f"{state.model} writes", own, population))

    return counted


FIRST = ("sampleStatus", "sampleId", "epoch")
HIDDEN = ("input", "target", "answer", "tokens", "duration", "retries", "limit")
WIDE = 8  # score columns beyond which their heads are turned, so that all fit where there are 1024 pixels
UNIT = (0.0, 1.0)
# columns that say of each sample what its values rest on; no measure, and no colours
DOCUMENT = {"document": ("words", "coverage", "unscored")}


def score_view(
    name: str,
    shown: Mapping[str, Sequence[str]],
    ranges: Mapping[str, tuple[float, float]],
    folded: Mapping[str, Sequence[str]] | None = None,
    prefix: str = "",
) -> ViewerConfig:
    """Inspect View with a column a key; colours say high and low where the range is known, else size alone."""
    columns, keys = [TaskSamplesColumn(id=first) for first in FIRST], list[str]()
    for group, is_shown in ((shown, True), (folded or {}, False)):
        for scorer, names in group.items():
            keys += names
            columns += [TaskSamplesColumn.score(scorer, key, visible=is_shown) for key in names]
    # Inspect View appends every column that is not listed, visible
    columns += [TaskSamplesColumn(id=hidden, visible=False) for hidden in HIDDEN]
    return ViewerConfig(
        # documents are a model's, answers a grader's: nothing in them is to become markup, an image or a link
        trust_content=False,
        task_samples_view=TaskSamplesView(
            name=name,
            columns=columns,
            multiline=False,
            # Inspect 0.3.285 shows score columns that are to be hidden, too, behind the others: so many narrow ones
            # would have no room for their numbers
            compact_scores=sum(map(len, shown.values())) > WIDE and not any((folded or {}).values()),
            score_labels={key: key.removeprefix(prefix).replace("_", " ") for key in keys},
            score_color_scales={
                # without known ends size alone: novel is not good, and from 0 to 1 all cells would look alike
                key: ScoreColorScale(palette="good-high", min=ranges[key][0], max=ranges[key][1])
                if key in ranges
                else ScoreColorScale(palette="neutral")
                for key in keys
                if key not in DOCUMENT["document"]
            },
            color_scales_enabled=True,
        ),
        # in the order of the explanation
        sample_score_view=SampleScoreView(default="grid"),
    )


def feature_view(features: Sequence[str], panel: Mapping[str, Sequence[str]]) -> ViewerConfig:
    """A column for each feature and one a measure beside; behind them length, coverage and what is unscored."""
    shown = {"genie": features} | {measure: keys[:1] for measure, keys in panel.items()} | DOCUMENT
    folded = {measure: keys[1:] for measure, keys in panel.items()}
    return score_view("Novelty by feature" if features else "Novelty", shown, {}, folded)


# generation settings of the study (arXiv 2606.12790): five documents a prompt, some 500 words each
EPOCHS = 5
STUDY_CONFIG = GenerateConfig(temperature=0.7, top_p=0.9, max_tokens=750)


def compared_dataset(name: str, prompts: Iterable[str], measures: NoveltyMeasures) -> MemoryDataset:
    """The prompts of the population, for others have no questions; these where there is none to compare with."""
    if not measures.scores:
        dataset = prompt_dataset(name, prompts)
    else:
        population = open_population(measures.population)
        # the median length of a prompt's documents, where it has any
        medians = {prompt: median_words(d.text for d in population.documents(prompt)) for prompt in population.prompts}
        lengths = {prompt: words for prompt, words in medians.items() if words is not None}
        dataset = prompt_dataset(name, population.prompts, lengths)
    check_recorded(str(sample.input) for sample in dataset)
    return dataset


def beside(measures: NoveltyMeasures, **facts: Any) -> dict[str, Any]:
    """What novelty tasks have beside dataset, solver and scorers: columns, headline, metadata, a look at lengths."""
    if not measures.scores:
        return {"viewer": score_view("Documents", {}, {}), "metadata": package()}
    population = open_population(measures.population)
    features = [feature.name for feature in population.features] if measures.with_genie else []
    panel = measures.beside.keys
    first = sorted(features, key=lambda name: name not in RANGES)[:1] or [keys[0] for keys in panel.values()][:1]
    definitions = {feature.name: feature.definition for feature in population.features}
    return {
        "viewer": feature_view(features, panel),
        "headline_metric": measures.headline,
        "tags": [shown_score(key) for key in first],
        "cleanup": length_watch(),
        "metadata": {
            "population": population.name,
            "population_description": population.manifest.description,
            "features": definitions,
            **package(),
            **facts,
        },
    }


def shown_score(key: str) -> str:
    """The tag that says, beside it, of which key the number in Inspect View's list of runs is the mean."""
    return f"score: {key.replace('_', ' ')}"


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


def text_samples(texts: Interventions, population: Population) -> list[Sample]:
    """A sample for each text of a study; its target is a document of the population that is neither of the pair."""
    samples = []
    for text in texts.texts():
        original = texts.original(text)
        if isinstance(text, Original):
            facts = InterventionFacts(text.kind, text.id)
        else:
            feature, alternative = (text.feature, text.alternative) if isinstance(text, Edit) else ("", "")
            facts = InterventionFacts(text.kind, original.id, feature, alternative, original.text)
        metadata = {PROMPT_KEY: original.prompt, RECORDED: text.text, **facts.as_metadata()}
        documents = sorted(population.documents(original.prompt), key=lambda document: document.id)
        others = Others(documents).than(text.text, original.text).documents
        target = others[0].text if others else ""
        samples.append(Sample(input=original.prompt, id=text.id, target=target, metadata=metadata))
    return samples


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
