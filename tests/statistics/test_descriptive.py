"""Plain descriptions of numbers, and effects of pairs."""

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import percentileofscore

from genie_inspect.statistics.agreement import accuracy, f1, recall
from genie_inspect.statistics.descriptive import (
    NO_SPREAD,
    Spread,
    Standing,
    height,
    isotonic_knots,
    pooled,
    quartiles,
    spread_within,
    standing,
    three_digits,
)
from genie_inspect.statistics.effect import bonferroni, centred_deltas, cohens_d, complete_pairs, holm, paired_values
from genie_inspect.statistics.power import chance_of_seeing, expected_unseen


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


NAN = math.nan
values = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=30)


@pytest.mark.parametrize(
    ("value", "percentile"),
    [
        (0.0, 0.0),  # none of four is lower
        (0.2, 12.5),  # one equal: 1/2 of 4
        (0.3, 25.0),  # one lower
        (0.4, 50.0),  # one lower, two equal: 1 + 2/2 of 4
        (0.9, 100.0),  # all four
    ],
)
def test_a_percentile_is_the_share_of_what_is_lower_and_half_of_what_is_equal(value: float, percentile: float) -> None:
    found = standing(value, [0.2, 0.4, 0.4, 0.8], [0.2, 0.4, 0.4, 0.8])
    assert found is not None
    assert found.percentile == pytest.approx(percentile)
    # quartiles of four: a quarter and three quarters of the way along, 0.2 + 0.75 x 0.2 and 0.4 + 0.25 x 0.4
    assert (found.mean, found.low, found.high) == pytest.approx((0.45, 0.35, 0.5))


@given(st.sampled_from([0.0, 0.1, 0.5, 1.0]), values)
def test_a_percentile_is_that_of_scipy_with_ties_half(value: float, others: list[float]) -> None:
    found = standing(value, others, others)
    assert found is not None
    assert found.percentile == pytest.approx(percentileofscore(others, value, kind="mean"))


def test_what_could_not_be_measured_stands_nowhere() -> None:
    assert standing(NAN, [0.5], [0.5]) is None
    assert standing(0.5, [], [0.5]) is None
    assert standing(0.5, [NAN, NAN], [0.5]) is None
    assert standing(0.5, [0.5], [NAN]) is None
    assert standing(0.5, [NAN, 0.5], [NAN, 0.25]) == Standing(50.0, 0.25, 0.25, 0.25)


@given(values)
def test_the_mean_percentile_of_a_group_in_itself_is_fifty(group: list[float]) -> None:
    found = [standing(value, group, group) for value in group]
    assert sum(one.percentile for one in found if one) / len(group) == pytest.approx(50)


def test_one_value_is_its_own_quartiles_and_none_has_none() -> None:
    assert quartiles([0.3]) == (0.3, 0.3, 0.3)
    assert all(map(math.isnan, quartiles([])))


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (26 / 27, 0.963),
        (0.1, 0.1),
        (0.0999, 0.0999),
        (0.01234567, 0.0123),
        (-0.05678, -0.0568),
        (0, 0),
        (12.34567, 12.346),
        (-2.34567, -2.346),
    ],
)
def test_a_value_keeps_three_digits_wherever_it_lies(value: float, kept: float) -> None:
    assert three_digits(value) == kept


def test_what_is_no_number_stays_none() -> None:
    assert math.isnan(three_digits(math.nan))


POINTS = st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 4)), min_size=1, max_size=30)


def test_what_would_fall_is_pooled_into_its_mean() -> None:
    # 4 before 2 and 3: one level at (4 + 2 + 3) / 3
    assert isotonic_knots([1, 2, 3, 4], [1, 4, 2, 3]) == [(1.0, 1.0), (2.0, 3.0), (4.0, 3.0)]


def test_the_level_at_one_place_is_the_mean_and_weighs_as_often_as_it_was_seen() -> None:
    # the mean 3 of three points at 1 is pooled with the single 1 at 2: (2 + 3 + 4 + 1) / 4
    assert isotonic_knots([1, 1, 1, 2], [2, 3, 4, 1]) == [(1.0, 2.5), (2.0, 2.5)]


