"""One document against a population: its answers are read and rated against the population's, by question."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from statistics import fmean
from typing import Any, Self

import anyio
from inspect_ai.model import Model

from genie_inspect.errors import GraderFailedError, RefusalError
from genie_inspect.files.tables import Table
from genie_inspect.graders.grader import gathered, names_of
from genie_inspect.graders.instrument import Instrument
from genie_inspect.graders.protocols import (
    GRADER_FAILED,
    UNSPECIFIED,
    Answer,
    Judge,
    Rated,
    Reader,
    Reading,
    reading_anew,
)
from genie_inspect.logs.evidence import Evidence, agreement
from genie_inspect.measures.genie import MIN_COVERAGE
from genie_inspect.measures.tokens import word_count
from genie_inspect.populations.population import Population
from genie_inspect.populations.schema import Document, Question
from genie_inspect.samples import REFUSAL
from genie_inspect.scorers.assessment import KEPT as ASSESSOR_KEPT
from genie_inspect.scorers.assessment import NOT_ANSWERED, Assessment, Others, QuestionResult
from genie_inspect.scorers.explanation import cell, rests_on, rounded, shown_value
from genie_inspect.signature import signature


class Assessor:
    """Compares documents with one population."""

    def __init__(
        self, population: Population, reader: Reader, judge: Judge, min_coverage: float = MIN_COVERAGE
    ) -> None:
        self.population = population
        self.reader = reader
        self.judge = judge
        self.min_coverage = min_coverage
        self._others = lru_cache(maxsize=ASSESSOR_KEPT)(lambda prompt: Others(population.documents(prompt)))
        self._readings: dict[str, Reading] = {}
        self._reading: defaultdict[str, anyio.Lock] = defaultdict(anyio.Lock)

    @property
    def judged_by(self) -> str:
        return self.judge.signature

    @property
    def read_by(self) -> str:
        return self.reader.signature

    @property
    def signature(self) -> str:
        """What a novelty that comes of it depends on, as it stands in scores."""
        return signed(self.population, self.judged_by, self.read_by, self.min_coverage)

    async def assess(self, text: str, prompt: str, made_of: str = "", *, anew: bool = False) -> Assessment:
        """Compare one document with the population's documents for its prompt; `anew` as for `reading`."""
        questions = self.population.questions(prompt)
        rest = self._others(prompt).than(text, made_of)
        reading = await self.reading(text, prompt, anew=anew)
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
        questions = self.population.questions(prompt)
        await gathered(*(self._read_once(document, questions) for document in self._others(prompt).documents))

    def _recorded_alone(self, prompt: str, questions: Sequence[Question]) -> list[Reading]:
        answers_by_document: dict[str, dict[str, str | None]] = {}
        for reader in self.population.readers:
            for (document, question), text in self.population.answers(reader, prompt).items():
                # the first reader's answer counts where several have read a document
                answers_by_document.setdefault(document, {}).setdefault(question, text)
        return [
            Reading(tuple(None if (text := answers.get(q.id)) is None else Answer(text) for q in questions))
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
        known = (recorded.get((document.id, question.id)) for question in questions)
        answers = (
            read[index] if index in read else None if text is None else Answer(text) for index, text in enumerate(known)
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
        rated = Rated(())
        try:
            if answers:
                rated = await self.judge.rate(question, answer, tuple(answers.values()))
        except GraderFailedError as error:
            # one failed question must not cost the document the others; `assess` raises when all have failed
            failures.append(error)
            rated = Rated((None,) * len(answers), dict.fromkeys(range(len(answers)), GRADER_FAILED))
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


@dataclass(frozen=True)
class JuryAssessment(Assessment):
    """What several graders found in one document: their results together, and the means of their novelties."""

    parts: Mapping[str, Assessment] = field(default_factory=dict)
    """By grader its own; one that failed has a fault for every question."""

    @classmethod
    def of(cls, parts: Mapping[str, Assessment]) -> Self:
        # one that failed, or found no answer, compared nothing
        whole = max(parts.values(), key=lambda part: (part.documents, len(part.lengths)))
        results = tuple(chain.from_iterable(part.results for part in parts.values()))
        return cls(results, whole.documents, whole.left_out, whole.lengths, whole.made_of, parts)

    @property
    def shown(self) -> tuple[QuestionResult, ...]:
        """The results of the first grader that has any to show."""
        return self.parts[self.shown_by].results

    @property
    def by_grader(self) -> tuple[Assessment, ...]:
        return tuple(self.parts.values())

    @property
    def shown_by(self) -> str:
        """The first grader of whom a question could be used; the first of all where there is none."""
        return next((name for name, part in self.parts.items() if part.used), next(iter(self.parts)))

    @property
    def poorest(self) -> Assessment:
        """The part of the grader that used the fewest questions: without it there is no mean."""
        return min(self.parts.values(), key=lambda part: len(part.used))

    def within(self, words: float) -> Self:
        return self.of({name: part.within(words) for name, part in self.parts.items()})

    def novelty(self, features: Sequence[str]) -> dict[str, float]:
        """By feature the mean over the graders; NaN where one of them could not measure it."""
        return _means([part.novelty(features) for part in self.parts.values()], features)

    def nearest(self, features: Sequence[str]) -> dict[str, float]:
        return _means([part.nearest(features) for part in self.parts.values()], features)


class Jury:
    """Compares documents with one population through several graders; in place of one `Assessor`."""

    def __init__(self, assessors: Mapping[str, Assessor]) -> None:
        # the order in which graders are named makes no other jury
        self.assessors = dict(sorted(assessors.items()))
        self.population: Population = next(iter(assessors.values())).population

    @property
    def judged_by(self) -> str:
        """What the ratings depend on: every judge."""
        return "+".join(sorted({assessor.judged_by for assessor in self.assessors.values()}))

    @property
    def read_by(self) -> str:
        """What the readings depend on: every reader."""
        return "+".join(sorted({assessor.read_by for assessor in self.assessors.values()}))

    @property
    def signature(self) -> str:
        """What a novelty that comes of it depends on; it names every grader."""
        (least,) = {assessor.min_coverage for assessor in self.assessors.values()}
        # 1 was the mean of those graders that measured
        return signed(self.population, self.judged_by, self.read_by, least, version="3-A")

    async def assess(self, text: str, prompt: str, made_of: str = "", *, anew: bool = False) -> JuryAssessment:
        errors: list[GraderFailedError | RefusalError] = []
        questions = self.population.questions(prompt)

        async def part(assessor: Assessor) -> Assessment:
            try:
                return await assessor.assess(text, prompt, made_of, anew=anew)
            except (GraderFailedError, RefusalError) as error:
                errors.append(error)
                fault = REFUSAL if isinstance(error, RefusalError) else GRADER_FAILED
                return Assessment(tuple(QuestionResult(q, None, (), (), (fault,)) for q in questions), 0, ())

        parts = await gathered(*map(part, self.assessors.values()))
        if len(errors) == len(parts):
            raise next((error for error in errors if isinstance(error, GraderFailedError)), errors[0])
        return JuryAssessment.of(dict(zip(self.assessors, parts, strict=True)))


def assessor_of(population: Population, instrument: Instrument, models: Sequence[Model]) -> Assessor | Jury:
    """Who compares documents with a population: a jury where several models are asked."""

    def by(model: Model | None) -> Assessor:
        reader, judge = instrument.reader_and_judge(model, population.features)
        return Assessor(population, reader, judge, instrument.min_coverage)

    if len(models) > 1:
        return Jury({name: by(model) for name, model in zip(names_of(models), models, strict=True)})
    return by(next(iter(models), None))


def _means(rows: Sequence[Mapping[str, float]], features: Sequence[str]) -> dict[str, float]:
    # a NaN of one grader makes the mean NaN
    return {name: fmean(row[name] for row in rows) for name in features}


def jury_facts(assessment: Assessment, features: Sequence[str]) -> dict[str, Any]:
    """A score's metadata on its jury, with each grader's novelties; empty where one grader measured."""
    if not isinstance(assessment, JuryAssessment):
        return {}
    graders: dict[str, Any] = {}
    kept: dict[str, Evidence] = {}
    for name, part in assessment.parts.items():
        rests, by_feature = rests_on(part, features), part.by_feature(features)
        questions = {key: [rounded(result.novelty) for result in results] for key, results in by_feature.items()}
        graders[name] = {
            "novelty": {key: rounded(value) for key, value in part.novelty(features).items()},
            "questions": questions,
            **{key: rests[key] for key in ("coverage", "pairs", "ratings", "faults") if key in rests},
        }
        # over the digits that are kept, so that a report of the log comes to the same
        kept[name] = Evidence(questions={key: tuple(map(_number, row)) for key, row in questions.items()})
    agreed = {name: rounded(alpha) for name, alpha in agreement([kept], features).items()}
    return {"graders": graders, "agreement": agreed, "shown": assessment.shown_by}


def jury_notes(facts: Mapping[str, Any], features: Sequence[str]) -> list[str]:
    """A Markdown table with each grader's novelty by feature and their agreement; nothing without a jury."""
    if not facts:
        return []
    graders = facts["graders"]
    rows = []
    for feature in features:
        values = [*(part["novelty"][feature] for part in graders.values()), facts["agreement"][feature]]
        rows.append([cell(feature.replace("_", " ")), *(shown_value(_number(value)) for value in values)])
    count = f"Novelty is the mean over {len(graders)} graders, where each of them measured it:"
    table = Table("", ["feature", *map(cell, graders), "alpha"], rows)
    return [count, "", *table.markdown(), "", f"The answers above are as {cell(facts['shown'])} read and rated them."]


def _number(value: float | None) -> float:
    return math.nan if value is None else value
