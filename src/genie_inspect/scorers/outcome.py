"""From a measurement to a score: the value, or the reason why there is none."""

import math
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Generic, TypeVar

import anyio
from inspect_ai.scorer import Score
from inspect_ai.solver import TaskState

from genie_inspect.engines.embedders import CachedEmbedder, embedder
from genie_inspect.errors import EngineFailedError, GenieError, GraderFailedError, RefusalError, UnreadableReplyError
from genie_inspect.graders.cache import cache_folder
from genie_inspect.logs.scored_log import are_unlike, unlike_lengths
from genie_inspect.measures.tokens import word_count
from genie_inspect.populations.population import Population, open_population
from genie_inspect.prompting.texts import MOST_WORDS
from genie_inspect.samples import REFUSAL, document_of, made_of, prompt_of, unusable
from genie_inspect.scorers.assessment import KEPT, Compared, Others
from genie_inspect.scorers.explanation import WIDTHS, cell, cut, left_out_facts, left_out_notes
from genie_inspect.scripts import is_english
from genie_inspect.statistics.descriptive import three_digits

MAY_REFUSE = "Warning: the rule for refusals knows English only, and this short document is in another language"
# Inspect knows all of them but the last by these names, and counts unscored samples by them
REASONS: Mapping[type[GenieError], str] = {
    RefusalError: REFUSAL,
    GraderFailedError: "grader_failed",
    UnreadableReplyError: "invalid_response_format",
    EngineFailedError: "engine_failed",
}
"""Failures that cost one sample its score, with the reason that the log gives; all other errors end the run."""


async def scored_or_reason(
    state: TaskState, keys: Iterable[str], facts: dict[str, Any], measure: Callable[[], Awaitable[Score]]
) -> Score:
    """The score of a sample, rounded; unscored with a reason where there is no document, or what is asked fails."""
    text = document_of(state)
    if reason := unusable(state):
        return unscored(keys, reason, f"Not scored: {cell(reason)}.", text, facts)
    try:
        return _with_notes(rounded(await measure()), text)
    # only these: a fault of ours as an unscored sample would look like a fault of the model
    except tuple(REASONS) as error:
        reason = next(reason for kind, reason in REASONS.items() if isinstance(error, kind))
        return unscored(keys, reason, f"Not scored: {cell(str(error))}", text, facts)


def rounded(score: Score) -> Score:
    """The score with three digits after the point, and of what is nearer to 0 than 0.1 three in all."""
    # here and nowhere else: all that is computed from logs begins with these values, so that no two rooms differ
    values = score.value if isinstance(score.value, dict) else {}
    kept = {key: three_digits(value) if isinstance(value, float) else value for key, value in values.items()}
    return score.model_copy(update={"value": kept}) if values else score


def _with_notes(score: Score, text: str) -> Score:
    """The score; it says where its document is of another length than the others, or may be a refusal unseen."""
    length = (score.metadata or {}).get("length", {})
    words, others = word_count(text), length.get("population", math.nan)
    notes = [unlike_lengths("Beware: this document has", words, others)] if are_unlike(words, others) else []
    if words <= MOST_WORDS and not is_english(text):
        notes.append(MAY_REFUSE)
    if not notes:
        return score
    explanation = "\n\n".join([score.explanation or "", *(f"{note}." for note in notes)]).lstrip()
    return score.model_copy(update={"explanation": explanation})


def unscored(keys: Iterable[str], reason: str, explanation: str, text: str, metadata: dict[str, Any]) -> Score:
    """A score that counts nowhere: NaN under every key, so that all samples have the same keys, and the reason."""
    value = dict.fromkeys(keys, math.nan)
    return Score(value=dict(value), answer=text, explanation=explanation, reason=reason, metadata=metadata)


NO_DOCUMENTS = "the population has no documents for this prompt"
WarmT = TypeVar("WarmT")


@dataclass(frozen=True, slots=True)
class Measurement:
    """The values of one measure for one document, and what a person reads beside them."""

    value: dict[str, float]
    """Every key of the measure; NaN where it could not be measured."""
    explanation: str
    metadata: dict[str, Any] = field(default_factory=dict)
    reason: str | None = None
    """Why nothing could be measured, where that is so."""


Measure = Callable[[str, str, Compared], Awaitable[Measurement]]
"""Text, prompt and what it is compared with in; the measurement out."""


class Reference:
    """A population as the panel sees it: for each prompt its documents, in the order of their ids."""

    def __init__(self, population: Population) -> None:
        self.population = population
        self.others = lru_cache(maxsize=KEPT)(self._others)

    @property
    def name(self) -> str:
        return self.population.name

    def _others(self, prompt: str) -> Others:
        """All documents of a prompt; none when the prompt is unknown."""
        # by id: gzip's ratio depends on the order, and a file may be written in another one
        return Others(sorted(self.population.documents(prompt), key=lambda document: document.id))


def reference(population: str, measure: str) -> Reference:
    """The population, when it has documents to compare with.

    Raises:
        PopulationError: If it cannot be opened, or holds answers alone.
    """
    opened = open_population(population)
    opened.require_documents(f"measure {measure}")
    return Reference(opened)


async def scored(
    state: TaskState, population: Reference, keys: Sequence[str], facts: dict[str, Any], measure: Measure
) -> Score:
    """The score of one sample under the measure's keys; unscored where nothing can be compared, or a model failed."""
    prompt, text = prompt_of(state), document_of(state)
    facts = {**facts, "prompt": cut(prompt, WIDTHS[0])}

    async def compared() -> Score:
        others = population.others(prompt).than(text, made_of(state))
        if not others.documents:
            return unscored(keys, NO_DOCUMENTS, f"Not scored: {NO_DOCUMENTS}.", text, facts)
        measurement = await measure(text, prompt, others)
        notes = [measurement.explanation, f"Compared with {len(others.documents)} documents of the population."]
        metadata = {
            **facts,
            "documents": len(others.documents),
            **left_out_facts(others.same, others.made_of),
            "length": {"population": others.words},
            **measurement.metadata,
        }
        return Score(
            value=dict(measurement.value),
            answer=text,
            explanation="\n\n".join([*notes, *left_out_notes(others.same, others.made_of)]),
            reason=measurement.reason,
            metadata=metadata,
        )

    return await scored_or_reason(state, keys, facts, compared)


class Warm(Generic[WarmT]):
    """What is costly to prepare for a prompt, prepared once however many samples ask at a time."""

    def __init__(self) -> None:
        self._prepared: OrderedDict[Hashable, WarmT] = OrderedDict()
        self._preparing: dict[Hashable, anyio.Lock] = {}

    async def get(self, key: Hashable, prepare: Callable[[], Awaitable[WarmT]]) -> WarmT:
        """The value prepared for the key; the last 64 stay in memory."""
        # samples are scored at the same time: without the lock each would embed the whole population
        async with self._preparing.setdefault(key, anyio.Lock()):
            if key not in self._prepared:
                self._prepared[key] = await prepare()
                if len(self._prepared) > KEPT:
                    self._prepared.popitem(last=False)
            return self._prepared[key]


def kept_embedder(name: str) -> CachedEmbedder:
    """The embedder of that name, which embeds no text twice, in this run or the next."""
    return CachedEmbedder(embedder(name), cache_folder())
