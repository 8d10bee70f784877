"""Novelty from ratings, and Likert tests."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie_inspect.measures import likert
from genie_inspect.measures.genie import (
    MIN_COVERAGE,
    feature_novelty,
    is_used,
    nearest_novelty,
    question_coverage,
    question_novelty,
    similarity,
    usable_similarities,
)
from genie_inspect.measures.likert import order_bias, win_rate

nan = pytest.approx(math.nan, nan_ok=True)
any_rating = st.one_of(st.none(), st.floats(), st.integers(-1, 6))
usable_rating = st.floats(1, 4)


@pytest.mark.parametrize(
    ("rating", "expected"),
    [
        (1, 0.0),  # (1 - 1) / 3
        (2, 1 / 3),  # (2 - 1) / 3
        (3, 2 / 3),  # (3 - 1) / 3
        (4, 1.0),  # (4 - 1) / 3
        (2.5, 0.5),  # 1.5 / 3: an embedded judge rates between the numbers
    ],
)
def test_similarity_stretches_one_to_four_over_nothing_to_everything(rating: float, expected: float) -> None:
    assert similarity(rating) == pytest.approx(expected)


@pytest.mark.parametrize("rating", [0, None, math.nan, 0.999, 4.001, 5, -1, math.inf, -math.inf])
def test_what_is_no_rating_from_one_to_four_has_no_similarity(rating: float | None) -> None:
    assert math.isnan(similarity(rating))


@pytest.mark.parametrize(
    ("ratings", "expected"),
    [
        ([4], 0.0),  # 1 - 1
        ([1], 1.0),  # 1 - 0
        ([1, 4], 0.5),  # 1 - (0 + 1) / 2
        ([1, 2, 3, 4], 0.5),  # 1 - (0 + 1/3 + 2/3 + 1) / 4
        ([1, 1, 1, 2], 11 / 12),  # 1 - (1/3) / 4
        ([3, 3, 0, None], 1 / 3),  # 1 - (2/3 + 2/3) / 2: two do not count, neither above nor below the line
        ([4, 5, math.nan], 0.0),  # 1 - 1 / 1
    ],
)
def test_question_novelty_is_one_minus_the_mean_similarity(ratings: list[float | None], expected: float) -> None:
    assert question_novelty(ratings) == pytest.approx(expected)


@pytest.mark.parametrize("ratings", [[], [0], [None, None], [0, 5, math.nan]])
def test_a_question_without_a_usable_rating_has_no_novelty(ratings: list[float | None]) -> None:
    assert question_novelty(ratings) == nan


@pytest.mark.parametrize(
    ("ratings", "expected"),
    [
        ([1, 1, 1, 4], 0.0),  # 1 - 1, where the mean would be 0.75
        ([1, 2, 1], 2 / 3),  # 1 - 1/3
        ([3, 0, None, 5], 1 / 3),  # 1 - 2/3: what is no rating is not the nearest
        ([1, 1], 1.0),  # 1 - 0
    ],
)
def test_nearest_is_one_minus_the_highest_similarity(ratings: list[float | None], expected: float) -> None:
    assert nearest_novelty(usable_similarities(ratings)) == pytest.approx(expected)


@pytest.mark.parametrize("ratings", [[], [0], [None, math.nan, 5]])
def test_a_question_without_a_usable_rating_has_no_nearest(ratings: list[float | None]) -> None:
    assert nearest_novelty(usable_similarities(ratings)) == nan


@given(st.lists(usable_rating, min_size=1))
def test_the_nearest_is_never_farther_than_the_mean(ratings: list[float]) -> None:
    assert 0 <= nearest_novelty(usable_similarities(ratings)) <= question_novelty(ratings) + 1e-12


def test_ratings_may_come_from_a_stream() -> None:
    assert question_novelty(rating for rating in (1, 4)) == 0.5
    assert nearest_novelty(usable_similarities(rating for rating in (1, 4))) == 0.0


@given(st.lists(any_rating))
def test_a_question_novelty_is_between_zero_and_one_or_missing(ratings: list[float | None]) -> None:
    novelty = question_novelty(ratings)
    assert 0 <= novelty <= 1 or (math.isnan(novelty) and not usable_similarities(ratings))


@given(st.lists(usable_rating, min_size=1))
def test_the_order_of_the_ratings_does_not_matter(ratings: list[float]) -> None:
    assert question_novelty(sorted(ratings)) == question_novelty(ratings)


@given(st.lists(usable_rating, min_size=1), st.lists(st.sampled_from([0, None, math.nan, 7])))
def test_unusable_ratings_change_nothing(ratings: list[float], unusable: list[float | None]) -> None:
    assert question_novelty([*ratings, *unusable]) == question_novelty(ratings)


@given(st.lists(usable_rating, min_size=1), st.data())
def test_a_higher_rating_never_makes_a_question_more_novel(ratings: list[float], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(ratings) - 1))
    raised = [*ratings[:place], data.draw(st.floats(ratings[place], 4)), *ratings[place + 1 :]]
    assert question_novelty(raised) <= question_novelty(ratings) + 1e-12


@pytest.mark.parametrize(
    ("ratings", "expected"),
    [
        ([1, None, None, None], 1 / 4),
        ([1, 4, 0, 7], 2 / 4),  # neither 0 nor 7 is a rating
        ([2, 2], 1.0),
        ([None], 0.0),
        ([], math.nan),
    ],
)
def test_coverage_of_a_question_is_the_share_of_the_ratings_due_that_are_usable(
    ratings: list[float | None], expected: float
) -> None:
    assert question_coverage(ratings) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    ("usable", "due", "min_coverage", "used"),
    [
        (1, 12, MIN_COVERAGE, False),
        (5, 12, MIN_COVERAGE, False),
        (6, 12, MIN_COVERAGE, True),  # half is enough
        (1, 12, 0, True),  # one will do
        (0, 12, 0, False),  # but not none
        (0, 0, 0, False),
        (11, 12, 1, False),
        (12, 12, 1, True),
    ],
)
def test_a_question_is_used_with_so_many_of_its_ratings(usable: int, due: int, min_coverage: float, used: bool) -> None:
    assert is_used([2] * usable + [None] * (due - usable), min_coverage) is used


def test_by_default_half_of_the_ratings_are_enough_and_from_a_stream_too() -> None:
    assert is_used(rating for rating in (1, None))
    assert not is_used(rating for rating in (1, None, None))


@given(st.lists(any_rating), st.floats(0, 1))
def test_a_question_that_is_used_has_a_novelty(ratings: list[float | None], min_coverage: float) -> None:
    assert not (is_used(ratings, min_coverage) and math.isnan(question_novelty(ratings)))


FEATURE_OF = {"q1": "plot", "q2": "plot", "q3": "plot", "q4": "style", "q5": "setting"}


def test_feature_novelty_is_the_mean_over_its_usable_questions() -> None:
    novelty = {"q1": 0.5, "q2": 1.0, "q3": math.nan, "q4": 0.25, "q5": math.nan}
    # plot: (0.5 + 1.0) / 2 = 0.75, q3 does not count; style: 0.25 / 1; setting: nothing usable
    assert feature_novelty(novelty, FEATURE_OF) == {"plot": 0.75, "style": 0.25, "setting": nan}


def test_questions_count_alike_however_many_ratings_they_have() -> None:
    # q1: 1 - 0/3 = 1; q2: 1 - 1/1 = 0; plot: (1 + 0) / 2, where pooling the four ratings would give 3/4
    novelty = {"q1": question_novelty([1, 1, 1]), "q2": question_novelty([4])}
    assert feature_novelty(novelty, {"q1": "plot", "q2": "plot"}) == {"plot": 0.5}


def test_a_question_that_was_asked_but_has_no_entry_is_unusable() -> None:
    assert feature_novelty({"q1": 0.5}, FEATURE_OF) == {"plot": 0.5, "style": nan, "setting": nan}


def test_a_feature_without_questions_is_absent() -> None:
    assert feature_novelty({"q1": 0.5}, {"q1": "plot"}) == {"plot": 0.5}
    assert feature_novelty({}, {}) == {}


def test_a_novelty_of_an_unknown_question_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="question 'q9' has a novelty but no feature"):
        feature_novelty({"q9": 0.5}, FEATURE_OF)


@given(st.dictionaries(st.sampled_from(sorted(FEATURE_OF)), st.one_of(st.floats(0, 1), st.just(math.nan))))
def test_every_feature_that_was_asked_about_has_a_value_in_range_or_none(novelty: dict[str, float]) -> None:
    found = feature_novelty(novelty, FEATURE_OF)
    assert list(found) == ["plot", "style", "setting"]
    assert all(0 <= value <= 1 or math.isnan(value) for value in found.values())


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
