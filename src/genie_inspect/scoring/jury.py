"""Several graders in one role: each reads and judges by itself, and a document's novelty is the mean of theirs.

It is a mean of all graders or none: graders differ in level, so that a mean of those alone that measured would differ
from the next document's by who is missing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from statistics import fmean
from typing import Self

from inspect_ai.model import Model

from genie_inspect.asking.gathering import gathered
from genie_inspect.asking.identity import names_of
from genie_inspect.errors import GraderFailedError, RefusalError
from genie_inspect.judges.instrument import Instrument
from genie_inspect.judges.protocols import GRADER_FAILED
from genie_inspect.populations.population import Population
from genie_inspect.samples.document import REFUSAL
from genie_inspect.scoring.assessment import Assessment, QuestionResult
from genie_inspect.scoring.assessor import Assessor, signed


@dataclass(frozen=True)
class JuryAssessment(Assessment):
    """What several graders found in one document: their results together, and the means of their novelties."""

    parts: Mapping[str, Assessment] = field(default_factory=dict)
    """By grader its own; one that failed has a fault for every question."""

    @classmethod
    def of(cls, parts: Mapping[str, Assessment]) -> Self:
        """The assessments of graders as one."""
        # one that failed, or found no answer, compared nothing
        whole = max(parts.values(), key=lambda part: (part.documents, len(part.lengths)))
        results = tuple(chain.from_iterable(part.results for part in parts.values()))
        return cls(results, whole.documents, whole.left_out, whole.lengths, whole.made_of, parts)

    @property
    def shown(self) -> tuple[QuestionResult, ...]:
        """The results of the first grader that has any to show."""
        return self.parts[self.shown_by].results

    @property
    def shown_by(self) -> str:
        """The first grader of whom a question could be used; the first of all where there is none."""
        return next((name for name, part in self.parts.items() if part.used), next(iter(self.parts)))

    @property
    def poorest(self) -> Assessment:
        """The part of the grader that used the fewest questions: without it there is no mean."""
        return min(self.parts.values(), key=lambda part: len(part.used))

    def within(self, words: float) -> Self:
        """As for one grader, of each."""
        return self.of({name: part.within(words) for name, part in self.parts.items()})

    def novelty(self, features: Sequence[str]) -> dict[str, float]:
        """By feature the mean over the graders; NaN where one of them could not measure it."""
        return self._mean_of(features, lambda part: part.novelty(features))

    def nearest(self, features: Sequence[str]) -> dict[str, float]:
        """How near the nearest answers come, likewise."""
        return self._mean_of(features, lambda part: part.nearest(features))

    def _mean_of(self, features: Sequence[str], values: Callable[[Assessment], dict[str, float]]) -> dict[str, float]:
        rows = [values(part) for part in self.parts.values()]
        # a NaN of one grader makes the mean NaN
        return {name: fmean(row[name] for row in rows) for name in features}


class Jury:
    """Compares documents with one population through several graders; in place of one `Assessor`.

    Args:
        assessors: By the grader's name; all of one population and one least coverage.
    """

    def __init__(self, assessors: Mapping[str, Assessor]) -> None:
        # the order in which graders are named makes no other jury
        self.assessors = dict(sorted(assessors.items()))
        self.population: Population = next(iter(assessors.values())).population

    @property
    def judged_by(self) -> str:
        """What the ratings depend on: every judge."""
        return _together(assessor.judged_by for assessor in self.assessors.values())

    @property
    def read_by(self) -> str:
        """What the readings depend on: every reader."""
        return _together(assessor.read_by for assessor in self.assessors.values())

    @property
    def signature(self) -> str:
        """What a novelty that comes of it depends on; it names every grader."""
        (least,) = {assessor.min_coverage for assessor in self.assessors.values()}
        # 1 was the mean of those graders that measured
        return signed(self.population, self.judged_by, self.read_by, least, version="3-A")

    async def assess(self, text: str, prompt: str, made_of: str = "") -> JuryAssessment:
        """Compare one document with the population's documents for its prompt, once a grader.

        Args:
            text: The document.
            prompt: What it was written for.
            made_of: The text that it was made of, if any, with which it is not compared.

        Raises:
            RefusalError: If every grader says that the document is no try at its task.
            GraderFailedError: If no grader assessed it, and not all for that reason.
        """
        errors: list[GraderFailedError | RefusalError] = []
        questions = self.population.questions(prompt)

        async def part(assessor: Assessor) -> Assessment:
            try:
                return await assessor.assess(text, prompt, made_of)
            except (GraderFailedError, RefusalError) as error:
                errors.append(error)
                fault = REFUSAL if isinstance(error, RefusalError) else GRADER_FAILED
                return Assessment(tuple(QuestionResult(q, None, (), (), (fault,)) for q in questions), 0, ())

        parts = await gathered(*map(part, self.assessors.values()))
        if len(errors) == len(parts):
            raise next((error for error in errors if isinstance(error, GraderFailedError)), errors[0])
        return JuryAssessment.of(dict(zip(self.assessors, parts, strict=True)))


def assessor_of(population: Population, instrument: Instrument, models: Sequence[Model]) -> Assessor | Jury:
    """Who compares documents with a population: a jury where several models are asked.

    Args:
        population: What they are compared with.
        instrument: How.
        models: Who is asked; none where the judge asks no model.

    Raises:
        UnknownChoiceError: If a model's provider cannot do what the judge needs.
    """

    def by(model: Model | None) -> Assessor:
        reader, judge = instrument.reader_and_judge(model, population.features)
        return Assessor(population, reader, judge, instrument.min_coverage)

    if len(models) > 1:
        return Jury({name: by(model) for name, model in zip(names_of(models), models, strict=True)})
    return by(next(iter(models), None))


def _together(signatures: Iterable[str]) -> str:
    """Signatures as one: each once, in an order of their own."""
    return "+".join(sorted(set(signatures)))
