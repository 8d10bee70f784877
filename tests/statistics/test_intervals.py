import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie_inspect.statistics.intervals import clustered_interval

VALUES = st.lists(st.floats(-10, 10), min_size=2, max_size=12)


def test_one_value_a_cluster_is_the_ordinary_t_interval() -> None:
    # 1, 2, 3: mean 2, standard deviation 1, error 1 / sqrt(3) = 0.5773503; t with two degrees of freedom 4.3026527:
    # half width 2.4841377
    found = clustered_interval([1, 2, 3], ["a", "b", "c"])
    assert (found.mean, found.values, found.clusters) == (2, 3, 3)
    assert found.low == pytest.approx(2 - 2.4841377, abs=1e-6)
    assert found.high == pytest.approx(2 + 2.4841377, abs=1e-6)


def test_epochs_of_one_prompt_count_as_one_observation() -> None:
    # a: 1, 1, b: 3, 3: mean 2; cluster sums -2 and 2; error sqrt(2 / 1 * (4 + 4)) / 4 = 1, that of the two values 1, 3;
    # t with one degree of freedom is 12.7062047
    found = clustered_interval([1, 1, 3, 3], ["a", "a", "b", "b"])
    assert (found.values, found.clusters) == (4, 2)
    assert found.high - found.mean == pytest.approx(12.7062047, abs=1e-6)


def test_uneven_clusters_by_hand() -> None:
    # a: 1, 2, b: 3, c: 6: mean 3; sums (-2 - 1), 0, 3; error sqrt(3 / 2 * 18) / 4 = 1.2990381;
    # t with two degrees of freedom 4.3026527
    found = clustered_interval([1, 2, 3, 6], ["a", "a", "b", "c"])
    assert found.mean == 3
    assert found.mean - found.low == pytest.approx(1.2990381 * 4.3026527, abs=1e-6)


@given(VALUES, st.integers(2, 4))
def test_repeating_every_value_in_its_cluster_adds_no_certainty(values: list[float], times: int) -> None:
    once = clustered_interval(values, range(len(values)))
    often = clustered_interval(values * times, [*range(len(values))] * times)
    assert [often.low, often.high] == pytest.approx([once.low, once.high], abs=1e-9)


@given(VALUES)
def test_more_confidence_means_a_wider_interval_around_the_mean(values: list[float]) -> None:
    narrow, wide = (clustered_interval(values, range(len(values)), confidence) for confidence in (0.5, 0.99))
    assert wide.low <= narrow.low <= narrow.mean <= narrow.high <= wide.high


def test_missing_values_are_left_out_and_so_are_clusters_without_any() -> None:
    found = clustered_interval([1, math.nan, 3, math.nan], ["a", "a", "b", "c"])
    assert found == clustered_interval([1, 3], ["a", "b"])
    assert (found.values, found.clusters) == (2, 2)


def test_a_single_cluster_has_a_mean_but_no_interval() -> None:
    found = clustered_interval([1, 3], ["a", "a"])
    assert found.mean == 2
    assert math.isnan(found.low)
    assert math.isnan(found.high)


def test_no_values_have_no_mean() -> None:
    assert math.isnan(clustered_interval([math.nan], ["a"]).mean)
    assert clustered_interval([], []).values == 0


def test_values_without_a_cluster_are_refused() -> None:
    with pytest.raises(ValueError, match="2 values but 1 clusters"):
        clustered_interval([1, 2], ["a"])


def test_an_interval_ends_where_the_values_do() -> None:
    values = [0.9, 1.0, 1.0]  # mean 0.967, half width 4.303 * 0.0333 = 0.143
    found = clustered_interval(values, ["a", "b", "c"])
    assert found.high > 1
    bounded = found.within(0, 1)
    assert (bounded.mean, bounded.low, bounded.high) == (found.mean, found.low, 1)
    assert math.isnan(clustered_interval([0.5], ["a"]).within(0, 1).low)
