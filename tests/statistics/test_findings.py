"""What a family of differences makes of each: corrected p-values, power and pairs at the strictest level."""

import math
from dataclasses import replace

import numpy as np
import pytest

from genie_inspect.statistics.differences import Difference, differences, findings, least_p_value
from genie_inspect.statistics.power import paired_power

NAN = math.nan
# pairs, before, after, delta, low, high, effect, spread, p_value, least_p, p_unlike, margin
ONE = Difference(30, 0.5, 0.6, 0.1, 0.0, 0.2, 1.0, 0.2, 0.03, 0.0001, 0.03, 0.1)


@pytest.mark.parametrize(
    ("correction", "p_value", "tests"), [("holm", 0.06, 2), ("bonferroni", 0.06, 2), ("none", 0.03, 1)]
)
def test_two_tests_are_held_to_the_level_together_and_their_power_is_that_of_the_strictest(
    correction: str, p_value: float, tests: int
) -> None:
    # what has no p-value is no test
    first, second, unknown = findings([ONE, ONE, replace(ONE, p_value=NAN, p_unlike=NAN)], correction)
    assert first == second
    assert (first.p_value, first.p_unlike) == pytest.approx((p_value, p_value))
    assert (first.differs, first.is_equivalent) == (tests == 1, tests == 1)
    assert first.power == paired_power(0.1, 0.2, 30, 0.05 / tests)
    assert (math.isnan(unknown.p_value), unknown.differs, unknown.is_equivalent) == (True, False, False)


@pytest.mark.parametrize(
    ("change", "power"), [({"least_p": 0.05}, 0.0), ({"spread": 0.0}, NAN), ({"margin": 0.0}, NAN)]
)
def test_without_a_p_value_below_the_level_there_is_no_power_and_without_spread_or_margin_it_is_not_known(
    change: dict[str, float], power: float
) -> None:
    (found,) = findings([replace(ONE, **change)])  # type: ignore[arg-type]  # numbers
    assert found.power == pytest.approx(power, nan_ok=True)
    assert math.isnan(found.needed) == math.isnan(power)


def test_a_p_value_at_the_level_holds_nothing() -> None:
    (found,) = findings([replace(ONE, p_value=0.05, p_unlike=0.05)])
    assert (found.differs, found.is_equivalent) == (False, False)


def test_without_pairs_there_is_neither_mean_nor_finding() -> None:
    (difference,) = differences([[NAN]], [[0.5]])
    assert (difference.pairs, math.isnan(difference.before), math.isnan(difference.after)) == (0, True, True)
    (found,) = findings([difference])
    assert (found.differs, found.is_equivalent, math.isnan(found.power)) == (False, False, True)


def test_the_number_of_draws_and_the_seed_reach_every_part() -> None:
    before, after = np.random.default_rng(0).normal(size=(2, 16, 1))
    few, again, other = (
        differences(before, after, 0.5, resamples, seed, "bootstrap")[0]
        for resamples, seed in ((99, 0), (99, 0), (99, 1))
    )
    assert few.least_p == least_p_value(16, 99) == 1 / 100
    assert few == again != other
    assert few.p_unlike * 100 == pytest.approx(round(few.p_unlike * 100))
    assert few.p_unlike != other.p_unlike