def test_no_points_have_no_line() -> None:
    assert isotonic_knots([], []) == []


def test_one_point_is_a_level_line() -> None:
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


@given(st.integers(1, 4), st.integers(0, 4), st.integers(0, 8))
def test_the_chance_is_the_share_of_draws_that_hold_the_class(count: int, others: int, draws: int) -> None:
    things = ["it"] * count + ["other"] * others
    drawn = list(combinations(things, min(draws, len(things))))
    share = sum("it" in some for some in drawn) / len(drawn)
    assert chance_of_seeing(count, len(things), draws) == pytest.approx(share)


def test_every_class_is_seen_when_all_is_drawn() -> None:
    assert chance_of_seeing(1, total=12, draws=12) == chance_of_seeing(1, total=12, draws=50) == 1


def test_what_was_never_seen_twice_goes_on_being_new() -> None:
    # 4 answers, all different: each of the 6 further draws is new
    assert expected_unseen([1, 1, 1, 1], total=4, draws=10) == 6


def test_what_was_always_seen_twice_shows_nothing_new() -> None:
    assert expected_unseen([2, 2], total=4, draws=100) == 0


@pytest.mark.parametrize("draws", [0, 3, 4])
def test_nothing_unseen_is_expected_in_as_many_draws_or_fewer(draws: int) -> None:
    assert expected_unseen([1, 1, 1, 1], total=4, draws=draws) == 0


def test_nothing_seen_promises_nothing() -> None:
    assert expected_unseen([], total=0, draws=5) == 0


def test_by_hand() -> None:
    ours, theirs = ["a", "a", "b", "c"], ["a", "b", "b", "b"]
    assert accuracy(ours, theirs) == 0.5
    assert [recall(ours, theirs, label) for label in "ab"] == [1, 1 / 3]
    # b: both 1; ours 1, theirs 3
    assert f1(ours, theirs, "b") == 0.5
    assert f1(ours, theirs, "c") == 0


def test_what_nobody_says_has_no_figure() -> None:
    assert math.isnan(accuracy([], []))
    assert math.isnan(recall(["a"], ["a"], "b"))
    assert math.isnan(f1(["a"], ["a"], "b"))


SCORES = st.integers(0, 40).map(lambda tenths: tenths / 10)
PAIRS = st.lists(st.tuples(SCORES, SCORES), min_size=2, max_size=15)


def test_mean_delta_in_standard_deviations_of_the_deltas_by_hand() -> None:
    # deltas 0.1, 0.3, -0.1, 0.5: mean 0.2; squares 0.01 + 0.01 + 0.09 + 0.09 = 0.2; sqrt(0.2 / 3) = 0.258199
    assert cohens_d([0.4, 0.2, 0.6, 0.1], [0.5, 0.5, 0.5, 0.6]) == pytest.approx(0.2 / 0.2581989, rel=1e-6)


@given(PAIRS)
def test_swapping_the_sides_changes_the_sign(pairs: list[tuple[float, float]]) -> None:
    before, after = zip(*pairs, strict=True)
    assert cohens_d(after, before) == pytest.approx(-cohens_d(before, after), nan_ok=True)


@given(PAIRS, st.floats(0.5, 20))
def test_the_unit_of_the_scores_does_not_matter(pairs: list[tuple[float, float]], unit: float) -> None:
    before, after = zip(*pairs, strict=True)
    scaled = cohens_d([value * unit for value in before], [value * unit for value in after])
    assert scaled == pytest.approx(cohens_d(before, after), rel=1e-6, nan_ok=True)


def test_equal_sides_have_no_effect() -> None:
    assert cohens_d([0.3, 0.7], [0.3, 0.7]) == 0


