import math

import pytest

from genie_inspect.agreement.calibration import ALL, Conduct, RaterAgreement, compare
from genie_inspect.agreement.raters import RECORDED, Ratings
from genie_inspect.agreement.targets import Target
from genie_inspect.populations.schema import Question
from genie_inspect.statistics.agreement import krippendorff_alpha

FEATURES = ("plot", "setting", "style")
ASKED = [
    Question(id=f"q{number}", prompt="p", feature=feature, text=f"{number}?")
    for number, feature in enumerate(("plot", "plot", "style"))
]
TARGETS = [
    Target(ASKED[0], "owl", ("fox", "hen")),
    Target(ASKED[0], "fox", ("hen",)),
    Target(ASKED[1], "rain", ("snow", "hail")),
    Target(ASKED[2], "dry", ("warm",)),
]
NAN = math.nan


def ratings(name: str, *values: float, **more: object) -> Ratings:
    return Ratings(name, name, values, **more)  # type: ignore[arg-type]  # the tests' own shorthand


def agreed(first: Ratings, second: Ratings) -> dict[str, RaterAgreement]:
    return {one.feature: one for one in compare(TARGETS, [first, second], FEATURES, 200).agreements}


def conduct(rater: Ratings, feature: str) -> Conduct:
    found = compare(TARGETS, [rater], FEATURES, 200).conducts
    return next(one for one in found if one.feature == feature)


def test_raters_who_say_the_same_agree_wholly() -> None:
    found = agreed(ratings("a", 1, 4, 2, 3, 1, 4), ratings("b", 1, 4, 2, 3, 1, 4))
    assert list(found) == ["plot", "style", ALL]  # a feature without pairs is absent
    assert found["plot"].alpha == found[ALL].alpha == 1
    assert [found["plot"].tau, found[ALL].tau] == pytest.approx([1, 1])
    assert found[ALL].difference.value == 0
    assert (found["plot"].pairs, found["plot"].questions) == (5, 2)


def test_the_difference_is_that_of_the_questions_mean_novelty() -> None:
    found = agreed(ratings("a", 1, 4, 1, 4, 4, 1), ratings("b", 1, 1, 1, 4, 4, 1))
    # q0 by a: owl 1 - (0 + 1)/2 = 0.5, fox 1: mean 0.75; by b: 1 and 1. q1: 0 and 0. plot: (0.25 + 0) / 2
    assert found["plot"].difference.value == pytest.approx(0.125)
    assert found["style"].difference.value == 0
    assert found["plot"].difference.low <= 0.125 <= found["plot"].difference.high


def test_only_pairs_that_both_rated_are_compared() -> None:
    found = agreed(ratings("a", 1, 4, 2, NAN, 1, NAN), ratings("b", 1, NAN, 2, 3, 1, 4))
    assert (found["plot"].pairs, found["plot"].alpha) == (3, 1)
    assert found["style"].pairs == 0
    assert math.isnan(found["style"].alpha)
    assert math.isnan(found["style"].difference.value)


def test_tau_is_of_the_novelty_of_answers() -> None:
    # plot: owl 0.5 by a, 0.5 by b; fox 1 and 0; rain 0 and 1: one pair of three in order against two reversed
    found = agreed(ratings("a", 1, 4, 1, 4, 4, 1), ratings("b", 1, 4, 4, 1, 1, 1))
    assert found["plot"].tau == pytest.approx(-1)


def test_continuous_ratings_agree_with_whole_ones_that_they_round_to() -> None:
    found = agreed(ratings("a", 1, 4, 2, 3, 1, 4), ratings("logit", 1.2, 3.9, 2.1, 2.8, 1.4, 3.6))
    assert found[ALL].alpha == 1


def test_a_consensus_of_a_half_is_a_level_of_its_own_between_two() -> None:
    people = Ratings("people", RECORDED, (1, 1.5, 2, 2.5, 3, 4))
    rater = Ratings("ann", RECORDED, (1, 2, 2, 2, 3, 4))
    found = agreed(people, rater)[ALL].alpha
    assert found == krippendorff_alpha([people.values, rater.values])
    # rounded to even, 1.5 and 2.5 would both be 2, and the agreement whole
    assert found < 1


def test_conduct_counts_what_came_to_no_rating_but_not_what_was_never_asked() -> None:
    rater = ratings("a", 1, NAN, 2, NAN, 1, 4, faults={1: "unreadable reply"})
    found = conduct(rater, "plot")
    assert found.asked == 4  # the fourth pair has neither rating nor fault
    assert found.unusable == 0.25
    assert found.faults == {"unreadable reply": 1}
    assert conduct(rater, "style").unusable == 0


def test_a_rater_who_was_never_asked_has_no_share() -> None:
    found = conduct(ratings("a", *[NAN] * 6), ALL)
    assert found.asked == 0
    assert math.isnan(found.unusable)
    assert math.isnan(found.novelty)


def test_swapped_sides_are_compared_question_by_question() -> None:
    rater = ratings("a", 2, 4, 2, 3, 1, 4, swapped=(1, 4, 2, 3, NAN, 1))
    # q0: (1 + 0 + 0) / 3; q1: 0, its second pair is missing; mean 1/6. style: 4 - 1
    assert conduct(rater, "plot").swapped.value == pytest.approx(1 / 6)
    assert conduct(rater, "style").swapped.value == 3
    assert math.isnan(conduct(rater, "plot").position.value)


def test_position_is_an_effect_within_each_answers_list() -> None:
    rater = ratings("a", 1, 3, 2, 4, 4, 4, positions=(0, 1, NAN, 0, 1, NAN))
    # owl: 3 at the end, 1 at the beginning; rain: 4 and 4: slopes 2 and 0, of equal weight
    assert conduct(rater, "plot").position.value == 1
    assert math.isnan(conduct(rater, "style").position.value)
    assert math.isnan(conduct(rater, "plot").swapped.value)


def test_three_raters_are_compared_two_by_two() -> None:
    raters = [ratings(name, 1, 4, 2, 3, 1, 4) for name in "abc"]
    found = compare(TARGETS, raters, FEATURES, 50)
    assert list(dict.fromkeys((one.first, one.second) for one in found.agreements)) == [
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
    ]
    assert list(dict.fromkeys(one.rater for one in found.conducts)) == ["a", "b", "c"]
