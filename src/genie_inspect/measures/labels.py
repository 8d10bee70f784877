"""A rating from the probabilities that a model gives to the labels, instead of from one drawn label.

Source: expected value over label probabilities as in G-Eval (Liu et al. 2023, section 2). Deviation: the share of the
label 0, "no usable answer", is no part of the mean.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from genie_inspect.measures.genie import HIGHEST, LOWEST

NO_ANSWER = "0"
LABELS = (NO_ANSWER, *map(str, range(LOWEST, HIGHEST + 1)))


@dataclass(frozen=True, slots=True)
class LabelReading:
    """What the label probabilities say."""

    rating: float
    """Expected value over the labels 1 to 4; NaN when they have no probability."""
    no_answer: float
    """Share of the label 0 in the probability of all labels, 0 to 1; NaN when they have none."""
    off_labels: float
    """Probability that is on no label, 0 to 1; an upper bound where only the most likely tokens are known."""


def label_reading(candidates: Iterable[tuple[str, float]]) -> LabelReading:
    """The expected rating of one token position.

    Args:
        candidates: The most likely tokens with their natural log probabilities; a token counts for a label when it is
            that label but for surrounding space.

    >>> reading = label_reading([("3", math.log(0.6)), (" 4", math.log(0.2)), ("The", math.log(0.2))])
    >>> round(reading.rating, 2), round(reading.off_labels, 2)
    (3.25, 0.2)
    """
    mass = dict.fromkeys(LABELS, 0.0)
    for token, logprob in candidates:
        if token.strip() in mass:
            mass[token.strip()] += math.exp(logprob)
    total = math.fsum(mass.values())
    # not the total less the label 0: rounding would carry a mean beyond the end of the scale, where it counts as none
    rated = math.fsum(share for label, share in mass.items() if label != NO_ANSWER)
    weighted = math.fsum(int(label) * share for label, share in mass.items())
    return LabelReading(
        rating=weighted / rated if rated > 0 else math.nan,
        no_answer=mass[NO_ANSWER] / total if total > 0 else math.nan,
        off_labels=max(0.0, 1 - total),
    )
