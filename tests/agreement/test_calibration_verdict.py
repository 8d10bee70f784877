import math

import pytest

from genie_inspect.agreement.calibration import ALL, RaterAgreement
from genie_inspect.agreement.calibration_verdict import quotable, verdict
from genie_inspect.agreement.raters import Ratings
from genie_inspect.statistics.bootstrap import BootstrapInterval

LEVEL = BootstrapInterval(0.01, -0.02, 0.04, 0)


def agreement(feature: str, alpha: float, difference: BootstrapInterval = LEVEL) -> RaterAgreement:
    return RaterAgreement("people", "list(m)", feature, 40, 8, alpha, 0.5, difference)


@pytest.mark.parametrize(
    ("alpha", "said"),
    [
        (0.8, "one can stand for the other"),
        (0.7, "enough for tentative conclusions"),
        (0.5, "one cannot stand for the other"),
        (-0.1, "one cannot stand for the other"),
        (math.nan, "cannot be told from 40 pairs"),
    ],
)
def test_the_sentence_says_whether_one_can_stand_for_the_other(alpha: float, said: str) -> None:
    (sentence,) = verdict([agreement(ALL, alpha)])
    assert sentence.startswith("people and list(m): ")
    assert said in sentence


def test_the_feature_with_least_agreement_is_named() -> None:
    (sentence,) = verdict([agreement("plot", 0.9), agreement("social_atmosphere", 0.6), agreement(ALL, 0.85)])
    assert "They agree least in social atmosphere (0.60)." in sentence


@pytest.mark.parametrize(
    ("difference", "more"),
    [((0.1, 0.05, 0.15), "list(m)"), ((-0.1, -0.15, -0.05), "people")],
)
def test_who_finds_more_novelty_is_said_where_the_interval_leaves_0_out(
    difference: tuple[float, float, float], more: str
) -> None:
    (sentence,) = verdict([agreement(ALL, 0.9, BootstrapInterval(*difference, 0))])
    assert f"{more} finds more novelty, by 0.10" in sentence
    (level,) = verdict([agreement(ALL, 0.9)])
    assert "more novelty" not in level


def test_of_a_single_feature_nothing_is_least() -> None:
    (sentence,) = verdict([agreement("plot", 0.9), agreement("style", math.nan), agreement(ALL, 0.9)])
    assert "least in" not in sentence


@pytest.mark.parametrize(
    ("alpha", "said"),
    [(0.7999, "tentative"), (0.667, "tentative"), (0.6669, "one cannot stand for the other, alpha is below 0.667")],
)
def test_agreement_is_worth_what_the_bounds_say(alpha: float, said: str) -> None:
    (sentence,) = verdict([agreement(ALL, alpha)])
    assert said in sentence
    assert f"(alpha {alpha:.2f} over 40 pairs)." in sentence


def test_an_interval_that_ends_at_0_leaves_open_who_finds_more() -> None:
    for ends in ((0.1, 0.0, 0.2), (-0.1, -0.2, 0.0), (0.1, math.nan, math.nan)):
        (sentence,) = verdict([agreement(ALL, 0.9, BootstrapInterval(*ends, 0))])
        assert "more novelty" not in sentence


def between(first: str, second: str, alpha: float, feature: str = ALL) -> RaterAgreement:
    return RaterAgreement(first, second, feature, 40, 8, alpha, 0.5, LEVEL)


def rater(name: str, *ratings: float) -> Ratings:
    return Ratings(name, name, ratings or (1, 2), {})


def test_judges_are_ranked_by_their_agreement_with_each_file_and_the_weak_are_not_to_be_quoted() -> None:
    agreements = [
        between("people", "weak", 0.2),
        between("people", "good", 0.9, "plot"),
        between("people", "good", 0.7),
        between("people", "bound", 0.667),
        between("others", "weak", math.nan),
        between("others", "good", 0.5),
        between("weak", "good", 0.99),
    ]
    judged = [rater("weak"), rater("good"), rater("bound")]
    assert quotable(agreements, [rater("people"), rater("others")], judged) == [
        "Nearest to people, by alpha: good 0.70, bound 0.67, weak 0.20. "
        "Do not quote scores of weak: alpha is below 0.667.",
        "Nearest to others, by alpha: good 0.50. Do not quote scores of good: alpha is below 0.667.",
    ]


def test_without_ratings_of_a_file_no_judge_is_near_to_anything() -> None:
    assert quotable([between("weak", "good", 0.99)], [], [rater("weak"), rater("good")]) == []
    assert quotable([between("people", "weak", math.nan)], [rater("people")], [rater("weak")]) == []


def test_a_judge_that_says_the_same_of_every_pair_is_named() -> None:
    judged = [rater("flat", 3, math.nan, 3), rater("single", 3), rater("varied", 3, 4)]
    assert quotable([], [], judged) == ["flat gave every pair the rating 3: it tells no answers apart."]


def test_a_judge_that_rates_no_pair_is_named_with_its_reasons() -> None:
    faults = {0: "unspecified", 1: "unreadable reply", 2: "unspecified"}
    silent = Ratings("silent", "silent", (math.nan,) * 3, faults)
    assert quotable([], [], [silent, Ratings("unasked", "", (), {})]) == [
        "silent gave none of 3 pairs a rating: 2 unspecified, 1 unreadable reply."
    ]
