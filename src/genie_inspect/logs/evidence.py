"""What scores rest on: questions and ratings that count, what is missing, what the grader's ratings were like.

Scorers write it into a score's metadata. What stands there in another form counts as missing, so that a log of
another version, or one that somebody edited, can still be read.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from genie_inspect.statistics.descriptive.spread import NO_SPREAD, Spread, pooled

Share = tuple[int, int]
"""How many, and of how many."""
NO_SHARE: Share = (0, 0)


@dataclass(frozen=True, slots=True)
class RatingRange:
    """How many ratings of a grader could be used, the lowest and the highest; of ttcw, its verdicts."""

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
    ratings: RatingRange | None = None
    documents: int | None = None
    """Documents of the population that it was compared with; of several documents, the fewest that one was."""
    few_answers: Share = NO_SHARE
    """Used questions that rest on fewer than three ratings, and all used ones."""
    position_bias: float = math.nan
    """Mean points that a judge of pairs gives a document for standing first."""
    spread: Mapping[str, Spread] = field(default_factory=dict)
    """By key: how far the similarities to the population's documents lie apart within questions."""
    repeated: Share = NO_SHARE
    """The document's answers that say nothing but words of their question, and all its answers."""

    @property
    def questions(self) -> Share:
        """Questions (tests) that could be used, and all that were asked, under all keys together."""
        return added(list(self.coverage.values()))


NOTHING = Evidence()


def evidence_of(metadata: Mapping[str, Any]) -> Evidence:
    """The evidence in a score's metadata."""
    faults = {reason: count(raw) for reason, raw in mapping(metadata.get("faults")).items()}
    return Evidence(
        coverage=_shares(metadata.get("coverage")),
        pairs=_shares(metadata.get("pairs")),
        spread={key: part for key, raw in mapping(metadata.get("spread")).items() if (part := _spread(raw)).degrees},
        faults={reason: missing for reason, missing in faults.items() if missing},
        ratings=_ratings(metadata.get("ratings")),
        documents=count(metadata.get("documents")),
        few_answers=_share(metadata.get("few_answers")) or NO_SHARE,
        repeated=_share(metadata.get("repeated")) or NO_SHARE,
        position_bias=number(metadata.get("position_bias")),
    )


def together(parts: Sequence[Evidence]) -> Evidence:
    """The evidence of several documents as one: counts are added up, extremes kept.

    The position bias is the mean of those that are known, faults come with the most frequent first.
    """
    ratings = [part.ratings for part in parts if part.ratings]
    biases = [part.position_bias for part in parts if not math.isnan(part.position_bias)]
    faults: Counter[str] = Counter()
    for part in parts:
        faults.update(part.faults)
    return Evidence(
        coverage=_added(part.coverage for part in parts),
        pairs=_added(part.pairs for part in parts),
        spread=_pooled(part.spread for part in parts),
        faults=dict(faults.most_common()),
        ratings=_joined(ratings) if ratings else None,
        # the fewest: a mean would hide the one prompt that has a single document to compare with
        documents=min((part.documents for part in parts if part.documents), default=None),
        few_answers=added([part.few_answers for part in parts]),
        repeated=added([part.repeated for part in parts]),
        position_bias=math.fsum(biases) / len(biases) if biases else math.nan,
    )


def mapping(raw: object) -> Mapping[str, Any]:
    """A mapping with its keys as text; empty where the metadata holds anything else."""
    return {str(key): value for key, value in raw.items()} if isinstance(raw, Mapping) else {}


def number(raw: object) -> float:
    """A number of the metadata; NaN where it holds none, or no finite one."""
    try:
        value = float(raw) if isinstance(raw, int | float) else math.nan
    except OverflowError:  # an integer beyond any float
        return math.nan
    return value if math.isfinite(value) else math.nan


def count(raw: object) -> int | None:
    """A whole number from 0 of the metadata; None where it holds anything else."""
    # JSON's true is an int to Python
    return raw if isinstance(raw, int) and not isinstance(raw, bool) and raw >= 0 else None


def _share(raw: object) -> Share | None:
    """A share such as "3/4"; None where it is none."""
    # at most nine digits each: longer ones come from no scorer and would be slow to convert
    counts = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", str(raw))
    return (int(counts[1]), int(counts[2])) if counts else None


def _shares(raw: object) -> dict[str, Share]:
    return {key: share for key, text in mapping(raw).items() if (share := _share(text))}


def _ratings(raw: object) -> RatingRange | None:
    facts = mapping(raw)
    ratings, lowest, highest = count(facts.get("count")), number(facts.get("lowest")), number(facts.get("highest"))
    return RatingRange(ratings, lowest, highest) if ratings and lowest <= highest else None


def _joined(parts: Sequence[RatingRange]) -> RatingRange:
    lowest, highest = min(part.lowest for part in parts), max(part.highest for part in parts)
    return RatingRange(sum(part.count for part in parts), lowest, highest)


def _spread(raw: object) -> Spread:
    facts = mapping(raw)
    sd, degrees = number(facts.get("sd")), count(facts.get("degrees"))
    return Spread(sd, degrees) if degrees and sd >= 0 else NO_SPREAD


def _pooled(parts: Iterable[Mapping[str, Spread]]) -> dict[str, Spread]:
    spreads: dict[str, list[Spread]] = {}
    for part in parts:
        for key, spread in part.items():
            spreads.setdefault(key, []).append(spread)
    return {key: pooled(listed) for key, listed in spreads.items()}


def _added(parts: Iterable[Mapping[str, Share]]) -> dict[str, Share]:
    shares: dict[str, list[Share]] = {}
    for part in parts:
        for key, share in part.items():
            shares.setdefault(key, []).append(share)
    return {key: added(listed) for key, listed in shares.items()}


def added(shares: Iterable[Share]) -> Share:
    """Shares together: their parts, and their wholes, added up."""
    shares = list(shares)
    return sum(part for part, _ in shares), sum(whole for _, whole in shares)
