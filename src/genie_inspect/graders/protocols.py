"""What a reader and a judge are, and what asking costs: calls, and tokens by the bundled embedder's tokenizer.

Its word pieces stop at quotes and spaces, so that a request has the tokens of its texts and those of the same request
with empty texts.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
from functools import lru_cache

from inspect_ai.model import GenerateConfig, Model, get_model, model_roles

from genie_inspect.engines.embedders import static_token_count
from genie_inspect.graders.grader import RECORDED
from genie_inspect.inspect_private import named_api, resolved_settings
from genie_inspect.prompting.templates import fenced

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


@dataclass(frozen=True, slots=True)
class Cost:
    """Calls and tokens; expected numbers need not be whole."""

    calls: float = 0.0
    tokens_in: float = 0.0
    tokens_out: float = 0.0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.calls + other.calls, self.tokens_in + other.tokens_in, self.tokens_out + other.tokens_out)

    def __mul__(self, times: float) -> "Cost":
        return Cost(self.calls * times, self.tokens_in * times, self.tokens_out * times)

    def money(self, price_in: float, price_out: float) -> float:
        """What it costs at prices for a million tokens, in their currency."""
        return (self.tokens_in * price_in + self.tokens_out * price_out) / 1e6


@lru_cache(maxsize=100_000)
def tokens(text: str) -> int:
    """Tokens of a text as it stands inside a request: escaped, without what is around it."""
    return static_token_count(fenced({"": text})) - static_token_count(fenced({"": ""}))


def unbatched(roles: tuple[str, ...]) -> str:
    """What would batch the models of these roles too, where the run batches and one of them does not; else empty."""
    size = resolved_settings(get_model()).batch
    if not size:
        return ""
    # a whole number is the size; the other settings of a batch are for a file
    batch = f"{size:d}" if isinstance(size, int) and not isinstance(size, bool) else "true"
    options = []
    for role in roles:
        bound = model_roles().get(role, [])
        models = bound if isinstance(bound, list) else [bound]
        if not all(resolved_settings(model).batch for model in models):
            named = [f"{{model: {model}, batch: {batch}}}" for model in models]
            value = named[0] if len(named) == 1 else f"[{', '.join(named)}]"
            options.append(f"--model-role '{role}={value}'")
    if not options:
        return ""
    return f"--batch reaches the model under evaluation alone; for the judges too: {' '.join(options)}"


def planned_model(name: str) -> Model:
    """The model of that name for what asks nobody; it identifies itself as the one that can be asked.

    Where a provider has an address of its own that no variable names, what it has said before counts as not said: that
    address is known to its client alone.
    """
    provider, _, model = name.partition("/")
    # a replay is no client, and knows which of its names exist
    api = named_api(provider, model) if model and provider != RECORDED else None
    return Model(api, GenerateConfig()) if api else get_model(name, memoize=False)
