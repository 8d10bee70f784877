"""What scores rest on: questions and ratings that count, what is missing, what the grader's ratings were like.

Scorers write it into a score's metadata. What stands there in another form is taken as not said, so that a log of
another version, or one that somebody edited, can still be read.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Share = tuple[int, int]
"""How many, and of how many."""
NO_SHARE: Share = (0, 0)


@dataclass(frozen=True, slots=True)
class Ratings:
    """The ratings of a grader that could be used; of ttcw, its verdicts."""

    count: int
    """At least 1."""
    lowest: float
    highest: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """What scores rest on, as far as the scorer says; empty, None or NaN where it does not."""

    coverage: Mapping[str, Share] = field(default_factory=dict)
    """By key: questions (tests) that could be used, and all that were asked."""
    pairs: Mapping[str, Share] = field(default_factory=dict)
    """By key: ratings that count, and those due: one for each answer of the population to a question that the document
    answers."""
    faults: Mapping[str, int] = field(default_factory=dict)
    """By reason: answers, ratings or verdicts that are missing."""
    ratings: Ratings | None = None
    documents: int | None = None
    """Documents of the population that it was compared with; of several documents, the fewest that one was."""
    few_answers: Share = NO_SHARE
    """Used questions that rest on fewer than three ratings, and all used ones."""
    position_bias: float = math.nan
    """Mean points that a judge of pairs gives a document for standing first."""


NOTHING = Evidence()


def evidence_of(metadata: Mapping[str, Any]) -> Evidence:
    """The evidence in a score's metadata."""
    faults = {reason: count(given) for reason, given in mapping(metadata.get("faults")).items()}
    return Evidence(
        coverage=_shares(metadata.get("coverage")),
        pairs=_shares(metadata.get("pairs")),
        faults={reason: missing for reason, missing in faults.items() if missing},
        ratings=_ratings(metadata.get("ratings")),
        documents=count(metadata.get("documents")),
        few_answers=_share(metadata.get("few_answers")) or NO_SHARE,
        position_bias=number(metadata.get("position_bias")),
    )


def together(parts: Sequence[Evidence]) -> Evidence:
    """The evidence of several documents as one: counts are added up, extremes kept.

    The position bias is the mean of those that are known, faults come with the most frequent first.
    """
    ratings = [own.ratings for own in parts if own.ratings]
    biases = [own.position_bias for own in parts if not math.isnan(own.position_bias)]
    faults: Counter[str] = Counter()
    for own in parts:
        faults.update(own.faults)
    return Evidence(
        coverage=_added(own.coverage for own in parts),
        pairs=_added(own.pairs for own in parts),
        faults=dict(faults.most_common()),
        ratings=_joined(ratings) if ratings else None,
        documents=min((own.documents for own in parts if own.documents), default=None),
        few_answers=_sum([own.few_answers for own in parts]),
        position_bias=math.fsum(biases) / len(biases) if biases else math.nan,
    )


def mapping(given: object) -> Mapping[str, Any]:
    """What was given, its keys as text; empty where it is no mapping."""
    return {str(key): value for key, value in given.items()} if isinstance(given, Mapping) else {}


def number(given: object) -> float:
    """What was given, as a number; NaN where it is none, or no finite one."""
    try:
        value = float(given) if isinstance(given, int | float) else math.nan
    except OverflowError:  # an integer beyond any float
        return math.nan
    return value if math.isfinite(value) else math.nan


def count(given: object) -> int | None:
    """What was given, where it is a whole number from 0."""
    return given if isinstance(given, int) and not isinstance(given, bool) and given >= 0 else None


def _share(given: object) -> Share | None:
    """A share such as "3/4"; None where it is none."""
    counts = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", str(given))
    return (int(counts[1]), int(counts[2])) if counts else None


def _shares(given: object) -> dict[str, Share]:
    return {key: share for key, text in mapping(given).items() if (share := _share(text))}


def _ratings(given: object) -> Ratings | None:
    facts = mapping(given)
    ratings, lowest, highest = count(facts.get("count")), number(facts.get("lowest")), number(facts.get("highest"))
    return Ratings(ratings, lowest, highest) if ratings and lowest <= highest else None


def _joined(parts: Sequence[Ratings]) -> Ratings:
    lowest, highest = min(own.lowest for own in parts), max(own.highest for own in parts)
    return Ratings(sum(own.count for own in parts), lowest, highest)


def _added(parts: Iterable[Mapping[str, Share]]) -> dict[str, Share]:
    shares: dict[str, list[Share]] = {}
    for own in parts:
        for key, share in own.items():
            shares.setdefault(key, []).append(share)
    return {key: _sum(own) for key, own in shares.items()}


def _sum(shares: Sequence[Share]) -> Share:
    return sum(part for part, _ in shares), sum(whole for _, whole in shares)
