"""What a caller leaves out is what the docstrings and the page of methods say."""

import math

import numpy as np
import pytest

from genie_inspect.statistics.bootstrap import bootstrap_interval, paired_bootstrap
from genie_inspect.statistics.differences import differences, findings, least_p_value, paired_permutation
from genie_inspect.statistics.equivalence import tost
from genie_inspect.statistics.intervals import prompt_interval
from genie_inspect.statistics.power import margin, minimum_population, paired_power, pairs_needed
from genie_inspect.statistics.ranking import position_effect

# sixteen pairs: 32,768 ways, so that ways are drawn and number and seed of the draws show
BEFORE, AFTER = np.random.default_rng(0).normal(size=(2, 16))


def test_pairs_are_drawn_ten_thousand_times_from_seed_0_and_tested_at_five_percent() -> None:
    assert paired_bootstrap(BEFORE, AFTER) == paired_bootstrap(BEFORE, AFTER, 10_000, 0, confidence=0.95)
    assert paired_permutation(BEFORE, AFTER) == paired_permutation(BEFORE, AFTER, 10_000, 0, level=0.05)
    assert tost(BEFORE, AFTER, method="bootstrap") == tost(BEFORE, AFTER, 0.2 * BEFORE.std(), "bootstrap", 10_000, 0)
    assert least_p_value(16) == 1 / 10_001


def test_differences_are_those_of_the_tests_as_they_come() -> None:
    sides = BEFORE[:, None], AFTER[:, None]
    assert differences(*sides) == differences(*sides, margin=None, resamples=10_000, seed=0, equivalence="t")
    found = differences(*sides)
    assert findings(found) == findings(found, "holm", 0.05)


def test_units_are_drawn_ten_thousand_times_for_an_interval_of_95_percent() -> None:
    interval = bootstrap_interval(lambda drawn: float(BEFORE[drawn][0]), 2)
    assert interval == bootstrap_interval(lambda drawn: float(BEFORE[drawn][0]), 2, 10_000, 0, 0.95)
    assert bootstrap_interval(lambda _: math.nan, 2).undefined == 10_000


def test_intervals_cover_95_percent() -> None:
    assert prompt_interval([1, 2, 4], "abc") == prompt_interval([1, 2, 4], "abc", 0.95)
    assert position_effect([1, 2, 2], [0, 1, 2], "aaa") == position_effect([1, 2, 2], [0, 1, 2], "aaa", 0.95)


def test_a_population_is_held_to_a_tenth_at_98_percent_and_power_to_five() -> None:
    assert minimum_population(0.3) == minimum_population(0.3, 0.1, 0.98)
    assert margin(0.3, 40) == margin(0.3, 40, 0.98)
    assert paired_power(0.5, 1, 20) == paired_power(0.5, 1, 20, 0.05)
    assert pairs_needed(0.1, 1) == pairs_needed(0.1, 1, 0.8, 0.05)


def test_a_value_at_the_edge_of_an_option_is_taken_or_refused_as_the_text_says() -> None:
    assert tost([0, 0], [0, 1], 1, "bootstrap", resamples=1).p_value in {0.5, 1.0}
    assert paired_permutation([0, 0], [0, 1], resamples=1).p_value in {0.5, 1.0}
    assert paired_bootstrap([0, 0], [0, 1], resamples=1).p_value in {0.5, 1.0}
    for level in (0, 1):
        with pytest.raises(ValueError, match=f"level is {level}"):
            paired_permutation([1, 2], [1, 2], level=level)
    for sd in (-0.1, math.inf, math.nan):
        with pytest.raises(ValueError, match=f"sd is {sd}"):
            margin(sd, 5)
