import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from genie_inspect.errors import UnknownChoiceError
from genie_inspect.statistics.bootstrap import paired_bootstrap
from genie_inspect.statistics.equivalence import METHODS, tost
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


@pytest.mark.parametrize(
    ("margin", "p_lower", "p_upper"),
    # deltas 0 and 2: mean 1, centred -1 and 1, whose resamples have means -1 (1 in 4), 0 (2 in 4) and 1 (1 in 4). The
    # mean lies 2 + 1 = 3 and 2 - 1 = 1 inside of the bounds of a margin of 2: no resample reaches 3, one in four -1.
    # With 0.5 that is 1.5 and -0.5: three in four lie at 0.5 or below.
    [(2, 0, 1 / 4), (0.5, 0, 3 / 4), (3, 0, 0)],
)
def test_two_pairs_by_hand_with_the_bootstrap(margin: float, p_lower: float, p_upper: float) -> None:
    test = tost([0, 0], [0, 2], margin, "bootstrap", resamples=9999)
    assert (test.delta, test.n, test.margin, test.method) == (1, 2, margin, "bootstrap")
    assert test.p_lower == pytest.approx((1 + 9999 * p_lower) / 10_000, abs=0.02 if p_lower else 0)
    assert test.p_upper == pytest.approx((1 + 9999 * p_upper) / 10_000, abs=0.02 if p_upper else 0)
    assert test.p_value == test.p_upper


def test_a_resample_as_far_inside_as_the_observed_delta_counts_though_rounding_parts_them() -> None:
    # deltas 0.1 and 0.7: the mean lies 0.7 - 0.4 = 0.3 inside of the bound, and 1 resample in 4 has the mean 0.3, which
    # floating point puts at 0.29999999999999993
    assert tost([0, 0], [0.1, 0.7], 0.7, "bootstrap").p_upper == pytest.approx(1 / 4, abs=0.02)


def test_the_method_is_the_t_test_unless_said_otherwise() -> None:
    before, after = np.random.default_rng(0).normal(size=(2, 12))
    assert tost(before, after).method == "t"
    assert tost(before, after) == tost(before, after, method="t")
    assert tost(before, after, method="bootstrap").p_value != tost(before, after).p_value


def test_with_many_pairs_both_methods_agree() -> None:
    generator = np.random.default_rng(1)
    before = generator.normal(size=400)
    after = before + generator.normal(0.16, 0.7, size=400)
    t, bootstrap = (tost(before, after, margin=0.2, method=method) for method in ("t", "bootstrap"))
    assert 0.005 < t.p_upper < 0.2
    assert bootstrap.p_upper == pytest.approx(t.p_upper, abs=0.015)


def test_the_seed_and_the_number_of_resamples_decide_the_bootstrap() -> None:
    before, after = np.random.default_rng(0).normal(size=(2, 12))
    p_values = [tost(before, after, 0.3, "bootstrap", 999, seed).p_value for seed in (0, 0, 1)]
    assert p_values[0] == p_values[1] != p_values[2]
    assert p_values[0] * 1000 == pytest.approx(round(p_values[0] * 1000))


def test_the_default_number_of_resamples_is_the_studys() -> None:
    assert tost([0.0, 0.0], [0.1, 0.1], 1, "bootstrap").p_value == 1 / 10_001


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(UnknownChoiceError, match="method is 'z', expected t or bootstrap"):
        tost([1, 2], [2, 3], method="z")


def test_no_resamples_are_refused() -> None:
    with pytest.raises(ValueError, match="resamples is 0"):
        tost([1, 2], [2, 3], method="bootstrap", resamples=0)


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


@given(PAIRS, st.sampled_from(["t", "bootstrap"]))
def test_swapping_the_sides_swaps_the_two_tests(pairs: list[tuple[float, float]], method: str) -> None:
    before, after = zip(*pairs, strict=True)
    there, back = (tost(*sides, 0.5, method, resamples=100) for sides in ((before, after), (after, before)))
    assert (back.p_lower, back.p_upper, back.p_value) == (there.p_upper, there.p_lower, there.p_value)
    assert back.delta == -there.delta


@pytest.mark.parametrize("method", ["t", "bootstrap"])
def test_a_wider_margin_makes_equivalence_surer(method: str) -> None:
    before, after = np.random.default_rng(0).normal(size=(2, 40))
    p_values = [tost(before, after, margin, method).p_value for margin in (0.1, 0.3, 0.6, 1)]
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
    resampled = tost(before, before + shift, 0.5, "bootstrap", resamples=99)
    assert (resampled.p_lower, resampled.p_upper) == (max(p_lower, 0.01), max(p_upper, 0.01))


def test_without_spread_before_there_is_no_default_margin() -> None:
    found = tost([0.1, 0.1, 0.1], [0.1, 0.2, 0.3])
    assert found.margin == 0
    assert math.isnan(found.p_value)
    assert not math.isnan(tost([0.1, 0.1, 0.1], [0.1, 0.2, 0.3], margin=0.1).p_value)


@pytest.mark.parametrize(("method", "least"), [("t", 0.0), ("bootstrap", 0.01)])
def test_a_constant_that_stays_the_same_is_equivalent(method: str, least: float) -> None:
    found = tost([1.0] * 8, [1.0] * 8, method=method, resamples=99)
    assert (found.margin, found.delta, found.p_value) == (0, 0, least)
    # another constant is no part of a margin of 0
    assert math.isnan(tost([1.0] * 8, [0.9] * 8, method=method, resamples=99).p_value)


@pytest.mark.parametrize("method", ["t", "bootstrap"])
def test_fewer_than_two_pairs_test_nothing(method: str) -> None:
    one, none = tost([1], [2], 3, method), tost([], [], 3, method)
    assert one.method == none.method == method
    assert (one.n, one.delta, one.margin) == (1, 1, 3)
    assert (none.n, none.margin) == (0, 3)
    assert all(math.isnan(p) for found in (one, none) for p in (found.p_lower, found.p_upper, found.p_value))
    assert math.isnan(none.delta)
    assert math.isnan(tost([], [], method=method).margin)


def test_the_methods_are_called_what_they_are() -> None:
    assert METHODS == {"t": "paired t tests", "bootstrap": "paired bootstraps"}


@pytest.mark.parametrize("margin", [0, -0.1, math.inf, math.nan])
def test_a_margin_that_is_none_is_refused(margin: float) -> None:
    with pytest.raises(ValueError, match=f"margin is {margin}"):
        tost([1, 2], [2, 3], margin)


def test_many_columns_are_refused() -> None:
    with pytest.raises(ValueError, match="expected one column"):
        tost([[1, 2]], [[2, 3]])
