"""Every pair is judged once: equal answers count together, and what was ever judged is not asked again."""

import json
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache, partial
from statistics import fmean
from typing import Any

from inspect_ai.model import Model

from genie_inspect.engines.embedders import Embedder, static_token_count
from genie_inspect.graders.cache import RATINGS, Judged, Memo
from genie_inspect.graders.grader import Room
from genie_inspect.graders.protocols import OFF_LABELS, UNREADABLE, UNSPECIFIED, Answer, AskedQuestion, Judge, Rated
from genie_inspect.graders.readable import InstructedAsker
from genie_inspect.inspect_private import unlogged
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
    keys = [normalised(other.text) for other in others]
    spelling: dict[str, str] = {}
    for key, other in zip(keys, others, strict=True):
        spelling.setdefault(key, other.text)
    place, reasons = (judge, question, normalised(answer)), dict[str, str]()
    async with memo.on_record(RATINGS, *place) as on_record:
        judged = {key: on_record[key] for key in spelling if key in on_record}

        def keep(ratings: Mapping[str, Judged]) -> None:
            fresh = {normalised(text): rating for text, rating in ratings.items()}
            judged.update(fresh)
            memo.keep(RATINGS, place, fresh)

        if missing := [text for key, text in spelling.items() if key not in judged]:
            unrated = await rate(Unrated(question, answer, missing, keep))
            reasons = {normalised(text): reason for text, reason in unrated.items()}

    def fault(key: str) -> str | None:
        if key not in judged:
            return reasons.get(key, UNREADABLE)
        if (judged[key].off_labels or 0.0) > most_off_labels:
            return OFF_LABELS
        return None if judged[key].rating else UNSPECIFIED

    faults = {index: reason for index, key in enumerate(keys) if (reason := fault(key))}
    masses = [finding.off_labels for finding in judged.values() if finding.off_labels is not None]
    ratings = tuple(None if index in faults else judged[key].rating for index, key in enumerate(keys))
    return Rated(ratings, faults, fmean(masses) if masses else None)


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


class PairJudge(RatingJudge):
    """Makes one call per pair, out of the log."""

    async def _rate(self, pairs: Unrated) -> Mapping[str, str]:
        with unlogged():
            await self.room.each(partial(self._rate_pair, pairs), pairs.others)
        return {}

    @abstractmethod
    async def _rate_pair(self, pairs: Unrated, other: str) -> object: ...


Candidates = Sequence[tuple[str, float]]  # likely first tokens of a reply, with their log probabilities


def pair_request(template: Template, question: str, answer: str, others: Sequence[str]) -> str:
    (other,) = others
    return template.request({"question": question, "answer": answer, "other": other})


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
    judge: Callable[..., Judge]  # makes it from model, template and memo; with `chunk` too where that is more than 1
    instruction: Instruction
    # about how many tokens the reply for so many other answers has; as JSON, where the grader is held to it
    reply_tokens: Callable[[int, bool], int]
    # the request from the template, a question, an answer and the others
    request: Callable[[Template, str, str, Sequence[str]], str] = pair_request
    # what a reply, as text and as candidates for its first token, says of the others in the order of its request; None
    # where replies are not taken from files
    said: Callable[[str, Candidates, Sequence[str]], Mapping[str, Judged]] | None = None
    # most other answers in one call. With 1 the two sides of a pair may matter; with more, the place in the list
    chunk: int = 1
    check: Callable[[Model], None] | None = None  # refuses a model that cannot judge so, before anything is asked
    # makes the judge from embedder, file of a fit (empty: the one that ships) and features, where vectors judge what
    # the grader has read; it raises FitError for a fit of another embedder. The instruction is then the reader's
    by_embedding: Callable[[Embedder, str, Collection[str]], Judge] | None = None

    @property
    def asks_pairs(self) -> bool:
        """Whether the grader is asked for ratings, and not for its reading alone."""
        return self.by_embedding is None
