"""What an evaluation will ask the grader, before it asks anything: calls and tokens, after dedupe and cache.

Counted exactly, where the population was read by the grader: the calls that read new documents and the population's,
the tokens of instructions, questions and the population's answers, equal answers that are judged once, and ratings on
record for these answers.

Estimated from the population: how long new documents are (as the population's), what they will answer (drawn from the
population's answers to the question, so that as many are equal to each other and to a rated one, and as many are "not
specified"). Where the grader has not read the population, the answers of the reader who read most of it stand for its
own; where nobody has, each document has an answer of its own, of usual length.

A replay (bundled/grader) is never kept: there each new document's answers are judged for themselves.

Not counted: replies that have to be asked for again, the few tokens that a chat template adds to each call, what a
server with a prefix cache saves, and the writing of the documents.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache, reduce
from operator import add
from statistics import fmean
from typing import Self

from inspect_ai.model import Model

from genie_inspect.engines.embedders import static_token_count
from genie_inspect.graders.cache import ANSWERS, RATINGS, Cache
from genie_inspect.graders.cost import Cost, tokens
from genie_inspect.graders.grader import held_to_json
from genie_inspect.graders.instrument import Instrument, Wording, mode_of
from genie_inspect.graders.merging import numbered_tokens
from genie_inspect.graders.protocols import Judge, Reader
from genie_inspect.graders.reader import LENGTHS
from genie_inspect.populations.population import Population
from genie_inspect.populations.schema import Document, Question
from genie_inspect.prompting.answers import ATTEMPT, NOT_SPECIFIED, YES, normalised
from genie_inspect.prompting.fence import fenced
from genie_inspect.signature import digest
from genie_inspect.statistics.power import chance_of_seeing, expected_unseen


class RequestTokens:
    """Costs of reading and rating requests with one set of templates."""

    def __init__(self, wording: Wording, *, as_json: bool = True, times: int = 1) -> None:
        self._as_json = as_json
        self._times = times
        self._wording = wording
        self._empty: dict[tuple[str, int], int] = {}

    def reading(self, document: float, questions: Sequence[str], answers: Sequence[float]) -> Cost:
        asked = {str(number): question for number, question in enumerate(questions, start=1)}
        data = fenced({"document": "", "questions": asked})
        empty = static_token_count(self._wording.read.fill(count=len(questions), data=data))
        return Cost(1, empty + document, numbered_tokens(len(questions)) + _attempt() + self._times * sum(answers))

    def rating(self, mode: str, question: int, answer: int, others: Sequence[int]) -> Cost:
        record = mode_of(mode)
        size = record.chunk
        calls = [len(others[start : start + size]) for start in range(0, len(others), size)]
        repeated = len(calls) * (question + self._times * answer)
        return Cost(
            len(calls),
            sum(self._empty_request(mode, count) for count in calls) + repeated + self._times * sum(others),
            sum(record.reply_tokens(count, self._as_json) for count in calls),
        )

    def _empty_request(self, mode: str, others: int) -> int:
        if (mode, others) not in self._empty:
            record = mode_of(mode)
            request = record.request(self._wording.rate[record.instruction.name], "", "", [""] * others)
            self._empty[mode, others] = static_token_count(request)
        return self._empty[mode, others]


@lru_cache(maxsize=1)
def _attempt() -> int:
    """Tokens in which a reading says that the document is an attempt, before its answers."""
    answers = {"1": ""}  # beside an answer, because a comma stands between them
    return static_token_count(json.dumps({ATTEMPT: YES} | answers)) - static_token_count(json.dumps(answers))


USUAL_ANSWER = 5  # tokens: mean of the starter population's recorded answers
WEIGHED = 12  # documents of a prompt that are measured for its mean length


@dataclass(frozen=True, slots=True)
class TaskCost:
    documents: int = 0  # new ones: prompts times epochs
    pairs: float = 0.0  # answers of new documents against all answers of the population
    judged: float = 0.0  # those of them that have to be judged
    reading: Cost = field(default_factory=Cost)
    population: Cost = field(default_factory=Cost)  # reading what this reader has not read; once, the answers are kept
    rating: Cost = field(default_factory=Cost)

    @property
    def total(self) -> Cost:
        return self.reading + self.population + self.rating

    def __add__(self, other: "TaskCost") -> "TaskCost":
        return TaskCost(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))

    @classmethod
    def by_all(cls, graders: Sequence["TaskCost"]) -> Self:
        """What a jury asks: each of its graders of the same documents."""
        return replace(reduce(add, graders, cls()), documents=max((part.documents for part in graders), default=0))


@dataclass(frozen=True)
class Known:
    """Who reads and judges, and the cache of what they have said; of whom it is not known, nothing is on record."""

    reader: Reader | None = None
    judge: Judge | None = None
    cache: Cache | None = None
    as_json: bool = True  # whether ratings of a list come as JSON: of a grader that is not known, as the dearer form
    keeps_none: bool = False  # whether a reader and judge who are not known will do without a cache

    @classmethod
    def by(cls, instrument: Instrument, model: Model | None) -> Self:
        """The reader and judge of an instrument that asks a model; nobody where there is no model yet."""
        if model is None:
            return cls(keeps_none=not instrument.cache)
        return cls(*instrument.reader_and_judge(model), instrument.cache_for(model), as_json=held_to_json(model))

    @property
    def keeps(self) -> bool:
        """Whether what is said is kept, so that equal answers of different new documents are judged once."""
        return not self.keeps_none if self.reader is None else self.cache is not None

    def rated(self, question: str, answer: str) -> frozenset[str]:
        if self.judge is None or self.cache is None:
            return frozenset()
        return frozenset(self.cache.found(RATINGS, (self.judge.signature, question, answer)))


Answers = list[tuple[str, int] | None]
"""Of each document, as it counts for equality, with its tokens; None where it does not say."""


class PlannedGrader:
    """Who reads and judges a population, with what is on record and what a request costs."""

    def __init__(self, population: Population, instrument: Instrument, known: Known | None) -> None:
        self.population = population
        self.mode = instrument.judge
        self.known = known or Known()
        reader = self.known.reader
        self.own = population.answers(reader.signature) if reader else {}
        # where the grader has read nothing, the answers of the reader who has read most stand for its own
        self.record = self.own or max((population.answers(name) for name in population.readers), key=len, default={})
        # answers longer than those on record, where it has none of its own there
        times = 1 if self.own else LENGTHS[instrument.answer_length].times
        self.costs = RequestTokens(instrument.wording, as_json=self.known.as_json, times=times)

    def answers(self, documents: Sequence[Document], question: Question) -> Answers:
        answers: Answers = []
        for document in documents:
            # where nobody has read it, it has an answer of its own
            place = document.id, question.id
            if place not in self.record:
                answers.append((document.id, USUAL_ANSWER))
            else:
                text = self.record[place]
                answers.append(None if text is None else (normalised(text), tokens(text)))
        return answers

    def unread(self, document: Document, questions: Sequence[Question]) -> tuple[Question, ...]:
        """The questions that the reader has not answered about a document."""
        reader, cache = self.known.reader, self.known.cache
        if reader is None:
            return tuple(questions)
        unread = tuple(question for question in questions if (document.id, question.id) not in self.own)
        if cache and unread:
            texts = [question.text for question in questions]
            kept = cache.found(ANSWERS, (reader.signature, digest(document.text)), texts)
            unread = tuple(question for question in unread if question.text not in kept)
        return unread

    def prompt_cost(self, prompt: str, new: int) -> TaskCost:
        """What so many new documents for one prompt cost, and what is left to read of the population's."""
        questions, documents = self.population.questions(prompt), self.population.documents(prompt)
        answers = {q.id: self.answers(documents, q) for q in questions}
        length = fmean(tokens(document.text) for document in documents[:WEIGHED]) if documents else 0.0
        unspecified = tokens(NOT_SPECIFIED)
        said = {
            name: fmean(answer[1] if answer else unspecified for answer in own) if own else USUAL_ANSWER
            for name, own in answers.items()
        }

        def reading(asked: Sequence[Question]) -> Cost:
            return self.costs.reading(length, [q.text for q in asked], [said[q.id] for q in asked])

        missing = Counter(self.unread(document, questions) for document in documents)
        known = TaskCost(
            documents=new,
            reading=reading(questions) * new,
            population=sum((reading(asked) * count for asked, count in missing.items() if asked), Cost()),
        )
        return sum((self.rating_cost(q.text, answers[q.id], new) for q in questions), known)

    def rating_cost(self, question: str, answers: Answers, new: int) -> TaskCost:
        """What it costs to rate the answers of so many new documents, if they answer as the population does."""
        given = [answer for answer in answers if answer is not None]
        counts, lengths, total = Counter(key for key, _ in given), dict(given), len(answers)
        pairs = new * len(given) ** 2 / total if total else 0.0
        if not mode_of(self.mode).asks_pairs:
            return TaskCost(pairs=pairs)
        # how often each answer is expected to be judged, and how many distinct ones are beside the population's
        expected, unseen = {key: new * count / total for key, count in counts.items()}, 0.0
        if self.known.keeps:
            expected = {key: chance_of_seeing(count, total, new) for key, count in counts.items()}
            unseen = expected_unseen(counts.values(), total, new)
        asked, every = tokens(question), list(lengths.values())
        usual = round(fmean(every)) if every else USUAL_ANSWER
        of_every = self.costs.rating(self.mode, asked, 0, every)
        judged, rating = 0.0, Cost()
        for target, weight in [*expected.items(), (None, unseen)]:
            length = lengths[target] if target else usual
            if target and (rated := self.known.rated(question, target)):
                missing = [size for other, size in lengths.items() if other not in rated]
                cost = self.costs.rating(self.mode, asked, length, missing)
            else:
                missing, cost = every, of_every + Cost(0, of_every.calls * length)
            judged += weight * len(missing)
            rating += cost * weight
        return TaskCost(pairs=pairs, judged=judged, rating=rating)

    def comparison_cost(self, question: Question, documents: Sequence[Document]) -> TaskCost:
        """What it costs to rate each document's answer against the others'."""
        given = [answer for answer in self.answers(documents, question) if answer is not None]
        counts, lengths, asked = Counter(key for key, _ in given), dict(given), tokens(question.text)
        total = TaskCost(pairs=len(given) * (len(given) - 1))
        for target, count in counts.items():
            rated = self.known.rated(question.text, target)
            # of a document's own answer only what others gave too is compared with it
            others = [key for key in counts if (key != target or count > 1) and key not in rated]
            # what is not kept is judged for each document anew
            times = 1 if self.known.keeps else count
            cost = self.costs.rating(self.mode, asked, lengths[target], [lengths[key] for key in others])
            total += TaskCost(judged=len(others) * times, rating=cost * times)
        return total


def task_cost(
    population: Population, documents: Mapping[str, int], instrument: Instrument, known: Known | None = None
) -> TaskCost:
    """What it costs to assess so many new documents for each of a population's prompts."""
    grader = PlannedGrader(population, instrument, known)
    return sum((grader.prompt_cost(*each) for each in documents.items()), TaskCost())


def yardstick_cost(population: Population, instrument: Instrument, known: Known | None = None) -> TaskCost:
    """What it costs to compare each document of a population with the others."""
    grader, total = PlannedGrader(population, instrument, known), TaskCost()
    for prompt in population.prompts:
        documents = population.documents(prompt)
        # nothing new: what is left to read
        total += replace(grader.prompt_cost(prompt, 0), documents=len(documents))
        for question in population.questions(prompt):
            total += grader.comparison_cost(question, documents)
    return total
