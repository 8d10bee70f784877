"""One document against a population: its answers are read, and rated against all of the population's or a sample."""

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from threading import Lock
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread
from inspect_ai.model import Model

from genie_inspect.engines.embedders import CachedEmbedder, Embedder
from genie_inspect.errors import GraderFailedError, RefusalError
from genie_inspect.graders.cache import cache_folder
from genie_inspect.graders.grader import gathered, names_of
from genie_inspect.graders.instrument import Instrument
from genie_inspect.graders.merging import rate_all
from genie_inspect.graders.protocols import (
    GRADER_FAILED,
    UNSPECIFIED,
    Answer,
    Compared,
    Judge,
    Rated,
    Reader,
    Reading,
    reading_anew,
)
from genie_inspect.measures.genie import HIGHEST, MIN_COVERAGE, represented, strata
from genie_inspect.populations.population import Population
from genie_inspect.populations.schema import Document, Question
from genie_inspect.prompting.answers import normalised
from genie_inspect.samples import REFUSAL
from genie_inspect.scorers.assessment import KEPT, NOT_ANSWERED, Assessment, Others, QuestionResult
from genie_inspect.signature import SAMPLED, digest, signature

if TYPE_CHECKING:
    from genie_inspect.engines.embedders import Vectors


VECTORS_KEPT = 256  # questions whose answers' vectors stay in memory


@dataclass(frozen=True, slots=True)
class _OtherAnswers:
    """The answers of other documents to one question."""

    places: tuple[int, ...]  # of the documents that gave them
    answers: tuple[Answer, ...]
    texts: tuple[str, ...]
    # why a document has no known answer, by its place: nothing is known of it, which is not "does not say"
    lost: dict[int, str]

    @classmethod
    def to(cls, index: int, readings: Sequence[Reading]) -> "_OtherAnswers":
        found = [(place, answer) for place, each in enumerate(readings) if (answer := each.answers[index]) is not None]
        places, answers = tuple(zip(*found, strict=True)) or ((), ())
        lost = {place: fault for place, each in enumerate(readings) if (fault := each.faults.get(index))}
        return cls(places, answers, tuple(answer.text for answer in answers), lost)


@dataclass(frozen=True, slots=True)
class Draw:
    """Places among the other answers."""

    same: list[int]  # equal answers, which are interchangeable without a call
    # of each the first is drawn, and the second for when the first's rating is lost; the first stratum is the nearest
    strata: list[list[int]]
    is_sample: bool = True

    @classmethod
    def of_all(cls, count: int) -> "Draw":
        return cls([], [[place] for place in range(count)], is_sample=False)

    @property
    def first(self) -> list[int]:
        return [part[0] for part in self.strata]

    def weights(self, rated: Rated) -> tuple[int, ...]:
        """How many answers each rating stands for; none where all are rated."""
        if not self.is_sample:
            return ()
        usable = [rating is not None for rating in rated.ratings[len(self.same) :]]
        return (*[1] * len(self.same), *represented([len(part) for part in self.strata], usable))


class Sampler:
    """Draws by what is asked alone, so that a rerun asks the same."""

    def __init__(self, ratings: int, embedder: Embedder, seed: int = 0, *, seconds: bool = True) -> None:
        self.ratings, self.embedder, self.seed, self.seconds = ratings, embedder, seed, seconds
        self.signature = f"{ratings}({embedder.identity})"
        # a question's answers come back with every document, and are embedded once though many come at the same time
        self._kept = lru_cache(maxsize=VECTORS_KEPT)(self._prepare)
        self._preparing: dict[tuple[str, ...], Lock] = {}

    def _prepared(self, others: tuple[str, ...]) -> "tuple[dict[str, list[int]], Vectors, str]":
        with self._preparing.setdefault(others, Lock()):
            prepared = self._kept(others)
        # whoever waits has the lock in hand; kept for good, it would keep all that was ever compared in memory
        self._preparing.pop(others, None)
        return prepared

    def _prepare(self, others: tuple[str, ...]) -> "tuple[dict[str, list[int]], Vectors, str]":
        """The answers' places by what counts for equality, their vectors, and a digest of them in any order."""
        texts, places = [normalised(text) for text in others], dict[str, list[int]]()
        for place, text in enumerate(texts):
            places.setdefault(text, []).append(place)
        return places, self.embedder.embed(texts).astype("float32"), digest(*sorted(texts))

    def draws(self, asked: Sequence[tuple[str, str, Sequence[str]]]) -> list[Draw]:
        """What is drawn for each question, answer and other answers to it."""
        sampled = {n: normalised(own) for n, (_, own, others) in enumerate(asked) if len(others) > self.ratings}
        targets = self.embedder.embed([*sampled.values()]) if sampled else ()
        draws = {
            place: self._draw(asked[place][0], own, asked[place][2], target)
            for (place, own), target in zip(sampled.items(), targets, strict=True)
        }
        return [draws.get(place) or Draw.of_all(len(others)) for place, (_, _, others) in enumerate(asked)]

    def _draw(self, question: str, own: str, others: Sequence[str], target: "Vectors") -> Draw:
        """One answer from each stratum of similarity to our own, a normalised one, as the embedder predicts it."""
        import numpy as np

        places, vectors, content = self._prepared(tuple(others))
        # a product by BLAS wakes a thread per core each time, which takes longer than the product
        predicted = np.einsum("ij,j->i", vectors, target.astype(vectors.dtype))
        same = places.get(own, [])
        apart = np.delete(np.arange(len(predicted)), same)
        chance = random.Random(digest(question, own, content, str(self.seed)))  # noqa: S311  # no secret
        drawn = [apart[part] for part in strata(predicted[apart], self.ratings)]
        for part in drawn:
            for place in range(min(len(part), 2)):
                other = chance.randrange(place, len(part))
                part[place], part[other] = part[other], part[place]
        return Draw(same, [part.tolist() if self.seconds else [int(part[0])] for part in drawn])


