import math

import pytest

from genie_inspect.statistics.descriptive.spread import NO_SPREAD, Spread, pooled, spread_within


def test_a_groups_own_mean_does_not_count() -> None:
    # 0.5 from each mean: 4 * 0.25 over 2 degrees of freedom
    assert spread_within([[0, 1], [5, 6]]).variance == pytest.approx(0.5)


def test_a_group_of_one_and_an_empty_one_say_nothing() -> None:
    assert spread_within([[3], [], [0, 2]]) == Spread(math.sqrt(2), 1)
    assert math.isnan(spread_within([[3], []]).sd)
    assert spread_within([]).degrees == 0


def test_spreads_are_pooled_by_their_degrees_of_freedom() -> None:
    # (1 * 0.04 + 3 * 0.08) / 4 = 0.07
    found = pooled([Spread(0.2, 1), NO_SPREAD, Spread(math.sqrt(0.08), 3)])
    assert (found.variance, found.degrees) == pytest.approx((0.07, 4))
    assert math.isnan(pooled([NO_SPREAD]).sd)


def test_pooling_parts_is_the_spread_of_the_whole() -> None:
    groups = [[0.0, 1 / 3, 1.0], [0.0, 0.0], [1.0, 2 / 3, 1 / 3, 1.0]]
    whole, parts = spread_within(groups), pooled(spread_within([group]) for group in groups)
    assert (parts.sd, parts.degrees) == pytest.approx((whole.sd, whole.degrees))
