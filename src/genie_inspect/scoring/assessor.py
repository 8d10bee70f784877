"""One document against a population: its answers are read and rated against the population's, by question."""

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache

import anyio

from genie_inspect.asking.gathering import gathered
from genie_inspect.errors import GraderFailedError, RefusalError
from genie_inspect.judges.protocols import GRADER_FAILED, UNSPECIFIED, Answer, Judge, Rated, Reader, Reading
from genie_inspect.measures.genie import MIN_COVERAGE
from genie_inspect.measures.length import word_count
from genie_inspect.populations.population import Population
from genie_inspect.populations.schema import Document, Question
from genie_inspect.scoring.assessment import NOT_ANSWERED, Assessment, QuestionResult
from genie_inspect.scoring.compared import KEPT, Others
from genie_inspect.signature import signature


class Assessor:
    """Compares documents with one population.

    Args:
        population: What they are compared with.
        reader: Who answers the population's questions.
        judge: Who rates how alike two answers are.
        min_coverage: Least share of a question's ratings due with which it is used, 0 to 1.
    """

    def __init__(
        self, population: Population, reader: Reader, judge: Judge, min_coverage: float = MIN_COVERAGE
    ) -> None:
        self.population = population
        self.reader = reader
        self.judge = judge
        self.min_coverage = min_coverage
        self._others = lru_cache(maxsize=KEPT)(lambda prompt: Others(population.documents(prompt)))
        self._readings: dict[str, Reading] = {}
        self._reading: defaultdict[str, anyio.Lock] = defaultdict(anyio.Lock)

    @property
    def judged_by(self) -> str:
        """What its ratings depend on."""
        return self.judge.signature

    @property
    def read_by(self) -> str:
        """What its readings depend on."""
        return self.reader.signature

    @property
    def signature(self) -> str:
        """What a novelty that comes of it depends on, as it stands in scores."""
        return signed(self.population, self.judged_by, self.read_by, self.min_coverage)

    async def assess(self, text: str, prompt: str, made_of: str = "") -> Assessment:
        """Compare one document with the population's documents for its prompt.

        A question whose judge failed is among the results, without ratings, as long as others have some.

        Args:
            text: The document.
            prompt: What it was written for.
            made_of: The text that it was made of, if any, with which it is not compared.

        Raises:
            RefusalError: If the reader says that the document is no try at its task; nothing more is asked then.
            GraderFailedError: If the model behind the reader cannot be reached, or the one behind the judge not once.
        """
        questions = self.population.questions(prompt)
        rest = self._others(prompt).than(text, made_of)
        reading = await self.reading(text, prompt)
        if not reading.is_attempt:
            raise RefusalError("the document is no try at its task, as the reader sees it: a refusal")
        # without an answer there is nothing to compare, so nothing more is asked
        read = rest.documents if any(reading.answers) else ()
        alone = self._recorded_alone(prompt, questions) if self.population.answers_alone else []
        others = alone or await gathered(*(self._read_once(document, questions) for document in read))
        failures: list[GraderFailedError] = []
        results = await gathered(
            *(self._rate(question, index, reading, others, failures) for index, question in enumerate(questions))
        )
        # a grader that failed throughout is a failed sample, which can be scored again
        if failures and not any(result.usable for result in results):
            raise failures[0]
        lengths = tuple(word_count(document.text) for document in read)
        return Assessment(tuple(results), len(alone or rest.documents), rest.same, lengths, rest.made_of)

    async def reading(self, text: str, prompt: str) -> Reading:
        """The answers of one document to the questions of a prompt.

        Args:
            text: The document.
            prompt: What it was written for.

        Raises:
            GraderFailedError: If the model behind the reader cannot be reached.
        """
        questions, others = self.population.questions(prompt), self._others(prompt)
        # a document of the population answers as it does when others are compared with it
        same = others.than(text).same
        own = next((document for document in others.documents if document.id in same), None)
        return await (self._read_once(own, questions) if own else self.reader.read(text, questions))

    async def read_population(self, prompt: str) -> None:
        """Have all of the population's documents for a prompt read, with which others will be compared.

        Raises:
            GraderFailedError: If the model behind the reader cannot be reached.
        """
        questions = self.population.questions(prompt)
        await gathered(*(self._read_once(document, questions) for document in self._others(prompt).documents))

    def _recorded_alone(self, prompt: str, questions: Sequence[Question]) -> list[Reading]:
        """The recorded answers of a population without documents, whoever read them: nothing can be read again."""
        answers_by_document: dict[str, dict[str, str | None]] = {}
        for reader in self.population.readers:
            for (document, question), text in self.population.answers(reader, prompt).items():
                # the first reader's answer counts where several have read a document
                answers_by_document.setdefault(document, {}).setdefault(question, text)
        return [
            Reading(tuple(_worded(answers.get(question.id)) for question in questions))
            for answers in answers_by_document.values()
        ]

    async def _read_once(self, document: Document, questions: Sequence[Question]) -> Reading:
        """A population document's answers, read once for all samples; what could not be read is tried again."""
        async with self._reading[document.id]:
            if document.id not in self._readings:
                reading = await self._read(document, questions)
                # not remembered: the next sample asks again for what could not be read
                if reading.faults:
                    return reading
                self._readings[document.id] = reading
            return self._readings[document.id]

    async def _read(self, document: Document, questions: Sequence[Question]) -> Reading:
        """A population document's answers: those on record by this reader, the rest read now."""
        recorded = self.population.answers(self.reader.signature, document.prompt)
        missing = [index for index, question in enumerate(questions) if (document.id, question.id) not in recorded]
        fresh = (
            await self.reader.read(document.text, [questions[index] for index in missing]) if missing else Reading(())
        )
        read = dict(zip(missing, fresh.answers, strict=True))
        answers = (
            read[index] if index in read else _worded(recorded[document.id, question.id])
            for index, question in enumerate(questions)
        )
        faults = {missing[index]: fault for index, fault in fresh.faults.items()}
        return Reading(tuple(answers), faults, fresh.is_attempt)

    async def _rate(
        self,
        question: Question,
        index: int,
        reading: Reading,
        others: Sequence[Reading],
        failures: list[GraderFailedError],
    ) -> QuestionResult:
        answer = reading.answers[index]
        if answer is None:
            return QuestionResult(question, None, (), (), (reading.faults.get(index, UNSPECIFIED),))
        answers = {place: text for place, other in enumerate(others) if (text := other.answers[index]) is not None}
        # kept apart from the answers: nothing is known of these documents, which is not "does not say"
        lost = {place: fault for place, other in enumerate(others) if (fault := other.faults.get(index))}
        rated = await self._rated(question, answer, tuple(answers.values()), failures)
        faults = (*lost.values(), *rated.faults.values())
        return QuestionResult(
            question,
            answer,
            others=tuple(answers.values()),
            ratings=rated.ratings,
            faults=faults if answers or lost else (NOT_ANSWERED,),
            off_labels=rated.off_labels,
            places=tuple(answers),
            unread=tuple(lost),
            min_coverage=self.min_coverage,
        )

    async def _rated(
        self, question: Question, answer: Answer, others: tuple[Answer, ...], failures: list[GraderFailedError]
    ) -> Rated:
        """The judge's ratings; none, with the fault in their place, where the judge fails."""
        if not others:
            return Rated(())
        try:
            return await self.judge.rate(question, answer, others)
        except GraderFailedError as error:
            # one failed question must not cost the document the others; `assess` raises when all have failed
            failures.append(error)
            return Rated((None,) * len(others), dict.fromkeys(range(len(others)), GRADER_FAILED))


def signed(population: Population, judge: str, reader: str, min_coverage: float, version: str = "2-A") -> str:
    """The signature of scores that these give."""
    return signature(
        "genie",
        version=version,
        judge=judge,
        reader=reader,
        population=population.name,
        min_coverage=f"{min_coverage:g}",
    )


def _worded(text: str | None) -> Answer | None:
    return Answer(text) if text is not None else None
