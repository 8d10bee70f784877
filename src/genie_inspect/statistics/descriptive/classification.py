"""How far one says of things what another says of them, label by label."""

import math
from collections.abc import Hashable, Sequence


def accuracy(predicted: Sequence[Hashable], gold: Sequence[Hashable]) -> float:
    """Share of things on which both say the same, 0 to 1; NaN without any.

    Raises:
        ValueError: If there are not as many on both sides.

    >>> accuracy("aab", "abb")
    0.6666666666666666
    """
    pairs = list(zip(predicted, gold, strict=True))
    return sum(one == other for one, other in pairs) / len(pairs) if pairs else math.nan


def recall(predicted: Sequence[Hashable], gold: Sequence[Hashable], label: Hashable) -> float:
    """Share of the things with this label in `gold` that have it in `predicted` too; NaN where none has it.

    Raises:
        ValueError: If there are not as many on both sides.

    >>> recall("aab", "abb", "b")
    0.5
    """
    of_label = [one for one, other in zip(predicted, gold, strict=True) if other == label]
    return of_label.count(label) / len(of_label) if of_label else math.nan


def f1(predicted: Sequence[Hashable], gold: Sequence[Hashable], label: Hashable) -> float:
    """Harmonic mean of precision and recall for one label, 0 to 1; NaN where neither side has it.

    Raises:
        ValueError: If there are not as many on both sides.

    >>> f1("aab", "abb", "b")  # both 1, either 3
    0.6666666666666666
    """
    both = sum(one == other == label for one, other in zip(predicted, gold, strict=True))
    either = list(predicted).count(label) + list(gold).count(label)
    return 2 * both / either if either else math.nan
