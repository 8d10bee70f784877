"""Bootstraps, effects of pairs, and p-values corrected for several tests."""

import itertools
import math
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genie_inspect.statistics.bootstrap import bootstrap_interval, paired_bootstrap, percentile_interval
from genie_inspect.statistics.differences import paired_permutation
from genie_inspect.statistics.effect import PairedTest, bonferroni, centred_deltas, cohens_d, holm

NAN = math.nan
SCORES = st.integers(-40, 40).map(lambda tenths: tenths / 10)
PAIRS = st.lists(st.tuples(SCORES, SCORES), min_size=2, max_size=12)


def test_p_value_and_interval_are_those_of_all_resamples_within_sampling_error() -> None:
    before, after = [0.3, 0.5, 0.2, 0.9, 0.4, 0.6], [0.5, 0.6, 0.1, 1.0, 0.9, 0.5]
    deltas = np.subtract(after, before)
    # the mean of each of the 6^6 ways to draw six of the deltas
    means = np.array(list(itertools.product(deltas, repeat=6))).mean(axis=1)
    exact = (np.abs(means - deltas.mean()) >= abs(deltas.mean()) - 1e-9).mean()
    assert 0.02 < exact < 0.5  # a p-value that a wrong tail or centre would miss
    error = math.sqrt(exact * (1 - exact) / 40_000)
    found = paired_bootstrap(before, after, resamples=40_000)
    assert found.p_value == pytest.approx(exact, abs=4 * error)
    for end, outside in ((found.low, means < found.low - 1e-9), (found.high, means > found.high + 1e-9)):
        at_end = np.isclose(means, end).mean()
        assert outside.mean() <= 0.025 + 0.003
        assert outside.mean() + at_end >= 0.025 - 0.003


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
    assert test([1, NAN, 2, 5], [2, 4, 4, NAN]) == test([1, 2], [2, 4])
    one, none = test([1.0], [3.0]), test([], [])
    assert (one.delta, one.n, none.n) == (2, 1, 0)
    undefined = none.delta, *(figure for found in (one, none) for figure in (found.low, found.high, found.p_value))
    assert all(map(math.isnan, undefined))
    beside = test([[1, NAN], [2, NAN]], [[2, 1], [4, 1]])
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


def test_interval_of_a_mean_over_stories_is_that_of_all_resamples() -> None:
    scores = np.array([0.1, 0.4, 0.5, 0.9])
    # 4^4 = 256 resamples; the lowest 2.5% are 6.4 of them. Means 0.1 (1 way), 0.175 (4: three 0.1 and a 0.4),
    # 0.2 (4: three 0.1 and a 0.5): 9 reach beyond the 7th, so the low end is 0.2. From above: 0.9 (1), 0.8 (4: a 0.5),
    # 0.775 (4: a 0.4): the high end is 0.775
    found = bootstrap_interval(lambda drawn: float(scores[drawn].mean()), 4, resamples=20_000)
    assert found.value == pytest.approx(0.475)
    assert [found.low, found.high] == pytest.approx([0.2, 0.775])
    assert found.undefined == 0
    # an end that falls between two resamples is the outer one: 2.5% of 39 steps is 0.975
    found = percentile_interval(0, np.arange(40.0)[::-1])
    assert (found.low, found.high) == (0, 39)
    # a quarter of the four steps between five draws is one: the second lowest and the second highest
    found = percentile_interval(0, np.array([5.0, 1.0, 4.0, 2.0, 3.0]), confidence=0.5)
    assert (found.value, found.low, found.high) == (0, 2, 4)


def test_resamples_without_a_value_are_counted_and_left_out_and_one_unit_has_no_interval() -> None:
    # half of the resamples of two units draw one of them twice
    found = bootstrap_interval(lambda drawn: NAN if drawn[0] == drawn[1] else 7.0, 2, resamples=2000)
    assert (found.value, found.low, found.high) == (7, 7, 7)
    assert found.undefined == pytest.approx(1000, abs=100)
    never = bootstrap_interval(lambda drawn: NAN, 3, resamples=10)
    assert (math.isnan(never.low), math.isnan(never.high), never.undefined) == (True, True, 10)
    # fewer than two units have no interval
    one, none = (bootstrap_interval(lambda drawn: float(len(drawn)), units) for units in (1, 0))
    assert one.value == 1
    assert all(map(math.isnan, (one.low, one.high, none.value, none.low, none.high)))


def test_cohens_d_by_hand() -> None:
    # deltas 0.1, 0.3, -0.1, 0.5: mean 0.2; squares 0.01 + 0.01 + 0.09 + 0.09 = 0.2; sqrt(0.2 / 3) = 0.258199
    assert cohens_d([0.4, 0.2, 0.6, 0.1], [0.5, 0.5, 0.5, 0.6]) == pytest.approx(0.2 / 0.2581989, rel=1e-6)
    assert cohens_d([0.3, 0.7], [0.3, 0.7]) == 0
    # a shift without spread has no unit: these deltas differ by rounding alone, whichever side the values stand on
    nearly: list[float] = [0.3, 0.1 + 0.2, 0.3]
    undefined: list[tuple[list[float], list[float]]] = [([0.1, 0.2, 0.3], [0.2, 0.3, 0.4])]
    undefined += [([0] * 3, nearly), (nearly, [0] * 3), ([NAN], [NAN]), ([1, NAN], [1, NAN])]
    assert cohens_d([0.5, 0.5, 0.6], [0.4, 0.2, 0.1]) == pytest.approx(-cohens_d([0.4, 0.2, 0.1], [0.5, 0.5, 0.6]))
    assert all(math.isnan(cohens_d(*sides)) for sides in undefined)


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


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8, unique=True))
def test_holm_rejects_what_stepping_down_rejects(p_values: list[float]) -> None:
    """The smallest against level / M, the next against level / (M - 1), until one fails."""
    level, count = 0.05, len(p_values)
    ordered = enumerate(sorted(p_values))
    rejected = {p for _, p in itertools.takewhile(lambda step: step[1] * (count - step[0]) <= level, ordered)}
    assert [p in rejected for p in p_values] == (holm(p_values) <= level).tolist()
