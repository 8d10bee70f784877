"""The figures of the page on metric studies: tables of power, worked out anew, and levels, those of the benchmark."""

import math
import re

import numpy as np
import pytest
from scipy.stats import nct, t
from tests.documented import ROOT

from genie_inspect.statistics.differences import LEVEL, pairs_that_find
from genie_inspect.statistics.equivalence import tost
from genie_inspect.statistics.power import paired_power

PAGE = (ROOT / "docs" / "metric_study.md").read_text(encoding="utf-8")
FEATURES = 6
ORIGINALS = (8, 16, 25, 50, 100)


def rows(heading: str) -> dict[str, list[str]]:
    """The cells of the page's table below some words, by the first of each line."""
    text = PAGE.split(heading)[1].split("\n\n|")[1].split("\n\n")[0]
    cells = [re.findall(r"[^|]+", line) for line in text.splitlines()[2:]]
    return {row[0].strip(): [cell.strip() for cell in row[1:]] for row in cells}


def equivalence_power(spread: float, originals: int) -> float:
    """Chance that two one-sided t tests find a mean of 0 within 0.2, of differences with this standard deviation."""
    bound = t.ppf(1 - LEVEL, originals - 1)
    return max(0.0, float(1 - 2 * nct.cdf(bound, originals - 1, 0.2 / spread * math.sqrt(originals))))


def test_the_table_of_power_is_that_of_a_paired_t_test_at_the_corrected_level() -> None:
    table = rows("## How many prompts")
    assert len(table) == 8
    for effect, cells in table.items():
        shares = [f"{paired_power(float(effect), 1, originals, LEVEL / FEATURES):.0%}" for originals in ORIGINALS]
        assert cells == [*shares, str(pairs_that_find(float(effect), 1, LEVEL / FEATURES))]


def test_the_table_of_equivalence_is_that_of_two_one_sided_t_tests() -> None:
    table = rows("The chance that paraphrases which change nothing")
    assert list(table) == ["0.1", "0.2", "0.4"]
    for spread, cells in table.items():
        assert cells == [f"{equivalence_power(float(spread), originals):.0%}" for originals in ORIGINALS]


def test_the_chance_of_equivalence_is_what_a_simulation_finds() -> None:
    dice = np.random.default_rng(3)
    found = [tost(np.zeros(16), 0.25 * dice.normal(size=16), 0.2).p_value < LEVEL for _ in range(400)]
    assert np.mean(found) == pytest.approx(equivalence_power(0.25, 16), abs=0.05)


def test_the_levels_of_the_page_are_the_benchmarks() -> None:
    benchmark = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    table = rows("## Which test")
    assert list(map(int, table)) == list(ORIGINALS)
    for originals, shares in table.items():
        assert f"| normal | {originals} | {' | '.join(shares)} |" in benchmark


def test_the_levels_of_several_originals_of_a_prompt_are_the_benchmarks_and_prompts_keep_theirs() -> None:
    benchmark = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    lines = PAGE.split("Taking each original for a pair")[1].split("\n\n|")[1].split("\n\n")[0].splitlines()[2:]
    assert len(lines) == 6
    for line in lines:
        assert f"| 8 {line}" in benchmark
    by_prompt = re.findall(r"^\| (?:8|16) \| [25] \| 0[.0-9]* \| [0-9.]+% \| ([0-9.]+)% \|$", benchmark, re.MULTILINE)
    assert len(by_prompt) == 12
    assert max(map(float, by_prompt)) <= 6


def test_several_originals_of_a_prompt_enlarge_d_as_the_page_says() -> None:
    # of m with correlation r the mean's variance is (1 + (m - 1) r) / m
    for each, shown in ((2, "sqrt(2 / 1.3) = 1.24"), (5, "sqrt(5 / 2.2) = 1.51")):
        assert shown in " ".join(PAGE.split())
        assert f"{math.sqrt(each / (1 + (each - 1) * 0.3)):.2f}" == shown.split()[-1]
