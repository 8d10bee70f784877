"""What a calibration comes to: a sentence for each two raters, and whose scores can be quoted."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from genie_inspect.agreement.calibration import ALL, RaterAgreement
from genie_inspect.agreement.raters import Ratings

# Krippendorff (2004), Content Analysis, chapter 11: what to rely on, and what to conclude from tentatively at most
RELIABLE, TENTATIVE = 0.8, 0.667


def verdict(agreements: Sequence[RaterAgreement]) -> list[str]:
    """For each two raters whether one can stand for the other, where least, and who finds more novelty.

    Args:
        agreements: Pair of raters by pair of raters, each feature by feature and all features last.
    """
    pairs = groupby(agreements, key=lambda agreement: (agreement.first, agreement.second))
    return [" ".join(_sentences(list(group))) for _, group in pairs]


def quotable(agreements: Sequence[RaterAgreement], people: Sequence[Ratings], judged: Sequence[Ratings]) -> list[str]:
    """Which judges stand near enough to the ratings of a file for their scores to be quoted, and which is nearest.

    Args:
        agreements: As for `verdict`.
        people: The raters of files.
        judged: The judges that were asked.
    """
    return [*_telling_nothing(judged), *filter(None, (_near(agreements, rater.name, judged) for rater in people))]


def _telling_nothing(judged: Sequence[Ratings]) -> Iterator[str]:
    for judge in judged:
        ratings = [rating for rating in judge.values if not math.isnan(rating)]
        if judge.values and not ratings:
            reasons = ", ".join(f"{count} {reason}" for reason, count in Counter(judge.faults.values()).most_common())
            yield f"{judge.name} gave none of {len(judge.values)} pairs a rating: {reasons}."
        elif len(ratings) > 1 and len(set(ratings)) == 1:
            yield f"{judge.name} gave every pair the rating {ratings[0]:g}: it tells no answers apart."


def _near(agreements: Sequence[RaterAgreement], reference: str, judged: Sequence[Ratings]) -> str:
    """Judges by their agreement with one rater, the nearest first; empty where none could be held against it."""
    names = {judge.name for judge in judged}
    alphas = {
        next(iter({agreement.first, agreement.second} - {reference})): agreement.alpha
        for agreement in agreements
        if agreement.feature == ALL and reference in (agreement.first, agreement.second)
    }
    ranked = sorted((-alpha, name) for name, alpha in alphas.items() if name in names and not math.isnan(alpha))
    if not ranked:
        return ""
    listed = ", ".join(f"{name} {-alpha:.2f}" for alpha, name in ranked)
    low = [name for alpha, name in ranked if -alpha < TENTATIVE]
    warning = f" Do not quote scores of {', '.join(low)}: alpha is below {TENTATIVE}." if low else ""
    return f"Nearest to {reference}, by alpha: {listed}.{warning}"


def _sentences(group: Sequence[RaterAgreement]) -> Iterator[str]:
    whole = next(agreement for agreement in group if agreement.feature == ALL)
    raters = f"{whole.first} and {whole.second}"
    if math.isnan(whole.alpha):
        yield f"{raters}: whether they agree cannot be told from {whole.pairs} pairs."
        return
    yield f"{raters}: {_worth(whole.alpha)} (alpha {whole.alpha:.2f} over {whole.pairs} pairs)."
    known = [agreement for agreement in group if agreement.feature != ALL and not math.isnan(agreement.alpha)]
    if len(known) > 1:
        least = min(known, key=lambda agreement: agreement.alpha)
        yield f"They agree least in {least.feature.replace('_', ' ')} ({least.alpha:.2f})."
    difference = whole.difference
    # a NaN is on neither side of 0
    if difference.low > 0 or difference.high < 0:
        more = whole.second if difference.value > 0 else whole.first
        yield f"{more} finds more novelty, by {abs(difference.value):.2f}: do not mix their scores."


def _worth(alpha: float) -> str:
    if alpha >= RELIABLE:
        return f"one can stand for the other, alpha is at least {RELIABLE}"
    if alpha >= TENTATIVE:
        return f"they agree enough for tentative conclusions, alpha is at least {TENTATIVE} and below {RELIABLE}"
    return f"one cannot stand for the other, alpha is below {TENTATIVE}"