class Assessor:
    """Compares documents with one population."""

    def __init__(
        self,
        population: Population,
        reader: Reader,
        judge: Judge,
        min_coverage: float = MIN_COVERAGE,
        sampler: Sampler | None = None,  # draws what an answer is rated against; without one that is every answer
    ) -> None:
        self.population, self.reader, self.judge, self.min_coverage = population, reader, judge, min_coverage
        self.sampler, self.sampled_by = sampler, sampler.signature if sampler else ""
        self.judged_by, self.read_by = judge.signature, reader.signature
        # what a novelty that comes of it depends on, as it stands in scores
        self.signature = signed(population, self.judged_by, self.read_by, min_coverage, self.sampled_by)
        self.features = tuple(feature.name for feature in population.features)
        self._others = lru_cache(maxsize=KEPT)(lambda prompt: Others(population.documents(prompt)))
        self._answers: dict[str, tuple[list[_OtherAnswers], int]] = {}
        self._readings: dict[str, Reading] = {}
        self._reading: defaultdict[str, anyio.Lock] = defaultdict(anyio.Lock)

    async def assess(self, text: str, prompt: str, made_of: str = "", *, anew: bool = False) -> Assessment:
        """Compare one document with the population's documents for its prompt; `anew` as for `reading`."""
        questions = self.population.questions(prompt)
        rest = self._others(prompt).than(text, made_of)
        reading = await self.reading(text, prompt, anew=anew)
        if not reading.is_attempt:
            raise RefusalError("the grader reads the document as a refusal of its task")
        # without an answer there is nothing to compare, so nothing more is asked
        is_compared = any(reading.answers)
        others, count = await self._known(prompt, rest.documents if is_compared else (), questions)
        asked = [
            (question, answer, known)
            for question, answer, known in zip(questions, reading.answers, others, strict=True)
            if answer is not None
        ]
        if self.sampler:
            parts = [(question.text, answer.text, known.texts) for question, answer, known in asked]
            draws = await to_thread.run_sync(self.sampler.draws, parts)
        else:
            draws = [Draw.of_all(len(known.answers)) for _, _, known in asked]
        compared = [_Comparison(*each, draw) for each, draw in zip(asked, draws, strict=True)]
        first = await rate_all(self.judge, [each.asking(each.draw.first) for each in compared])
        failures: list[GraderFailedError] = []
        rated = await gathered(
            *(self._rated(each, ratings, failures) for each, ratings in zip(compared, first, strict=True))
        )
        by_question = {result.question.id: result for result in rated}
        results = [
            by_question.get(question.id)
            or QuestionResult(question, None, (), (), (reading.faults.get(index, UNSPECIFIED),))
            for index, question in enumerate(questions)
        ]
        # a grader that failed throughout is a failed sample, which can be scored again
        if failures and not any(result.usable for result in results):
            raise failures[0]
        lengths = rest.lengths if is_compared else ()
        return Assessment(tuple(results), self.features, count or len(rest.documents), rest.same, lengths, rest.made_of)

    async def reading(self, text: str, prompt: str, *, anew: bool = False) -> Reading:
        """The answers of one document; anew, one of the population's is read without its answers on record."""
        questions, others = self.population.questions(prompt), self._others(prompt)
        same = others.than(text).same
        own = next((document for document in others.documents if document.id in same), None)
        recorded = self.population.answers(self.reader.signature, prompt) if own and anew else {}
        if own and not any(document == own.id for document, _ in recorded):
            return await self._read_once(own, questions)
        with reading_anew() if own else nullcontext():
            return await self.reader.read(text, questions)

    async def read_population(self, prompt: str) -> None:
        """Have all of the population's documents for a prompt read, with which others will be compared."""
        await self._read_each(self._others(prompt).documents, self.population.questions(prompt))

    def _recorded_alone(self, prompt: str, questions: Sequence[Question]) -> list[Reading]:
        answers_by_document: dict[str, dict[str, str | None]] = {}
        for reader in self.population.readers:
            for (document, question), text in self.population.answers(reader, prompt).items():
                # the first reader's answer counts where several have read a document
                answers_by_document.setdefault(document, {}).setdefault(question, text)
        return [
            Reading(tuple(_answer(answers.get(question.id)) for question in questions))
            for answers in answers_by_document.values()
        ]

    async def _known(
        self, prompt: str, documents: tuple[Document, ...], questions: Sequence[Question]
    ) -> tuple[list[_OtherAnswers], int]:
        """What these documents answer to each question, and how many they are: of a whole prompt gathered once."""
        is_whole = documents is self._others(prompt).documents
        if is_whole and prompt in self._answers:
            return self._answers[prompt]
        alone = self._recorded_alone(prompt, questions) if self.population.answers_alone else []
        readings = alone or await self._read_each(documents, questions)
        others = [_OtherAnswers.to(index, readings) for index in range(len(questions))]
        # else the next sample asks again for what could not be read
        if is_whole and not any(each.lost for each in others):
            self._answers[prompt] = others, len(readings)
        return others, len(readings)

    async def _read_each(self, documents: Sequence[Document], questions: Sequence[Question]) -> list[Reading]:
        # no task for what was read already: of thousands they take longer than the rest
        unread = [document for document in documents if document.id not in self._readings]
        readings = await gathered(*(self._read_once(document, questions) for document in unread))
        fresh = {document.id: reading for document, reading in zip(unread, readings, strict=True)}
        return [fresh[one.id] if one.id in fresh else self._readings[one.id] for one in documents]

    async def _read_once(self, document: Document, questions: Sequence[Question]) -> Reading:
        """A population document's answers, read once for all samples: those on record by this reader, the rest now."""
        async with self._reading[document.id]:
            if document.id in self._readings:
                return self._readings[document.id]
            recorded = self.population.answers(self.reader.signature, document.prompt)
            keys = [(document.id, question.id) for question in questions]
            missing = [index for index, key in enumerate(keys) if key not in recorded]
            unread = [questions[index] for index in missing]
            fresh = await self.reader.read(document.text, unread) if missing else Reading(())
            answers = dict(enumerate(_answer(recorded.get(key)) for key in keys))
            answers |= zip(missing, fresh.answers, strict=True)
            faults = {missing[place]: fault for place, fault in fresh.faults.items()}
            reading = Reading(tuple(answers.values()), faults, fresh.is_attempt)
            # else not remembered: the next sample asks again for what could not be read
            if not faults:
                self._readings[document.id] = reading
            return reading

    async def _rated(
        self, compared: "_Comparison", first: Rated | GraderFailedError, failures: list[GraderFailedError]
    ) -> QuestionResult:
        draw, others = compared.draw, compared.others
        try:
            if isinstance(first, GraderFailedError):
                raise first
            chosen, rated = await self._rate_seconds(compared, first)
        except GraderFailedError as error:
            # one failed question must not cost the document the others; `assess` raises when all have failed
            failures.append(error)
            chosen = [*draw.same, *draw.first]
            rated = Rated((None,) * len(chosen), dict.fromkeys(range(len(chosen)), GRADER_FAILED))
        faults = (*others.lost.values(), *rated.faults.values())
        return QuestionResult(
            compared.question,
            compared.answer,
            others=tuple(others.answers[place] for place in chosen),
            ratings=rated.ratings,
            faults=faults if others.answers or others.lost else (NOT_ANSWERED,),
            off_labels=rated.off_labels,
            places=tuple(others.places[place] for place in chosen),
            unread=tuple(others.lost),
            min_coverage=self.min_coverage,
            weights=draw.weights(rated),
        )

    async def _rate_seconds(self, compared: "_Comparison", rated: Rated) -> tuple[list[int], Rated]:
        """Equal answers, without a call, and one rating per stratum: of its second where the first's is lost."""
        draw, chosen = compared.draw, compared.draw.first
        if lost := [number for number, part in enumerate(draw.strata) if number in rated.faults and len(part) > 1]:
            seconds = [draw.strata[number][1] for number in lost]
            again = await self.judge.rate(*compared.asking(seconds))
            ratings, faults = list(rated.ratings), dict(rated.faults)
            for number, second, rating in zip(lost, seconds, again.ratings, strict=True):
                if rating is not None:
                    chosen[number], ratings[number] = second, rating
                    del faults[number]
            rated = Rated(tuple(ratings), faults, rated.off_labels)
        known = len(draw.same)
        ratings_of_all = (*[float(HIGHEST)] * known, *rated.ratings)
        faults_of_all = {number + known: fault for number, fault in rated.faults.items()}
        return [*draw.same, *chosen], Rated(ratings_of_all, faults_of_all, rated.off_labels)


