import math
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from genie_inspect.agreement.raters import CalibrationError, Ratings, Target
from genie_inspect.agreement.vector_fitting import FEWEST_PAIRS, held_out, rated_pairs, vector_fit
from genie_inspect.populations.schema import Question

NAN = math.nan


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
    assert [pair.rating for pair in pairs] == [rating for rating, _ in found]
    assert [pair.cosine for pair in pairs] == pytest.approx([math.cos(math.radians(angle)) for _, angle in found])


def test_of_a_single_prompt_no_figure_is_defined() -> None:
    targets = in_one_direction(question("q", "a"), [str(angle) for angle in range(0, 90, 10)])
    fit = vector_fit("small", targets, [rated_by_angle(targets)], Circle())
    assert (fit.pooled.answers, fit.pooled.spearman, fit.pooled.kendall) == (0, None, None)


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
    pairs = rated_pairs([*TARGETS, *lone], [rated_by_angle([*TARGETS, *lone])], Circle())
    assert len(held_out(pairs)) == novelties


def test_figures_are_kept_with_five_digits() -> None:
    fit = vector_fit("small", TARGETS, [rated_by_angle(TARGETS)], Circle())
    numbers = [number for knot in fit.pooled.knots for number in knot]
    assert fit.pooled.spearman is not None
    assert [round(number, 5) for number in (*numbers, fit.pooled.spearman)] == [*numbers, fit.pooled.spearman]
    assert any(round(number, 4) != number for number in numbers)
