"""The arithmetic of Likert tests."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie_inspect.measures import likert
from genie_inspect.measures.likert import order_bias, win_rate

VERDICTS = st.integers(-2, 2)
CUTOFFS = (-3, -2, -1, 0)
# Points of story A over story B with the reference first, the same with the candidate first, the score, and whether the
# test passes at each of the cutoffs -3, -2, -1, 0. The score is candidate first minus reference first.
TABLE = [
    (-2, -2, 0, "yyyy"),  # -2 - (-2) = 0
    (-2, -1, 1, "yyyy"),  # -1 - (-2) = 1
    (-2, 0, 2, "yyyy"),  # 0 - (-2) = 2
    (-2, 1, 3, "yyyy"),  # 1 - (-2) = 3
    (-2, 2, 4, "yyyy"),  # 2 - (-2) = 4
    (-1, -2, -1, "yyyn"),  # -2 - (-1) = -1
    (-1, -1, 0, "yyyy"),  # -1 - (-1) = 0
    (-1, 0, 1, "yyyy"),  # 0 - (-1) = 1
    (-1, 1, 2, "yyyy"),  # 1 - (-1) = 2
    (-1, 2, 3, "yyyy"),  # 2 - (-1) = 3
    (0, -2, -2, "yynn"),  # -2 - (0) = -2
    (0, -1, -1, "yyyn"),  # -1 - (0) = -1
    (0, 0, 0, "yyyy"),  # 0 - (0) = 0
    (0, 1, 1, "yyyy"),  # 1 - (0) = 1
    (0, 2, 2, "yyyy"),  # 2 - (0) = 2
    (1, -2, -3, "ynnn"),  # -2 - (1) = -3
    (1, -1, -2, "yynn"),  # -1 - (1) = -2
    (1, 0, -1, "yyyn"),  # 0 - (1) = -1
    (1, 1, 0, "yyyy"),  # 1 - (1) = 0
    (1, 2, 1, "yyyy"),  # 2 - (1) = 1
    (2, -2, -4, "nnnn"),  # -2 - (2) = -4
    (2, -1, -3, "ynnn"),  # -1 - (2) = -3
    (2, 0, -2, "yynn"),  # 0 - (2) = -2
    (2, 1, -1, "yyyn"),  # 1 - (2) = -1
    (2, 2, 0, "yyyy"),  # 2 - (2) = 0
]


def test_the_table_has_all_pairs_of_verdicts() -> None:
    assert len({row[:2] for row in TABLE}) == 25


@pytest.mark.parametrize(("reference_first", "candidate_first", "score", "passing"), TABLE)
def test_a_score_is_how_much_better_the_candidate_is_in_both_orders_and_passes_from_the_cutoff_on(
    reference_first: int, candidate_first: int, score: int, passing: str
) -> None:
    assert likert.test_score(reference_first, candidate_first) == score
    assert "".join("y" if likert.passes(score, cutoff) else "n" for cutoff in CUTOFFS) == passing


@given(VERDICTS, VERDICTS)
def test_swapping_candidate_and_reference_turns_the_score_round(first: int, second: int) -> None:
    assert likert.test_score(second, first) == -likert.test_score(first, second)


@given(VERDICTS, VERDICTS, st.integers(-2, 2))
def test_a_preference_for_a_place_cancels(reference_first: int, candidate_first: int, bias: int) -> None:
    biased = likert.test_score(reference_first + bias, candidate_first + bias)
    assert biased == likert.test_score(reference_first, candidate_first)


@given(VERDICTS)
def test_a_judge_that_looks_at_the_place_alone_scores_0(points: int) -> None:
    assert likert.test_score(points, points) == 0
    assert likert.position_bias([(points, points)]) == points


def test_the_default_cutoff_lets_one_step_down_in_each_order_pass() -> None:
    # better by one step in both orders: -1 - 1 = -2; by two steps in one of them: -2 - 1 = -3
    assert likert.passes(likert.test_score(1, -1))
    assert not likert.passes(likert.test_score(1, -2))


@pytest.mark.parametrize(
    ("reference_first", "candidate_first", "agree"),
    [(2, -1, True), (-1, 2, True), (0, 0, True), (1, 1, False), (-2, -1, False), (0, 1, False), (1, 0, False)],
)
def test_orders_agree_when_both_name_the_same_story_or_none(
    reference_first: int, candidate_first: int, agree: bool
) -> None:
    assert likert.orders_agree(reference_first, candidate_first) is agree


def test_tests_that_were_not_judged_count_in_no_sum() -> None:
    results = [1.0, math.nan, 0.0, 1.0]
    assert likert.passed(results) == 2
    assert likert.pass_share(results) == 2 / 3


def test_without_a_judged_test_there_is_no_sum() -> None:
    assert math.isnan(likert.passed([math.nan]))
    assert math.isnan(likert.pass_share([]))
    assert math.isnan(likert.position_bias([]))


PREFERENCE_VERDICTS = st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=9)


def test_a_story_that_wins_in_both_orders_wins_all() -> None:
    assert win_rate([1, 1], [0, 0]) == 1
    assert order_bias([1, 1], [0, 0]) == 0


def test_ties_are_half() -> None:
    assert win_rate([0.5], [0.5]) == 0.5


def test_a_judge_that_always_prefers_the_first_story_decides_nothing() -> None:
    assert win_rate([1, 1, 1], [1, 1, 1]) == 0.5
    assert order_bias([1, 1, 1], [1, 1, 1]) == 1
    assert order_bias([0], [0]) == -1


@given(PREFERENCE_VERDICTS, PREFERENCE_VERDICTS)
def test_swapping_the_stories_turns_the_win_rate_round_and_keeps_the_bias(
    first: list[float], second: list[float]
) -> None:
    assert math.isclose(win_rate(first, second), 1 - win_rate(second, first), abs_tol=1e-12)
    assert math.isclose(order_bias(first, second), order_bias(second, first), abs_tol=1e-12)


def test_an_order_that_nobody_judged_leaves_no_win_rate() -> None:
    assert math.isnan(win_rate([1], []))
    assert math.isnan(order_bias([], [1]))
