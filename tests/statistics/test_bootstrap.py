"""Bootstraps, effects of pairs, and p-values corrected for several tests."""

import itertools
import math
import time
import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from genie_inspect.statistics.bootstrap import bootstrap_interval, paired_bootstrap
from genie_inspect.statistics.differences import paired_permutation
from genie_inspect.statistics.effect import (
    CELLS,
    PairedTest,
    bonferroni,
    centred_deltas,
    cohens_d,
    complete_pairs,
    holm,
    paired_values,
)

NAN = math.nan
SCORES = st.integers(-40, 40).map(lambda tenths: tenths / 10)
PAIRS = st.lists(st.tuples(SCORES, SCORES), min_size=2, max_size=12)

FIVE = ([0.3, 0.5, 0.2, 0.9, 0.4], [0.5, 0.6, 0.1, 1.0, 0.9])
SIX = ([0.3, 0.5, 0.2, 0.9, 0.4, 0.6], [0.5, 0.6, 0.1, 1.0, 0.9, 0.5])


def every_resample(deltas: Sequence[float]) -> list[float]:
    """The mean of each of the n^n ways to draw n of n deltas."""
    return [math.fsum(drawn) / len(drawn) for drawn in itertools.product(deltas, repeat=len(deltas))]


def exact_p_value(deltas: Sequence[float]) -> float:
    observed = math.fsum(deltas) / len(deltas)
    means = every_resample([delta - observed for delta in deltas])
    return sum(abs(mean) >= abs(observed) - 1e-9 for mean in means) / len(means)


def deltas_of(pairs: tuple[list[float], list[float]]) -> list[float]:
    return [after - before for before, after in zip(*pairs, strict=True)]


@pytest.mark.parametrize("pairs", [FIVE, SIX], ids=["n=5", "n=6"])
def test_p_value_is_that_of_all_resamples_within_sampling_error(pairs: tuple[list[float], list[float]]) -> None:
    exact = exact_p_value(deltas_of(pairs))
    assert 0.02 < exact < 0.5  # a p-value that a wrong tail or centre would miss
    error = math.sqrt(exact * (1 - exact) / 40_000)
    assert paired_bootstrap(*pairs, resamples=40_000).p_value == pytest.approx(exact, abs=4 * error)


@pytest.mark.parametrize("pairs", [FIVE, SIX], ids=["n=5", "n=6"])
def test_interval_ends_leave_their_share_of_all_resamples_outside(pairs: tuple[list[float], list[float]]) -> None:
    means = np.array(every_resample(deltas_of(pairs)))
    found = paired_bootstrap(*pairs, resamples=40_000, confidence=0.9)
    for end, outside in ((found.low, means < found.low - 1e-9), (found.high, means > found.high + 1e-9)):
        at_end = np.isclose(means, end).mean()
        assert outside.mean() <= 0.05 + 0.005
        assert outside.mean() + at_end >= 0.05 - 0.005


def test_few_pairs_by_hand() -> None:
    # deltas 1 and 3: mean 2; centred -1 and 1, whose resamples have means -1, 0, 0, 1: none reaches 2,
    # so p is the smallest there is, 1 / (1 + resamples). Uncentred, the resampled means are 1, 2, 2, 3.
    found = paired_bootstrap([0, 0], [1, 3], resamples=999)
    assert (found.delta, found.low, found.high) == (2, 1, 3)
    assert found.p_value == 1 / 1000
    # deltas 0.3, -0.1, -0.1, 0.3: mean 0.1, centred +-0.2; with k of four positive a resample has mean 0.1 * (k - 2),
    # which reaches +-0.1 unless k = 2, and is exactly that for k = 1 and 3: p = 1 - 6 / 16 (without ties 2 / 16)
    found = paired_bootstrap([0.0] * 4, [0.3, -0.1, -0.1, 0.3], resamples=40_000)
    assert found.p_value == pytest.approx(0.625, abs=0.01)
    # deltas 0, 0, 0.2 less their mean: -1/15, -1/15, 2/15, and the mean of the deltas is 1/15. Of 27 resamples the 8 of
    # the low ones alone, the 6 of two high ones and the one of three lie as far from 0, but for rounding, or further
    assert paired_bootstrap([0.1, 0.1, 0.1], [0.1, 0.1, 0.3]).p_value == pytest.approx(15 / 27, abs=0.02)


