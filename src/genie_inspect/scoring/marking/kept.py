"""What scorers of language keep of a text in a score's metadata: a reader's marks, and how new each expression is.

What stands there in another form counts as nothing, so that a log of another version, or one that somebody edited, can
still be read.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from inspect_ai.scorer import Score
from pydantic import TypeAdapter, ValidationError

from genie_inspect.logs.evidence import count, mapping, number


@dataclass(frozen=True, slots=True)
class KeptMark:
    """One mark of a close reader."""

    aspect: str
    text: str
    start: int
    end: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class KeptExpression:
    """One expression of a text, and how new it is to a corpus."""

    text: str
    start: int
    end: int
    log_perplexity: float
    novel_share: float


@dataclass(frozen=True, slots=True)
class KeptReading:
    """What one close reader marks in a text."""

    marks: tuple[KeptMark, ...]
    """In the order of the text."""
    measured: frozenset[str]
    """The aspects that have a value."""
    invented: Mapping[str, int] = field(default_factory=dict)
    """By aspect the quotes that do not stand in the text; of an aspect without a value only if it has no others."""


_MARKS, _EXPRESSIONS = TypeAdapter(list[KeptMark]), TypeAdapter(list[KeptExpression])
RowT = TypeVar("RowT")
PER_WORDS = "_per_100_words"


def readings(scores: Mapping[str, Score]) -> Iterator[tuple[str, KeptReading]]:
    """By scorer, each close reading among the scores of a sample."""
    for scorer, score in scores.items():
        rows = _rows(score, "marks", _MARKS)
        values = score.value if isinstance(score.value, dict) else {}
        measured = {key for key, value in values.items() if number(value) == number(value)}
        if rows is not None:
            aspects = frozenset(key.removesuffix(PER_WORDS) for key in measured if key.endswith(PER_WORDS))
            yield scorer, KeptReading(tuple(rows), aspects, _invented(_part(score, "marks"), aspects))


def _invented(facts: Mapping[str, Any], measured: Collection[str]) -> dict[str, int]:
    shares = mapping(facts.get("quoted_share"))
    counts = {aspect: count(raw) or 0 for aspect, raw in mapping(facts.get("absent")).items()}
    # who quotes too much of the text has no value either, but has not invented all of it
    return {
        name: invented for name, invented in counts.items() if name in measured or (invented and shares.get(name) == 0)
    }


def expressions(scores: Mapping[str, Score]) -> list[KeptExpression]:
    """The expressions of a sample's text by the first score that keeps them; empty where none does."""
    kept = (_rows(score, "expressions", _EXPRESSIONS) for score in scores.values())
    return next((rows for rows in kept if rows), [])


def _rows(score: Score, name: str, kind: TypeAdapter[list[RowT]]) -> list[RowT] | None:
    """The rows of that name; None where there are none."""
    try:
        return kind.validate_python(_part(score, name).get(name))
    except ValidationError:
        return None


def _part(score: Score, name: str) -> Mapping[str, Any]:
    """The metadata that has the name, also inside a score that several measures share; empty where none has."""
    metadata: Mapping[str, Any] = score.metadata or {}
    return next((part for part in (metadata, *map(mapping, metadata.values())) if name in part), {})
