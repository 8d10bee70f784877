"""From a measurement to a score: the value, or the reason why there is none."""

import math
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import anyio
from anyio import to_thread
from inspect_ai.scorer import Score, Scorer, Target
from inspect_ai.solver import TaskState
from inspect_ai.util import concurrency

from genie_inspect.engines.corpora import Corpus, DocumentsCorpus, InfiniGramService, folder_texts
from genie_inspect.engines.embedders import CachedEmbedder, Embedder, embedder
from genie_inspect.engines.identity import redacted
from genie_inspect.errors import (
    EngineFailedError,
    GenieError,
    GraderFailedError,
    RefusalError,
    UnknownChoiceError,
    UnreadableReplyError,
)
from genie_inspect.graders.cache import cache_folder
from genie_inspect.logs.reading import are_unlike, unlike_lengths
from genie_inspect.measures.tokens import word_count
from genie_inspect.populations.population import Population, open_population
from genie_inspect.prompting.texts import MOST_WORDS
from genie_inspect.samples import REFUSAL, document_of, made_of, prompt_of, unusable
from genie_inspect.scorers.assessment import KEPT, Compared, Others
from genie_inspect.scorers.explanation import WIDTHS, cell, cut, left_out_facts, left_out_notes
from genie_inspect.scripts import is_english
from genie_inspect.statistics.descriptive import three_digits

MAY_REFUSE = "Warning: the rule for refusals knows English only, and this short document is in another language"
NO_DOCUMENTS = "the population has no documents for this prompt"
# failures that cost one sample its score, with the reason that the log gives; all other errors end the run. Inspect
# knows all of them but the last by these names, and counts unscored samples by them
REASONS: Mapping[type[GenieError], str] = {
    RefusalError: REFUSAL,
    GraderFailedError: "grader_failed",
    UnreadableReplyError: "invalid_response_format",
    EngineFailedError: "engine_failed",
}


@dataclass(frozen=True, slots=True)
class Measurement:
    """The values of one measure for one document, and what a person reads beside them."""

    value: Mapping[str, float]  # keys that it lacks could not be measured
    explanation: str
    metadata: dict[str, Any] = field(default_factory=dict)
    reason: str | None = None  # why nothing could be measured, where that is so
    answer: str | None = None  # what was measured, where it is not the document


def nothing(reason: str, what: str = "measured") -> Measurement:
    return Measurement({}, f"Not {what}: {reason}.", reason=reason)


async def scored_or_reason(
    state: TaskState, keys: Iterable[str], facts: Mapping[str, Any], measure: Callable[[], Awaitable[Measurement]]
) -> Score:
    """The score of a sample, rounded; unscored with a reason where there is no document, or what is asked fails.

    It has every key, NaN where that could not be measured: Inspect takes a missing key for an error.
    """
    text = document_of(state)
    try:
        if reason := unusable(state):
            found = replace(nothing(cell(reason), "scored"), reason=reason)
        else:
            found = await measure()
            words, others = word_count(text), found.metadata.get("length", {}).get("population", math.nan)
            notes = [unlike_lengths("Warning: this document has", words, others)] if are_unlike(words, others) else []
            notes += [MAY_REFUSE] if words <= MOST_WORDS and not is_english(text) else []
            told = "\n\n".join([found.explanation, *(f"{note}." for note in notes)])
            found = replace(found, explanation=told.lstrip() if notes else told)
    # only these: a fault of ours as an unscored sample would look like a fault of the model
    except tuple(REASONS) as error:
        reason = next(reason for kind, reason in REASONS.items() if isinstance(error, kind))
        found = Measurement({}, f"Not scored: {cell(str(error))}", reason=reason)
    return rounded(
        Score(
            value={**dict.fromkeys(keys, math.nan), **found.value},
            answer=text if found.answer is None else found.answer,
            explanation=found.explanation,
            reason=found.reason,
            metadata={**facts, **found.metadata},
        )
    )


def rounded(score: Score) -> Score:
    """The score with three digits after the point, and of what is nearer to 0 than 0.1 three in all."""
    # here and nowhere else: all that is computed from logs begins with these values, so that no two rooms differ
    values = score.value if isinstance(score.value, dict) else {}
    kept = {key: three_digits(value) if isinstance(value, float) else value for key, value in values.items()}
    return score.model_copy(update={"value": kept}) if values else score


Measure = Callable[[str, str, Compared], Awaitable[Measurement]]
"""Text, prompt and what it is compared with in; the measurement out."""


class Reference:
    """A population as the panel sees it: for each prompt its documents, in the order of their ids."""

    def __init__(self, population: Population) -> None:
        self.name = population.name
        # by id: gzip's ratio depends on the order, and a file may be written in another one
        self.others = lru_cache(maxsize=KEPT)(
            lambda prompt: Others(sorted(population.documents(prompt), key=lambda document: document.id))
        )


