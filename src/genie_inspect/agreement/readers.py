"""Whether a reader reads: what it leaves out, and whether its answers fit their own document better than another."""

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from genie_inspect.agreement.calibration import ALL, RESAMPLES
from genie_inspect.agreement.raters import CalibrationError, Ratings, Target, recorded_reader
from genie_inspect.errors import GraderFailedError
from genie_inspect.graders.grader import gathered
from genie_inspect.graders.protocols import GRADER_FAILED, Reader, Reading
from genie_inspect.logs.scores import known_mean
from genie_inspect.measures.genie import HIGHEST, similarity
from genie_inspect.populations.population import Population
from genie_inspect.populations.schema import Document, Question
from genie_inspect.prompting.answers import normalised, repeats_question
from genie_inspect.statistics.bootstrap import UNKNOWN, BootstrapInterval, bootstrap_interval

REFUSAL = "taken for a refusal"


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """What the record and a reader answer to one question about one document."""

    document: str  # its id
    question: Question
    recorded: str | None  # None: the document does not say
    answer: str | None  # None: the document does not say, or there is a fault
    others: tuple[str, ...]  # the recorded answers of all other documents of the prompt, equal ones too
    fault: str = ""  # why the reader's answer could not be had

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
    """So many of a population's documents, each prompt in turn."""
    generator = random.Random(seed)  # noqa: S311  # a sample, no secret
    prompts = [population.documents(prompt) for prompt in population.prompts]
    shuffled = [generator.sample(documents, len(documents)) for documents in prompts]
    return [document for turn in zip_longest(*shuffled) for document in turn if document][:count]


async def read_again(
    population: Population,
    reader: Reader,
    documents: Sequence[Document],
    record: str | None = None,
    told: Callable[[], None] = lambda: None,
) -> list[AnswerPair]:
    """A reader's answers beside those on record, to every question for which somebody read the document."""
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
    pairs = []
    for document, reading in zip(documents, readings, strict=True):
        recorded = population.answers(signature, document.prompt)
        for place, question in enumerate(population.questions(document.prompt)):
            if (document.id, question.id) not in recorded:
                continue  # nobody read it for this question
            others = tuple(
                text
                for (other, asked), text in recorded.items()
                if asked == question.id and other != document.id and text is not None
            )
            answer = None
            if isinstance(reading, GraderFailedError):
                fault = GRADER_FAILED
            elif not reading.is_attempt:
                fault = REFUSAL
            else:
                answer, fault = reading.answers[place], reading.faults.get(place, "")
            text = answer.text if answer else None
            pairs.append(AnswerPair(document.id, question, recorded[document.id, question.id], text, others, fault))
    return pairs


CHANCE = 0.5
LEAST_REACH = 0.5  # who reads paraphrases instead of the documents comes to 0.72 by vectors, see docs/judging.md


@dataclass(frozen=True, slots=True)
class ReaderFitness:
    """A reader's answers to the questions of one feature, held against those on record."""

    reader: str
    feature: str
    asked: int  # questions about documents
    both: int  # of them those that the record and the reader answer; only these are compared
    # shares from 0 to 1, NaN of nothing
    left_out: float  # of the record's answers those that the reader does not have
    added: float  # of the reader's answers those where the document does not say, by the record
    repeated: float  # of the reader's answers those that hold no word but the question's own
    faults: dict[str, int]  # why answers could not be had; that a document does not say is no fault
    same: float  # mean similarity to the recorded answer of the same document, 0 to 1
    other: float  # mean similarity to the recorded answers of the prompt's other documents, 0 to 1
    # chance that the recorded answer of the same document is rated more alike than that of another, equal ratings
    # counting half, with a 95% interval over documents: 0.5 as by chance, up to `highest`
    own_nearer: BootstrapInterval
    highest: float  # what the recorded answers themselves would come to: below 1 where documents have the same answer

    @property
    def reach(self) -> float:
        """How far `own_nearer` is on the way from chance to `highest`: 0 as by chance, 1 as the record; NaN without."""
        room = self.highest - CHANCE
        return (self.own_nearer.value - CHANCE) / room if room else math.nan


