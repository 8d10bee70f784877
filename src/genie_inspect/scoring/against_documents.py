"""What the panel's scorers have in common: a document, the population's documents for its prompt, one score."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Generic, TypeVar

import anyio
from inspect_ai.scorer import Score
from inspect_ai.solver import TaskState

from genie_inspect.populations.catalogue import open_population
from genie_inspect.populations.population import Population
from genie_inspect.samples.document import document_of
from genie_inspect.samples.intervention import made_of
from genie_inspect.samples.prompt import prompt_of
from genie_inspect.scoring.compared import KEPT, Compared, Others
from genie_inspect.scoring.explanation import WIDTHS, cut, left_out_facts, left_out_notes
from genie_inspect.scoring.outcome import scored_or_reason, unscored

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
    """A population as the panel sees it: for each prompt its documents, in the order of their ids.

    Args:
        population: One that has documents.
    """

    def __init__(self, population: Population) -> None:
        self.population = population
        self.others = lru_cache(maxsize=KEPT)(self._others)

    @property
    def name(self) -> str:
        """Name, version and digest, as they stand in signatures."""
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
    """The score of one sample; unscored with a reason where there is nothing to compare, or a model failed.

    Args:
        state: The sample.
        population: What the document is compared with.
        keys: The measure's keys, NaN where the document is unscored.
        facts: Metadata of every score, the signature among them.
        measure: What is measured.
    """
    prompt = prompt_of(state)
    facts = {**facts, "prompt": cut(prompt, WIDTHS[0])}
    return await scored_or_reason(
        state, keys, facts, lambda: _measured(state, prompt, population, keys, facts, measure)
    )


async def _measured(
    state: TaskState, prompt: str, population: Reference, keys: Sequence[str], facts: dict[str, Any], measure: Measure
) -> Score:
    """The score of a document, as long as the population has any to compare it with."""
    text = document_of(state)
    others = population.others(prompt).than(text, made_of(state))
    if not others.documents:
        return unscored(keys, NO_DOCUMENTS, f"Not scored: {NO_DOCUMENTS}.", text, facts)
    measurement = await measure(text, prompt, others)
    notes = [measurement.explanation, f"Compared with {len(others.documents)} documents of the population."]
    notes += left_out_notes(others.same, others.made_of)
    return Score(
        value=dict(measurement.value),
        answer=text,
        explanation="\n\n".join(notes),
        reason=measurement.reason,
        metadata={
            **facts,
            "documents": len(others.documents),
            **left_out_facts(others.same, others.made_of),
            "length": {"population": others.words},
            **measurement.metadata,
        },
    )


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
