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
    question_novelty,
    similarity,
    usable_ratings,
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
        *((rating, math.nan) for rating in (0, None, math.nan, 0.999, 4.001, 5, -1, math.inf, -math.inf)),
    ],
)
def test_similarity_stretches_one_to_four_over_nothing_to_everything(rating: float | None, expected: float) -> None:
    assert similarity(rating) == pytest.approx(expected, nan_ok=True)


def nearest_of(ratings: list[float | None]) -> float:
    return nearest_novelty([similarity(rating) for rating in usable_ratings(ratings)])


@pytest.mark.parametrize(
    ("ratings", "expected", "nearest"),
    [
        ([4], 0.0, 0.0),  # 1 - 1
        ([1], 1.0, 1.0),  # 1 - 0
        ([1, 4], 0.5, 0.0),  # 1 - (0 + 1) / 2
        ([1, 2, 3, 4], 0.5, 0.0),  # 1 - (0 + 1/3 + 2/3 + 1) / 4
        ([1, 1, 1, 2], 11 / 12, 2 / 3),  # 1 - (1/3) / 4; the highest is 1/3
        ([3, 3, 0, None], 1 / 3, 1 / 3),  # 1 - (2/3 + 2/3) / 2: two do not count, neither above nor below the line
        ([4, 5, math.nan], 0.0, 0.0),  # 1 - 1 / 1
        *((ratings, math.nan, math.nan) for ratings in ([], [0], [None, None], [0, 5, math.nan])),
    ],
)
def test_question_novelty_is_one_minus_the_mean_similarity_and_nearest_minus_the_highest(
    ratings: list[float | None], expected: float, nearest: float
) -> None:
    assert question_novelty(iter(ratings)) == pytest.approx(expected, nan_ok=True)
    assert nearest_of(ratings) == pytest.approx(nearest, nan_ok=True)


@given(st.lists(any_rating))
def test_a_question_novelty_is_between_zero_and_one_or_missing_and_the_nearest_no_farther(
    ratings: list[float | None],
) -> None:
    novelty = question_novelty(ratings)
    assert 0 <= nearest_of(ratings) <= novelty + 1e-12 <= 1 + 1e-9 or (
        math.isnan(novelty) and not usable_ratings(ratings)
    )


@given(st.lists(usable_rating, min_size=1), st.lists(st.sampled_from([0, None, math.nan, 7])), st.data())
def test_neither_order_nor_unusable_ratings_matter_and_a_higher_one_never_makes_more_novel(
    ratings: list[float], unusable: list[float | None], data: st.DataObject
) -> None:
    novelty = question_novelty(ratings)
    assert question_novelty([*sorted(ratings), *unusable]) == novelty
    place = data.draw(st.integers(0, len(ratings) - 1))
    raised = [*ratings[:place], data.draw(st.floats(ratings[place], 4)), *ratings[place + 1 :]]
    assert question_novelty(raised) <= novelty + 1e-12


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
    # neither 0 nor 7 is a rating
    lost = [(None, 0, 7)[place % 3] for place in range(due - usable)]
    assert is_used(iter([2] * usable + lost), min_coverage) is used


@given(st.lists(any_rating), st.floats(0, 1))
def test_a_question_that_is_used_has_a_novelty(ratings: list[float | None], min_coverage: float) -> None:
    assert not (is_used(ratings, min_coverage) and math.isnan(question_novelty(ratings)))


FEATURE_OF = {"q1": "plot", "q2": "plot", "q3": "plot", "q4": "style", "q5": "setting"}


@pytest.mark.parametrize(
    ("novelty", "feature_of", "expected"),
    [
        # plot: (0.5 + 1.0) / 2 = 0.75, q3 does not count; style: 0.25 / 1; setting: nothing usable
        (
            {"q1": 0.5, "q2": 1.0, "q3": math.nan, "q4": 0.25, "q5": math.nan},
            FEATURE_OF,
            {"plot": 0.75, "style": 0.25, "setting": nan},
        ),
        # q1: 1 - 0/3 = 1; q2: 1 - 1/1 = 0; plot: (1 + 0) / 2, where pooling the four ratings would give 3/4
        (
            {"q1": question_novelty([1, 1, 1]), "q2": question_novelty([4])},
            {"q1": "plot", "q2": "plot"},
            {"plot": 0.5},
        ),
        # asked without an entry is unusable; a feature without questions is absent
        ({"q1": 0.5}, FEATURE_OF, {"plot": 0.5, "style": nan, "setting": nan}),
        ({"q1": 0.5}, {"q1": "plot"}, {"plot": 0.5}),
        ({}, {}, {}),
    ],
)
def test_feature_novelty_is_the_mean_over_its_usable_questions(
    novelty: dict[str, float], feature_of: dict[str, str], expected: dict[str, float]
) -> None:
    assert feature_novelty(novelty, feature_of) == expected


