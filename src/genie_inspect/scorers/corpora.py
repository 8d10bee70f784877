"""The corpus that a document is looked up in: the population's documents for its prompt, or one for all prompts."""

from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from anyio import to_thread
from inspect_ai.util import concurrency

from genie_inspect.engines.embedders import Embedder
from genie_inspect.engines.identity import redacted
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.scorers.outcome import Reference, Warm

if TYPE_CHECKING:
    from genie_inspect.engines.corpora import Corpus

POPULATION, INFINI_GRAM = "population", "infini-gram:"
ACCEPTED = "population, a folder of texts, infini-gram:<index folder> or infini-gram:<service url>#<index>"
AT_ONCE = 8  # documents that are looked up in a service at a time
FoundT = TypeVar("FoundT")


class Corpora:
    """The corpus for each prompt."""

    def __init__(self, population: Reference, fixed: "Corpus | None", near: Embedder | None = None) -> None:
        self.population = population
        self.fixed = fixed
        self.near = near
        self.name = fixed.name if fixed else POPULATION  # as it stands in signatures
        self._warm: Warm[Corpus] = Warm()

    async def looked_up(self, look: "Callable[[Corpus], FoundT]", prompt: str, without: Collection[str]) -> FoundT:
        """What is found in the corpus for a prompt, which leaves out by itself the documents that are the text."""
        corpus = self.fixed or await self._warm.get((prompt, *without), partial(self._indexed, prompt, without))
        async with concurrency("corpus", AT_ONCE, visible=False):
            return await to_thread.run_sync(look, corpus)

    async def _indexed(self, prompt: str, without: Collection[str]) -> "Corpus":
        from genie_inspect.engines.corpora import DocumentsCorpus

        documents = [
            (document.id, document.text)
            for document in self.population.others(prompt).documents
            if document.id not in without
        ]
        return await to_thread.run_sync(DocumentsCorpus, POPULATION, documents, self.near)


def opened_corpus(corpus: str, near: Embedder | None = None) -> "Corpus | None":
    """The corpus that an option names; None for the population's documents."""
    if corpus == POPULATION:
        return None
    if not corpus.startswith(INFINI_GRAM):
        from genie_inspect.engines.corpora import DocumentsCorpus, check_folder, folder_texts

        if not Path(corpus).is_dir():
            raise UnknownChoiceError("corpus", redacted(corpus), ACCEPTED)
        check_folder(Path(corpus))
        return DocumentsCorpus(f"folder({Path(corpus).resolve().name})", folder_texts(Path(corpus)), near)
    if near is not None:
        raise UnknownChoiceError("matcher", "near", "exact with an infini-gram corpus, which looks up exact runs only")
    where = corpus.removeprefix(INFINI_GRAM)
    # what is no path but may hold a password is refused as an address, which is never repeated
    if not Path(where).exists() and ("//" in where or "@" in where):
        return _service(where)
    from genie_inspect.engines.infini_gram import InfiniGramCorpus

    return InfiniGramCorpus(Path(where))


def _service(where: str) -> "Corpus":
    from genie_inspect.engines.corpora import InfiniGramService

    url, _, index = where.partition("#")
    service = InfiniGramService(url, index)
    if not index:
        raise UnknownChoiceError("corpus", INFINI_GRAM + url, "infini-gram:<service url>#<index>")
    # one request now: a wrong address must not show after a thousand generations
    service.check()
    return service
