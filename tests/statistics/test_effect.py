import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie_inspect.statistics.effect import bonferroni, centred_deltas, cohens_d, complete_pairs, holm, paired_values

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


def test_a_value_without_its_partner_is_missing_on_both_sides() -> None:
    first, second = paired_values([1, math.nan, 3], [4, 5, math.nan])
    assert first.tolist() == pytest.approx([1, math.nan, math.nan], nan_ok=True)
    assert second.tolist() == pytest.approx([4, math.nan, math.nan], nan_ok=True)


def test_none_is_missing_like_nan() -> None:
    from_json: Any = [1, None, 3]
    first, second = complete_pairs(from_json, [4, 5, 6])
    assert (first.tolist(), second.tolist()) == ([1, 3], [4, 6])


def test_deltas_by_hand() -> None:
    # 0.5 - 0.2 = 0.3 and 0.3 - 0.4 = -0.1: mean 0.1; less it 0.2 and -0.2
    mean, centred = centred_deltas(np.array([0.2, 0.4]), np.array([0.5, 0.3]))
    assert float(mean) == pytest.approx(0.1)
    assert centred.tolist() == pytest.approx([0.2, -0.2])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=10), st.floats(0.001, 5))
def test_a_constant_shift_leaves_exactly_no_spread(values: list[float], shift: float) -> None:
    before = np.array(values)
    assert not centred_deltas(before, before + shift)[1].any()


def test_rounding_is_judged_by_the_larger_side() -> None:
    before = np.array([0, 1e-6])
    assert not centred_deltas(before, before + 5)[1].any()
    assert not centred_deltas(before + 5, before)[1].any()


def test_a_mean_that_is_rounding_alone_is_exactly_0() -> None:
    mean, _ = centred_deltas(np.array([0.1 + 0.2, 0.5]), np.array([0.3, 0.5]))
    assert float(mean) == 0


def test_a_small_difference_is_not_taken_for_rounding() -> None:
    mean, centred = centred_deltas(np.array([1.0, 1.0]), np.array([1 + 1e-9, 1 + 3e-9]))
    assert float(mean) == pytest.approx(2e-9)
    assert centred.tolist() == pytest.approx([-1e-9, 1e-9], rel=1e-3)


def test_rounding_is_judged_column_by_column() -> None:
    before = np.array([[1e6, 1e-9], [1e6, 1e-9]])
    mean, _ = centred_deltas(before, before + np.array([0, 1e-10]))
    assert mean.tolist() == pytest.approx([0, 1e-10])


P_VALUES = st.lists(st.floats(0, 1) | st.just(math.nan), max_size=8)


def test_holm_by_hand() -> None:
    # ordered 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1: 0.02, 0.03, 0.06, 0.04; none below the one before it: 0.06
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_bonferroni_by_hand() -> None:
    assert bonferroni([0.01, 0.04, 0.3, 0.005]) == pytest.approx([0.04, 0.16, 1, 0.02])


def test_a_missing_p_value_stays_missing_and_does_not_count() -> None:
    nan = math.nan
    assert holm([nan, 0.02, nan, 0.03]) == pytest.approx([nan, 0.04, nan, 0.04], nan_ok=True)
    assert bonferroni([nan, 0.02, nan, 0.03]) == pytest.approx([nan, 0.04, nan, 0.06], nan_ok=True)


@given(P_VALUES)
def test_holm_lies_between_the_p_value_and_bonferroni(p_values: list[float]) -> None:
    given_, stepped, full = np.array(p_values), holm(p_values), bonferroni(p_values)
    missing = np.isnan(given_)
    assert (np.isnan(stepped) == missing).all()
    assert (np.isnan(full) == missing).all()
    assert (given_[~missing] <= stepped[~missing]).all()
    assert (stepped[~missing] <= full[~missing]).all()
    assert (full[~missing] <= 1).all()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8, unique=True))
def test_holm_rejects_what_stepping_down_rejects(p_values: list[float]) -> None:
    """The smallest against level / M, the next against level / (M - 1), until one fails."""
    level, count = 0.05, len(p_values)
    rejected: set[float] = set()
    for step, p_value in enumerate(sorted(p_values)):
        if p_value * (count - step) > level:
            break
        rejected.add(p_value)
    assert [p in rejected for p in p_values] == (holm(p_values) <= level).tolist()


@pytest.mark.parametrize("correction", [holm, bonferroni])
def test_what_is_no_p_value_is_refused(correction: object) -> None:
    assert callable(correction)
    with pytest.raises(ValueError, match=r"a p-value is 1\.5"):
        correction([0.5, 1.5])
    with pytest.raises(ValueError, match="2 dimensions"):
        correction([[0.5]])
