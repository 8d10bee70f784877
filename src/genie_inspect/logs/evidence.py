"""What scores rest on: questions and ratings that count, what is missing, what the grader's ratings were like.

Scorers write it into a score's metadata. What stands there in another form counts as missing, so that a log of
another version, or one that somebody edited, can still be read.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum, isnan, nan
from typing import Any, TypeVar

from genie_inspect.files.values import count, number
from genie_inspect.logs.measures import UNIT
from genie_inspect.statistics.agreement import krippendorff_alpha
from genie_inspect.statistics.descriptive import Interval, Spread, pooled, prompt_interval

Share = tuple[int, int]  # how many, and of how many
NO_SHARE: Share = (0, 0)


@dataclass(frozen=True, slots=True)
class RatingRange:
    """The ratings of a grader that could be used; of ttcw, its verdicts."""

    count: int  # at least 1
    lowest: float
    highest: float

    @property
    def is_constant(self) -> bool:  # all the same, and too many for chance
        return self.count >= ENOUGH_RATINGS and self.lowest == self.highest


@dataclass(frozen=True, slots=True)
class Evidence:
    """What scores rest on, as far as the scorer says; empty, None or NaN where it does not."""

    coverage: Mapping[str, Share] = field(default_factory=dict)  # by key: questions (tests) used, of those asked
    # by key: ratings that count, and those due: one for each answer of the population to a question that it answers
    pairs: Mapping[str, Share] = field(default_factory=dict)
    faults: Mapping[str, int] = field(default_factory=dict)  # by reason: answers, ratings or verdicts that are missing
    ratings: RatingRange | None = None
    documents: int | None = None  # of the population, to compare with; of several documents, the fewest of one
    few_answers: Share = NO_SHARE  # used questions that rest on fewer than three ratings, and all used ones
    position_bias: float = nan  # mean points that a judge of pairs gives a document for standing first
    spread: Mapping[str, Spread] = field(default_factory=dict)  # by key: of the similarities within questions
    repeated: Share = NO_SHARE  # the document's answers that say nothing but words of their question, of all
    values: Mapping[str, float] = field(default_factory=dict)  # by key, of one of a jury; NaN: could not measure
    # of one of a jury: by key the novelty of each question, in an order that all graders share; NaN: not used
    questions: Mapping[str, tuple[float, ...]] = field(default_factory=dict)


NOTHING = Evidence()
Parts = Mapping[str, Evidence]  # by grader of a jury, what it found in one document


def evidence_of(metadata: Mapping[str, Any]) -> Evidence:
    """The evidence in a score's metadata, or in what it says of one grader."""
    facts = {name: mapping(raw) for name, raw in metadata.items()}
    shares = _shares({name: metadata.get(name) for name in ("few_answers", "repeated")})
    faults = {reason: count(raw) for reason, raw in facts.get("faults", {}).items()}
    ratings = facts.get("ratings", {})
    rated, (lowest, highest) = count(ratings.get("count")), (number(ratings.get(end)) for end in ("lowest", "highest"))
    stated = {key: mapping(raw) for key, raw in facts.get("spread", {}).items()}
    spreads = {key: Spread(number(own.get("sd")), count(own.get("degrees")) or 0) for key, own in stated.items()}
    return Evidence(
        coverage=_shares(facts.get("coverage", {})),
        pairs=_shares(facts.get("pairs", {})),
        faults={reason: missing for reason, missing in faults.items() if missing},
        ratings=RatingRange(rated, lowest, highest) if rated and lowest <= highest else None,
        documents=count(metadata.get("documents")),
        few_answers=shares.get("few_answers", NO_SHARE),
        position_bias=number(metadata.get("position_bias")),
        spread={key: spread for key, spread in spreads.items() if spread.degrees and spread.sd >= 0},
        repeated=shares.get("repeated", NO_SHARE),
        values={key: number(value) for key, value in facts.get("novelty", {}).items()},
        questions={
            key: tuple(map(number, row)) for key, row in facts.get("questions", {}).items() if isinstance(row, list)
        },
    )


