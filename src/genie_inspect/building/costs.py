"""What an evaluation will ask the grader, before it asks anything: calls and tokens, after dedupe and cache.

Where the grader has read the population, what is known is counted exactly: calls, the tokens of instructions, questions
and answers, equal answers, and ratings on record. How long new documents are and what they answer is expected to be as
the population's. Where the grader has not read it, the answers of the reader who read most of it stand for its own;
where nobody has, each document has an answer of its own, of usual length. A replay (bundled/grader) is never kept.

Not counted: replies that have to be asked for again, the few tokens that a chat template adds to each call, what a
server with a prefix cache saves, and the writing of the documents.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, reduce
from math import prod
from operator import add
from statistics import fmean
from typing import Self

from inspect_ai.model import Model

from genie_inspect.engines.embedders import static_token_count
from genie_inspect.graders.cache import ANSWERS, RATINGS, Cache
from genie_inspect.graders.cost import Cost, tokens
from genie_inspect.graders.grader import held_to_json
from genie_inspect.graders.instrument import Instrument, mode_of
from genie_inspect.graders.merging import numbered_tokens
from genie_inspect.graders.protocols import Judge, Reader
from genie_inspect.graders.reader import LENGTHS
from genie_inspect.graders.sheet_judge import packed
from genie_inspect.populations.population import Population
from genie_inspect.populations.schema import Document, Question
from genie_inspect.prompting.answers import ATTEMPT, NOT_SPECIFIED, YES, normalised
from genie_inspect.prompting.templates import fenced, numbered
from genie_inspect.signature import digest
from genie_inspect.statistics.effect import chance_of_seeing, expected_unseen

USUAL_ANSWER = 5  # tokens: mean of the starter population's recorded answers
WEIGHED = 12  # documents of a prompt that are measured for its mean length


@cache
def _attempt() -> int:
    """Tokens in which a reading says that the document is an attempt, before its answers."""
    answers = {"1": ""}  # beside an answer, because a comma stands between them
    return static_token_count(json.dumps({ATTEMPT: YES} | answers)) - static_token_count(json.dumps(answers))


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


# of each document, as it counts for equality, with its tokens; None where it does not say
Answers = list[tuple[str, int] | None]


class PlannedGrader:
    """Who reads and judges a population, with what is on record and what a request costs."""

    def __init__(self, population: Population, instrument: Instrument, model: Model | None = None) -> None:
        self.population = population
        self.mode, self.ratings = mode_of(instrument.judge), instrument.ratings
        self.read, self.rate = instrument.reading_template, instrument.mode_templates[self.mode.instruction.name]
        # of a grader that is not known nothing is on record, and its ratings of a list come as JSON, the dearer form
        self.reader: Reader | None = None
        self.judge: Judge | None = None
        self.cache: Cache | None = None
        self.as_json, self.keeps = True, instrument.cache
        if model is not None:
            self.reader, self.judge = instrument.reader_and_judge(model)
            self.cache, self.as_json = instrument.cache_for(model), held_to_json(model)
            # what is kept is judged once, also where different new documents answer it; sheets are asked side by side
            self.keeps = self.cache is not None and not self.mode.alone
        self.own = population.answers(self.reader.signature) if self.reader else {}
        # where the grader has read nothing, the answers of the reader who has read most stand for its own
        self.record = self.own or max((population.answers(name) for name in population.readers), key=len, default={})
        # answers longer than those on record, where it has none of its own there
        self.times = 1 if self.own else LENGTHS[instrument.answer_length].times
        self._counted: dict[tuple[int, ...], int] = {}

    def reading(self, document: float, questions: Sequence[str], answers: Sequence[float]) -> Cost:
        """One request to read, by the tokens of the document and of the answers."""
        data = fenced({"questions": numbered(questions), "document": ""})
        empty = static_token_count(self.read.fill(count=len(questions), data=data))
        return Cost(1, empty + document, numbered_tokens(len(questions)) + _attempt() + self.times * sum(answers))

    def rating(self, question: int, answer: int, others: Sequence[int]) -> Cost:
        """The requests to rate an answer against others, by the tokens of each; on sheets its parts of these."""
        size, mode = self.mode.chunk, self.mode
        calls = [len(others[start : start + size]) for start in range(0, len(others), size)]
        texts = len(calls) * (question + self.times * answer) + self.times * sum(others)
        replies = sum(mode.reply_tokens(count, self.as_json) for count in calls)
        head = self._head if mode.alone else 0
        return Cost(len(calls), sum(self._empty(count) - head for count in calls) + texts, replies)

    def _empty(self, *counts: int) -> int:
        """Tokens of a request that rates so many empty answers, of each of its parts."""
        if counts not in self._counted:
            request = self.mode.request(self.rate, [("", "", [""] * count) for count in counts])
            self._counted[counts] = static_token_count(request)
        return self._counted[counts]

    @property
    def _head(self) -> int:
        """Tokens that the parts of a request share."""
        return 2 * self._empty(1) - self._empty(1, 1)

    def on_sheets(self, questions: Sequence[TaskCost], documents: int) -> TaskCost:
        """What these questions cost together: where a call holds several, as many calls as documents need sheets."""
        total, size = sum(questions, TaskCost()), self.mode.chunk
        if not self.mode.alone or not documents:
            return total
        expected = [cost.judged / documents for cost in questions if cost.judged]
        parts = [part for each in expected for part in (*[size] * int(each // size), each % size) if part]
        sheets: float = len(packed(parts, size))
        if sheets == 1:  # which a document lacks whose answers have all been rated before
            sheets = 1 - prod(max(0.0, 1 - cost.rating.calls / documents) for cost in questions)
        calls = documents * sheets
        rating = total.rating
        return replace(total, rating=Cost(calls, rating.tokens_in + calls * self._head, rating.tokens_out))

    def drawn(self, sizes: list[int], of: int) -> list[int]:
        """Tokens of the answers that will be rated, among so many of which these are not on record."""
        if self.ratings is None or of <= self.ratings:
            return sizes
        count, ordered = round(self.ratings * len(sizes) / of), sorted(sizes)
        return [ordered[(2 * number + 1) * len(ordered) // (2 * count)] for number in range(count)]

    def rated(self, question: str, answer: str) -> frozenset[str]:
        if self.judge is None or self.cache is None:
            return frozenset()
        return frozenset(self.cache.found(RATINGS, (self.judge.signature, question, answer)))

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
        unread = tuple(question for question in questions if (document.id, question.id) not in self.own)
        if self.reader and self.cache and unread:
            texts = [question.text for question in questions]
            kept = self.cache.found(ANSWERS, (self.reader.signature, digest(document.text)), texts)
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
            return self.reading(length, [q.text for q in asked], [said[q.id] for q in asked])

        missing = Counter(self.unread(document, questions) for document in documents)
        known = TaskCost(
            documents=new,
            reading=reading(questions) * new,
            population=sum((reading(asked) * count for asked, count in missing.items() if asked), Cost()),
        )
        return known + self.on_sheets([self.rating_cost(q.text, answers[q.id], new) for q in questions], new)

    def rating_cost(self, question: str, answers: Answers, new: int) -> TaskCost:
        """What it costs to rate the answers of so many new documents, if they answer as the population does."""
        given = [answer for answer in answers if answer is not None]
        counts, lengths, total = Counter(key for key, _ in given), dict(given), len(answers)
        pairs = new * len(given) ** 2 / total if total else 0.0
        if not self.mode.asks_pairs:
            return TaskCost(pairs=pairs)
        # how often each answer is expected to be judged, and how many distinct ones are beside the population's
        expected, unseen = {key: new * count / total for key, count in counts.items()}, 0.0
        if self.keeps:
            expected = {key: chance_of_seeing(count, total, new) for key, count in counts.items()}
            unseen = expected_unseen(counts.values(), total, new)
        asked, every = tokens(question), self.drawn(list(lengths.values()), len(lengths))
        usual = round(fmean(every)) if every else USUAL_ANSWER
        of_every = self.rating(asked, 0, every)
        judged, rating = 0.0, Cost()
        for target, weight in [*expected.items(), (None, unseen)]:
            length = lengths[target] if target else usual
            if target and (rated := self.rated(question, target)):
                missing = self.drawn([size for other, size in lengths.items() if other not in rated], len(lengths))
                cost = self.rating(asked, length, missing)
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
            rated = self.rated(question.text, target)
            # of a document's own answer only what others gave too is compared with it
            others = [key for key in counts if (key != target or count > 1) and key not in rated]
            # what is not kept is judged for each document anew
            times = 1 if self.keeps else count
            drawn = self.drawn([lengths[key] for key in others], len(counts))
            cost = self.rating(asked, lengths[target], drawn)
            total += TaskCost(judged=len(drawn) * times, rating=cost * times)
        return total


def task_cost(
    population: Population, documents: Mapping[str, int], instrument: Instrument, model: Model | None = None
) -> TaskCost:
    """What it costs to assess so many new documents for each of a population's prompts."""

    def cost(grader: PlannedGrader) -> TaskCost:
        return sum((grader.prompt_cost(*each) for each in documents.items()), TaskCost())

    return _by_wording(population, instrument, model, cost)


def reference_scores_cost(population: Population, instrument: Instrument, model: Model | None = None) -> TaskCost:
    """What it costs to compare each document of a population with the others."""

    def cost(grader: PlannedGrader) -> TaskCost:
        total = TaskCost()
        for prompt in population.prompts:
            documents = population.documents(prompt)
            # nothing new: what is left to read
            total += replace(grader.prompt_cost(prompt, 0), documents=len(documents))
            questions = [grader.comparison_cost(question, documents) for question in population.questions(prompt)]
            total += grader.on_sheets(questions, len(documents))
        return total

    return _by_wording(population, instrument, model, cost)


def _by_wording(
    population: Population, instrument: Instrument, model: Model | None, cost: Callable[[PlannedGrader], TaskCost]
) -> TaskCost:
    costs: dict[str, list[TaskCost]] = {}
    for wording in instrument.wordings:
        own = costs.setdefault(wording.reading_template.digest, [])
        whole = cost(PlannedGrader(population, wording, model))
        # what is read in the same words is read once
        own.append(replace(whole, reading=Cost(), population=Cost()) if own else whole)
    return TaskCost.by_all([part for parts in costs.values() for part in parts])