def test_a_shift_without_spread_has_no_unit() -> None:
    # the deltas differ by rounding alone, whichever side the values stand on
    assert math.isnan(cohens_d([0.1, 0.2, 0.3], [0.2, 0.3, 0.4]))
    assert math.isnan(cohens_d([0, 0, 0], [0.3, 0.1 + 0.2, 0.3]))
    assert math.isnan(cohens_d([0.3, 0.1 + 0.2, 0.3], [0, 0, 0]))


@pytest.mark.parametrize("side", [[], [1], [1, math.nan]])
def test_fewer_than_two_pairs_have_no_effect_size(side: list[float]) -> None:
    assert math.isnan(cohens_d(side, side))


def test_a_value_without_its_partner_is_missing_on_both_sides() -> None:
    first, second = paired_values([1, math.nan, 3], [4, 5, math.nan])
    assert first.tolist() == pytest.approx([1, math.nan, math.nan], nan_ok=True)
    assert second.tolist() == pytest.approx([4, math.nan, math.nan], nan_ok=True)


def test_none_is_missing_like_nan() -> None:
    from_json: Any = [1, None, 3]
    first, second = complete_pairs(from_json, [4, 5, 6])
    assert (first.tolist(), second.tolist()) == ([1, 3], [4, 6])


def test_rounding_is_judged_by_the_larger_side() -> None:
    before = np.array([0, 1e-6])
    assert not centred_deltas(before, before + 5)[1].any()
    assert not centred_deltas(before + 5, before)[1].any()


def test_a_mean_that_is_rounding_alone_is_exactly_0() -> None:
    mean, _ = centred_deltas(np.array([0.1 + 0.2, 0.5]), np.array([0.3, 0.5]))
    assert float(mean) == 0


def test_a_small_difference_is_not_taken_for_rounding() -> None:
    mean, centred = centred_deltas(np.array([1.0, 1.0]), np.array([1 + 1e-9, 1 + 3e-9]))
    assert float(mean) == pytest.approx(2e-9)
    assert centred.tolist() == pytest.approx([-1e-9, 1e-9], rel=1e-3)


def test_rounding_is_judged_column_by_column() -> None:
    before = np.array([[1e6, 1e-9], [1e6, 1e-9]])
    mean, _ = centred_deltas(before, before + np.array([0, 1e-10]))
    assert mean.tolist() == pytest.approx([0, 1e-10])


P_VALUES = st.lists(st.floats(0, 1) | st.just(math.nan), max_size=8)


def test_holm_by_hand() -> None:
    # ordered 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1: 0.02, 0.03, 0.06, 0.04; none below the one before it: 0.06
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_bonferroni_by_hand() -> None:
    assert bonferroni([0.01, 0.04, 0.3, 0.005]) == pytest.approx([0.04, 0.16, 1, 0.02])


def test_a_missing_p_value_stays_missing_and_does_not_count() -> None:
    nan = math.nan
    assert holm([nan, 0.02, nan, 0.03]) == pytest.approx([nan, 0.04, nan, 0.04], nan_ok=True)
    assert bonferroni([nan, 0.02, nan, 0.03]) == pytest.approx([nan, 0.04, nan, 0.06], nan_ok=True)


@given(P_VALUES)
def test_holm_lies_between_the_p_value_and_bonferroni(p_values: list[float]) -> None:
    given_, stepped, full = np.array(p_values), holm(p_values), bonferroni(p_values)
    missing = np.isnan(given_)
    assert (np.isnan(stepped) == missing).all()
    assert (np.isnan(full) == missing).all()
    assert (given_[~missing] <= stepped[~missing]).all()
    assert (stepped[~missing] <= full[~missing]).all()
    assert (full[~missing] <= 1).all()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8, unique=True))
def test_holm_rejects_what_stepping_down_rejects(p_values: list[float]) -> None:
    """The smallest against level / M, the next against level / (M - 1), until one fails."""
    level, count = 0.05, len(p_values)
    rejected: set[float] = set()
    for step, p_value in enumerate(sorted(p_values)):
        if p_value * (count - step) > level:
            break
        rejected.add(p_value)
    assert [p in rejected for p in p_values] == (holm(p_values) <= level).tolist()
