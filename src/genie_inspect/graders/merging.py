"""Every pair is judged once: equal answers count together, and what was ever judged is not asked again."""

import json
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean
from typing import Any, Protocol, runtime_checkable

from inspect_ai.model import Model

from genie_inspect.engines.embedders import static_token_count
from genie_inspect.errors import GraderFailedError
from genie_inspect.graders.cache import RATINGS, Judged, Memo
from genie_inspect.graders.grader import Room, gathered
from genie_inspect.graders.protocols import (
    OFF_LABELS,
    UNREADABLE,
    UNSPECIFIED,
    Answer,
    AskedQuestion,
    Compared,
    Judge,
    Rated,
)
from genie_inspect.graders.readable import InstructedAsker
from genie_inspect.prompting.answers import normalised
from genie_inspect.prompting.templates import Instruction, Template


@dataclass(frozen=True, slots=True)
class Unrated:
    """Pairs of one answer with others that are to be rated now."""

    question: str
    answer: str
    others: Sequence[str]  # distinct answers
    # takes ratings by the other answer as soon as there are some: what was paid for is on record at once
    keep: Callable[[Mapping[str, Judged]], None]


# gives a reason for each answer without a rating, unless a reply was unreadable
Rate = Callable[[Unrated], Awaitable[Mapping[str, str]]]
# the same for several answers, in order; or why the call for one of them failed
RateTogether = Callable[[Sequence[Unrated]], Awaitable[Sequence[Mapping[str, str] | GraderFailedError]]]


async def rated(
    memo: Memo,
    judge: str,
    question: str,
    answer: str,
    others: Sequence[Answer],
    rate: Rate,
    most_off_labels: float = 1.0,
) -> Rated:
    """Ratings of all others by a judge, named by its signature; only those that are not on record are asked for."""

    async def rate_one(pairs: Sequence[Unrated]) -> list[Mapping[str, str]]:
        return [await rate(pairs[0])]

    (found,) = await rated_together(memo, judge, [(question, answer, others)], rate_one, most_off_labels)
    if isinstance(found, GraderFailedError):
        raise found
    return found


async def rated_together(
    memo: Memo,
    judge: str,
    items: Sequence[tuple[str, str, Sequence[Answer]]],
    rate: RateTogether,
    most_off_labels: float = 1.0,
) -> list[Rated | GraderFailedError]:
    """As `rated`, of several questions, answers and others; of each its ratings, or why the call for them failed."""
    every = [_Pairs(memo, judge, *item) for item in items]
    # of several, the same document alone waits: with a lock per answer all that share one would wait for each other
    async with memo.asking(*(part for pairs in every for part in pairs.place)):
        for pairs in every:
            pairs.judged = pairs.on_record()
            pairs.is_alone = len(every) == 1
        asked = [pairs for pairs in every if pairs.judged.keys() < pairs.spelling.keys()]
        replies = await rate([pairs.unrated for pairs in asked]) if asked else ()
    for pairs, reply in zip(asked, replies, strict=True):
        pairs.reply = reply
    return [pairs.rated(most_off_labels) for pairs in every]


class _Pairs:
    """Pairs of one answer with others, as far as they have been judged."""

    def __init__(self, memo: Memo, judge: str, question: str, answer: str, others: Sequence[Answer]) -> None:
        self.memo, self.question, self.answer = memo, question, answer
        self.place = judge, question, normalised(answer)
        self.keys = [normalised(other.text) for other in others]
        self.spelling: dict[str, str] = {}
        for key, other in zip(self.keys, others, strict=True):
            self.spelling.setdefault(key, other.text)
        self.judged: dict[str, Judged] = {}
        self.is_alone = True
        self.reply: Mapping[str, str] | GraderFailedError = {}

    @property
    def unrated(self) -> Unrated:
        missing = [text for key, text in self.spelling.items() if key not in self.judged]
        return Unrated(self.question, self.answer, missing, self._keep)

    def on_record(self) -> dict[str, Judged]:
        kept = self.memo.found(RATINGS, *self.place)
        return {key: kept[key] for key in self.spelling if key in kept}

    def _keep(self, ratings: Mapping[str, Judged]) -> None:
        fresh = {normalised(text): rating for text, rating in ratings.items()}
        # what another document was told meanwhile stays
        kept = {} if self.is_alone else self.on_record()
        self.judged.update(fresh | {key: kept[key] for key in fresh if key in kept})
        self.memo.keep(RATINGS, self.place, {key: rating for key, rating in fresh.items() if key not in kept})

    def rated(self, most_off_labels: float) -> Rated | GraderFailedError:
        if isinstance(self.reply, GraderFailedError):
            return self.reply
        reasons = {normalised(text): reason for text, reason in self.reply.items()}

        def fault(key: str) -> str | None:
            if key not in self.judged:
                return reasons.get(key, UNREADABLE)
            if (self.judged[key].off_labels or 0.0) > most_off_labels:
                return OFF_LABELS
            return None if self.judged[key].rating else UNSPECIFIED

        faults = {index: reason for index, key in enumerate(self.keys) if (reason := fault(key))}
        masses = [finding.off_labels for finding in self.judged.values() if finding.off_labels is not None]
        ratings = tuple(None if index in faults else self.judged[key].rating for index, key in enumerate(self.keys))
        return Rated(ratings, faults, fmean(masses) if masses else None)


