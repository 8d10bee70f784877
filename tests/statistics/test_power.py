import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie_inspect.statistics.power import margin, minimum_population, paired_power, pairs_needed


@pytest.mark.parametrize(
    ("sd", "documents"), [(0.2745, 41), (0.302, 50), (0.270, 40), (0.2715, 40), (0.26, 37), (0.287, 45)]
)
def test_population_sizes_of_the_study(sd: float, documents: int) -> None:
    # z of two-sided 98% is 2.32635; for 0.2745: (2.32635 * 2.745)^2 = 6.38583^2 = 40.8
    assert minimum_population(sd) == documents


@given(st.floats(0.01, 2), st.floats(0.01, 1), st.floats(0.5, 0.999))
def test_the_minimum_meets_the_margin_and_one_fewer_does_not(sd: float, wanted: float, confidence: float) -> None:
    n = minimum_population(sd, wanted, confidence)
    assert margin(sd, n, confidence) <= wanted * (1 + 1e-9)
    assert n == 1 or margin(sd, n - 1, confidence) > wanted * (1 - 1e-9)


def test_margin_by_hand() -> None:
    # two-sided 95%: z = 1.959964; 1.959964 * 0.5 / sqrt(25) = 0.1959964
    assert margin(0.5, 25, confidence=0.95) == pytest.approx(0.1959964, abs=1e-7)


def test_documents_that_never_differ_still_need_one() -> None:
    assert minimum_population(0) == 1
    assert margin(0, 5) == 0


def test_power_with_two_pairs_by_hand() -> None:
    # one degree of freedom: the bound of a two-sided 50% test is tan(pi / 4) = 1, and without an effect half reject
    assert paired_power(0, sd=1, n=2, level=0.5) == pytest.approx(0.5)


@given(st.floats(0.01, 5), st.integers(2, 200), st.sampled_from([0.05, 0.01, 0.05 / 6]))
def test_without_an_effect_the_power_is_the_level(sd: float, n: int, level: float) -> None:
    assert paired_power(0, sd, n, level) == pytest.approx(level)


def test_power_is_the_share_of_simulated_tests_that_reject() -> None:
    n, delta, sd = 12, 0.5, 0.8
    deltas = np.random.default_rng(0).normal(delta, sd, size=(20_000, n))
    t = deltas.mean(axis=1) / (deltas.std(axis=1, ddof=1) / math.sqrt(n))
    # 2.200985 is the two-sided 5% bound of t with 11 degrees of freedom, from printed tables
    assert paired_power(delta, sd, n) == pytest.approx((np.abs(t) > 2.200985).mean(), abs=0.014)


def test_power_of_a_delta_of_two_hundredths_grows_with_the_pairs() -> None:
    powers = [paired_power(0.02, sd=0.08, n=n) for n in (10, 50, 130, 500)]
    assert powers == sorted(powers)
    assert powers[2] == pytest.approx(0.8, abs=0.02)  # about (1.96 + 0.84)^2 * 16 = 125 pairs, a few more for t


@given(st.floats(0, 3), st.floats(0.1, 2), st.integers(2, 100))
def test_the_sign_of_the_delta_does_not_matter(delta: float, sd: float, n: int) -> None:
    assert paired_power(-delta, sd, n) == pytest.approx(paired_power(delta, sd, n))


@pytest.mark.parametrize("n", [2, 3, 8, 50, 500])
def test_power_is_never_missing_however_large_the_effect(n: int) -> None:
    powers = [paired_power(delta / 10, sd=1, n=n) for delta in range(200)]
    assert powers == pytest.approx(sorted(powers))
    assert powers[-1] <= 1
    assert paired_power(1e6, sd=1, n=n) == pytest.approx(1)


@pytest.mark.parametrize(
    ("call", "arguments", "message"),
    [
        (minimum_population, (-0.1,), "sd is -0.1"),
        (minimum_population, (math.nan,), "sd is nan"),
        (minimum_population, (math.inf,), "sd is inf"),
        (minimum_population, (0.3, 0.1, 0), "confidence is 0"),
        (minimum_population, (0.3, 0), "margin is 0"),
        (minimum_population, (0.3, 0.1, 98), "confidence is 98"),
        (margin, (0.3, 0), "n is 0"),
        (margin, (0.3, 5, 1), "confidence is 1"),
        (paired_power, (0.1, 0, 5), "sd is 0"),
        (paired_power, (0.1, 0.1, 1), "n is 1"),
        (paired_power, (0.1, 0.1, 5, 5), "level is 5"),
        (paired_power, (0.1, 0.1, 5, 0), "level is 0"),
        (paired_power, (0.1, 0.1, 5, 1), "level is 1"),
        (paired_power, (math.nan, 0.1, 5), "delta is nan"),
    ],
)
def test_what_is_out_of_range_is_named(call: Any, arguments: tuple[float, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(*arguments)


@pytest.mark.parametrize(
    ("delta", "sd", "level"), [(0.5, 1, 0.05), (0.05, 0.2, 0.05), (3, 1, 0.01), (-0.2, 0.3, 0.05 / 6)]
)
def test_the_pairs_that_are_needed_have_the_power_and_one_fewer_has_not(delta: float, sd: float, level: float) -> None:
    needed = pairs_needed(delta, sd, level=level)
    assert paired_power(delta, sd, needed, level) >= 0.8
    assert needed == 2 or paired_power(delta, sd, needed - 1, level) < 0.8


def test_a_difference_that_no_pair_hides_takes_two() -> None:
    assert pairs_needed(1000, 1) == 2


@pytest.mark.parametrize(("delta", "power"), [(0, 0.8), (0.5, 1), (0.5, 0.05)])
def test_what_no_number_of_pairs_finds_is_refused(delta: float, power: float) -> None:
    with pytest.raises(ValueError, match="expected a delta other than 0"):
        pairs_needed(delta, 1, power)