def mapping(raw: object) -> Mapping[str, Any]:
    """A mapping with its keys as text; empty where the metadata holds anything else."""
    return {str(key): value for key, value in raw.items()} if isinstance(raw, Mapping) else {}


def _shares(raw: Mapping[str, Any]) -> dict[str, Share]:
    """The shares such as "3/4"."""
    # at most nine digits each: longer ones come from no scorer and would be slow to convert
    found = {key: re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", str(text)) for key, text in raw.items()}
    return {key: (int(share[1]), int(share[2])) for key, share in found.items() if share}


def together(parts: Sequence[Evidence]) -> Evidence:
    """The evidence of several documents as one: counts are added up, extremes kept."""
    ratings = [part.ratings for part in parts if part.ratings]
    counts, lowest, highest = ([getattr(own, name) for own in ratings] for name in ("count", "lowest", "highest"))
    biases = [part.position_bias for part in parts if not isnan(part.position_bias)]
    faults = sum((Counter(part.faults) for part in parts), Counter[str]())
    return Evidence(
        coverage={key: added(shares) for key, shares in _by_key(part.coverage for part in parts).items()},
        pairs={key: added(shares) for key, shares in _by_key(part.pairs for part in parts).items()},
        spread={key: pooled(spreads) for key, spreads in _by_key(part.spread for part in parts).items()},
        faults=dict(faults.most_common()),
        ratings=RatingRange(sum(counts), min(lowest), max(highest)) if ratings else None,
        # the fewest: a mean would hide the one prompt that has a single document to compare with
        documents=min((part.documents for part in parts if part.documents), default=None),
        few_answers=added(part.few_answers for part in parts),
        repeated=added(part.repeated for part in parts),
        position_bias=fsum(biases) / len(biases) if biases else nan,
    )


PartT = TypeVar("PartT")


def _by_key(parts: Iterable[Mapping[str, PartT]]) -> dict[str, list[PartT]]:
    listed: dict[str, list[PartT]] = {}
    for part in parts:
        for key, value in part.items():
            listed.setdefault(key, []).append(value)
    return listed


def added(shares: Iterable[Share]) -> Share:
    """Shares together: their parts, and their wholes, added up."""
    parts, wholes = zip(NO_SHARE, *shares, strict=True)
    return sum(parts), sum(wholes)


ENOUGH_RATINGS = 10  # from which ratings that are all the same are no chance
ENOUGH_DEGREES = 100  # of freedom
LEAST_SPREAD = 0.05  # of similarities; the starter's recorded ratings have 0.28, a judge of 1.5 billion parameters 0.02
ENOUGH_ANSWERS = 20
MOST_REPEATED = 0.05  # none of the starter's 2,464 recorded answers does so; of a reader of 1.5 billion parameters 16%
MOST_NAMED = 6  # keys in one warning; ttcw has nineteen


def warnings(evidence: Evidence) -> list[str]:
    """What to beware of, a line each."""
    lines = []
    ratings, (few, used), (repeated, answers) = evidence.ratings, evidence.few_answers, evidence.repeated
    if ratings and ratings.is_constant:
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
            "genie check-reader"
        )
    if evidence.documents == 1:
        lines.append(
            "there is a prompt for which the population has one document: what is unlike one is not yet unusual"
        )
    if few:
        lines.append(f"{few} of {used} questions rest on fewer than three ratings: one answer more could change them")
    if half := below(evidence.pairs, 0.5):
        lines.append(f"fewer than half of the expected ratings could be used: {half}")
    if unused := below(evidence.coverage, 1):
        lines.append(f"some means rest on fewer answers than were asked for (one per question and document): {unused}")
    return lines


