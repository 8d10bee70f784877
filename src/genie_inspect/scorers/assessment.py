"""One document against a population: read it, rate its answers against the population's, question by question."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from statistics import fmean

import anyio

from genie_inspect.asking.gathering import gathered
from genie_inspect.errors import GraderFailedError
from genie_inspect.judges.protocols import GRADER_FAILED, UNSPECIFIED, Answer, Judge, Rated, Reader, Reading
from genie_inspect.measures.genie import feature_novelty, question_novelty, usable_similarities
from genie_inspect.measures.length import is_like_length, word_count
from genie_inspect.populations.population import Population
from genie_inspect.populations.schema import Document, Question
from genie_inspect.scorers.compared import compared

NOT_ANSWERED = "no answer in the population"


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """What one question found out."""

    question: Question
    answer: Answer | None
    others: tuple[Answer, ...]
    """Usable answers of the population, in the order of its documents."""
    ratings: tuple[float | None, ...]
    """One an other answer."""
    faults: tuple[str, ...]
    """Why answers or ratings are missing."""
    off_labels: float | None = None
    """Mean probability off the labels, 0 to 1, where the judge reads probabilities."""
    places: tuple[int, ...] = ()
    """Which of the compared documents gave each other answer."""

    def among(self, places: Set[int]) -> "QuestionResult":
        """The same question, with the answers of these documents alone."""
        kept = [index for index, place in enumerate(self.places) if place in places]
        return replace(
            self,
            others=tuple(self.others[index] for index in kept),
            ratings=tuple(self.ratings[index] for index in kept),
            places=tuple(self.places[index] for index in kept),
        )

    @property
    def novelty(self) -> float:
        """0 (all alike) to 1 (nothing like it); NaN when nothing was usable."""
        return question_novelty(self.ratings)

    @property
    def usable(self) -> int:
        """How many ratings count."""
        return len(usable_similarities(self.ratings))


@dataclass(frozen=True, slots=True)
class Assessment:
    """Everything that was found out about one document."""

    results: tuple[QuestionResult, ...]
    documents: int
    """Population documents that it was compared with."""
    left_out: tuple[str, ...]
    """Ids of population documents with the same text, which do not count."""
    lengths: tuple[int, ...] = ()
    """Words of each compared document."""

    def within(self, words: float) -> "Assessment":
        """The same document against those documents alone that are about this long."""
        places = {place for place, length in enumerate(self.lengths) if is_like_length(length, words)}
        return Assessment(tuple(r.among(places) for r in self.results), len(places), self.left_out, self.lengths)

    def by_feature(self, features: Iterable[str]) -> dict[str, list[QuestionResult]]:
        """The results of each feature, in the order of the features; a feature without questions has none."""
        return {name: [r for r in self.results if r.question.feature == name] for name in features}

    def novelty(self, features: Sequence[str]) -> dict[str, float]:
        """Novelty by feature: every feature has a value, NaN where nothing was usable."""
        asked = {result.question.id: result.question.feature for result in self.results}
        found = feature_novelty({result.question.id: result.novelty for result in self.results}, asked)
        return {name: found.get(name, float("nan")) for name in features}

    def off_labels(self) -> float | None:
        """Mean probability off the labels, 0 to 1, over the questions; None where the judge reads no probabilities."""
        found = [result.off_labels for result in self.results if result.off_labels is not None]
        return fmean(found) if found else None

    def faults(self) -> dict[str, int]:
        """How many answers and ratings are missing, by reason."""
        return dict(Counter(fault for result in self.results for fault in result.faults))


class Assessor:
    """Compares documents with one population.

    Args:
        population: What they are compared with.
        reader: Who answers the population's questions.
        judge: Who rates how alike two answers are.
    """

    def __init__(self, population: Population, reader: Reader, judge: Judge) -> None:
        self.population = population
        self.reader = reader
        self.judge = judge
        self._readings: dict[str, Reading] = {}
        self._reading: defaultdict[str, anyio.Lock] = defaultdict(anyio.Lock)

    async def assess(self, text: str, prompt: str) -> Assessment:
        """Compare one document with the population's documents for its prompt.

        A question whose judge failed is among the results, without ratings, as long as others have some.

        Raises:
            GraderFailedError: If the model behind the reader cannot be reached, or the one behind the judge not once.
        """
        questions = self.population.questions(prompt)
        rest = compared(self.population.documents(prompt), text)
        reading = await self.reader.read(text, questions)
        # without an answer there is nothing to compare, so nothing more is asked
        read = rest.documents if any(reading.answers) else ()
        alone = self._recorded_alone(prompt, questions) if self.population.answers_alone else []
        others = alone or await gathered(*(self._known(document, questions) for document in read))
        failures: list[GraderFailedError] = []
        results = await gathered(
            *(self._rate(question, index, reading, others, failures) for index, question in enumerate(questions))
        )
        if failures and not any(result.usable for result in results):
            raise failures[0]
        lengths = tuple(word_count(document.text) for document in read)
        return Assessment(tuple(results), len(alone or rest.documents), rest.left_out, lengths)

    def _recorded_alone(self, prompt: str, questions: Sequence[Question]) -> list[Reading]:
        """The recorded answers of a population without documents, whoever read them: nothing can be read again."""
        found: dict[str, dict[str, str | None]] = {}
        for reader in self.population.readers:
            for (document, question), text in self.population.answers(reader, prompt).items():
                found.setdefault(document, {}).setdefault(question, text)
        return [Reading(tuple(_worded(said.get(question.id)) for question in questions)) for said in found.values()]

    async def _known(self, document: Document, questions: Sequence[Question]) -> Reading:
        """A population document's answers, read once for all samples; what could not be read is tried again."""
        async with self._reading[document.id]:
            if document.id not in self._readings:
                reading = await self._read(document, questions)
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
        return Reading(tuple(answers), {missing[index]: fault for index, fault in fresh.faults.items()})

    async def _rate(
        self,
        question: Question,
        index: int,
        reading: Reading,
        others: Sequence[Reading],
        failures: list[GraderFailedError],
    ) -> QuestionResult:
        answer = reading.answers[index]
        usable = tuple(found for other in others if (found := other.answers[index]) is not None)
        places = tuple(place for place, other in enumerate(others) if other.answers[index] is not None)
        faults = [fault for other in others if (fault := other.faults.get(index))]
        if answer is None:
            return QuestionResult(question, None, (), (), (reading.faults.get(index, UNSPECIFIED),))
        if not usable:
            return QuestionResult(question, answer, (), (), (*faults, NOT_ANSWERED))
        try:
            rated = await self.judge.rate(question, answer, usable)
        except GraderFailedError as error:
            failures.append(error)
            rated = Rated((None,) * len(usable), dict.fromkeys(range(len(usable)), GRADER_FAILED))
        faults += rated.faults.values()
        return QuestionResult(question, answer, usable, rated.ratings, tuple(faults), rated.off_labels, places)


def _worded(text: str | None) -> Answer | None:
    return Answer(text) if text is not None else None
