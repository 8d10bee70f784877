"""The documents that edits are made of, with what can be asked about them: a population's own, or those of logs."""

from collections.abc import Sequence
from pathlib import Path

from genie_inspect.building.collecting import collect_documents
from genie_inspect.building.interventions.writing import Material
from genie_inspect.building.work import Progress, no_progress
from genie_inspect.errors import InterventionsError
from genie_inspect.logs.folders import log_files
from genie_inspect.populations.catalogue import BUNDLED, open_population
from genie_inspect.populations.population import MANIFEST, Population
from genie_inspect.populations.schema import Document

FILE = "documents.jsonl"


def materials(
    sources: Sequence[str],
    population: Population | None,
    limit: int | None,
    work: Path,
    progress: Progress = no_progress,
) -> list[Material]:
    """The documents with their questions, and the answers on record where they are a population's.

    Args:
        sources: A population alone, or logs.
        population: Whose questions are asked about the documents of logs; of its documents nothing is seen.
        limit: How many documents of each prompt are taken, in the order of their ids; None takes all.
        work: Where documents of logs are kept.
        progress: Told after each log.

    Raises:
        GenieError: If a source cannot be read, or no document has a prompt with questions.
    """
    own = _population(sources)
    asked = own or population
    if asked is None:
        raise InterventionsError("documents of logs need --population: whose questions are asked about them")
    asked.require_questions("an edit of a feature")
    documents = _documents(own, sources, asked.prompts, work, progress)
    chosen = [document for group in documents for document in sorted(group, key=lambda d: d.id)[:limit]]
    if not chosen:
        raise InterventionsError(
            f"{', '.join(sources)} has no document for a prompt that {asked.name} has questions for"
        )
    return [
        Material(document, tuple(asked.questions(document.prompt)), _on_record(own, document)) for document in chosen
    ]


def _population(sources: Sequence[str]) -> Population | None:
    """The population that the only source names; None where the sources are logs."""
    if len(sources) == 1 and (sources[0] in BUNDLED or (Path(sources[0]) / MANIFEST).is_file()):
        population = open_population(sources[0])
        population.require_documents("an edit of a feature")
        return population
    return None


def _documents(
    own: Population | None, sources: Sequence[str], prompts: Sequence[str], work: Path, progress: Progress
) -> list[list[Document]]:
    """The documents of each prompt."""
    if own is not None:
        return [own.documents(prompt) for prompt in prompts]
    collected = collect_documents(log_files(sources), work / FILE, set(prompts), progress)
    return [collected.documents(prompt) for prompt in prompts]


def _on_record(own: Population | None, document: Document) -> dict[str, str | None]:
    """A population's recorded answers about its own document, by question; of several readers the first one's."""
    answers: dict[str, str | None] = {}
    for reader in own.readers if own else ():
        for (name, question), text in own.answers(reader, document.prompt).items() if own else ():
            if name == document.id:
                answers.setdefault(question, text)
    return answers
