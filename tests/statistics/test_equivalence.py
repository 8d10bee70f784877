import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from genie_inspect.statistics.bootstrap import paired_bootstrap
from genie_inspect.statistics.equivalence import tost
from genie_inspect.statistics.intervals import prompt_interval

SCORES = st.integers(0, 40).map(lambda tenths: tenths / 10)
PAIRS = st.lists(st.tuples(SCORES, SCORES), min_size=3, max_size=15)


def test_two_pairs_by_hand() -> None:
    # deltas 0 and 2: mean 1, standard deviation sqrt(2), error sqrt(2) / sqrt(2) = 1; with one degree of freedom
    # P(T <= x) = 1/2 + atan(x) / pi. Margin 2: t_lower = 1 + 2 = 3, t_upper = 1 - 2 = -1.
    found = tost([0, 0], [0, 2], margin=2)
    assert found.p_lower == pytest.approx(0.5 - math.atan(3) / math.pi)
    assert found.p_upper == pytest.approx(0.5 - math.atan(1) / math.pi)  # 0.25
    assert found.p_value == found.p_upper
    assert (found.delta, found.n, found.margin) == (1, 2, 2)


def test_margin_is_a_fifth_of_the_standard_deviation_before() -> None:
    # 2, 4, 4, 4, 5, 5, 7, 9: mean 5, squares 9 + 1 + 1 + 1 + 0 + 0 + 4 + 16 = 32, standard deviation sqrt(32 / 8) = 2
    assert tost([2, 4, 4, 4, 5, 5, 7, 9], [0] * 8).margin == pytest.approx(0.4)


def test_margin_leaves_out_pairs_with_a_missing_side() -> None:
    nan = math.nan
    assert tost([1, 3, 100, nan], [1, 4, nan, 2]) == tost([1, 3], [1, 4])


@given(PAIRS, st.floats(0.05, 3))
def test_equivalence_implies_nothing_significant_at_the_margin(pairs: list[tuple[float, float]], margin: float) -> None:
    """Equivalent at 5% exactly where the 90% interval of the mean delta lies within the margins."""
    before, after = zip(*pairs, strict=True)
    found = tost(before, after, margin)
    deltas = [right - left for left, right in pairs]
    interval = prompt_interval(deltas, range(len(deltas)), confidence=0.9)
    assume(np.std(deltas) > 1e-6)
    assume(abs(found.p_value - 0.05) > 1e-9)
    assert (found.p_value < 0.05) == (-margin < interval.low and interval.high < margin)
    if found.p_value < 0.05:
        assert abs(found.delta) < margin


@given(PAIRS)
def test_swapping_the_sides_swaps_the_two_tests(pairs: list[tuple[float, float]]) -> None:
    before, after = zip(*pairs, strict=True)
    there, back = tost(before, after, 0.5), tost(after, before, 0.5)
    assert (back.p_lower, back.p_upper, back.p_value) == (there.p_upper, there.p_lower, there.p_value)
    assert back.delta == -there.delta


def test_a_wider_margin_makes_equivalence_surer() -> None:
    before, after = np.random.default_rng(0).normal(size=(2, 40))
    p_values = [tost(before, after, margin).p_value for margin in (0.1, 0.3, 0.6, 1)]
    assert p_values == sorted(p_values, reverse=True)
    assert len(set(p_values)) == 4


def test_no_difference_is_not_yet_equivalence() -> None:
    before, after = [0.1, 0.9, 0.4], [0.9, 0.2, 0.3]
    assert paired_bootstrap(before, after).p_value > 0.05
    assert tost(before, after).p_value > 0.05


@pytest.mark.parametrize(
    ("shift", "p_lower", "p_upper"),
    [(0, 0, 0), (0.25, 0, 0), (0.5, 0, 1), (1, 0, 1), (-0.5, 1, 0), (-1, 1, 0)],
)
def test_deltas_without_spread_lie_inside_a_bound_or_not(shift: float, p_lower: float, p_upper: float) -> None:
    before = np.array([0.5, 1, 2])
    found = tost(before, before + shift, margin=0.5)
    assert (found.p_lower, found.p_upper, found.p_value) == (p_lower, p_upper, max(p_lower, p_upper))


def test_without_spread_before_there_is_no_default_margin() -> None:
    found = tost([0.1, 0.1, 0.1], [0.1, 0.2, 0.3])
    assert found.margin == 0
    assert math.isnan(found.p_value)
    assert not math.isnan(tost([0.1, 0.1, 0.1], [0.1, 0.2, 0.3], margin=0.1).p_value)


def test_fewer_than_two_pairs_test_nothing() -> None:
    one, none = tost([1], [2], margin=3), tost([], [], margin=3)
    assert (one.n, one.delta, one.margin) == (1, 1, 3)
    assert (none.n, none.margin) == (0, 3)
    assert all(math.isnan(p) for found in (one, none) for p in (found.p_lower, found.p_upper, found.p_value))


@pytest.mark.parametrize("margin", [0, -0.1, math.inf, math.nan])
def test_a_margin_that_is_none_is_refused(margin: float) -> None:
    with pytest.raises(ValueError, match=f"margin is {margin}"):
        tost([1, 2], [2, 3], margin)


def test_many_columns_are_refused() -> None:
    with pytest.raises(ValueError, match="expected one column"):
        tost([[1, 2]], [[2, 3]])
