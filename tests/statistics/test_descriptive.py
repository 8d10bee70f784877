"""Means with intervals, spreads, ranks among others, isotonic lines."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import percentileofscore, t

from genie_inspect.statistics.descriptive import (
    NO_SPREAD,
    Spread,
    Standing,
    height,
    isotonic_knots,
    pooled,
    prompt_interval,
    prompt_means,
    quartiles,
    spread_within,
    standard_error,
    standing,
    three_digits,
    variance_parts,
)

NAN = math.nan


def test_intervals_by_hand_with_prompts_that_weigh_alike() -> None:
    # 1, 2, 3: mean 2, standard deviation 1, error 1 / sqrt(3) = 0.5773503; t with two degrees of freedom 4.3026527:
    # half width 2.4841377
    found = prompt_interval([1, 2, 3], ["a", "b", "c"])
    assert (found.mean, found.values, found.clusters) == (2, 3, 3)
    assert (found.low, found.high) == pytest.approx((2 - 2.4841377, 2 + 2.4841377), abs=1e-6)
    # prompt means 1 and 3: mean 2, standard deviation sqrt(2), error 1; t with one degree of freedom is 12.7062047
    found = prompt_interval([1, 1, 3, 3], ["a", "a", "b", "b"])
    assert (found.values, found.clusters) == (4, 2)
    assert found.high - found.mean == pytest.approx(12.7062047, abs=1e-6)
    # prompt means 1.5, 3, 6: mean 3.5, where the four values have 3; squares 4 + 0.25 + 6.25 = 10.5, error
    # sqrt(10.5 / 2 / 3) = 1.3228757; t with two degrees of freedom 4.3026527
    found = prompt_interval([1, 2, 3, 6], ["a", "a", "b", "c"])
    assert found.mean == 3.5
    assert found.mean - found.low == pytest.approx(1.3228757 * 4.3026527, abs=1e-6)


@given(
    st.integers(1, 4).flatmap(
        lambda size: st.lists(st.lists(st.floats(-10, 10), min_size=size, max_size=size), min_size=2, max_size=8)
    )
)
def test_where_prompts_have_as_many_values_it_is_the_clustered_interval(values: list[list[float]]) -> None:
    prompts = [place for place, own in enumerate(values) for _ in own]
    found = prompt_interval([value for own in values for value in own], prompts)
    assume(not math.isnan(found.low))
    # by cluster-robust standard errors (Miller 2024), with t for z
    every, groups = np.array(values), len(values)
    error = math.sqrt(groups / (groups - 1) * ((every - every.mean()).sum(axis=1) ** 2).sum()) / every.size
    half = t.ppf(0.975, groups - 1) * error
    assert (found.mean, found.high - found.mean) == pytest.approx((every.mean(), half), abs=1e-9)


def test_missing_values_are_left_out_and_so_are_prompts_without_any() -> None:
    values, prompts = [1, NAN, 3, NAN], ["a", "a", "b", "c"]
    assert prompt_interval(values, prompts) == prompt_interval([1, 3], ["a", "b"])
    assert prompt_means(values, prompts) == {"a": 1, "b": 3}
    assert math.isnan(prompt_interval([NAN], ["a"]).mean)
    assert prompt_interval([], []).values == 0


@pytest.mark.parametrize("values", [[2], [14, 14], [1.0] * 8, [0.1 + 0.2, 0.3]])
def test_prompts_that_do_not_vary_have_a_mean_but_no_interval(values: list[float]) -> None:
    # two stories that pass all fourteen tests do not show that every story does
    found = prompt_interval(values, range(len(values)))
    assert found.mean == pytest.approx(values[0])
    assert all(map(math.isnan, (found.low, found.high, standard_error(values))))


def test_an_interval_ends_where_the_values_do() -> None:
    values = [0.9, 1.0, 1.0]  # mean 0.967, half width of the t interval 4.303 * 0.0333 = 0.143: it would end at 1.11
    found = prompt_interval(values, "abc", bounds=(0, 1))
    assert 0 < found.low < 0.823 < found.mean < found.high <= 1
    mirrored = prompt_interval([0.1, 0.0, 0.0], "abc", bounds=(0, 1))
    assert [1 - mirrored.high, 1 - mirrored.low] == pytest.approx([found.low, found.high])
    assert math.isnan(prompt_interval([0.5], ["a"], bounds=(0, 1)).low)


def test_a_scale_of_other_ends_bends_an_interval_alike() -> None:
    shares = prompt_interval([0.9, 1.0, 0.7, 0.95], "abcd", bounds=(0, 1))
    points = prompt_interval([18.0, 20.0, 14.0, 19.0], "abcd", bounds=(0, 20))
    assert [points.low, points.high] == pytest.approx([20 * shares.low, 20 * shares.high])
    # no end above: an interval of lengths 1, 2, 30 begins above 0, where that of t begins at -30
    assert 0 < prompt_interval([1, 2, 30], "abc", bounds=(0, math.inf)).low < 1


def test_far_from_the_ends_and_with_values_beyond_them_it_is_the_t_interval() -> None:
    values = [0.499, 0.5, 0.501]  # half width 0.0025, an end is 201 of them away
    assert prompt_interval(values, "abc", bounds=(0, 1)) == prompt_interval(values, "abc")
    # nearer ones differ by little: 0.5 +- 0.0248
    wide = prompt_interval([0.49, 0.5, 0.51], "abc", bounds=(0, 1))
    assert [wide.low, wide.high] == pytest.approx([0.5 - 0.0248, 0.5 + 0.0248], abs=0.002)
    assert prompt_interval([5, 6, 7], "abc", bounds=(0, 1)) == prompt_interval([5, 6, 7], "abc")


@pytest.mark.parametrize(
    ("mean", "size", "least"),
    # as beta values: a t interval of 8 prompts covers 0.995 of size 30 in 71%, of 350 (the demo's creativity index:
    # standard deviation 0.004) in 92%, and 0.95 of size 10 in 87%
    [(0.5, 3, 0.95), (0.95, 10, 0.94), (0.995, 30, 0.93), (0.995, 350, 0.94)],
)
def test_eight_prompts_cover_their_mean_also_near_an_end(mean: float, size: float, least: float) -> None:
    draws = np.random.default_rng(0).beta(mean * size, (1 - mean) * size, (2000, 8))
    intervals = [prompt_interval(values, range(8), bounds=(0, 1)) for values in draws.tolist()]
    assert np.mean([found.low <= mean <= found.high for found in intervals]) > least


def test_values_too_large_to_add_have_a_mean_and_means_that_differ_by_little_vary() -> None:
    # the sum is beyond any float; deviations of 1e308 / 3 and 2e308 / 3, error 1e308 / 3
    assert prompt_interval([1e308, 1e308, 0], "abc").mean == pytest.approx(1e308 / 3 * 2)
    assert standard_error([1e308, 1e308, 0]) == pytest.approx(1e308 / 3)
    infinite = prompt_interval([math.inf, 1, 2], "abc")
    assert infinite.mean == math.inf
    assert math.isnan(infinite.low)
    assert math.isnan(prompt_interval([math.inf, -math.inf], "ab").mean)
    # standard deviation 1e-10 / sqrt(2), over the root of 2
    assert standard_error([1, 1 + 1e-10]) == pytest.approx(0.5e-10, rel=1e-5)


def test_spreads_are_within_groups_and_pooled_by_their_degrees_of_freedom() -> None:
    # 0.5 from each mean: 4 * 0.25 over 2 degrees of freedom
    assert spread_within([[0, 1], [5, 6]]).sd ** 2 == pytest.approx(0.5)
    # a group of one and an empty one say nothing
    assert spread_within([[3], [], [0, 2]]) == Spread(math.sqrt(2), 1)
    assert math.isnan(spread_within([[3], []]).sd)
    assert spread_within([]).degrees == 0
    # (1 * 0.04 + 3 * 0.08) / 4 = 0.07
    found = pooled([Spread(0.2, 1), NO_SPREAD, Spread(math.sqrt(0.08), 3)])
    assert (found.sd**2, found.degrees) == pytest.approx((0.07, 4))
    assert math.isnan(pooled([NO_SPREAD]).sd)


values = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=30)


@given(st.sampled_from([0.0, 0.1, 0.5, 1.0]), values)
def test_a_percentile_is_that_of_scipy_with_ties_half(value: float, others: list[float]) -> None:
    found = standing(value, others, others)
    assert found is not None
    assert found.percentile == pytest.approx(percentileofscore(others, value, kind="mean"))


def test_a_value_stands_among_what_was_measured_and_what_could_not_be_stands_nowhere() -> None:
    # one lower, two equal: 1 + 2/2 of 4. Quartiles of four: a quarter and three quarters of the way along, 0.2 + 0.75 x
    # 0.2 and 0.4 + 0.25 x 0.4
    found = standing(0.4, [0.2, 0.4, 0.4, 0.8], [0.2, 0.4, 0.4, 0.8])
    assert found is not None
    assert (found.percentile, found.mean, found.low, found.high) == pytest.approx((50, 0.45, 0.35, 0.5))
    for value, others, alone in ((NAN, [0.5], [0.5]), (0.5, [], [0.5]), (0.5, [NAN, NAN], [0.5]), (0.5, [0.5], [NAN])):
        assert standing(value, others, alone) is None
    assert standing(0.5, [NAN, 0.5], [NAN, 0.25]) == Standing(50.0, 0.25, 0.25, 0.25)
    assert all(map(math.isnan, quartiles([])))


def test_a_value_keeps_three_digits_wherever_it_lies() -> None:
    kept = {26 / 27: 0.963, 0.1: 0.1, 0.0999: 0.0999, 0.01234567: 0.0123, -0.05678: -0.0568, 0: 0, 12.34567: 12.346}
    assert list(map(three_digits, kept)) == list(kept.values())
    assert math.isnan(three_digits(NAN))


POINTS = st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 4)), min_size=1, max_size=30)


def test_isotonic_lines_by_hand() -> None:
    # 4 before 2 and 3: one level at (4 + 2 + 3) / 3
    assert isotonic_knots([1, 2, 3, 4], [1, 4, 2, 3]) == [(1.0, 1.0), (2.0, 3.0), (4.0, 3.0)]
    # the level at one place is the mean, and weighs as often as it was seen: (2 + 3 + 4 + 1) / 4
    assert isotonic_knots([1, 1, 1, 2], [2, 3, 4, 1]) == [(1.0, 2.5), (2.0, 2.5)]
    assert isotonic_knots([], []) == []
    assert isotonic_knots([0.5], [2]) == [(0.5, 2.0)]
    assert height([(0.5, 2.0)], -1) == height([(0.5, 2.0)], 1) == 2


@given(POINTS)
def test_a_line_never_falls_stays_within_the_values_and_keeps_their_mean(points: list[tuple[int, int]]) -> None:
    x, y = zip(*points, strict=True)
    knots = isotonic_knots(x, y)
    heights = [level for _, level in knots]
    assert heights == sorted(heights)
    assert min(y) - 1e-9 <= heights[0] <= heights[-1] <= max(y) + 1e-9
    assert np.mean([height(knots, place) for place in x]) == pytest.approx(np.mean(y))


def test_components_are_those_of_the_mean_squares_by_hand() -> None:
    # rows have means 1, 3, 5, columns 2 and 4; residuals are all 0 but for the corners
    table = [[0.0, 2.0], [2.0, 4.0], [3.0, 7.0], [NAN, 9.0]]
    # grand mean 3; rows 1, 3, 5: variance 4; columns 5/3 and 13/3: variance 32/9
    # residuals: 1/3, -1/3, 1/3, -1/3, -2/3, 2/3: sum of squares 4/3, over 2 degrees 2/3
    parts = variance_parts(table)
    assert parts.rest == pytest.approx(2 / 3)
    assert parts.rows == pytest.approx(4 - (2 / 3) / 2)
    assert parts.columns == pytest.approx(32 / 9 - (2 / 3) / 3)
    assert sum(parts.shares) == pytest.approx(1)
    assert parts.shares[2] == pytest.approx((2 / 3) / (2 / 3 + 11 / 3 + 10 / 3))
    # none is below 0
    assert variance_parts([[0, 1], [1, 0]]).rows == 0


def test_less_than_two_complete_rows_or_columns_or_equal_values_have_no_components() -> None:
    for table in (np.empty((0, 3)), [[1, 2]], [[1], [2]], [[1, NAN], [NAN, 2]], [[2, 2], [2, 2]]):
        assert all(map(math.isnan, variance_parts(np.array(table)).shares))