def reader_fitness(
    reader: str, pairs: Sequence[AnswerPair], ratings: Ratings, features: Sequence[str], resamples: int = RESAMPLES
) -> list[ReaderFitness]:
    """Each feature that has questions, and all together.

    Source: ours; the area under the ROC curve as a probability is Hanley and McNeil (1982).
    """
    compared = list(_compared(pairs, ratings))

    def fitness(feature: str) -> ReaderFitness:
        both = zip(pairs, compared, strict=True)
        chosen = [(pair, row) for pair, row in both if feature in (ALL, pair.question.feature)]
        answered = [pair for pair, _ in chosen if pair.answer is not None]
        recorded = [pair for pair, _ in chosen if pair.recorded is not None]
        documents: dict[str, int] = {}
        of_row = [documents.setdefault(pair.document, len(documents)) for pair, row in chosen if row]
        # with this shape without any row, too
        same, other, own_nearer, highest = np.array([row for _, row in chosen if row]).reshape(-1, 4).T
        sums, counts = np.bincount(of_row, own_nearer), np.bincount(of_row)

        def mean(drawn: NDArray[np.intp]) -> float:
            return float(sums[drawn].sum() / counts[drawn].sum())

        return ReaderFitness(
            reader=reader,
            feature=feature,
            asked=len(chosen),
            both=sum(pair.recorded is not None for pair in answered),
            left_out=known_mean([pair.answer is None for pair in recorded]),
            added=known_mean([pair.recorded is None for pair in answered]),
            repeated=known_mean([repeats_question(pair.answer or "", pair.question.text) for pair in answered]),
            faults=dict(Counter(pair.fault for pair, _ in chosen if pair.fault)),
            same=known_mean(same.tolist()),
            other=known_mean(other.tolist()),
            own_nearer=bootstrap_interval(mean, len(documents), resamples) if documents else UNKNOWN,
            highest=known_mean(highest.tolist()),
        )

    present = {pair.question.feature for pair in pairs}
    return [fitness(feature) for feature in (*(name for name in features if name in present), ALL)]


def rated_targets(pairs: Sequence[AnswerPair]) -> list[Target]:
    return [target for pair in pairs if (target := pair.target) and target.others]


def fitness_verdict(rows: Sequence[ReaderFitness]) -> list[str]:
    """What it comes to, in sentences: whether the reader's answers can be compared at all."""
    whole = rows[-1]
    sentences = []
    if whole.left_out >= CHANCE:
        sentences.append(
            f"{whole.reader} has no answer where the record has one in {whole.left_out:.0%}: what it leaves out "
            "cannot be compared."
        )
    own = whole.own_nearer
    if math.isnan(own.low):
        return [*sentences, f"{whole.reader}: whether it reads cannot be told from {whole.both} answers."]
    sentences.append(
        f"The answers of {whole.reader} are nearer to the record of their own document than to another's in "
        f"{own.value:.0%}, where 50% is chance and {whole.highest:.0%} the most: {whole.reach:.0%} of the way."
    )
    if own.low <= CHANCE or whole.reach < LEAST_REACH:
        sentences.append("It hardly reads: do not quote scores that rest on its readings.")
    elif chance := [row.feature for row in rows[:-1] if row.own_nearer.low <= CHANCE]:
        sentences.append(f"As by chance: {', '.join(name.replace('_', ' ') for name in chance)}.")
    return sentences


def reading_novelties(pairs: Sequence[AnswerPair], ratings: Ratings) -> dict[tuple[str, str], float]:
    """By document and question the novelty of the reader's answer among the recorded ones of the other documents."""
    rows = zip(pairs, _compared(pairs, ratings), strict=True)
    return {(pair.document, pair.question.id): 1 - row[1] for pair, row in rows if row}


def _compared(pairs: Sequence[AnswerPair], ratings: Ratings) -> Iterator[tuple[float, float, float, float] | None]:
    """Of each pair same, other, own_nearer and highest, as of `ReaderFitness`; None where it cannot be compared."""
    values = iter(ratings.values)
    for pair in pairs:
        figures = None
        if pair.answer is not None and pair.recorded is not None:
            rating_of = {normalised(text): next(values) for text in (pair.target.others if pair.target else ())}
            rating_of[normalised(pair.answer)] = HIGHEST
            recorded, others = normalised(pair.recorded), list(map(normalised, pair.others))
            own, all_rated = rating_of[recorded], np.array([rating_of[text] for text in others])
            rated = all_rated[~np.isnan(all_rated)]
            if not math.isnan(own) and len(rated):
                figures = (
                    similarity(own),
                    known_mean([similarity(rating) for rating in rated.tolist()]),
                    float(np.mean((own > rated) + (own == rated) / 2)),
                    1 - known_mean([text == recorded for text in others]) / 2,
                )
        yield figures
