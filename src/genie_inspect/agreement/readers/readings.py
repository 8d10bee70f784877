"""A population's documents read once more, each answer beside the one on record."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from genie_inspect.agreement.targets import CalibrationError, Target, recorded_reader
from genie_inspect.asking.gathering import gathered
from genie_inspect.errors import GraderFailedError
from genie_inspect.judges.protocols import GRADER_FAILED, Reader, Reading
from genie_inspect.populations.population import Population
from genie_inspect.populations.schema import Document, Question
from genie_inspect.prompting.answers import normalised

REFUSAL = "taken for a refusal"


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """What the record and a reader answer to one question about one document."""

    document: str
    """Its id."""
    question: Question
    recorded: str | None
    """None: the document does not say."""
    answer: str | None
    """None: the document does not say, or there is a fault."""
    others: tuple[str, ...]
    """The recorded answers of all other documents of the prompt to the question, equal ones too."""
    fault: str = ""
    """Why the reader's answer could not be had."""

    @property
    def target(self) -> Target | None:
        """What a judge is to rate: the reader's answer against all different ones on record; None without an answer."""
        if self.answer is None or self.recorded is None:
            return None
        spelling: dict[str, str] = {}
        for text in (self.recorded, *self.others):
            spelling.setdefault(normalised(text), text)
        # an equal answer is interchangeable without a judge
        spelling.pop(normalised(self.answer), None)
        return Target(self.question, self.answer, tuple(spelling.values()))


def sampled_documents(population: Population, count: int | None, seed: int = 0) -> list[Document]:
    """So many of a population's documents, each prompt in turn.

    Args:
        population: With documents.
        count: How many; None takes all.
        seed: Which ones.
    """
    generator = random.Random(seed)  # noqa: S311  # a sample, no secret
    prompts = [population.documents(prompt) for prompt in population.prompts]
    shuffled = [generator.sample(documents, len(documents)) for documents in prompts]
    turns = range(max(map(len, shuffled), default=0))
    in_turn = [documents[turn] for turn in turns for documents in shuffled if turn < len(documents)]
    return in_turn[:count]


async def read_again(
    population: Population,
    reader: Reader,
    documents: Sequence[Document],
    record: str | None = None,
    told: Callable[[], None] = lambda: None,
) -> list[AnswerPair]:
    """A reader's answers beside those on record, to every question for which somebody read the document.

    Args:
        population: Whose documents, questions and recorded answers.
        reader: Who reads.
        documents: Of the population.
        record: The signature of the reader whose answers count as the record; None takes the one who gave most.
        told: Called whenever a document has been read.

    Raises:
        CalibrationError: If no answers are on record, or the model behind the reader never answered.
        UnknownChoiceError: If that reader's answers are not on record.
    """
    signature = recorded_reader(population, record)

    async def read(document: Document) -> Reading | GraderFailedError:
        try:
            return await reader.read(document.text, population.questions(document.prompt))
        except GraderFailedError as error:
            return error
        finally:
            told()

    readings = await gathered(*(read(document) for document in documents))
    failures = [reading for reading in readings if isinstance(reading, GraderFailedError)]
    if failures and len(failures) == len(readings):
        raise CalibrationError(f"{reader.signature} read nothing: {failures[0]}")
    return [
        pair
        for document, reading in zip(documents, readings, strict=True)
        for pair in _pairs(population, document, reading, signature)
    ]


def _pairs(
    population: Population, document: Document, reading: Reading | GraderFailedError, signature: str
) -> Iterator[AnswerPair]:
    recorded = population.answers(signature, document.prompt)
    for place, question in enumerate(population.questions(document.prompt)):
        if (document.id, question.id) not in recorded:
            continue  # nobody read it for this question
        others = tuple(
            text
            for (other, asked), text in recorded.items()
            if asked == question.id and other != document.id and text is not None
        )
        answer, fault = _answer(reading, place)
        yield AnswerPair(document.id, question, recorded[document.id, question.id], answer, others, fault)


def _answer(reading: Reading | GraderFailedError, place: int) -> tuple[str | None, str]:
    """The answer in this place of a reading, and why there is none."""
    if isinstance(reading, GraderFailedError):
        return None, GRADER_FAILED
    if not reading.is_attempt:
        return None, REFUSAL
    answer = reading.answers[place]
    return (answer.text if answer else None), reading.faults.get(place, "")
