"""Equivalence, findings among many tests, defaults, and what statistics refuse."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from genie_inspect.statistics.bootstrap import paired_bootstrap
from genie_inspect.statistics.descriptive import prompt_interval
from genie_inspect.statistics.differences import paired_permutation
from genie_inspect.statistics.effect import cohens_d, margin, minimum_population, paired_power
from genie_inspect.statistics.equivalence import tost
from genie_inspect.statistics.mixed import mixed_logistic

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


def test_two_pairs_by_hand_with_the_bootstrap() -> None:
    # deltas 0 and 2: mean 1, centred -1 and 1, whose resamples have means -1 (1 in 4), 0 (2 in 4) and 1 (1 in 4). The
    # mean lies 2 + 1 = 3 and 2 - 1 = 1 inside of the bounds of a margin of 2: no resample reaches 3, one in four -1.
    # With 0.5 that is 1.5 and -0.5: three in four lie at 0.5 or below.
    for bound, p_upper in ((2, 1 / 4), (0.5, 3 / 4), (3, 0)):
        test = tost([0, 0], [0, 2], bound, "bootstrap", resamples=9999)
        assert (test.delta, test.n, test.margin, test.p_lower) == (1, 2, bound, 1 / 10_000)
        assert test.p_upper == pytest.approx((1 + 9999 * p_upper) / 10_000, abs=0.02 if p_upper else 0)
        assert test.p_value == test.p_upper
    # deltas 0.1 and 0.7: the mean lies 0.7 - 0.4 = 0.3 inside of the bound, and 1 resample in 4 has the mean 0.3, which
    # floating point puts at 0.29999999999999993
    assert tost([0, 0], [0.1, 0.7], 0.7, "bootstrap").p_upper == pytest.approx(1 / 4, abs=0.02)


def test_margin_is_a_fifth_of_the_standard_deviation_before_over_complete_pairs() -> None:
    # 2, 4, 4, 4, 5, 5, 7, 9: mean 5, squares 9 + 1 + 1 + 1 + 0 + 0 + 4 + 16 = 32, standard deviation sqrt(32 / 8) = 2
    assert tost([2, 4, 4, 4, 5, 5, 7, 9], [0] * 8).margin == pytest.approx(0.4)
    assert tost([1, 3, 100, math.nan], [1, 4, math.nan, 2]) == tost([1, 3], [1, 4])


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


@pytest.mark.parametrize(("shift", "p_lower", "p_upper"), [(0, 0, 0), (0.25, 0, 0), (0.5, 0, 1), (-0.5, 1, 0)])
def test_deltas_without_spread_lie_inside_a_bound_or_not(shift: float, p_lower: float, p_upper: float) -> None:
    before = np.array([0.5, 1, 2])
    found = tost(before, before + shift, margin=0.5)
    assert (found.p_lower, found.p_upper, found.p_value) == (p_lower, p_upper, max(p_lower, p_upper))
    resampled = tost(before, before + shift, 0.5, "bootstrap", resamples=99)
    assert (resampled.p_lower, resampled.p_upper) == (max(p_lower, 0.01), max(p_upper, 0.01))


@pytest.mark.parametrize(("method", "least"), [("t", 0.0), ("bootstrap", 0.01)])
def test_a_constant_has_a_margin_of_0_and_is_equivalent_to_itself_alone(method: str, least: float) -> None:
    found = tost([1.0] * 8, [1.0] * 8, method=method, resamples=99)
    assert (found.margin, found.delta, found.p_value) == (0, 0, least)
    assert math.isnan(tost([1.0] * 8, [0.9] * 8, method=method, resamples=99).p_value)
    assert math.isnan(tost([0.1, 0.1, 0.1], [0.1, 0.2, 0.3], method=method).p_value)
    assert not math.isnan(tost([0.1, 0.1, 0.1], [0.1, 0.2, 0.3], 0.1, method).p_value)


@pytest.mark.parametrize("method", ["t", "bootstrap"])
def test_fewer_than_two_pairs_test_nothing(method: str) -> None:
    one, none = tost([1], [2], 3, method), tost([], [], 3, method)
    assert (one.n, one.delta, one.margin) == (1, 1, 3)
    assert (none.n, none.margin) == (0, 3)
    assert all(math.isnan(p) for found in (one, none) for p in (found.p_lower, found.p_upper, found.p_value))
    assert math.isnan(none.delta)
    assert math.isnan(tost([], [], method=method).margin)


NAN, INF = math.nan, math.inf
COIN, SHARE, NO_DRAW = [0, 1, 1, 0], "expected a number between 0 and 1", "resamples is 0, expected at least 1"
INFINITE = "a value is infinite, expected finite numbers, or NaN where a side is missing"
COLUMNS = "expected 1 (pairs) or 2 (pairs, columns)"
GROUPS = {"g": "aabb"}


@pytest.mark.parametrize(
    ("call", "arguments", "said"),
    [
        (cohens_d, ([1, 2], [1, 2, 3]), "values of shape (2,) against (3,), expected as many on each side"),
        (cohens_d, ([[1, 2]], [[2, 3]]), "values have shape (1, 2), expected one column of pairs"),
        (paired_permutation, ([[[1]]], [[[2]]]), f"values have 3 dimensions, {COLUMNS}"),
        (paired_permutation, (1, 2), f"values have 0 dimensions, {COLUMNS}"),
        *((cohens_d, sides, INFINITE) for sides in (([1, INF], [1, 2]), ([1, 2], [1, -INF]))),
        (paired_bootstrap, ([1, 2], [2, 3], 0), NO_DRAW),
        (partial(tost, method="z"), ([1, 2], [2, 3]), "method is 'z', expected t or bootstrap"),
        (tost, ([1, 2], [2, 3], 0), "margin is 0, expected a number above 0"),
        (partial(tost, resamples=0), ([1, 2], [2, 3]), NO_DRAW),
        *((minimum_population, (sd,), f"sd is {sd}, expected a number of at least 0") for sd in (-0.1, INF, NAN)),
        *((minimum_population, (0.3, m), f"margin is {m}, expected a number above 0") for m in (0, -0.1, INF, NAN)),
        *((margin, (0.3, 5, chance), f"confidence is {chance}, {SHARE}") for chance in (0, 1, NAN)),
        (margin, (0.3, 0), "n is 0, expected at least 1"),
        *((paired_power, (delta, 0.1, 5), f"delta is {delta}, expected a finite number") for delta in (NAN, INF)),
        (mixed_logistic, ([0, 1, 2, 0], {}, GROUPS), "outcome contains 2.0, expected one 0 or 1 a row"),
        (mixed_logistic, ([COIN], {}, GROUPS), "outcome has shape (1, 4), expected one 0 or 1 a row"),
        (
            *(mixed_logistic, (COIN, {"intercept": COIN}, GROUPS)),
            "a predictor is named 'intercept', expected another name: the intercept is added",
        ),
        (
            mixed_logistic,
            (COIN, {"x": [[1]] * 4}, GROUPS),
            "predictor 'x' has shape (4, 1), expected (4,): one value a row",
        ),
        (mixed_logistic, (COIN, {"x": [1, 2, INF, 3]}, GROUPS), "predictor 'x' is inf in row 2, expected a number"),
        (mixed_logistic, (COIN, {}, {"g": "aab"}), "grouping 'g' has 3 rows, expected 4"),
    ],
)
def test_what_is_out_of_range_is_told_with_what_would_do(
    call: Callable[..., Any], arguments: tuple[Any, ...], said: str
) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the whole message is compared
        call(*arguments)
    assert str(caught.value) == said
