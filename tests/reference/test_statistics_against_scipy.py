"""Our tests and intervals against scipy's, where it has them."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from genie_inspect.statistics.bootstrap import paired_bootstrap
from genie_inspect.statistics.differences import paired_permutation
from genie_inspect.statistics.effect import PairedTest
from genie_inspect.statistics.equivalence import tost
from genie_inspect.statistics.intervals import prompt_interval
from genie_inspect.statistics.power import paired_power

SIZES = [5, 12, 50]


def sides(pairs: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(pairs)
    before = generator.beta(2, 3, size=pairs)
    return before, before + generator.normal(0.04, 0.1, size=pairs)


@pytest.mark.parametrize("pairs", SIZES)
def test_tost_is_two_paired_t_tests(pairs: int) -> None:
    before, after = sides(pairs)
    found = tost(before, after, margin=0.05)
    assert found.p_lower == pytest.approx(stats.ttest_rel(after, before - 0.05, alternative="greater").pvalue)
    assert found.p_upper == pytest.approx(stats.ttest_rel(after, before + 0.05, alternative="less").pvalue)


@pytest.mark.parametrize("pairs", SIZES)
def test_one_delta_a_prompt_has_the_interval_of_a_paired_t_test(pairs: int) -> None:
    before, after = sides(pairs)
    theirs = stats.ttest_rel(after, before).confidence_interval(0.95)
    ours = prompt_interval((after - before).tolist(), range(pairs))
    assert [ours.low, ours.high] == pytest.approx([theirs.low, theirs.high])


@pytest.mark.parametrize("test", [paired_bootstrap, paired_permutation])
def test_with_many_pairs_bootstrap_and_permutation_come_to_the_paired_t_test(test: Callable[..., PairedTest]) -> None:
    before, after = sides(400)
    after = after - 0.032  # what is left is borderline
    theirs = stats.ttest_rel(after, before)
    assert 0.01 < theirs.pvalue < 0.3
    ours = test(before, after)
    assert ours.p_value == pytest.approx(theirs.pvalue, abs=0.02)
    assert [ours.low, ours.high] == pytest.approx(list(theirs.confidence_interval(0.95)), abs=0.001)


@pytest.mark.parametrize("pairs", [5, 8, 12])
def test_the_permutation_test_has_scipys_exact_p_value(pairs: int) -> None:
    before, after = sides(pairs)
    theirs = stats.permutation_test((before, after), _mean_delta, permutation_type="samples", n_resamples=np.inf)
    assert paired_permutation(before, after).p_value == pytest.approx(theirs.pvalue)


def _mean_delta(before: np.ndarray, after: np.ndarray, axis: int) -> np.ndarray:
    return np.asarray(np.mean(after - before, axis=axis))


@pytest.mark.parametrize("pairs", SIZES)
@pytest.mark.parametrize("effect", [0.1, 0.5, 1])
def test_power_is_that_of_the_noncentral_t(pairs: int, effect: float) -> None:
    bound, shift = stats.t.ppf(0.975, pairs - 1), effect * pairs**0.5
    theirs = stats.nct.sf(bound, pairs - 1, shift) + stats.nct.cdf(-bound, pairs - 1, shift)
    assert paired_power(effect, sd=1, n=pairs) == pytest.approx(theirs, abs=1e-9)
