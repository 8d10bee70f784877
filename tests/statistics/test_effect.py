import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie_inspect.statistics.effect import cohens_d

SCORES = st.integers(0, 40).map(lambda tenths: tenths / 10)
PAIRS = st.lists(st.tuples(SCORES, SCORES), min_size=2, max_size=15)


def test_mean_delta_in_standard_deviations_of_the_deltas_by_hand() -> None:
    # deltas 0.1, 0.3, -0.1, 0.5: mean 0.2; squares 0.01 + 0.01 + 0.09 + 0.09 = 0.2; sqrt(0.2 / 3) = 0.258199
    assert cohens_d([0.4, 0.2, 0.6, 0.1], [0.5, 0.5, 0.5, 0.6]) == pytest.approx(0.2 / 0.2581989, rel=1e-6)


@given(PAIRS)
def test_swapping_the_sides_changes_the_sign(pairs: list[tuple[float, float]]) -> None:
    before, after = zip(*pairs, strict=True)
    assert cohens_d(after, before) == pytest.approx(-cohens_d(before, after), nan_ok=True)


@given(PAIRS, st.floats(0.5, 20))
def test_the_unit_of_the_scores_does_not_matter(pairs: list[tuple[float, float]], unit: float) -> None:
    before, after = zip(*pairs, strict=True)
    scaled = cohens_d([value * unit for value in before], [value * unit for value in after])
    assert scaled == pytest.approx(cohens_d(before, after), rel=1e-6, nan_ok=True)


def test_equal_sides_have_no_effect() -> None:
    assert cohens_d([0.3, 0.7], [0.3, 0.7]) == 0


def test_a_shift_without_spread_has_no_unit() -> None:
    # the deltas differ by rounding alone, whichever side the values stand on
    assert math.isnan(cohens_d([0.1, 0.2, 0.3], [0.2, 0.3, 0.4]))
    assert math.isnan(cohens_d([0, 0, 0], [0.3, 0.1 + 0.2, 0.3]))
    assert math.isnan(cohens_d([0.3, 0.1 + 0.2, 0.3], [0, 0, 0]))


def test_pairs_with_a_missing_side_are_left_out() -> None:
    assert cohens_d([1, 2, math.nan, 3], [2, 4, 5, 6]) == cohens_d([1, 2, 3], [2, 4, 6])


@pytest.mark.parametrize("side", [[], [1], [1, math.nan]])
def test_fewer_than_two_pairs_have_no_effect_size(side: list[float]) -> None:
    assert math.isnan(cohens_d(side, side))
