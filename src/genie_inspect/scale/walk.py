"""What a run over logs or a population would still ask, found by the run's own steps with nobody to answer."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inspect_ai.model import Model

from genie_inspect.building.work import Progress
from genie_inspect.errors import PopulationError, RefusalError
from genie_inspect.files.printable import json_text
from genie_inspect.inspect_private import unlogged
from genie_inspect.judges.instrument import Instrument
from genie_inspect.judges.protocols import Judge, Reader
from genie_inspect.logs.files import log_header, samples
from genie_inspect.logs.folders import log_files
from genie_inspect.populations.catalogue import BUNDLED, open_population
from genie_inspect.populations.population import MANIFEST, Population
from genie_inspect.samples.document import document_of, unusable
from genie_inspect.samples.intervention import made_of
from genie_inspect.samples.prompt import prompt_of
from genie_inspect.scale.collecting import Collecting, Note
from genie_inspect.scoring.assessor import Assessor
from genie_inspect.signature import digest

READ, JUDGE = "read", "judge"
STEPS = (READ, JUDGE)
UNKNOWN_PROMPT = "the population has no questions for its prompt"


@dataclass(frozen=True, slots=True)
class Text:
    """A document that is to be measured."""

    text: str
    prompt: str
    made_of: str = ""
    unusable: str = ""
    """Why it is none; empty where it is one."""


@dataclass(slots=True)
class Found:
    """What a walk came by."""

    documents: int = 0
    requests: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    """Documents of which nothing is asked, by reason."""
    unread: int = 0
    """Documents, the population's among them, that are not wholly read, where judging was looked at."""


@dataclass(frozen=True)
class Sources:
    """Logs whose documents are to be measured, or a population whose own are.

    Raises:
        LogError: If a log cannot be read or is not finished.
        PopulationError: If a population cannot be opened, or stands beside logs.
    """

    paths: Sequence[str]
    population: Population
    logs: Sequence[str]

    @classmethod
    def of(cls, paths: Sequence[str], population: str) -> "Sources":
        """What the paths stand for: one population, or logs that are measured against the named one."""
        own = [path for path in paths if path in BUNDLED or _is_population(path)]
        if own and len(paths) > 1:
            raise PopulationError(f"{own[0]} is a population, expected it alone, or logs")
        opened = open_population(own[0] if own else population)
        opened.require_questions("measure genie")
        return cls(paths, opened, [] if own else log_files(paths))

    def count(self) -> int:
        """How many documents there are at most."""
        if not self.logs:
            return sum(len(self.population.documents(prompt)) for prompt in self.population.prompts)
        headers = (log_header(file).eval for file in self.logs)
        return sum(len(header.dataset.sample_ids or []) * (header.config.epochs or 1) for header in headers)

    def texts(self) -> Iterator[Text]:
        """The documents, one at a time."""
        for file in self.logs:
            log_header(file)  # which refuses one that is not finished
            for sample in samples(file):
                yield Text(document_of(sample), prompt_of(sample), made_of(sample), unusable(sample))
        if not self.logs:
            for prompt in self.population.prompts:
                yield from (Text(document.text, prompt) for document in self.population.documents(prompt))


def _is_population(path: str) -> bool:
    return (Path(path) / MANIFEST).is_file()


async def walk(
    sources: Sources,
    instrument: Instrument,
    model: Model,
    step: str,
    write: Callable[[str, str], None],
    progress: Progress,
) -> tuple[Found, str]:
    """What one step would ask, and the signature under which its replies will be kept.

    Args:
        sources: The documents.
        instrument: How they are measured.
        model: Who will be asked.
        step: `read` or `judge`.
        write: Takes the id and the body of each request, each once.
        progress: Told how many documents were looked at.
    """
    found, ids, unread, prompts = Found(), set[str](), set[str](), set[str]()

    def note(body: Mapping[str, Any]) -> None:
        text = json_text(body)
        name = request_id(signature, step, text)
        if name not in ids:
            ids.add(name)
            write(name, text)

    def lacks(body: Mapping[str, Any]) -> None:
        unread.add(digest(json_text(body)))

    reader, judge = _parts(instrument, sources.population, model, (note, lacks) if step == READ else (lacks, note))
    signature = reader.signature if step == READ else judge.signature
    assessor, total = Assessor(sources.population, reader, judge, instrument.min_coverage), sources.count()
    with unlogged():
        for text in sources.texts():
            found.documents += 1
            if reason := _unmeasured(text, sources.population):
                found.skipped[reason] += 1
            elif step == READ:
                await assessor.reading(text.text, text.prompt)
                if text.prompt not in prompts:
                    await assessor.read_population(text.prompt)
                prompts.add(text.prompt)
            else:
                with suppress(RefusalError):  # the reader's word that it is no attempt
                    await assessor.assess(text.text, text.prompt, text.made_of)
            progress(step, found.documents, max(total, found.documents))
    found.requests, found.unread = len(ids), len(unread) if step == JUDGE else 0
    return found, signature


def request_id(signature: str, step: str, body: str) -> str:
    """The id of a request: two digests, since twelve digits alone would meet again among some millions.

    Args:
        signature: Who answers it.
        step: What the answer is for.
        body: The request.
    """
    return f"{step}-{digest(signature, body)}{digest(body)}"


def _parts(
    instrument: Instrument, population: Population, model: Model, notes: tuple[Note, Note]
) -> tuple[Reader, Judge]:
    """A reader and a judge who note what they ask, and ask it once."""
    reader, _ = instrument.reader_and_judge(Collecting(model, notes[0]), population.features)
    _, judge = instrument.reader_and_judge(Collecting(model, notes[1]), population.features)
    for asking in (reader, judge):
        vars(asking)["repeats"] = 0  # nobody answers: to ask again is no other request
    return reader, judge


def _unmeasured(text: Text, population: Population) -> str:
    """Why a scorer would ask nothing of a document; empty where it asks."""
    return text.unusable or ("" if population.questions(text.prompt) else UNKNOWN_PROMPT)
