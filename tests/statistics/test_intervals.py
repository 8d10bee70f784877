import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import t

from genie_inspect.statistics.intervals import prompt_interval, prompt_means, standard_error

VALUES = st.lists(st.floats(-10, 10), min_size=2, max_size=12)


def test_one_value_a_prompt_is_the_ordinary_t_interval() -> None:
    # 1, 2, 3: mean 2, standard deviation 1, error 1 / sqrt(3) = 0.5773503; t with two degrees of freedom 4.3026527:
    # half width 2.4841377
    found = prompt_interval([1, 2, 3], ["a", "b", "c"])
    assert (found.mean, found.values, found.clusters) == (2, 3, 3)
    assert found.low == pytest.approx(2 - 2.4841377, abs=1e-6)
    assert found.high == pytest.approx(2 + 2.4841377, abs=1e-6)


def test_epochs_of_one_prompt_count_as_one_observation() -> None:
    # prompt means 1 and 3: mean 2, standard deviation sqrt(2), error 1; t with one degree of freedom is 12.7062047
    found = prompt_interval([1, 1, 3, 3], ["a", "a", "b", "b"])
    assert (found.values, found.clusters) == (4, 2)
    assert found.high - found.mean == pytest.approx(12.7062047, abs=1e-6)


def test_prompts_weigh_alike_however_many_values_each_has() -> None:
    # prompt means 1.5, 3, 6: mean 3.5, where the four values have 3; squares 4 + 0.25 + 6.25 = 10.5, error
    # sqrt(10.5 / 2 / 3) = 1.3228757; t with two degrees of freedom 4.3026527
    found = prompt_interval([1, 2, 3, 6], ["a", "a", "b", "c"])
    assert found.mean == 3.5
    assert found.mean - found.low == pytest.approx(1.3228757 * 4.3026527, abs=1e-6)


def clustered(values: list[list[float]]) -> tuple[float, float]:
    """Mean and half width by cluster-robust standard errors (Miller 2024), with t for z; a list of values a cluster."""
    every = np.concatenate([np.array(own) for own in values])
    sums = np.array([(np.array(own) - every.mean()).sum() for own in values])
    groups = len(values)
    error = math.sqrt(groups / (groups - 1) * (sums**2).sum()) / len(every)
    return float(every.mean()), float(t.ppf(0.975, groups - 1)) * error


@given(
    st.integers(1, 4).flatmap(
        lambda size: st.lists(st.lists(st.floats(-10, 10), min_size=size, max_size=size), min_size=2, max_size=8)
    )
)
def test_where_prompts_have_as_many_values_it_is_the_clustered_interval(values: list[list[float]]) -> None:
    prompts = [place for place, own in enumerate(values) for _ in own]
    found = prompt_interval([value for own in values for value in own], prompts)
    assume(not math.isnan(found.low))
    mean, half = clustered(values)
    assert (found.mean, found.high - found.mean) == pytest.approx((mean, half), abs=1e-9)


@given(VALUES, st.integers(2, 4))
def test_repeating_every_value_in_its_prompt_adds_no_certainty(values: list[float], times: int) -> None:
    once = prompt_interval(values, range(len(values)))
    often = prompt_interval(values * times, [*range(len(values))] * times)
    assert [often.low, often.high] == pytest.approx([once.low, once.high], abs=1e-9, nan_ok=True)


@given(VALUES)
def test_more_confidence_means_a_wider_interval_around_the_mean(values: list[float]) -> None:
    assume(not math.isnan(standard_error(values)))
    narrow, wide = (prompt_interval(values, range(len(values)), confidence) for confidence in (0.5, 0.99))
    assert wide.low <= narrow.low <= narrow.mean <= narrow.high <= wide.high


def test_missing_values_are_left_out_and_so_are_prompts_without_any() -> None:
    found = prompt_interval([1, math.nan, 3, math.nan], ["a", "a", "b", "c"])
    assert found == prompt_interval([1, 3], ["a", "b"])
    assert (found.values, found.clusters) == (2, 2)
    assert prompt_means([1, math.nan, 3, math.nan], ["a", "a", "b", "c"]) == {"a": 1, "b": 3}


def test_a_single_prompt_has_a_mean_but_no_interval() -> None:
    found = prompt_interval([1, 3], ["a", "a"])
    assert found.mean == 2
    assert math.isnan(found.low)
    assert math.isnan(found.high)


