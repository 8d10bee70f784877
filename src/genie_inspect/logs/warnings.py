"""What to beware of in the scores of a log, in plain words: summary, report and comparison all show these lines."""

from collections.abc import Mapping

from genie_inspect.logs.evidence import Evidence, RatingRange, Share
from genie_inspect.statistics.descriptive.spread import pooled

ENOUGH_RATINGS = 10  # from which ratings that are all the same are no chance
ENOUGH_DEGREES = 100  # of freedom
LEAST_SPREAD = 0.05  # of similarities; the starter's recorded ratings have 0.28, a judge of 1.5 billion parameters 0.02
ENOUGH_ANSWERS = 20
MOST_REPEATED = 0.05  # none of the starter's 2,688 recorded answers does so; of a reader of 1.5 billion parameters 16%
HALF = 0.5
MOST_NAMED = 6  # keys in one warning; ttcw has nineteen


def warnings(evidence: Evidence) -> list[str]:
    """What to beware of, a line each.

    Args:
        evidence: What all scores of a log rest on, by one scorer.
    """
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