def below(shares: Mapping[str, Share], least: float) -> str:
    """The keys whose share is lower, each with its share, the lowest first; empty where there are none."""
    low = sorted((part / whole, key) for key, (part, whole) in shares.items() if part < least * whole)
    named = [f"{key.replace('_', ' ')} {shares[key][0]} of {shares[key][1]}" for _, key in low]
    return ", ".join(named[:MOST_NAMED]) + (f" and {len(low) - MOST_NAMED} more" if len(low) > MOST_NAMED else "")


def agreement(documents: Sequence[Parts], keys: Sequence[str]) -> dict[str, float]:
    """Krippendorff's alpha of the graders by key, interval, over the novelties of all questions of all documents.

    Novelties, not ratings: each grader rates the answers that it has read itself, so that two ratings of one pair are
    not of the same words. NaN where fewer than two questions have the novelties of two graders, or all are one.
    """
    alphas: dict[str, float] = {}
    for key in keys:
        rows: dict[str, list[float]] = {grader: [] for parts in documents for grader in parts}
        for parts in documents:
            known = {grader: parts[grader].questions.get(key, ()) if grader in parts else () for grader in rows}
            # a log that somebody edited may have fewer for one grader than for another
            longest = max(map(len, known.values()), default=0)
            for grader, novelties in known.items():
                rows[grader] += [*novelties, *[nan] * (longest - len(novelties))]
        shared = sum(sum(not isnan(value) for value in question) > 1 for question in zip(*rows.values(), strict=True))
        # of one question alone alpha is 0, whatever the graders say
        alphas[key] = krippendorff_alpha(list(rows.values()), level="interval") if shared > 1 else nan
    return alphas


@dataclass(frozen=True, slots=True)
class GraderResults:
    """What one grader of a jury gives in one log."""

    cells: Mapping[str, Interval]  # by key: the mean over prompts, of the documents that it measured
    coverage: Mapping[str, Share]
    faults: Mapping[str, int]
    documents: int  # with a value of its own under some key
    ratings: RatingRange | None = None


def results_by_grader(
    documents: Sequence[Parts], prompts: Sequence[str], keys: Sequence[str]
) -> dict[str, GraderResults]:
    """Each grader's own results; empty where no document had a jury."""
    results: dict[str, GraderResults] = {}
    for grader in dict.fromkeys(grader for parts in documents for grader in parts):
        own = [parts.get(grader, NOTHING) for parts in documents]
        evidence = together(own)
        results[grader] = GraderResults(
            cells={
                key: prompt_interval([part.values.get(key, nan) for part in own], prompts, bounds=UNIT) for key in keys
            },
            coverage={key: evidence.coverage.get(key, NO_SHARE) for key in keys},
            faults=evidence.faults,
            documents=sum(not all(map(isnan, part.values.values())) for part in own),
            ratings=evidence.ratings,
        )
    return results


def jury_warnings(
    documents: Sequence[Parts], by_grader: Mapping[str, GraderResults], alphas: Mapping[str, float]
) -> list[str]:
    """What to beware of in a jury's scores, a line each; nothing without one."""
    measured = [
        {key for part in parts.values() for key, value in part.values.items() if not isnan(value)}
        for parts in documents
    ]
    by_any = Counter(key for keys in measured for key in keys)
    lines = [
        f"grader {name} did not measure every document that another grader did ({fewer}): the jury's means leave out "
        "the documents that it did not measure"
        for name, grader in by_grader.items()
        if (fewer := below({key: (cell.values, by_any[key]) for key, cell in grader.cells.items()}, 1))
    ]
    lines += [
        f"grader {name} gave every pair the same rating ({grader.ratings.lowest:g}), which says nothing"
        for name, grader in by_grader.items()
        if grader.ratings and grader.ratings.is_constant
    ]
    if chance := [f"{key.replace('_', ' ')} {alpha:.2f}" for key, alpha in alphas.items() if alpha <= 0]:
        lines.append(f"the graders agree no better than by chance (alpha): {', '.join(chance)}")
    return lines
