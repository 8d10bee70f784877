import math
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from genie_inspect.agreement.raters import CalibrationError, Ratings, Target
from genie_inspect.agreement.vector_fitting import FEWEST_PAIRS, held_out, rated_pairs, vector_fit
from genie_inspect.populations.schema import Question


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
        max(1.0, 4 - abs(int(target.answer) - int(other)) / 30) if target.answer.isdecimal() else math.nan
        for target in targets
        for other in target.others
    ]
    return Ratings(name, "recorded", tuple(values))


TARGETS = [target for prompt in "abcd" for target in in_one_direction(question(f"q{prompt}", prompt))]


def test_ratings_that_rise_with_the_cosine_are_told_of_prompts_that_were_held_out() -> None:
    fit = vector_fit("small", TARGETS, [rated_by_angle(TARGETS)], Circle())
    # 4 prompts of 6 answers, each of which stands against all five others although every pair stands there once
    assert fit.pooled.answers == fit.features["plot"].answers == 24
    assert fit.pooled.pairs == 4 * 15
    assert fit.pooled.spearman is not None
    assert fit.pooled.spearman > 0.95
    assert fit.rating("plot", 1.0) > fit.rating("plot", 0.5) > fit.rating("plot", 0.0) == 1
    assert (fit.embedder, fit.population, fit.raters) == ("circle@1", "small", ("angles",))


def test_a_prompt_is_rated_by_a_line_that_has_not_seen_it() -> None:
    reversed_prompt = in_one_direction(question("qz", "z"))
    upside_down = [5 - value for value in rated_by_angle(reversed_prompt).values]
    values = (*rated_by_angle(TARGETS).values, *upside_down)
    pairs = rated_pairs([*TARGETS, *reversed_prompt], [Ratings("angles", "recorded", values)], Circle())
    _, recorded, predicted = zip(*held_out(pairs)[-6:], strict=True)
    assert np.corrcoef(recorded, predicted)[0, 1] < -0.9


def test_the_mean_of_several_raters_counts_and_a_gap_of_one_is_filled_by_the_other() -> None:
    targets = [Target(question("q", "a"), "0", ("10", "20", "30"))]
    raters = [Ratings("x", "recorded", (1.0, math.nan, math.nan)), Ratings("y", "recorded", (4.0, 3.0, math.nan))]
    assert [pair.rating for pair in rated_pairs(targets, raters, Circle())] == [2.5, 3.0]


def test_a_pair_that_stands_in_both_directions_is_one() -> None:
    asked = question("q", "a")
    targets = [Target(asked, "0", ("60",)), Target(asked, "60", ("0",))]
    (pair,) = rated_pairs(targets, [Ratings("x", "recorded", (1.0, 2.0))], Circle())
    assert (pair.rating, round(pair.cosine, 6)) == (1.5, 0.5)


def test_equal_answers_and_such_without_a_vector_are_left_out() -> None:
    targets = [Target(question("q", "a"), "0", ("0", "owl", "60"))]
    (apart,) = rated_pairs(targets, [Ratings("x", "recorded", (4.0, 2.0, 1.0))], Circle())
    assert apart.rating == 1.0


def test_a_feature_with_few_pairs_has_no_line_of_its_own() -> None:
    few = in_one_direction(question("qs", "a", "style"))
    assert sum(len(target.others) for target in few) < FEWEST_PAIRS
    targets = [*TARGETS, *few]
    fit = vector_fit("small", targets, [rated_by_angle(targets)], Circle())
    assert list(fit.features) == ["plot"]
    assert fit.pooled.pairs == 75


def test_of_a_single_prompt_no_figure_is_defined() -> None:
    targets = in_one_direction(question("q", "a"), [str(angle) for angle in range(0, 90, 10)])
    fit = vector_fit("small", targets, [rated_by_angle(targets)], Circle())
    assert (fit.pooled.answers, fit.pooled.spearman, fit.pooled.kendall) == (0, None, None)


def test_an_answer_that_was_rated_against_few_of_the_others_has_no_novelty() -> None:
    asked = question("qz", "z")
    # one answer against nine others; each of those against one of nine
    lone = [Target(asked, "0", tuple(str(angle) for angle in range(10, 100, 10)))]
    pairs = rated_pairs([*TARGETS, *lone], [rated_by_angle([*TARGETS, *lone])], Circle())
    assert len(held_out(pairs)) == 24 + 1


def test_too_few_pairs_are_refused() -> None:
    targets = TARGETS[:5]
    with pytest.raises(
        CalibrationError, match=f"15 rated pairs of different answers, expected at least {FEWEST_PAIRS}"
    ):
        vector_fit("small", targets, [rated_by_angle(targets)], Circle())


@pytest.mark.parametrize(("left", "features"), [(30, ["plot", "style"]), (29, ["plot"])])
def test_a_feature_has_a_line_of_its_own_from_thirty_pairs_on(left: int, features: list[str]) -> None:
    assert FEWEST_PAIRS == 30
    styles = [target for prompt in "ab" for target in in_one_direction(question(f"s{prompt}", prompt, "style"))]
    if left == 29:
        # without the pair of the last two answers
        styles = styles[:-1]
    targets = [*TARGETS, *styles]
    fit = vector_fit("small", targets, [rated_by_angle(targets)], Circle())
    assert list(fit.features) == features
    # six answers to each of two questions; all but those two were compared with enough others
    assert fit.features["plot"].answers == 24
    assert fit.pooled.answers == 24 + 12


@pytest.mark.parametrize(("others", "novelties"), [(3, 24 + 1), (2, 24)])
def test_an_answer_has_a_novelty_from_three_ratings_on(others: int, novelties: int) -> None:
    angles = ("10", "20", "30")[:others]
    lone = [Target(question("qz", "z"), "0", angles)]
    pairs = rated_pairs([*TARGETS, *lone], [rated_by_angle([*TARGETS, *lone])], Circle())
    assert len(held_out(pairs)) == novelties


def test_figures_are_kept_with_five_digits() -> None:
    fit = vector_fit("small", TARGETS, [rated_by_angle(TARGETS)], Circle())
    numbers = [number for knot in fit.pooled.knots for number in knot]
    assert fit.pooled.spearman is not None
    assert [round(number, 5) for number in (*numbers, fit.pooled.spearman)] == [*numbers, fit.pooled.spearman]
    assert any(round(number, 4) != number for number in numbers)