def test_more_pairs_than_are_drawn_at_once_are_resampled_too() -> None:
    found = paired_bootstrap([0.0] * (CELLS + 1), [0.0] * CELLS + [1.0], resamples=3)
    assert found.n == CELLS + 1
    assert found.low <= found.delta <= found.high


Test = Callable[..., PairedTest]
BOTH = pytest.mark.parametrize("test", [paired_bootstrap, paired_permutation])


@BOTH
@given(PAIRS)
@settings(deadline=None, max_examples=50)
def test_swapping_the_sides_negates_delta_and_interval_and_keeps_the_p_value(
    test: Test, pairs: list[tuple[float, float]]
) -> None:
    before, after = zip(*pairs, strict=True)
    there, back = test(before, after, resamples=200), test(after, before, resamples=200)
    assert (back.delta, back.low, back.high) == (-there.delta, -there.high, -there.low)
    assert back.p_value == there.p_value


@BOTH
@given(st.lists(SCORES, min_size=6, max_size=30))
@settings(deadline=None, max_examples=50)
def test_equal_sides_have_delta_0_and_p_value_1(test: Test, values: list[float]) -> None:
    found = test(values, values, resamples=100)
    assert (found.delta, found.low, found.high, found.p_value) == (0, 0, 0, 1)


@BOTH
@pytest.mark.parametrize("pairs", [8, 30])
def test_a_column_among_many_gets_what_it_gets_alone(test: Test, pairs: int) -> None:
    before, after = np.random.default_rng(2).normal(size=(2, pairs, 4))
    before[3, 1] = after[5, 1] = before[7, 2] = np.nan
    together = test(before, after, resamples=500)
    for column in range(4):
        alone = test(before[:, column], after[:, column], resamples=500)
        assert together.p_value[column] == alone.p_value
        for figure in ("delta", "low", "high"):
            assert getattr(together, figure)[column] == pytest.approx(getattr(alone, figure), rel=1e-12)
    assert together.n.tolist() == [pairs, pairs - 2, pairs - 1, pairs]


@BOTH
def test_pairs_with_a_missing_side_are_left_out_and_fewer_than_two_test_nothing(test: Test) -> None:
    nan = math.nan
    assert test([1, nan, 2, 5], [2, 4, 4, nan]) == test([1, 2], [2, 4])
    one, none = test([1.0], [3.0]), test([], [])
    assert (one.delta, one.n, none.n) == (2, 1, 0)
    assert all(math.isnan(value) for value in (none.delta, *(end for t in (one, none) for end in (t.low, t.high))))
    assert math.isnan(one.p_value)
    assert math.isnan(none.p_value)
    beside = test([[1, nan], [2, nan]], [[2, 1], [4, 1]])
    assert (beside.delta[0], beside.n.tolist()) == (1.5, [2, 0])
    assert np.isnan([beside.delta[1], beside.low[1], beside.high[1], beside.p_value[1]]).all()


@BOTH
def test_the_seed_decides_the_draws_and_sides_that_differ_by_rounding_alone_are_equal(test: Test) -> None:
    before, after = np.random.default_rng(1).normal(size=(2, 30))
    assert test(before, after, seed=3) == test(before, after, seed=3)
    assert test(before, after, seed=3).p_value != test(before, after, seed=4).p_value
    rounded = [0.1 + 0.2, 0.7 + 0.1, 0.3 + 0.6], [0.3, 0.8, 0.9]
    assert rounded[0] != rounded[1]
    assert (test(*rounded).delta, test(*rounded).p_value) == (0, 1)


@BOTH
def test_ten_thousand_draws_of_500_pairs_and_six_features_take_little_time_and_memory(test: Test) -> None:
    before, after = np.random.default_rng(0).normal(size=(2, 500, 6))
    started = time.perf_counter()
    test(before, after)
    assert time.perf_counter() - started < 0.5
    tracemalloc.start()
    test(before, after)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8e6  # all draws at once would take 10,000 * 500 * 8 bytes = 40 MB, six gathered columns 240 MB


