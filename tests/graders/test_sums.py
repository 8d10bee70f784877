"""What comes of a story's verdicts: keys, shares by dimension, places that win."""

import math

from genie_inspect.graders.critic import Critique, Judgement, Opinion
from genie_inspect.graders.rubrics import Rubric, Test

RUBRIC = Rubric(
    name="mine",
    tests=tuple(
        Test(id=name, name=name, question="Is it?", dimension=dimension)
        for name, dimension in {"a": "form", "b": "form", "c": "sense", "d": "sense"}.items()
    ),
)


def critique(*pairs: tuple[int | None, int | None]) -> Critique:
    judgements = zip(RUBRIC.tests, pairs, strict=True)
    made = (Judgement(test, tuple(Opinion(points) for points in pair)) for test, pair in judgements)
    return Critique(RUBRIC, tuple(made), 0)


def test_a_dimension_has_the_share_of_its_own_tests_that_pass_and_the_total_their_number() -> None:
    # the candidate's score is that of the second order less that of the first: 2, -2, 0 and none
    found = critique((-1, 1), (1, -1), (1, 1), (None, 1))
    values = found.value
    assert math.isnan(values.pop("mine_d"))
    assert values == {
        "mine_total": 2.0,
        "mine_form": 0.5,
        "mine_sense": 1.0,
        "mine_a": 1.0,
        "mine_b": 0.0,
        "mine_c": 1.0,
    }
    assert [judgement.test.id for judgement in found.judged] == ["a", "b", "c"]


def test_a_place_wins_where_both_verdicts_name_it_and_an_even_one_names_none() -> None:
    assert critique((1, 1), (1, 0), (2, 1), (None, 1)).won_by_place == (2, 0)
    assert critique((-1, -1), (0, -1), (-1, 0), (0, 0)).won_by_place == (0, 1)
