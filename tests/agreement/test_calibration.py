"""Ratings by people together, judges beside them, and lines fitted to ratings."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from genie_inspect.agreement.calibration import (
    ALL,
    Conduct,
    PeopleAgreement,
    RaterAgreement,
    calibration_chart,
    compare,
    held_against_people,
    held_out,
    quotable,
    rated_pairs,
    vector_fit,
    verdict,
)
from genie_inspect.agreement.raters import (
    BLIND_COLUMNS,
    CalibrationError,
    Ratings,
    Target,
    recorded_ratings,
    write_blind_table,
)
from genie_inspect.populations.schema import Question
from genie_inspect.reports.charts import write_chart
from genie_inspect.statistics.agreement import krippendorff_alpha
from genie_inspect.statistics.bootstrap import BootstrapInterval
from genie_inspect.statistics.ranking import kendall

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
    return {one.feature: one for one in compare(TARGETS, [first, second], FEATURES, 200)[0]}


def conduct(rater: Ratings, feature: str) -> Conduct:
    _, found = compare(TARGETS, [rater], FEATURES, 200)
    return next(one for one in found if one.feature == feature)


def test_raters_who_say_the_same_agree_wholly() -> None:
    found = agreed(ratings("a", 1, 4, 2, 3, 1, 4), ratings("b", 1, 4, 2, 3, 1, 4))
    assert list(found) == ["plot", "style", ALL]  # a feature without pairs is absent
    assert [found["plot"].alpha, found[ALL].alpha, found["plot"].tau, found[ALL].tau] == pytest.approx([1] * 4)
    assert found[ALL].difference.value == 0
    assert (found["plot"].pairs, found["plot"].questions) == (5, 2)
    # continuous ratings as whole ones that they round to
    found = agreed(ratings("a", 1, 4, 2, 3, 1, 4), ratings("logit", 1.2, 3.9, 2.1, 2.8, 1.4, 3.6))
    assert found[ALL].alpha == 1


def test_the_difference_is_that_of_the_questions_mean_novelty_and_tau_of_the_novelty_of_answers() -> None:
    found = agreed(ratings("a", 1, 4, 1, 4, 4, 1), ratings("b", 1, 1, 1, 4, 4, 1))
    # q0 by a: owl 1 - (0 + 1)/2 = 0.5, fox 1: mean 0.75; by b: 1 and 1. q1: 0 and 0. plot: (0.25 + 0) / 2
    assert found["plot"].difference.value == pytest.approx(0.125)
    assert found["style"].difference.value == 0
    assert found["plot"].difference.low <= 0.125 <= found["plot"].difference.high
    # plot: owl 0.5 by a, 0.5 by b; fox 1 and 0; rain 0 and 1: one pair of three in order against two reversed
    found = agreed(ratings("a", 1, 4, 1, 4, 4, 1), ratings("b", 1, 4, 4, 1, 1, 1))
    assert found["plot"].tau == pytest.approx(-1)


def test_only_pairs_that_both_rated_are_compared() -> None:
    found = agreed(ratings("a", 1, 4, 2, NAN, 1, NAN), ratings("b", 1, NAN, 2, 3, 1, 4))
    assert (found["plot"].pairs, found["plot"].alpha) == (3, 1)
    assert found["style"].pairs == 0
    assert math.isnan(found["style"].alpha)
    assert math.isnan(found["style"].difference.value)


def test_conduct_counts_what_came_to_no_rating_but_not_what_was_never_asked() -> None:
    rater = ratings("a", 1, NAN, 2, NAN, 1, 4, faults={1: "unreadable reply"})
    found = conduct(rater, "plot")
    assert found.asked == 4  # the fourth pair has neither rating nor fault
    assert found.unusable == 0.25
    assert found.faults == {"unreadable reply": 1}
    assert conduct(rater, "style").unusable == 0
    found = conduct(ratings("a", *[NAN] * 6), ALL)
    assert (found.asked, math.isnan(found.unusable), math.isnan(found.novelty)) == (0, True, True)


def test_swapped_sides_are_compared_by_question_and_position_within_each_answers_list() -> None:
    rater = ratings("a", 2, 4, 2, 3, 1, 4, swapped=(1, 4, 2, 3, NAN, 1))
    # q0: (1 + 0 + 0) / 3; q1: 0, its second pair is missing; mean 1/6. style: 4 - 1
    assert [conduct(rater, feature).swapped.value for feature in ("plot", "style")] == pytest.approx([1 / 6, 3])
    assert math.isnan(conduct(rater, "plot").position.value)
    rater = ratings("a", 1, 3, 2, 4, 4, 4, positions=(0, 1, NAN, 0, 1, NAN))
    # owl: 3 at the end, 1 at the beginning; rain: 4 and 4: slopes 2 and 0, of equal weight
    assert conduct(rater, "plot").position.value == 1
    assert math.isnan(conduct(rater, "style").position.value)
    assert math.isnan(conduct(rater, "plot").swapped.value)


LEVEL = BootstrapInterval(0.01, -0.02, 0.04, 0)


def agreement(feature: str, alpha: float, difference: BootstrapInterval = LEVEL) -> RaterAgreement:
    return RaterAgreement("people", "list(m)", feature, 40, 8, alpha, 0.5, difference)


@pytest.mark.parametrize(
    ("alpha", "said"),
    [
        (0.8, "one can replace the other, alpha is at least 0.8 (alpha 0.80 over 40 pairs)."),
        (0.7999, "enough for tentative conclusions"),
        (0.667, "enough for tentative conclusions"),
        (0.6669, "one cannot replace the other, alpha is below 0.667 (alpha 0.67 over 40 pairs)."),
        (-0.1, "one cannot replace the other"),
        (NAN, "cannot be told from 40 pairs"),
    ],
)
def test_the_sentence_says_whether_one_can_stand_for_the_other(alpha: float, said: str) -> None:
    (sentence,) = verdict([agreement(ALL, alpha)])
    assert sentence.startswith("people and list(m): ")
    assert said in sentence


def test_the_feature_with_least_agreement_is_named_where_there_are_several() -> None:
    (sentence,) = verdict([agreement("plot", 0.9), agreement("social_atmosphere", 0.6), agreement(ALL, 0.85)])
    assert "They agree least in social atmosphere (0.60)." in sentence
    (sentence,) = verdict([agreement("plot", 0.9), agreement("style", NAN), agreement(ALL, 0.9)])
    assert "least in" not in sentence


def test_who_finds_more_novelty_is_said_where_the_interval_leaves_0_out() -> None:
    level = [(ends, "") for ends in ((0.1, 0.0, 0.2), (-0.1, -0.2, 0.0), (0.1, NAN, NAN), (0.01, -0.02, 0.04))]
    for difference, more in [((0.1, 0.05, 0.15), "list(m)"), ((-0.1, -0.15, -0.05), "people"), *level]:
        (sentence,) = verdict([agreement(ALL, 0.9, BootstrapInterval(*difference))])
        said = f" {more} finds more novelty, by 0.10: do not mix their scores." * bool(more)
        assert sentence.endswith("(alpha 0.90 over 40 pairs)." + said)


def test_judges_are_ranked_by_their_agreement_with_each_file_and_the_weak_are_not_to_be_quoted() -> None:
    agreements = [
        RaterAgreement(first, second, feature, 40, 8, alpha, 0.5, LEVEL)
        for first, second, feature, alpha in (
            *(("people", "weak", ALL, 0.2), ("people", "good", "plot", 0.9), ("people", "good", ALL, 0.7)),
            *(("people", "bound", ALL, 0.667), ("others", "weak", ALL, NAN), ("others", "good", ALL, 0.5)),
            ("weak", "good", ALL, 0.99),
        )
    ]
    judged, others = [ratings(name, 1, 2) for name in ("weak", "good", "bound")], ratings("others", 1, 2)
    assert quotable(agreements, [ratings("people", 1, 2), others], judged) == [
        "Nearest to people, by alpha: good 0.70, bound 0.67, weak 0.20. "
        "Do not quote scores of weak: alpha is below 0.667.",
        "Nearest to others, by alpha: good 0.50. Do not quote scores of good: alpha is below 0.667.",
    ]
    # without ratings of a file no judge is near to anything
    assert quotable(agreements, [], judged) == quotable(agreements[4:5], [others], judged) == []


def test_a_judge_that_says_the_same_of_every_pair_or_nothing_is_named() -> None:
    silent = ratings("silent", *[NAN] * 3, faults={0: "unspecified", 1: "unreadable reply", 2: "unspecified"})
    judged = [ratings("flat", 3, NAN, 3), ratings("single", 3), ratings("varied", 3, 4), silent, ratings("unasked")]
    assert quotable([], [], judged) == [
        "flat gave every pair the rating 3: it tells no answers apart.",
        "silent gave none of 3 pairs a rating: 2 unspecified, 1 unreadable reply.",
    ]


def test_the_picture_is_drawn_also_where_something_is_not_defined(tmp_path: Path) -> None:
    raters = [ratings("people", 1, 4, 2, 3, 1, NAN), ratings("list(x)", 1, 3, 2, 3, 1, 4)]
    found, _ = compare(TARGETS, raters, FEATURES, 50)
    alpha = next(one.alpha for one in found if one.feature == "plot")
    write_chart(lambda: calibration_chart(found), tmp_path / "c.svg")
    drawn = (tmp_path / "c.svg").read_text()
    assert all(words in drawn for words in ("people and list(x)", "all features", "Krippendorff"))
    assert f"by chance): {alpha:g}; feature: plot" in drawn


ANN, BOB = ratings("ann", 1, 2, 3, 4, 1, 4), ratings("bob", 1, 3, 3, 4, NAN, 2)
JUDGE = ratings("judge", 1, 2, 3, 4, 1.4, NAN)


def held(people: Sequence[Ratings], judges: Sequence[Ratings]) -> dict[str, PeopleAgreement]:
    return {row.feature: row for row in held_against_people(TARGETS, people, judges, FEATURES)}


def test_people_are_put_into_one_alpha_and_the_judge_is_held_against_median_and_mean() -> None:
    row = held([ANN, BOB], [JUDGE])["plot"]
    assert row.pairs == 5  # the fifth was rated by one person, and by the judge
    assert row.people_alpha == krippendorff_alpha([[1.0, 2, 3, 4, 1], [1, 3, 3, 4, NAN]])
    # medians; the judge's 1.4 is a 1
    assert row.judge_alpha == krippendorff_alpha([[1, 2.5, 3, 4, 1], [1.0, 2, 3, 4, 1]])
    assert row.tau == kendall([1, 2.5, 3, 4, 1], [1, 2, 3, 4, 1.4])
    # of three people median and mean differ
    row = held([ANN, BOB, ratings("cat", 4, 3, 1, 4, 1, 4)], [JUDGE])["plot"]
    assert row.judge_alpha == krippendorff_alpha([[1, 3, 3, 4, 1], [1, 2, 3, 4, 1]])
    assert row.tau == kendall([2, 8 / 3, 7 / 3, 4, 1], [1, 2, 3, 4, 1.4])
    # a consensus from a file keeps its halves, which are the medians
    said = dict(zip((p for t in TARGETS for p in t.pairs), (1, 2.5, 3, 4), strict=False))
    assert held([ANN, BOB], [recorded_ratings("all", said, TARGETS)])["plot"].judge_alpha == 1


def test_what_the_judge_did_not_rate_counts_among_people_alone() -> None:
    found = held([ANN, BOB], [JUDGE])
    assert list(found) == ["plot", "style", ALL]
    assert (found["style"].pairs, found[ALL].pairs) == (0, 5)
    assert math.isnan(found["style"].judge_alpha)
    assert found["style"].people_alpha == krippendorff_alpha([[4], [2]])


def test_without_a_judge_there_are_people_alone() -> None:
    row = held([ANN, BOB], [])[ALL]
    assert (row.judge, row.pairs, math.isnan(row.judge_alpha), math.isnan(row.tau)) == ("", 6, True, True)
    assert row.people_alpha == krippendorff_alpha([ANN.values, BOB.values])


def test_pairs_go_out_without_ratings_in_an_order_that_the_seed_shuffles(tmp_path: Path) -> None:
    for seed in (0, 1):
        assert write_blind_table(tmp_path / f"{seed}.csv", TARGETS, seed) == 6
    head, *rows = (tmp_path / "0.csv").read_text().splitlines()
    assert (head, sorted(rows)[0]) == (",".join(BLIND_COLUMNS), "q0,p,0?,fox,hen,,")
    _, *others = (tmp_path / "1.csv").read_text().splitlines()
    assert sorted(rows) == sorted(others)
    assert rows != others
    assert "- 4: interchangeable" in (tmp_path / "0.md").read_text()


class Circle:
    """An embedder of whole numbers, each at its angle in degrees; of anything else it knows nothing."""

    name = "circle"
    identity = "circle@1"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        return np.array([self._vector(text) for text in texts])

    def _vector(self, text: str) -> tuple[float, float]:
        angle = math.radians(int(text)) if text.isdecimal() else 0.0
        return (math.cos(angle), math.sin(angle)) if text.isdecimal() else (0.0, 0.0)


ANGLES = tuple(str(angle) for angle in (0, 10, 25, 45, 70, 100))


def question(name: str, prompt: str, feature: str = "plot") -> Question:
    return Question(id=name, prompt=prompt, feature=feature, text=f"What of {name}?")


def in_one_direction(asked: Question, answers: Sequence[str] = ANGLES) -> list[Target]:
    """Every two answers once, as a record has them: the first against all others, the second against the rest."""
    return [Target(asked, answer, tuple(answers[place + 1 :])) for place, answer in enumerate(answers[:-1])]


def rated_by_angle(targets: Sequence[Target], name: str = "angles") -> Ratings:
    """4 at no angle, 1 from 90 degrees on; equal answers 4."""
    values = [
        max(1.0, 4 - abs(int(target.answer) - int(other)) / 30) if target.answer.isdecimal() else NAN
        for target in targets
        for other in target.others
    ]
    return Ratings(name, "recorded", tuple(values))


ANGLED = [target for prompt in "abcd" for target in in_one_direction(question(f"q{prompt}", prompt))]


def test_ratings_that_rise_with_the_cosine_are_told_of_prompts_that_were_held_out() -> None:
    fit = vector_fit("small", ANGLED, [rated_by_angle(ANGLED)], Circle())
    # 4 prompts of 6 answers, each of which stands against all five others although every pair stands there once
    assert fit.pooled.answers == fit.features["plot"].answers == 24
    assert fit.pooled.pairs == 4 * 15
    assert fit.pooled.spearman is not None
    assert fit.pooled.spearman > 0.95
    assert fit.rating("plot", 1.0) > fit.rating("plot", 0.5) > fit.rating("plot", 0.0) == 1
    assert (fit.embedder, fit.population, fit.raters) == ("circle@1", "small", ("angles",))
    # figures are kept with five digits
    numbers = [number for knot in fit.pooled.knots for number in knot]
    assert [round(number, 5) for number in (*numbers, fit.pooled.spearman)] == [*numbers, fit.pooled.spearman]
    assert any(round(number, 4) != number for number in numbers)


def test_a_prompt_is_rated_by_a_line_that_has_not_seen_it() -> None:
    reversed_prompt = in_one_direction(question("qz", "z"))
    upside_down = [5 - value for value in rated_by_angle(reversed_prompt).values]
    values = (*rated_by_angle(ANGLED).values, *upside_down)
    pairs = rated_pairs([*ANGLED, *reversed_prompt], [Ratings("angles", "recorded", values)], Circle())
    _, recorded, predicted = zip(*held_out(pairs)[-6:], strict=True)
    assert np.corrcoef(recorded, predicted)[0, 1] < -0.9


@pytest.mark.parametrize(
    ("targets", "raters", "found"),
    [
        # the mean of several raters counts, and a gap of one is filled by the other
        ([("0", ("10", "20", "30"))], [(1.0, NAN, NAN), (4.0, 3.0, NAN)], [(2.5, 10), (3.0, 20)]),
        # a pair that stands in both directions is one
        ([("0", ("60",)), ("60", ("0",))], [(1.0, 2.0)], [(1.5, 60)]),
        # equal answers and such without a vector are left out
        ([("0", ("0", "owl", "60"))], [(4.0, 2.0, 1.0)], [(1.0, 60)]),
    ],
)
def test_a_pair_of_different_answers_has_its_mean_rating_and_its_cosine(
    targets: list[tuple[str, tuple[str, ...]]], raters: list[tuple[float, ...]], found: list[tuple[float, float]]
) -> None:
    asked = [Target(question("q", "a"), answer, others) for answer, others in targets]
    pairs = rated_pairs(asked, [Ratings("x", "recorded", values) for values in raters], Circle())
    assert [rating for _, _, rating, _ in pairs] == [rating for rating, _ in found]
    assert [cosine for *_, cosine in pairs] == pytest.approx([math.cos(math.radians(angle)) for _, angle in found])


def test_of_a_single_prompt_no_figure_is_defined_and_too_few_pairs_are_refused() -> None:
    targets = in_one_direction(question("q", "a"), [str(angle) for angle in range(0, 90, 10)])
    fit = vector_fit("small", targets, [rated_by_angle(targets)], Circle())
    assert (fit.pooled.answers, fit.pooled.spearman, fit.pooled.kendall) == (0, None, None)
    with pytest.raises(CalibrationError, match="15 rated pairs of different answers, expected at least 30"):
        vector_fit("small", ANGLED[:5], [rated_by_angle(ANGLED[:5])], Circle())


@pytest.mark.parametrize(("left", "features"), [(30, ["plot", "style"]), (29, ["plot"])])
def test_a_feature_has_a_line_of_its_own_from_thirty_pairs_on(left: int, features: list[str]) -> None:
    styles = [target for prompt in "ab" for target in in_one_direction(question(f"s{prompt}", prompt, "style"))]
    if left == 29:
        # without the pair of the last two answers
        styles = styles[:-1]
    targets = [*ANGLED, *styles]
    fit = vector_fit("small", targets, [rated_by_angle(targets)], Circle())
    assert list(fit.features) == features
    assert fit.pooled.pairs == 4 * 15 + left
    # six answers to each of two questions; all but those two were compared with enough others
    assert fit.features["plot"].answers == 24
    assert fit.pooled.answers == 24 + 12


@pytest.mark.parametrize(("others", "novelties"), [(9, 24 + 1), (3, 24 + 1), (2, 24)])
def test_an_answer_has_a_novelty_from_three_ratings_on_and_none_where_it_was_rated_against_few_of_the_others(
    others: int, novelties: int
) -> None:
    # one answer against the others; each of those against one of them
    lone = [Target(question("qz", "z"), "0", tuple(str(10 * place) for place in range(1, others + 1)))]
    pairs = rated_pairs([*ANGLED, *lone], [rated_by_angle([*ANGLED, *lone])], Circle())
    assert len(held_out(pairs)) == novelties
