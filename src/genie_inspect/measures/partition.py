"""NoveltyBench: how many kinds of answers there are among several, and what they are worth to a reader.

Source: NoveltyBench (Zhang et al. 2025, arXiv 2504.05228).
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from typing import TypeVar

ItemT = TypeVar("ItemT")

PATIENCE = 0.8  # as published
# rewards of Skywork-Reward-Gemma-2-27B-v0.2 at which one quality level ends and the next begins
REWARD_THRESHOLDS = (-7.71875, -6.28125, -6.0, -5.71875, -5.5, -5.0, -4.375, -3.4375, -2.046875)
LOWEST_LEVEL, HIGHEST_LEVEL = 1, len(REWARD_THRESHOLDS) + 1
SHORT = 5  # words


def partition(
    items: Iterable[ItemT], same: Callable[[ItemT, ItemT], bool | None], founders: list[ItemT] | None = None
) -> list[int | None]:
    """The class of each item, counted up from 0 in order of first appearance.

    Greedy: each item joins the first class whose first member it is the same as, else founds one. Later members are
    never compared, so that an item costs at most one comparison a class. An item for which `same` said None, for
    unknown, before a class was found has no class: None. `founders` are the first members of the classes that there are
    already; those of new classes are added to it.

    >>> partition(["a", "b", "A"], lambda first, item: first == item.lower())
    [0, 1, 0]
    """
    founders = [] if founders is None else founders
    labels: list[int | None] = []
    for item in items:
        others = list(takewhile(lambda verdict: not verdict, (same(founder, item) for founder in founders)))
        labels.append(None if None in others else len(others))
        if labels[-1] == len(founders):
            founders.append(item)
    return labels


def distinct_count(classes: Sequence[int | None]) -> int:
    """How many classes there are; 0 for none. None: the item is not an answer and has no class.

    >>> distinct_count([0, 1, 0, None])
    2
    """
    return len(set(classes) - {None})


def utility(quality: Sequence[float], classes: Sequence[int | None], patience: float = PATIENCE) -> float:
    """What a reader gets who reads on with probability `patience`, on the scale of the qualities.

    The mean of the qualities with weights patience**i over all k items; only the first member of a class counts its
    quality, every other item, and one in no class, adds 0. With a patience of 0 only the first item is read, with 1 all
    are. NaN when there are no items, or a first member's quality is unknown.

    >>> utility([10, 10, 5], [0, 0, 1], patience=0.5)  # (10 + 0 + 5/4) / (1 + 1/2 + 1/4)
    6.428571428571429
    """
    if len(quality) != len(classes):
        raise ValueError(f"{len(quality)} qualities but {len(classes)} classes, expected as many of each")
    if not 0 <= patience <= 1:
        raise ValueError(f"patience is {patience}, expected 0 to 1")
    if not classes:
        return math.nan
    # over all k places: an empty reply in between costs the reader's patience too
    weights = [patience**place for place in range(len(classes))]
    # reversed: of the members of a class the first one stays
    first = {label: place for place, label in reversed([*enumerate(classes)]) if label is not None}
    return math.fsum(weights[place] * quality[place] for place in first.values()) / math.fsum(weights)


def reward_level(reward: float) -> int:
    """The quality level, 1 (worst) to 10 (best), of a raw reward.

    >>> reward_level(-8), reward_level(-7.71875), reward_level(0)
    (1, 1, 10)
    """
    if math.isnan(reward):
        raise ValueError("reward is NaN, expected a number")
    return bisect_left(REWARD_THRESHOLDS, reward) + 1


def short_texts_same(first: str, second: str) -> bool | None:
    """Whether two texts of at most five words share half the words of the longer; None when one is longer."""
    from genie_inspect.scripts import spaced_words  # here, as `_registry` imports this file

    words, others = spaced_words(first.lower()), spaced_words(second.lower())
    longer = max(len(words), len(others))
    return 2 * len(set(words) & set(others)) >= longer if longer <= SHORT else None