def reference(population: str, measure: str) -> Reference:
    """The population, when it has documents to compare with.

    Raises:
        PopulationError: If it cannot be opened, or holds answers alone.
    """
    opened = open_population(population)
    opened.require_documents(f"measure {measure}")
    return Reference(opened)


async def scored(
    state: TaskState, population: Reference, keys: Sequence[str], facts: Mapping[str, Any], measure: Measure
) -> Score:
    """The score of one sample under the measure's keys; unscored where nothing can be compared, or a model failed."""
    prompt, text = prompt_of(state), document_of(state)

    async def compared() -> Measurement:
        others = population.others(prompt).than(text, made_of(state))
        if not others.documents:
            return nothing(NO_DOCUMENTS, "scored")
        found = await measure(text, prompt, others)
        notes = [found.explanation, f"Compared with {len(others.documents)} documents of the population."]
        metadata = {
            "documents": len(others.documents),
            **left_out_facts(others.same, others.made_of),
            "length": {"population": others.words},
            **found.metadata,
        }
        notes += left_out_notes(others.same, others.made_of)
        return replace(found, explanation="\n\n".join(notes), metadata=metadata)

    return await scored_or_reason(state, keys, {**facts, "prompt": cut(prompt, WIDTHS[0])}, compared)


def panel_scorer(population: Reference, keys: Sequence[str], facts: Mapping[str, Any], measure: Measure) -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        return await scored(state, population, keys, facts, measure)

    return score


WarmT = TypeVar("WarmT")


class Warm(Generic[WarmT]):
    """What is costly to prepare for a prompt, prepared once however many samples ask at a time."""

    def __init__(self) -> None:
        self._prepared: dict[Hashable, WarmT] = {}
        self._preparing: dict[Hashable, anyio.Lock] = {}

    async def get(self, key: Hashable, prepare: Callable[[], Awaitable[WarmT]]) -> WarmT:
        """The value prepared for the key; the last 64 stay in memory."""
        # samples are scored at the same time: without the lock each would embed the whole population
        async with self._preparing.setdefault(key, anyio.Lock()):
            if key not in self._prepared:
                self._prepared[key] = await prepare()
                if len(self._prepared) > KEPT:
                    del self._prepared[next(iter(self._prepared))]
            return self._prepared[key]


def kept_embedder(name: str) -> CachedEmbedder:
    """The embedder of that name, which embeds no text twice, in this run or the next."""
    return CachedEmbedder(embedder(name), cache_folder())


POPULATION, INFINI_GRAM = "population", "infini-gram:"
ACCEPTED = "population, a folder of texts, infini-gram:<index folder> or infini-gram:<service url>#<index>"
AT_ONCE = 8  # documents that are looked up in a service at a time
FoundT = TypeVar("FoundT")


class Corpora:
    """The corpus that an option names, for each prompt."""

    def __init__(self, population: Reference, corpus: str, near: Embedder | None = None) -> None:
        self.population, self.near = population, near
        self.fixed = _opened_corpus(corpus, near)
        self.name = self.fixed.name if self.fixed else POPULATION  # as it stands in signatures
        self._warm: Warm[Corpus] = Warm()

    async def looked_up(self, look: Callable[[Corpus], FoundT], prompt: str, without: Collection[str]) -> FoundT:
        """What is found in the corpus for a prompt, which leaves out by itself the documents that are the text."""
        corpus = self.fixed or await self._warm.get((prompt, *without), partial(self._indexed, prompt, without))
        async with concurrency("corpus", AT_ONCE, visible=False):
            return await to_thread.run_sync(look, corpus)

    async def _indexed(self, prompt: str, without: Collection[str]) -> Corpus:
        documents = self.population.others(prompt).documents
        texts = [(document.id, document.text) for document in documents if document.id not in without]
        return await to_thread.run_sync(DocumentsCorpus, POPULATION, texts, self.near)


def _opened_corpus(corpus: str, near: Embedder | None) -> Corpus | None:
    """The corpus that an option names; None for the population's documents."""
    if corpus == POPULATION:
        return None
    if not corpus.startswith(INFINI_GRAM):
        if not Path(corpus).is_dir():
            raise UnknownChoiceError("corpus", redacted(corpus), ACCEPTED)
        return DocumentsCorpus(f"folder({Path(corpus).resolve().name})", folder_texts(Path(corpus)), near)
    if near is not None:
        raise UnknownChoiceError("matcher", "near", "exact with an infini-gram corpus, which looks up exact runs only")
    where = corpus.removeprefix(INFINI_GRAM)
    # what is no path but may hold a password is refused as an address, which is never repeated
    if not Path(where).exists() and ("//" in where or "@" in where):
        url, _, index = where.partition("#")
        service = InfiniGramService(url, index)
        if not index:
            raise UnknownChoiceError("corpus", INFINI_GRAM + url, "infini-gram:<service url>#<index>")
        # one request now: a wrong address must not show after a thousand generations
        service.check()
        return service
    from genie_inspect.engines.infini_gram import InfiniGramCorpus

    return InfiniGramCorpus(Path(where))