def test_a_novelty_of_an_unknown_question_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="question 'q9' has a novelty but no feature"):
        feature_novelty({"q9": 0.5}, FEATURE_OF)


@given(st.dictionaries(st.sampled_from(sorted(FEATURE_OF)), st.one_of(st.floats(0, 1), st.just(math.nan))))
def test_every_feature_that_was_asked_about_has_a_value_in_range_or_none(novelty: dict[str, float]) -> None:
    found = feature_novelty(novelty, FEATURE_OF)
    assert list(found) == ["plot", "style", "setting"]
    assert all(0 <= value <= 1 or math.isnan(value) for value in found.values())


VERDICTS = range(-2, 3)
CUTOFFS = (-3, -2, -1, 0)
# By points of story A over story B with the reference first, then with the candidate first, each from -2 to 2: whether
# the test passes at each of the cutoffs -3, -2, -1, 0. The score is candidate first minus reference first.
PASSING = {
    -2: "yyyy yyyy yyyy yyyy yyyy",  # scores 0 to 4
    -1: "yyyn yyyy yyyy yyyy yyyy",  # -1 to 3
    0: "yynn yyyn yyyy yyyy yyyy",  # -2 to 2
    1: "ynnn yynn yyyn yyyy yyyy",  # -3 to 1
    2: "nnnn ynnn yynn yyyn yyyy",  # -4 to 0
}


@pytest.mark.parametrize("reference_first", VERDICTS)
def test_a_score_is_how_much_better_the_candidate_is_in_both_orders_and_passes_from_the_cutoff_on(
    reference_first: int,
) -> None:
    scores = [likert.test_score(reference_first, candidate_first) for candidate_first in VERDICTS]
    assert scores == [place - 2 - reference_first for place in range(5)]
    passing = ["".join("y" if likert.passes(score, cutoff) else "n" for cutoff in CUTOFFS) for score in scores]
    assert passing == PASSING[reference_first].split()
    assert [likert.passes(score) for score in scores] == [row[1] == "y" for row in passing]


def test_a_preference_for_a_place_cancels_in_the_score_and_is_the_bias() -> None:
    for points in VERDICTS:
        assert likert.test_score(2 + points, -1 + points) == likert.test_score(2, -1) == -3
        assert likert.position_bias([(points, points)]) == points
    assert likert.position_bias([(2, 2), (2, -2)]) == 1
    assert [likert.scale_cutoff(levels) for levels in (3, 5, 7)] == [-1, -2, -3]


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
    assert (likert.passed(results), likert.pass_share(results)) == (2, 2 / 3)
    assert [likert.passed([math.nan]), likert.pass_share([]), likert.position_bias([])] == [nan, nan, nan]


@pytest.mark.parametrize(
    ("first", "second", "rate", "bias"),
    [
        ([1, 1], [0, 0], 1, 0),
        ([0.5], [0.5], 0.5, 0),
        ([1, 1, 1], [1, 1, 1], 0.5, 1),  # a judge that always prefers the first story decides nothing
        ([0], [0], 0.5, -1),
        ([1, 1], [1, 0], 0.75, 0.5),
        ([1], [], nan, nan),
        ([], [1], nan, nan),
    ],
)
def test_win_rate_and_order_bias_by_hand_and_with_the_stories_swapped(
    first: list[float], second: list[float], rate: float, bias: float
) -> None:
    assert (win_rate(first, second), order_bias(first, second)) == (rate, bias)
    if first and second:
        assert (win_rate(second, first), order_bias(second, first)) == (1 - rate, bias)
