"""Reference-based Likert tests: two verdicts a test, one with either story first, into a score, a pass and totals.

Source: the reference-based Torrance Test of Creative Writing (TTCW) study; the 14 tests are those of Chakrabarty et al.
2024 (arXiv 2309.14556).
"""

import math
from collections.abc import Iterable, Sequence
from statistics import fmean


def test_score(reference_first: int, candidate_first: int) -> int:
    """How much better the candidate is than the reference, over both orders: -4 to 4 with verdicts of -2 to 2.

    Each verdict is the points of the story that came first. A judge that prefers a position adds as much to one as to
    the other, so that its preference cancels.

    >>> test_score(2, -2), test_score(-1, 2), test_score(2, 2)
    (-4, 3, 0)
    """
    return candidate_first - reference_first


def passes(score: int, cutoff: int = -2) -> bool:
    """Whether the candidate passes beside a fine story: its score is not below the cutoff.

    >>> [passes(score) for score in (-3, -2, 0)]
    [False, True, True]
    """
    return score >= cutoff


def scale_cutoff(levels: int) -> int:
    """The cutoff of a scale: with five levels the published one; of 3 and 7 ours, by the same share of the scale."""
    return -(levels // 2)


def orders_agree(reference_first: int, candidate_first: int) -> bool:
    """Whether both orders name the same story as the better one, or neither names any."""
    return (reference_first > 0) - (reference_first < 0) == (candidate_first < 0) - (candidate_first > 0)


def position_bias(verdicts: Iterable[tuple[int, int]]) -> float:
    """Mean points that the story in first place gets for standing there; 0 = none, 2 = always much better."""
    # what a preference for a place adds to both verdicts; what the stories differ by cancels in this sum
    return _mean([sum(both) / 2 for both in verdicts])


def passed(tests: Iterable[float]) -> float:
    """How many tests are passed, of those that were judged; NaN when none was judged."""
    judged = [test for test in tests if not math.isnan(test)]
    return math.fsum(judged) if judged else math.nan


def pass_share(tests: Iterable[float]) -> float:
    """Share of the judged tests that are passed, 0 to 1; NaN when none was judged."""
    return _mean([test for test in tests if not math.isnan(test)])


FIRST, TIE, SECOND = 1.0, 0.5, 0.0  # what a verdict is worth to the story that was shown first


def win_rate(shown_first: Sequence[float], shown_second: Sequence[float]) -> float:
    """Share of comparisons that a story wins, ties as half, 0 to 1: the mean over both orders; NaN if one has none."""
    return (_mean(shown_first) + 1 - _mean(shown_second)) / 2


def order_bias(shown_first: Sequence[float], shown_second: Sequence[float]) -> float:
    """How much more often the story that stands first is preferred, -1 (never) to 1 (always); NaN as the win rate."""
    return _mean(shown_first) + _mean(shown_second) - 1


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else math.nan
