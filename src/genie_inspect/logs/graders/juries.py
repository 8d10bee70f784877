"""What the graders of a jury found, each by itself, as scores say it; and how far they agree."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any

from genie_inspect.logs.evidence import (
    NO_SHARE,
    NOTHING,
    Evidence,
    RatingRange,
    Share,
    evidence_of,
    mapping,
    number,
    together,
)
from genie_inspect.logs.measures import UNIT
from genie_inspect.logs.warnings import below, is_constant
from genie_inspect.statistics.agreement import krippendorff_alpha
from genie_inspect.statistics.intervals import Interval, prompt_interval


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
    not of the same words. NaN where fewer than two questions have the novelties of two graders, or all are one.
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
    shared = sum(sum(not isnan(value) for value in question) > 1 for question in zip(*rows, strict=True))
    # of one question alone alpha is 0, whatever the graders say
    return krippendorff_alpha(rows, level="interval") if shared > 1 else nan


@dataclass(frozen=True, slots=True)
class GraderResults:
    """What one grader of a jury gives in one log."""

    cells: Mapping[str, Interval]
    """By key: the mean over prompts, of the documents that it measured."""
    coverage: Mapping[str, Share]
    """By key: questions that could be used, and all that were asked."""
    faults: Mapping[str, int]
    """Answers and ratings that are missing, by reason."""
    documents: int
    """Documents with a value of its own under some key."""
    ratings: RatingRange | None = None
    """How many could be used, the lowest and the highest."""


def results_by_grader(
    documents: Sequence[Parts], prompts: Sequence[str], keys: Sequence[str]
) -> dict[str, GraderResults]:
    """Each grader's own results; empty where no document had a jury.

    Args:
        documents: Each document's parts; none where it was not scored.
        prompts: Of each document.
        keys: The measure's.
    """
    graders = dict.fromkeys(grader for parts in documents for grader in parts)
    return {
        grader: _results([parts.get(grader, GraderPart()) for parts in documents], prompts, keys) for grader in graders
    }


def _results(parts: Sequence[GraderPart], prompts: Sequence[str], keys: Sequence[str]) -> GraderResults:
    evidence = together([part.evidence for part in parts])
    return GraderResults(
        cells={
            key: prompt_interval([part.values.get(key, nan) for part in parts], prompts, bounds=UNIT) for key in keys
        },
        coverage={key: evidence.coverage.get(key, NO_SHARE) for key in keys},
        faults=evidence.faults,
        documents=sum(not all(map(isnan, part.values.values())) for part in parts),
        ratings=evidence.ratings,
    )


def jury_warnings(
    documents: Sequence[Parts], by_grader: Mapping[str, GraderResults], alphas: Mapping[str, float]
) -> list[str]:
    """What to beware of in a jury's scores, a line each; nothing without one."""
    by_any = Counter(
        key
        for parts in documents
        for key in {key for part in parts.values() for key, value in part.values.items() if not isnan(value)}
    )
    lines = [
        f"grader {name} did not measure every document that another grader did ({fewer}): the jury's means leave out "
        "the documents that it did not measure"
        for name, grader in by_grader.items()
        if (fewer := below({key: (cell.values, by_any[key]) for key, cell in grader.cells.items()}, 1))
    ]
    lines += [
        f"grader {name} gave every pair the same rating ({grader.ratings.lowest:g}), which says nothing"
        for name, grader in by_grader.items()
        if grader.ratings and is_constant(grader.ratings)
    ]
    if chance := [f"{key.replace('_', ' ')} {alpha:.2f}" for key, alpha in alphas.items() if alpha <= 0]:
        lines.append(f"the graders agree no better than by chance (alpha): {', '.join(chance)}")
    return lines
