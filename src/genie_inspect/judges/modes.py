"""What a judge mode is, in one record: who judges, by which template, what a request and its reply look like."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from inspect_ai.model import Model

from genie_inspect.engines.embedders.choices import Embedder, static_token_count
from genie_inspect.judges.cache import Judged
from genie_inspect.judges.protocols import Judge
from genie_inspect.prompting.fence import fenced
from genie_inspect.prompting.templates import Instruction, Template

Candidates = Sequence[tuple[str, float]]
"""Likely first tokens of a reply, with their log probabilities."""


def pair_instruction(name: str) -> Instruction:
    """The instruction that `pair_request` fills, from the template of that name."""
    return Instruction(name, frozenset({"data"}))


def pair_request(template: Template, question: str, answer: str, others: Sequence[str]) -> str:
    """The request that rates an answer against one other."""
    (other,) = others
    return template.fill(data=fenced({"question": question, "answer": answer, "other": other}))


@lru_cache
def numbered_tokens(count: int) -> int:
    """Tokens of a reply of so many numbered empty values as JSON."""
    return static_token_count(json.dumps({str(number): "" for number in range(1, count + 1)}))


@dataclass(frozen=True, slots=True)
class Mode:
    """A way to ask a grader how alike answers are. A new one is a file that ends in its record, and a row in MODES."""

    name: str
    """As `judge=` takes it."""
    judge: Callable[..., Judge]
    """Makes the judge from model, template and memo; with `chunk` too where that is more than 1."""
    instruction: Instruction
    """Where its template stands, and what the request fills in."""
    reply_tokens: Callable[[int, bool], int]
    """About how many tokens the reply for so many other answers has; as JSON, where the grader is held to it."""
    request: Callable[[Template, str, str, Sequence[str]], str] = pair_request
    """The request from the template, a question, an answer and the others."""
    said: Callable[[str, Candidates, Sequence[str]], Mapping[str, Judged]] | None = None
    """What a reply, as text and as candidates for its first token, says of the others in the order of its request;
    None where replies are not taken from files."""
    chunk: int = 1
    """Most other answers in one call. With 1 the two sides of a pair may matter; with more, the place in the list."""
    check: Callable[[Model], None] | None = None
    """Refuses a model that cannot judge in this way, before anything is asked."""
    by_vectors: Callable[[Embedder, str, Collection[str]], Judge] | None = None
    """Makes the judge from embedder, file of a fit (empty: the one that ships) and features, where vectors judge what
    the grader has read; it raises FitError for a fit of another embedder. The instruction is then the reader's."""

    @property
    def asks_pairs(self) -> bool:
        """Whether the grader is asked for ratings, and not for its reading alone."""
        return self.by_vectors is None
