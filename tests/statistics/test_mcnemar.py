"""Paired scores that are only 0 and 1: by hand, by every way to sign the deltas, and as published."""

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.processes import tries

from genie_inspect.statistics.differences import (
    LEVEL,
    differences,
    mcnemar_p_value,
    paired_permutation,
    paired_shares_interval,
    yes_no_difference,
)


def sides(both: int, lost: int, won: int, neither: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    before = [1] * both + [1] * lost + [0] * won + [0] * neither
    after = [1] * both + [0] * lost + [1] * won + [0] * neither
    return np.array(before, dtype=float), np.array(after, dtype=float)


@pytest.mark.parametrize(
    ("lost", "won", "expected"), [(1, 5, 14 / 64), (0, 6, 2 / 64), (3, 3, 1), (0, 0, 1), (5, 1, 14 / 64)]
)
def test_mcnemars_p_is_the_binomials_by_hand(lost: int, won: int, expected: float) -> None:
    assert mcnemar_p_value(lost, won) == pytest.approx(expected)


@pytest.mark.parametrize(("lost", "won"), [(0, 6), (1, 6), (2, 5), (4, 4), (0, 0)])
def test_it_is_the_share_of_all_ways_to_sign_the_deltas(lost: int, won: int) -> None:
    before, after = sides(2, lost, won, 1)
    deltas = after - before
    ways = [abs(np.dot(signs, deltas)) >= abs(deltas.sum()) for signs in product((1, -1), repeat=len(deltas))]
    assert mcnemar_p_value(lost, won) == pytest.approx(np.mean(ways))
    assert paired_permutation(before, after).p_value == pytest.approx(np.mean(ways))


def test_the_interval_is_the_published_one() -> None:
    # Fagerland, Lydersen and Laake (2017), Statistical Analysis of Contingency Tables, chapter 8: complete response
    # before and after a therapy of 161, -.0621 (-.1186 to -.0046) as first less second
    low, high = paired_shares_interval(59, 6, 16, 80)
    assert (low, high) == pytest.approx((0.0046, 0.1186), abs=5e-5)
    # the other way round it is the same with the other sign
    assert paired_shares_interval(59, 16, 6, 80) == pytest.approx((-high, -low))


def test_shares_that_hang_together_inversely_are_not_corrected_for_continuity() -> None:
    # by hand: Wilson limits of 5 of 10 are .2366 and .7634, the correlation of what is never alike is -1, and so the
    # limits are those of either share added: 0 -+ 2 (.5 - .2366)
    assert paired_shares_interval(0, 5, 5, 0) == pytest.approx((-0.5268, 0.5268), abs=1e-4)


@pytest.mark.parametrize("cells", [(8, 0, 0, 0), (0, 0, 0, 8), (0, 0, 8, 0), (0, 8, 0, 0), (4, 0, 0, 4)])
def test_the_interval_holds_at_the_ends_of_the_scale(cells: tuple[int, int, int, int]) -> None:
    low, high = paired_shares_interval(*cells)
    delta = (cells[2] - cells[1]) / 8
    assert -1 <= low <= delta <= high <= 1
    assert high - low > 0.1


def test_eight_that_all_stay_right_leave_room_for_a_third() -> None:
    # Wilson: 8 of 8 leaves 1 / (1 + 8 / 1.96^2) = .3244 below; without a spread there is no correlation
    assert paired_shares_interval(8, 0, 0, 0) == pytest.approx((-0.3244, 0.3244), abs=1e-4)


def test_a_difference_of_yes_and_no_has_both_and_no_other_has() -> None:
    before, after = sides(3, 1, 9, 7)
    (difference,) = differences(before[:, None], after[:, None])
    found = yes_no_difference(difference, before, after)
    assert found is not None
    assert (found.p_value, found.least_p) == (mcnemar_p_value(1, 9), 2.0**-19)
    assert (found.low, found.high) == paired_shares_interval(3, 1, 9, 7)
    assert (found.delta, found.pairs, found.p_unlike) == (difference.delta, 20, difference.p_unlike)
    # a pair without a score counts as little as elsewhere
    more = np.array([*before, np.nan, 1]), np.array([*after, 0, np.nan])
    assert yes_no_difference(difference, *more) == found
    assert yes_no_difference(difference, before, [*after[:-1], 0.5]) is None
    assert yes_no_difference(difference, [1.0], [0.0]) is None


@pytest.mark.repeated
@pytest.mark.parametrize("samples", [20, 200])
@pytest.mark.parametrize("share", [0.5, 0.9])
def test_no_difference_is_found_in_under_6_percent_and_the_interval_holds(samples: int, share: float) -> None:
    random, runs = np.random.default_rng(samples), tries(400, 4_000)
    found = held = 0
    for _ in range(runs):
        # a question is as hard for both
        hard = random.random(samples) < 0.5
        before, after = (np.where(hard, random.random(samples), 0.0) < share for _ in range(2))
        lost, won = int((before & ~after).sum()), int((~before & after).sum())
        both = int((before & after).sum())
        found += mcnemar_p_value(lost, won) < LEVEL
        low, high = paired_shares_interval(both, lost, won, samples - both - lost - won)
        held += low <= 0 <= high
    assert found < 0.06 * runs
    assert held > 0.93 * runs
