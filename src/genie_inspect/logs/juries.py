"""What the graders of a jury found, each by itself, as scores say it; and how far they agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any

from genie_inspect.logs.evidence import NOTHING, Evidence, evidence_of, mapping, number
from genie_inspect.statistics.agreement import krippendorff_alpha


@dataclass(frozen=True, slots=True)
class GraderPart:
    """What one grader of a jury found in one document."""

    values: Mapping[str, float] = field(default_factory=dict)
    """By key; NaN where it could not measure."""
    questions: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """By key the novelty of each question, in an order that all graders share; NaN where one was not used."""
    evidence: Evidence = NOTHING


Parts = Mapping[str, GraderPart]
"""By grader."""


def parts_of(metadata: Mapping[str, Any]) -> dict[str, GraderPart]:
    """The graders' parts in a score's metadata; empty where one grader measured."""
    return {grader: part_of(mapping(facts)) for grader, facts in mapping(metadata.get("graders")).items()}


def part_of(facts: Mapping[str, Any]) -> GraderPart:
    """One grader's part; what stands there in another form counts as missing."""
    questions = mapping(facts.get("questions"))
    return GraderPart(
        values={key: number(value) for key, value in mapping(facts.get("novelty")).items()},
        questions={key: tuple(map(number, row)) for key, row in questions.items() if isinstance(row, list)},
        evidence=evidence_of(facts),
    )


def agreement(documents: Sequence[Parts], keys: Sequence[str]) -> dict[str, float]:
    """Krippendorff's alpha of the graders by key, interval, over the novelties of all questions of all documents.

    Novelties, not ratings: each grader rates the answers that it has read itself, so that two ratings of one pair are
    not of the same words. NaN where no question has the novelty of two graders, or all novelties are one.
    """
    graders = list(dict.fromkeys(grader for parts in documents for grader in parts))
    return {key: _alpha([_row(documents, grader, key) for grader in graders]) for key in keys}


def _row(documents: Sequence[Parts], grader: str, key: str) -> list[float]:
    row: list[float] = []
    for parts in documents:
        # a log that somebody edited may have fewer for one grader than for another
        count = max((len(part.questions.get(key, ())) for part in parts.values()), default=0)
        known = parts[grader].questions.get(key, ()) if grader in parts else ()
        row += [*known, *(nan for _ in range(count - len(known)))]
    return row


def _alpha(rows: Sequence[Sequence[float]]) -> float:
    return krippendorff_alpha(rows, level="interval") if rows else nan
