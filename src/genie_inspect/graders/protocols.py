"""What a reader and a judge are."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# why something could not be had, as it stands in a log
UNREADABLE = "unreadable reply"
UNSPECIFIED = "unspecified"
OFF_LABELS = "probability off the labels"
GRADER_FAILED = "grader failed"

# whether a document whose answers are on record is read as if they were not: a replay has other ones for that
READ_ANEW: ContextVar[bool] = ContextVar("read_anew", default=False)


@contextmanager
def reading_anew() -> Iterator[None]:
    token = READ_ANEW.set(True)
    try:
        yield
    finally:
        READ_ANEW.reset(token)


class AskedQuestion(Protocol):
    """A question as readers and judges see it; a population's Question is one."""

    @property
    def text(self) -> str: ...
    @property
    def feature(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Answer:
    """What a reader found: words, and for an offline reader the direction that they stand for, shape (D,)."""

    text: str
    vector: "NDArray[np.float64] | None" = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Reading:
    """Answers in the order of the questions; None where the document does not say or the reply was no use."""

    answers: tuple[Answer | None, ...]
    # why an answer could not be had, by position; that the document does not say is no fault
    faults: Mapping[int, str] = field(default_factory=dict)
    # whether the document is a try at what the questions are about; a refusal is none, and has no answers
    is_attempt: bool = True


@dataclass(frozen=True, slots=True)
class Rated:
    """Ratings in the order of the other answers, each in [1, 4]; None where there is none."""

    ratings: tuple[float | None, ...]
    faults: Mapping[int, str] = field(default_factory=dict)  # why a rating could not be had, by position
    off_labels: float | None = None  # mean probability off the labels, 0 to 1, where the judge reads probabilities


class Compared(NamedTuple):
    """An answer and the others that it is rated against, as `Judge.rate` takes them."""

    question: AskedQuestion
    answer: Answer
    others: Sequence[Answer]


class Reader(Protocol):
    @property
    def signature(self) -> str:
        """What the answers depend on: kind, model, template."""

    async def read(self, document: str, questions: Sequence[AskedQuestion]) -> Reading:
        """One answer a question, in order."""


class Judge(Protocol):
    """Rates how alike one answer and each of many others are."""

    @property
    def signature(self) -> str:
        """What the ratings depend on: kind, model, template."""

    async def rate(self, question: AskedQuestion, answer: Answer, others: Sequence[Answer]) -> Rated:
        """One rating an other answer, in order."""


SMOKE_TEST = "Offline judge: a smoke test without any reading model, not a measurement."
SCREEN = (
    "Embedding judge: use it to screen, not to report. Novelty of answers compared with that by the ratings that it "
    "was fitted to, prompts held out, over all features: Spearman {spearman}, Kendall's tau-b {kendall}."
)
POOLED = " No fit of their own, judged by the one over all features: {features}."


def caution(judge: str) -> str:
    """What is to be said of a judge, by its signature; empty for one that reads and judges.

    >>> caution("embedding(static@61,fit=0a,spearman=0.63,kendall=0.47,pooled=mood+pace)")[-38:]
    'the one over all features: mood, pace.'
    """
    name, _, facts = judge.partition("(")
    if name != "embedding":
        return SMOKE_TEST if name == "offline" else ""
    said = dict.fromkeys(("spearman", "kendall"), "not measured")
    said |= dict(re.findall(r"(spearman|kendall|pooled)=([^,)]+)", facts))
    pooled = POOLED.format(features=said["pooled"].replace("+", ", ")) if "pooled" in said else ""
    return SCREEN.format(**said) + pooled