@pytest.mark.parametrize("values", [[14, 14], [1.0] * 8, [0.1 + 0.2, 0.3]])
def test_prompts_that_do_not_vary_have_a_mean_but_no_interval(values: list[float]) -> None:
    # two stories that pass all fourteen tests do not show that every story does
    found = prompt_interval(values, range(len(values)))
    assert found.mean == pytest.approx(values[0])
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert math.isnan(standard_error(values))


def test_no_values_have_no_mean() -> None:
    assert math.isnan(prompt_interval([math.nan], ["a"]).mean)
    assert prompt_interval([], []).values == 0


def test_values_without_a_prompt_are_refused() -> None:
    with pytest.raises(ValueError, match="2 values but 1 prompts"):
        prompt_interval([1, 2], ["a"])


def test_an_interval_ends_where_the_values_do() -> None:
    values = [0.9, 1.0, 1.0]  # mean 0.967, half width of the t interval 4.303 * 0.0333 = 0.143: it would end at 1.11
    found = prompt_interval(values, "abc", bounds=(0, 1))
    assert 0 < found.low < 0.823 < found.mean < found.high <= 1
    mirrored = prompt_interval([0.1, 0.0, 0.0], "abc", bounds=(0, 1))
    assert [1 - mirrored.high, 1 - mirrored.low] == pytest.approx([found.low, found.high])
    assert math.isnan(prompt_interval([0.5], ["a"], bounds=(0, 1)).low)


def test_a_scale_of_other_ends_bends_an_interval_alike() -> None:
    shares = prompt_interval([0.9, 1.0, 0.7, 0.95], "abcd", bounds=(0, 1))
    points = prompt_interval([18.0, 20.0, 14.0, 19.0], "abcd", bounds=(0, 20))
    assert [points.low, points.high] == pytest.approx([20 * shares.low, 20 * shares.high])
    # no end above: an interval of lengths 1, 2, 30 begins above 0, where that of t begins at -30
    assert 0 < prompt_interval([1, 2, 30], "abc", bounds=(0, math.inf)).low < 1


def test_far_from_the_ends_it_is_the_t_interval() -> None:
    values = [0.499, 0.5, 0.501]  # half width 0.0025, an end is 201 of them away
    assert prompt_interval(values, "abc", bounds=(0, 1)) == prompt_interval(values, "abc")
    # nearer ones differ by little: 0.5 +- 0.0248
    wide = prompt_interval([0.49, 0.5, 0.51], "abc", bounds=(0, 1))
    assert [wide.low, wide.high] == pytest.approx([0.5 - 0.0248, 0.5 + 0.0248], abs=0.002)


def test_values_beyond_the_stated_ends_have_the_t_interval() -> None:
    assert prompt_interval([5, 6, 7], "abc", bounds=(0, 1)) == prompt_interval([5, 6, 7], "abc")


@pytest.mark.parametrize(
    ("mean", "size", "least"),
    # as beta values: a t interval of 8 prompts covers 0.995 of size 30 in 71%, of 60 in 80%, of 350 (the demo's
    # creativity index: standard deviation 0.004) in 92%, and 0.95 of size 10 in 87%
    [
        (0.5, 3, 0.95),
        (0.8, 10, 0.94),
        (0.95, 10, 0.94),
        (0.99, 100, 0.94),
        (0.995, 30, 0.93),
        (0.995, 60, 0.93),
        (0.995, 350, 0.94),
    ],
)
def test_eight_prompts_cover_their_mean_also_near_an_end(mean: float, size: float, least: float) -> None:
    draws = np.random.default_rng(0).beta(mean * size, (1 - mean) * size, (2000, 8))
    intervals = [prompt_interval(values, range(8), bounds=(0, 1)) for values in draws.tolist()]
    assert np.mean([found.low <= mean <= found.high for found in intervals]) > least


def test_values_too_large_to_add_have_a_mean() -> None:
    # the sum is beyond any float; deviations of 1e308 / 3 and 2e308 / 3, error 1e308 / 3
    assert prompt_interval([1e308, 1e308, 0], "abc").mean == pytest.approx(1e308 / 3 * 2)
    assert standard_error([1e308, 1e308, 0]) == pytest.approx(1e308 / 3)
    infinite = prompt_interval([math.inf, 1, 2], "abc")
    assert infinite.mean == math.inf
    assert math.isnan(infinite.low)
    assert math.isnan(prompt_interval([math.inf, -math.inf], "ab").mean)


def test_means_that_differ_by_little_vary() -> None:
    # standard deviation 1e-10 / sqrt(2), over the root of 2
    assert standard_error([1, 1 + 1e-10]) == pytest.approx(0.5e-10, rel=1e-5)
