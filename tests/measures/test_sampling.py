"""A mean from one rating per stratum: strata, what each rating stands for, and the error."""

import math
import random
from statistics import fmean, variance

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie_inspect.measures.sampling import collapsed, represented, strata, variances

PREDICTED = st.lists(st.floats(-1, 1), min_size=1, max_size=40)


@given(predicted=PREDICTED, count=st.integers(2, 12), constant=st.integers(-3, 3))
def test_strata_hold_every_place_once_by_falling_prediction_with_the_nearest_alone(
    predicted: list[float], count: int, constant: int
) -> None:
    parts = strata(predicted, count)
    ordered = [place for part in parts for place in part]
    assert sorted(ordered) == list(range(len(predicted)))
    assert [predicted[place] for place in ordered] == sorted(predicted, reverse=True)
    assert len(parts) == min(count, len(predicted))
    assert len(parts[0]) == 1
    sizes = [len(part) for part in parts[1:]]
    assert not sizes or max(sizes) - min(sizes) <= 1
    # the order alone counts: eighths, which a constant does not round
    eighths = [round(value * 8) / 8 for value in predicted]
    assert strata([value + constant for value in eighths], count) == strata(eighths, count)


def test_every_place_of_a_stratum_is_drawn_as_often_so_that_the_mean_is_unbiased_whatever_is_predicted() -> None:
    draw = random.Random(0)
    similarities = [draw.random() for _ in range(11)]
    for predicted in (similarities, [draw.random() for _ in similarities], [0.0] * 11):
        parts = strata(predicted, 4)
        sizes = [len(part) for part in parts]
        weights = represented(sizes, [True] * len(parts))
        assert weights == sizes
        # over all draws: each stratum's mean stands for it
        means = [fmean(similarities[place] for place in part) for part in parts]
        expected = sum(size * mean for size, mean in zip(sizes, means, strict=True))
        assert expected / 11 == pytest.approx(fmean(similarities))


@pytest.mark.parametrize(
    ("usable", "expected"),
    [
        ([True, True, True, True], [1, 5, 5, 4]),
        # the nearest of the strata stands for a lost one, the first of two
        ([True, False, True, True], [6, 0, 5, 4]),
        ([False, True, True, False], [0, 6, 9, 0]),
        ([False, False, False, True], [0, 0, 0, 15]),
        ([False] * 4, [0] * 4),
    ],
)
def test_what_is_lost_is_represented_by_the_stratum_beside_it(usable: list[bool], expected: list[int]) -> None:
    assert represented([1, 5, 5, 4], usable) == expected


def test_the_variance_is_that_of_collapsed_strata_with_a_finite_population() -> None:
    # by hand: ten units, of which the first two are known; pairs of 4 + 4 and nothing else
    (group,) = collapsed([1.0, 0.0, 0.6, 0.2], [1, 1, 4, 4])
    assert group == pytest.approx((64 * (1 - 2 / 8) / 2 / 100, variance([0.6, 0.2])))
    # five uncertain ones: a pair and three
    two, three = collapsed([0.9, 0.5, 0.4, 0.1, 0.0, 0.1], [1, 3, 3, 3, 2, 2])
    assert two == pytest.approx((36 * (1 - 2 / 6) / 2 / 196, variance([0.5, 0.4])))
    assert three == pytest.approx((49 * (1 - 3 / 7) / 3 / 196, variance([0.1, 0.0, 0.1])))
    assert variances([[two, three]]) == pytest.approx([two[0] * two[1] + three[0] * three[1]])


def test_variances_within_groups_are_pooled_over_questions_by_place() -> None:
    one, other = [(0.2, 0.1), (0.3, 0.4)], [(0.1, 0.3)]
    assert variances([one, other, []]) == pytest.approx([0.2 * 0.2 + 0.3 * 0.4, 0.1 * 0.2, 0.0])


def test_where_all_is_rated_there_is_no_error_and_of_one_uncertain_stratum_none_is_known() -> None:
    assert collapsed([0.1, 0.5, 0.9], [1, 1, 1]) == []
    ((factor, within),) = collapsed([1.0, 0.5], [1, 4])
    assert (factor, math.isnan(within)) == (16 * (1 - 1 / 4) / 25, True)
    assert math.isnan(variances([[(factor, within)]])[0])
    # another question's pairs say it
    assert variances([[(factor, within)], [(0.1, 0.2)]]) == pytest.approx([factor * 0.2, 0.1 * 0.2])
