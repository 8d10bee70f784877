"""What scores rest on: questions and ratings that count, what is missing, what the grader's ratings were like.

Scorers write it into a score's metadata. What stands there in another form counts as missing, so that a log of
another version, or one that somebody edited, can still be read.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any

from genie_inspect.files.numbers import count, number
from genie_inspect.logs.measures import UNIT
from genie_inspect.statistics.agreement import krippendorff_alpha
from genie_inspect.statistics.descriptive import NO_SPREAD, Interval, Spread, pooled, prompt_interval

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


ENOUGH_RATINGS = 10  # from which ratings that are all the same are no chance
ENOUGH_DEGREES = 100  # of freedom
LEAST_SPREAD = 0.05  # of similarities; the starter's recorded ratings have 0.28, a judge of 1.5 billion parameters 0.02
ENOUGH_ANSWERS = 20
MOST_REPEATED = 0.05  # none of the starter's 2,464 recorded answers does so; of a reader of 1.5 billion parameters 16%
HALF = 0.5
MOST_NAMED = 6  # keys in one warning; ttcw has nineteen


def warnings(evidence: Evidence) -> list[str]:
    """What to beware of, a line each."""
    lines = []
    ratings, (few, used), (repeated, answers) = evidence.ratings, evidence.few_answers, evidence.repeated
    if ratings and is_constant(ratings):
        lines.append(
            f"the grader gave every pair the same rating ({ratings.lowest:g}): these numbers say nothing about the "
            "documents"
        )
    elif (spread := pooled(evidence.spread.values())).degrees >= ENOUGH_DEGREES and spread.sd < LEAST_SPREAD:
        lines.append(
            "the grader's ratings of the answers to one question hardly differ (a standard deviation of "
            f"{spread.sd:.2f} in similarities from 0 to 1): either all answers are equally alike, or it tells none "
            "apart, which genie calibrate shows"
        )
    if answers >= ENOUGH_ANSWERS and repeated > MOST_REPEATED * answers:
        lines.append(
            f"{repeated} of the reader's {answers} answers say nothing but words of the question: it hardly reads, see "
            "genie readings"
        )
    if evidence.documents == 1:
        lines.append(
            "there is a prompt for which the population has one document: what is unlike one is not yet unusual"
        )
    if few:
        lines.append(f"{few} of {used} questions rest on fewer than three ratings: one answer more could change them")
    if half := below(evidence.pairs, HALF):
        lines.append(f"fewer than half of the ratings that were due could be used: {half}")
    if unused := below(evidence.coverage, 1):
        lines.append(f"not every question or test could be used: {unused}")
    return lines


def is_constant(ratings: RatingRange) -> bool:
    """Whether ratings are all the same, and too many for chance."""
    return ratings.count >= ENOUGH_RATINGS and ratings.lowest == ratings.highest


def below(shares: Mapping[str, Share], least: float) -> str:
    """The keys whose share is lower, each with its share, the lowest first; empty where there are none."""
    low = sorted((part / whole, key) for key, (part, whole) in shares.items() if part < least * whole)
    named = [f"{key.replace('_', ' ')} {shares[key][0]} of {shares[key][1]}" for _, key in low]
    return ", ".join(named[:MOST_NAMED]) + (f" and {len(low) - MOST_NAMED} more" if len(low) > MOST_NAMED else "")


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
    """Each grader's own results; empty where no document had a jury."""
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