@runtime_checkable
class JudgeOfAll(Judge, Protocol):
    """Rates the answers of a document together."""

    async def rate_all(self, items: Sequence[Compared]) -> list[Rated | GraderFailedError]: ...


async def rate_all(judge: Judge, items: Sequence[Compared]) -> list[Rated | GraderFailedError]:
    """The ratings of a document's answers, in order; or why the calls for one have failed, which costs no other one."""
    if isinstance(judge, JudgeOfAll):
        return await judge.rate_all(items)

    async def rate(item: Compared) -> Rated | GraderFailedError:
        try:
            return await judge.rate(*item) if item.others else Rated(())
        except GraderFailedError as error:
            return error

    return await gathered(*map(rate, items))


class RatingJudge(InstructedAsker, ABC):
    """Rates by what a grader says of pairs of answers; what it said is kept."""

    most_off_labels = 1.0  # highest probability off the labels at which a finding counts as a rating

    def __init__(self, model: Model, template: Template | None = None, memo: Memo | None = None) -> None:
        super().__init__(model, template)
        self.memo, self.room = memo or Memo(), Room(model)

    async def rate(self, question: AskedQuestion, answer: Answer, others: Sequence[Answer]) -> Rated:
        texts = question.text, answer.text
        return await rated(self.memo, self.signature, *texts, others, self._rate, self.most_off_labels)

    @abstractmethod
    async def _rate(self, pairs: Unrated) -> Mapping[str, str]: ...


Candidates = Sequence[tuple[str, float]]  # likely first tokens of a reply, with their log probabilities
Part = tuple[str, str, Sequence[str]]  # of a request: a question, an answer and the others


def pair_request(template: Template, question: str, answer: str, others: Sequence[str]) -> str:
    (other,) = others
    return template.request({"question": question, "answer": answer, "other": other})


SHEET = "sheet"  # the name of the data that holds several parts


def parts_in(data: Mapping[str, Any]) -> list[Part]:
    """What is asked about, by the data of a request for a pair, a list or a sheet; each with at least one other."""
    parts = (
        data[SHEET].values() if SHEET in data else [(data["question"], data["answer"], list(others_in(data).values()))]
    )
    return [(question, answer, others or [""]) for question, answer, others in parts]


def others_in(data: Mapping[str, Any]) -> dict[str, str]:
    """The other answers by number, by the data of a request for one pair or for a list."""
    return {number: str(other) for number, other in data.get("others", {"1": data.get("other", "")}).items()}


def pair_reply(ratings: Mapping[str, float]) -> str:
    (rating,) = ratings.values()
    return f"The rating of this pair is on record.\nRating: {rating}"


def pair_instruction(
    name: str,
    blanks: Set[str] = frozenset({"data"}),
    shown: str = "other",
    reply: Callable[[Mapping[str, float]], str] = pair_reply,
) -> Instruction:
    """The instruction of a judge whose requests show the others under a name; what a grader replies, by number."""
    return Instruction(
        name,
        blanks,
        frozenset({"question", "answer", shown}),
        rehearsed=lambda data: reply(dict.fromkeys(others_in(data), 2)),
        recorded=lambda record, data: reply(
            {n: record.rating(data["question"], data["answer"], other) for n, other in others_in(data).items()}
        ),
    )


@lru_cache
def numbered_tokens(count: int) -> int:
    """Tokens of a reply of so many numbered empty values as JSON."""
    return static_token_count(json.dumps({str(number): "" for number in range(1, count + 1)}))


@dataclass(frozen=True, slots=True)
class Mode:
    """A way to ask a grader how alike answers are. A new one is a file that ends in its record, and a row in MODES."""

    name: str  # as `judge=` takes it
    # makes it from model, template and memo; with `chunk` too where that is more than 1; or, where vectors judge what
    # the grader has read, from embedder, file of a fit (empty: the one that ships) and features: it then raises
    # FitError for a fit of another embedder
    judge: Callable[..., Judge]
    instruction: Instruction
    # about how many tokens the reply for so many other answers has; as JSON, where the grader is held to it
    reply_tokens: Callable[[int, bool], int]
    # the request from the template and its parts: one, but for a mode with `alone`
    request: Callable[[Template, Sequence[Part]], str] = lambda template, parts: pair_request(template, *parts[0])
    # what a reply, as text and as candidates for its first token, says of the others of each part; None where replies
    # are not taken from files
    said: Callable[[str, Candidates, Sequence[Part]], Sequence[Mapping[str, Judged]]] | None = None
    # most other answers in one call. With 1 the two sides of a pair may matter; with more, the place in the list
    chunk: int = 1
    # how one answer is asked about again, where a call is about several; its template is given to `judge` too
    alone: "Mode | None" = None
    check: Callable[[Model], None] | None = None  # refuses a model that cannot judge so, before anything is asked
    # whether the grader is asked for ratings, and not for its reading alone, by the reader's instruction
    asks_pairs: bool = True