@dataclass(frozen=True, slots=True)
class _Comparison:
    """An answer and the other answers to its question."""

    question: Question
    answer: Answer
    others: _OtherAnswers
    draw: Draw

    def asking(self, places: Sequence[int]) -> Compared:
        return Compared(self.question, self.answer, [self.others.answers[place] for place in places])


def _answer(recorded: str | None) -> Answer | None:
    return None if recorded is None else Answer(recorded)


def signed(
    population: Population, judge: str, reader: str, min_coverage: float, sampled: str = "", version: str = "2-A"
) -> str:
    """The signature of scores that these give."""
    depends_on = {"judge": judge, "reader": reader, "population": population.name}
    depends_on |= {SAMPLED: sampled} if sampled else {}
    return signature("genie", version, **depends_on, min_coverage=f"{min_coverage:g}")


class Jury:
    """Compares documents with one population through several graders; in place of one `Assessor`."""

    def __init__(self, assessors: Mapping[str, Assessor]) -> None:
        # the order in which graders are named makes no other jury
        self.assessors = dict(sorted(assessors.items()))
        every = assessors.values()
        (self.population,) = {assessor.population for assessor in every}
        (least,) = {assessor.min_coverage for assessor in every}
        self.judged_by = "+".join(sorted({assessor.judged_by for assessor in every}))
        self.read_by = "+".join(sorted({assessor.read_by for assessor in every}))
        # 1 was the mean of those graders that measured
        (sampled,) = {assessor.sampled_by for assessor in every}
        self.signature = signed(self.population, self.judged_by, self.read_by, least, sampled, version="3-A")

    async def assess(self, text: str, prompt: str, made_of: str = "", *, anew: bool = False) -> Assessment:
        errors: list[GraderFailedError | RefusalError] = []
        questions = self.population.questions(prompt)

        async def part(assessor: Assessor) -> Assessment:
            try:
                return await assessor.assess(text, prompt, made_of, anew=anew)
            except (GraderFailedError, RefusalError) as error:
                errors.append(error)
                fault = REFUSAL if isinstance(error, RefusalError) else GRADER_FAILED
                results = tuple(QuestionResult(q, None, (), (), (fault,)) for q in questions)
                return Assessment(results, assessor.features, 0)

        parts = await gathered(*map(part, self.assessors.values()))
        if len(errors) == len(parts):
            raise next((error for error in errors if isinstance(error, GraderFailedError)), errors[0])
        return Assessment.of(dict(zip(self.assessors, parts, strict=True)))


def sampler_of(instrument: Instrument, *, seconds: bool = True) -> Sampler | None:
    """What draws the answers that are rated; None where all of them are."""
    if instrument.ratings is None:
        return None
    # vectors that a model of somebody's makes are kept, as those of the embedding judge are
    engine = instrument.engine if instrument.embedder == "static" else CachedEmbedder(instrument.engine, cache_folder())
    return Sampler(instrument.ratings, engine, seconds=seconds)


def assessor_of(population: Population, instrument: Instrument, models: Sequence[Model]) -> Assessor | Jury:
    """Who compares documents with a population: a jury where several models are asked, or one in several wordings."""
    sampler = sampler_of(instrument)

    def by(model: Model | None, wording: Instrument) -> Assessor:
        reader, judge = wording.reader_and_judge(model, population.features)
        return Assessor(population, reader, judge, instrument.min_coverage, sampler)

    named = dict(zip(names_of(models), models, strict=True))
    if len(instrument.wordings) > 1:
        members = product(named.items(), instrument.wordings)
        return Jury({f"{name} ({each.templates})": by(model, each) for (name, model), each in members})
    if len(models) > 1:
        return Jury({name: by(model, instrument) for name, model in named.items()})
    return by(next(iter(models), None), instrument)
