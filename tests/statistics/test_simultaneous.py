"""All differences between several groups at once: by hand, and how often they find what is not there."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from genie_inspect.statistics.differences import paired_permutation
from genie_inspect.statistics.simultaneous import pairwise_differences

NAN = math.nan
Draw = Callable[[np.random.Generator, tuple[int, int]], NDArray[np.float64]]


def test_six_units_and_two_groups_by_hand() -> None:
    # deltas 1 to 6: mean 3.5, variance 3.5. Of 32 ways the largest |t| is the observed one: p = 1/32. The second
    # largest turns the 1: mean 19/6, squares 91, variance (91 - 6 (19/6)^2) / 5 = 37/6, t = 19/6 / sqrt(37/36) = 3.1236
    (pair,) = pairwise_differences([[number, 0] for number in range(1, 7)])
    half = 19 / 6 / math.sqrt(37 / 36) * math.sqrt(3.5 / 6)
    assert (pair.units, pair.delta, pair.p_value) == (6, 3.5, 1 / 32)
    assert (pair.low, pair.high) == pytest.approx((3.5 - half, 3.5 + half))
    assert half == pytest.approx(2.386, abs=0.001)


def test_a_group_that_equals_another_is_not_above_it_and_costs_the_others_nothing() -> None:
    first, same, third = pairwise_differences([[0, number, 0] for number in range(1, 7)])
    assert (first.first, first.second, same.first, same.second) == (0, 1, 0, 2)
    assert [first.delta, third.delta] == [-3.5, 3.5]
    assert [first.p_value, same.p_value, third.p_value] == [1 / 32, 1, 1 / 32]
    assert (same.delta, same.low, same.high) == (0, 0, 0)


def test_one_pair_is_tested_as_genie_compare_tests_it() -> None:
    random = np.random.default_rng(3)
    for units in (8, 9):
        before, after = random.normal(size=(2, units))
        (pair,) = pairwise_differences(np.stack([after, before], axis=1))
        # one pair: the largest |t| and the largest |mean| come from the same ways
        assert pair.p_value == pytest.approx(paired_permutation(before, after).p_value)


def test_the_interval_leaves_0_out_exactly_where_the_p_value_is_below_the_level() -> None:
    random = np.random.default_rng(4)
    for _ in range(50):
        values = random.normal([0, 0.5, 1.5, 3], size=(8, 4))
        for pair in pairwise_differences(values):
            assert (pair.low > 0 or pair.high < 0) == (pair.p_value < 0.05)


def test_too_few_units_leave_every_interval_open_and_one_unit_has_none() -> None:
    (pair,) = pairwise_differences([[number, 0] for number in range(1, 6)])
    assert (pair.p_value, pair.low, pair.high) == (1 / 16, -math.inf, math.inf)
    values = np.array([[1, 0, NAN], [2, 1, NAN], [3, 0, 5]])
    both, one, _ = pairwise_differences(values)
    assert both.units == 3
    assert (one.units, one.delta) == (1, -2)
    assert math.isnan(one.p_value)
    assert math.isnan(one.low)
    none, *_ = pairwise_differences([[1, NAN], [NAN, 2]])
    assert (none.units, math.isnan(none.delta), math.isnan(none.p_value)) == (0, True, True)
    assert pairwise_differences([[1], [2]]) == []
    with pytest.raises(ValueError, match="shape"):
        pairwise_differences([1, 2])


def normal(random: np.random.Generator, size: tuple[int, int]) -> NDArray[np.float64]:
    return random.normal(size=size) + 2 * random.normal(size=(size[0], 1))


def unlike(random: np.random.Generator, size: tuple[int, int]) -> NDArray[np.float64]:
    """Spreads up to seven times as large in one group as in another."""
    return normal(random, size) * np.linspace(0.3, 2, size[1])


def skewed(random: np.random.Generator, size: tuple[int, int]) -> NDArray[np.float64]:
    return 1 - random.exponential(size=size)


@pytest.mark.parametrize("draw", [normal, unlike, skewed])
@pytest.mark.parametrize(("units", "groups"), [(8, 3), (8, 8), (20, 3), (20, 8)])
def test_without_differences_any_is_found_in_about_one_of_twenty_runs(draw: Draw, units: int, groups: int) -> None:
    random, runs = np.random.default_rng(units + groups), 400
    found = 0
    for _ in range(runs):
        pairs = pairwise_differences(draw(random, (units, groups)), resamples=400)
        found += any(pair.p_value < 0.05 for pair in pairs)
    # standard error 1.1 points
    assert found / runs <= 0.07


def test_true_differences_beside_them_do_not_raise_the_error_of_those_that_are_equal() -> None:
    random, runs, found = np.random.default_rng(9), 300, 0
    for _ in range(runs):
        pairs = pairwise_differences(normal(random, (8, 5)) + np.array([0, 0, 0, 4, 4]))
        equal = [pair for pair in pairs if (pair.first < 3) == (pair.second < 3)]
        found += any(pair.p_value < 0.05 for pair in equal)
    assert found / runs <= 0.07