def test_the_share_of_false_findings_among_few_pairs_is_as_the_docstring_says() -> None:
    # 8 normal deltas without effect, 2,000 columns at once; the standard error of a share of 12% is 0.7%
    deltas = np.random.default_rng(5).normal(size=(8, 2000))
    found = paired_bootstrap(np.zeros_like(deltas), deltas, resamples=1000).p_value < 0.05
    assert found.mean() == pytest.approx(0.12, abs=0.02)


def test_interval_of_a_mean_over_stories_is_that_of_all_resamples() -> None:
    scores = np.array([0.1, 0.4, 0.5, 0.9])
    # 4^4 = 256 resamples; the lowest 5% are 12.8 of them. Means 0.1 (1 way), 0.175 (4: three 0.1 and a 0.4),
    # 0.2 (4: three 0.1 and a 0.5), 0.25 (6: two 0.1, two 0.4): 15 reach beyond the 13th, so the low end is 0.25.
    # From above: 0.9 (1), 0.8 (4: a 0.5), 0.775 (4: a 0.4), 0.7 (4: a 0.1 and 6: two 0.5): the high end is 0.7.
    found = bootstrap_interval(lambda drawn: float(scores[drawn].mean()), 4, resamples=20_000, confidence=0.9)
    assert found.value == pytest.approx(0.475)
    assert [found.low, found.high] == pytest.approx([0.25, 0.7])
    assert found.undefined == 0


def test_an_end_that_falls_between_two_resamples_is_the_outer_one() -> None:
    seen: list[float] = []

    def first(drawn: NDArray[np.intp]) -> float:
        seen.append(float(drawn[0]))
        return seen[-1]

    found = bootstrap_interval(first, units=1_000, resamples=40)
    # 2.5% of 39 steps is 0.975: the least and the greatest, not the next; the first call has all units in order
    assert (found.low, found.high) == (min(seen[1:]), max(seen[1:]))


def test_resamples_without_a_value_are_counted_and_left_out() -> None:
    # half of the resamples of two units draw one of them twice
    found = bootstrap_interval(lambda drawn: NAN if drawn[0] == drawn[1] else 7.0, 2, resamples=2000)
    assert (found.value, found.low, found.high) == (7, 7, 7)
    assert found.undefined == pytest.approx(1000, abs=100)
    never = bootstrap_interval(lambda drawn: NAN, 3, resamples=10)
    assert (math.isnan(never.low), math.isnan(never.high), never.undefined) == (True, True, 10)
    values = iter([0.1, NAN, 0.5, NAN])
    once = bootstrap_interval(lambda drawn: next(values), units=2, resamples=3)
    assert (once.value, once.low, once.high, once.undefined) == (0.1, 0.5, 0.5, 2)


@pytest.mark.parametrize("units", [0, 1])
def test_fewer_than_two_units_have_no_interval(units: int) -> None:
    found = bootstrap_interval(lambda drawn: float(len(drawn)), units)
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert found.value == 1 if units else math.isnan(found.value)


def test_an_interval_leaves_whole_draws_out_on_either_side() -> None:
    # a quarter of the four steps between five draws is one: the second lowest and the second highest
    values = iter([0.0, 5.0, 1.0, 4.0, 2.0, 3.0])
    found = bootstrap_interval(lambda _: next(values), units=2, resamples=5, confidence=0.5)
    assert (found.value, found.low, found.high) == (0, 2, 4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"resamples": 0}, "resamples is 0, expected at least 1"),
        ({"confidence": 1.0}, "confidence is 1.0, expected a number between 0 and 1"),
        ({"confidence": 0.0}, "confidence is 0.0, expected a number between 0 and 1"),
    ],
)
def test_an_option_out_of_range_is_refused_with_what_would_do(options: dict[str, Any], message: str) -> None:
    for made in (lambda: paired_bootstrap([1, 2], [2, 3], **options), lambda: bootstrap_interval(len, 2, **options)):
        with pytest.raises(ValueError, match=f"^{message}$"):
            made()


def test_cohens_d_by_hand() -> None:
    # deltas 0.1, 0.3, -0.1, 0.5: mean 0.2; squares 0.01 + 0.01 + 0.09 + 0.09 = 0.2; sqrt(0.2 / 3) = 0.258199
    assert cohens_d([0.4, 0.2, 0.6, 0.1], [0.5, 0.5, 0.5, 0.6]) == pytest.approx(0.2 / 0.2581989, rel=1e-6)
    assert cohens_d([0.3, 0.7], [0.3, 0.7]) == 0
    # a shift without spread has no unit: these deltas differ by rounding alone, whichever side the values stand on
    nearly: list[float] = [0.3, 0.1 + 0.2, 0.3]
    undefined: list[tuple[list[float], list[float]]] = [([0.1, 0.2, 0.3], [0.2, 0.3, 0.4])]
    undefined += [([0] * 3, nearly), (nearly, [0] * 3), ([NAN], [NAN]), ([1, NAN], [1, NAN])]
    assert all(math.isnan(cohens_d(*sides)) for sides in undefined)


@given(PAIRS, st.floats(0.5, 20))
def test_swapping_the_sides_turns_the_effect_and_the_unit_of_the_scores_does_not_matter(
    pairs: list[tuple[float, float]], unit: float
) -> None:
    before, after = (np.array(side) for side in zip(*pairs, strict=True))
    effect = cohens_d(before, after)
    assert cohens_d(after, before) == pytest.approx(-effect, nan_ok=True)
    assert cohens_d(before * unit, after * unit) == pytest.approx(effect, rel=1e-6, nan_ok=True)


def test_a_value_without_its_partner_is_missing_on_both_sides() -> None:
    first, second = paired_values([1, NAN, 3], [4, 5, NAN])
    assert first.tolist() == pytest.approx([1, NAN, NAN], nan_ok=True)
    assert second.tolist() == pytest.approx([4, NAN, NAN], nan_ok=True)
    from_json: Any = [1, None, 3]
    first, second = complete_pairs(from_json, [4, 5, 6])
    assert (first.tolist(), second.tolist()) == ([1, 3], [4, 6])


def test_rounding_is_judged_by_the_larger_side_and_column_by_column() -> None:
    before = np.array([0, 1e-6])
    assert not centred_deltas(before, before + 5)[1].any()
    assert not centred_deltas(before + 5, before)[1].any()
    assert float(centred_deltas(np.array([0.1 + 0.2, 0.5]), np.array([0.3, 0.5]))[0]) == 0
    # a small difference is not taken for rounding
    mean, centred = centred_deltas(np.array([1.0, 1.0]), np.array([1 + 1e-9, 1 + 3e-9]))
    assert float(mean) == pytest.approx(2e-9)
    assert centred.tolist() == pytest.approx([-1e-9, 1e-9], rel=1e-3)
    columns = np.array([[1e6, 1e-9], [1e6, 1e-9]])
    assert centred_deltas(columns, columns + np.array([0, 1e-10]))[0].tolist() == pytest.approx([0, 1e-10])


def test_corrections_by_hand() -> None:
    # ordered 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1: 0.02, 0.03, 0.06, 0.04; none below the one before it: 0.06
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert bonferroni([0.01, 0.04, 0.3, 0.005]) == pytest.approx([0.04, 0.16, 1, 0.02])
    # a missing one stays missing and does not count
    assert holm([NAN, 0.02, NAN, 0.03]) == pytest.approx([NAN, 0.04, NAN, 0.04], nan_ok=True)
    assert bonferroni([NAN, 0.02, NAN, 0.03]) == pytest.approx([NAN, 0.04, NAN, 0.06], nan_ok=True)


@given(st.lists(st.floats(0, 1) | st.just(NAN), max_size=8))
def test_holm_lies_between_the_p_value_and_bonferroni(p_values: list[float]) -> None:
    plain, stepped, full = np.array(p_values), holm(p_values), bonferroni(p_values)
    missing = np.isnan(plain)
    assert (np.isnan(stepped) == missing).all()
    assert (np.isnan(full) == missing).all()
    known = [values[~missing] for values in (plain, stepped, full, np.ones_like(plain))]
    assert all((lower <= upper).all() for lower, upper in itertools.pairwise(known))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8, unique=True))
def test_holm_rejects_what_stepping_down_rejects(p_values: list[float]) -> None:
    """The smallest against level / M, the next against level / (M - 1), until one fails."""
    level, count = 0.05, len(p_values)
    ordered = enumerate(sorted(p_values))
    rejected = {p for _, p in itertools.takewhile(lambda step: step[1] * (count - step[0]) <= level, ordered)}
    assert [p in rejected for p in p_values] == (holm(p_values) <= level).tolist()
