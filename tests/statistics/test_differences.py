import math
import warnings
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from genie_inspect.statistics.differences import (
    differences,
    findings,
    least_p_value,
    mcnemar_p_value,
    paired_permutation,
    paired_shares_interval,
    pairs_that_find,
    pairwise_differences,
    yes_no_difference,
)
from genie_inspect.statistics.effect import PairedTest, cohens_d, holm, paired_power, pairs_needed
from genie_inspect.statistics.equivalence import tost

NAN = math.nan
RANDOM = np.random.default_rng(0)
BEFORE = RANDOM.uniform(0.4, 0.8, (12, 3))
AFTER = BEFORE + RANDOM.normal([0.1, 0.0, 0.02], 0.03, (12, 3))


def test_each_column_is_what_the_single_estimates_say() -> None:
    test = paired_permutation(BEFORE, AFTER)
    for column, difference in enumerate(differences(BEFORE, AFTER)):
        before, after = BEFORE[:, column], AFTER[:, column]
        assert difference.pairs == 12
        assert (difference.before, difference.after) == pytest.approx((before.mean(), after.mean()))
        assert (difference.low, difference.high) == (test.low[column], test.high[column])
        assert (difference.p_value, difference.least_p) == (test.p_value[column], least_p_value(12))
        assert difference.effect == cohens_d(before, after)
        assert difference.spread == pytest.approx((after - before).std(ddof=1))
        assert (difference.p_unlike, difference.margin) == (tost(before, after).p_value, tost(before, after).margin)
    # number and seed of the draws reach both tests
    few, again, other = (differences(BEFORE, AFTER, 0.1, 99, seed, "bootstrap") for seed in (0, 0, 1))
    assert few == again != other
    assert few[0].least_p == least_p_value(12, 99) == 1 / 100
    assert few[0].p_unlike == tost(BEFORE[:, 0], AFTER[:, 0], 0.1, "bootstrap", 99).p_value != other[0].p_unlike


def test_p_values_are_corrected_together_power_is_at_the_corrected_level_and_without_pairs_is_no_finding() -> None:
    found = differences(BEFORE, AFTER)
    judged = findings(found)
    assert [f.p_value for f in judged] == pytest.approx(list(holm([d.p_value for d in found])))
    assert [f.differs for f in judged] == [True, False, judged[2].p_value < 0.05]
    expected = paired_power(found[0].margin, found[0].spread, 12, 0.05 / 3)
    assert judged[0].power == pytest.approx(expected)
    assert judged[0].needed == pairs_needed(found[0].margin, found[0].spread, level=0.05 / 3)
    missing = np.full((12, 1), NAN)
    several = findings(differences(np.hstack([BEFORE, missing]), np.hstack([AFTER, missing])), "bonferroni")
    assert several[:3] == findings(found, "bonferroni"), "a column without pairs costs the others nothing"
    assert several[0].power == judged[0].power
    assert (several[3].differs, several[3].is_equivalent) == (False, False)
    assert all(map(math.isnan, (several[3].p_value, several[3].power)))
    judged = findings(found, "none")
    assert judged[0].power == paired_power(found[0].margin, found[0].spread, 12, 0.05)
    assert [finding.p_value for finding in judged] == [difference.p_value for difference in found]
    assert [finding.is_equivalent for finding in judged] == [difference.p_unlike < 0.05 for difference in found]


@settings(deadline=None, max_examples=100)
@given(arrays(float, (8, 3), elements=st.floats(0, 1)), arrays(float, (8, 3), elements=st.floats(0, 1)))
def test_p_value_and_interval_agree_also_where_it_is_cut(before: np.ndarray, after: np.ndarray) -> None:
    for difference in differences(before, after, margin=0.1):
        cut = difference.within(0, 1)
        assert {end.low > 0 or end.high < 0 for end in (difference, cut)} == {difference.p_value < 0.05}
        assert -difference.before - 1e-9 <= cut.low <= cut.high <= 1 - difference.before + 1e-9


@pytest.mark.parametrize(("tests", "holds"), [(6, True), (7, False)])
def test_eight_pairs_hold_after_correction_over_up_to_six_tests_and_have_no_power_beyond(
    tests: int, holds: bool
) -> None:
    # the least p-value of 8 pairs, 1 / 128, times 6 is 0.047, times 7 is 0.055
    before = np.repeat(np.linspace(0, 1, 8)[:, None], tests, axis=1)
    after = before + np.linspace(0.1, 0.2, 8)[:, None]
    for finding in findings(differences(before, after)):
        assert finding.difference.least_p == finding.difference.p_value == 1 / 128
        assert finding.differs == holds
        assert finding.power == (pytest.approx(0.9, abs=0.1) if holds else 0)


def test_an_interval_ends_where_no_difference_from_the_baseline_can_lie() -> None:
    # 6 of 128 ways may be left out above; means of turned deltas from above: 1.2, 1 (with .8), .975, .95, .925, and
    # of 1.2, .8 and .75 the sixth
    deltas = np.array([[-0.3, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 1.2]]).T
    (difference,) = differences(np.zeros((8, 1)), deltas)
    assert difference.high == pytest.approx(2.75 / 3)
    assert differences(np.zeros((8, 1)), -deltas)[0].low == pytest.approx(-2.75 / 3)
    cut = difference.within(-1, 0.85)
    assert (cut.high, cut.delta, cut.low) == (0.85, difference.delta, difference.low)
    assert difference.within(-1, 1) == difference
    for beyond in (1 + 3e-16, -3e-16):
        (same,) = differences(np.full((8, 1), beyond), np.full((8, 1), beyond))
        assert same.within(0, 1).low <= 0 <= same.within(0, 1).high, "and no rounding takes 0 out"
    # an open end stays open
    (found,) = differences([[0.1], [0.2]], [[0.2], [0.7]])
    assert (found.low, found.high) == (-math.inf, math.inf)
    assert found.within(0, 1) == found


def test_two_pairs_have_a_spread_and_one_has_both_means_and_none_without_a_warning() -> None:
    # 0.1 and 0.3 lie 0.1 from their mean: (0.01 + 0.01) / (2 - 1); others are too small: their square is 0
    for deltas, spread in (([0.1, 0.3], math.sqrt(0.02)), ([5e-324] * 4 + [0.0] * 4, 0)):
        (found,) = differences([[0.0]] * len(deltas), [[delta] for delta in deltas], margin=0.1)
        assert found.spread == pytest.approx(spread)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (found,) = differences([[0.25], [NAN]], [[0.75], [0.5]])
    assert (found.pairs, found.before, found.after, found.delta) == (1, 0.25, 0.75, 0.5)
    assert math.isnan(found.spread)


@pytest.mark.parametrize(("level", "pairs"), [(0.05, 6), (1 / 32, 7), (1 / 128, 9), (1e-5, 20)])
def test_the_fewest_pairs_are_those_with_a_p_value_below_the_level(level: float, pairs: int) -> None:
    # the least p-value of n pairs is 2 / 2^n: 1/32 with 6, 1/128 with 8; below 1/10,001 there is none
    assert pairs_that_find(5, 0.0001, level) == pairs


def test_a_p_value_at_the_level_itself_is_no_finding() -> None:
    before = np.linspace(0, 1, 8)[:, None]
    (difference,) = differences(before, before + np.linspace(0.1, 0.2, 8)[:, None], margin=0.17)
    (finding,) = findings([difference], "none", level=1 / 128)
    assert (finding.p_value, finding.differs, finding.power) == (1 / 128, False, 0)
    assert not findings([difference], "none", level=difference.p_unlike)[0].is_equivalent
    assert findings([difference], "none", level=difference.p_unlike * 1.001)[0].is_equivalent


def test_without_a_margin_or_a_spread_beyond_rounding_nothing_says_how_many_pairs_are_needed() -> None:
    (constant,) = findings(differences([[0.5]] * 8, np.linspace(0.1, 0.4, 8)[:, None]))
    assert constant.difference.margin == 0
    # 0.2 - 0.1 is 0.1, and 0.3 - 0.2 is 0.09999999999999998
    (rounded,) = findings(differences([[0.1], [0.2], [0.7]], [[0.2], [0.3], [0.8]]))
    assert rounded.difference.spread == 0
    assert all(map(math.isnan, (constant.power, constant.needed, rounded.needed)))
    # a spread of next to nothing: two pairs would do for a t test, and six are the fewest with a p-value below 5%
    after = [0.5, 0.5001, 0.4999]
    (few,) = findings(differences([[0.1], [0.2], [0.3]], [[0.1 + a] for a in after], margin=0.5))
    assert few.power == 0
    assert few.needed >= 6


DELTAS = st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=20)
TENTHS = st.lists(st.integers(-6, 10).map(lambda tenths: tenths / 10), min_size=2, max_size=17)
EIGHT_POSITIVE = [0.04, 0.07, 0.11, 0.12, 0.13, 0.17, 0.26, 0.54]


def against_0(
    deltas: Sequence[float] | NDArray[np.float64], resamples: int = 10_000, level: float = 0.05
) -> PairedTest:
    return paired_permutation(np.zeros(len(deltas)), deltas, resamples, level=level)


def excludes_0(test: PairedTest) -> bool:
    return bool(test.low > 0 or test.high < 0)


def test_eight_positive_skewed_differences_differ_by_p_value_and_by_interval() -> None:
    # No other way to sign them has a mean as far from 0: p = 2 / 256. 6 of 128 are below 5%, 7 are not, so six ways
    # may be left out at either end. Means of turned deltas from below: .04 (the first alone), .055 (two), .07 (the
    # second), .0733 (three), .075 (first and third), .23 / 3 = .0767 (.04, .07, .12); from above: .54, .4 (with .26),
    # .355 (with .17), .335, .33, .325 (with .11). (Bootstrap-t found p = .097 beside the interval .091 to .522.)
    test = against_0(EIGHT_POSITIVE)
    assert test.p_value == 2 / 256
    assert [test.delta, test.low, test.high] == pytest.approx([0.18, 0.23 / 3, 0.325])


@given(DELTAS | TENTHS, st.sampled_from([19, 60, 10_000]), st.sampled_from([0.01, 0.05, 0.2]))
@settings(deadline=None, max_examples=400)
def test_the_interval_excludes_0_exactly_where_p_is_below_the_level_also_with_ties(
    deltas: list[float], resamples: int, level: float
) -> None:
    test = against_0(deltas, resamples, level)
    assert (test.p_value < level) == excludes_0(test)
    assert test.low <= test.delta <= test.high
    assert 0 < test.p_value <= 1


@given(st.lists(st.integers(-9, 30).map(float), min_size=6, max_size=17), st.sampled_from([60, 10_000]))
@settings(deadline=None, max_examples=50)
def test_the_interval_holds_the_values_that_are_not_rejected_when_taken_off(deltas: list[float], draws: int) -> None:
    test = against_0(deltas, draws)
    for end, inwards in ((test.low, 1), (test.high, -1)):
        if math.isfinite(end):
            assert against_0([delta - end for delta in deltas], draws).p_value >= 0.05
            assert against_0([delta - end + 1e-4 * inwards for delta in deltas], draws).p_value < 0.05


def test_few_pairs_by_hand_with_ways_that_tie_with_the_observed_mean() -> None:
    # deltas 1 and 3: sums 4, 2, -2, -4 of which two are as far from 0 as 4: p = 1/2, and nothing can be excluded
    assert against_0([1, 3]) == PairedTest(2, -math.inf, math.inf, 0.5, 2)
    # .1, .2, -.3, .6, sum .6. Turned: none .6; .1: .4; .2: .2; -.3: 1.2; .6: -.6, a tie; .1 and .2: 0; .1 and -.3: 1;
    # .2 and -.3: .8, and the opposites: 5 of 8 reach .6. In floating point the tie is -0.5999999999999999778.
    assert against_0([0.1, 0.2, -0.3, 0.6]).p_value == 5 / 8


@pytest.mark.parametrize("before", [0.3, 0.1 + 0.2], ids=["exactly", "but for rounding"])
def test_a_delta_of_0_ties_with_itself_turned_and_ends_the_interval(before: float) -> None:
    # 0, 1, 2, 3, 4, 5: all positive, or all but the 0 turned either way: 4 of 64, not below 5%
    test = paired_permutation([before, 0, 0, 0, 0, 0], [0.3, 1, 2, 3, 4, 5])
    assert (test.p_value, test.low, test.high) == (4 / 64, 0, 5)
    assert against_0([0.1, 1, 2, 3, 4, 5]).p_value == 2 / 64


@pytest.mark.parametrize(("pairs", "p_value", "half"), [(4, 1 / 8, math.inf), (5, 1 / 16, math.inf), (8, 1 / 128, 0)])
def test_deltas_that_are_all_the_same_are_their_own_interval(pairs: int, p_value: float, half: float) -> None:
    # only all signs alike reach their mean; four or five pairs cannot say so at 5%
    before = np.linspace(0.1, 0.6, pairs)
    test = paired_permutation(before, before + 0.1)
    assert test.p_value == p_value
    assert [test.low, test.high] == pytest.approx([0.1 - half, 0.1 + half])


@pytest.mark.parametrize("pairs", [2, 5, 6, 14, 40])
def test_deltas_all_on_one_side_have_the_least_p_value_and_up_to_five_pairs_exclude_nothing(pairs: int) -> None:
    one_sided, none = against_0(np.linspace(1, 2, pairs)), against_0(np.zeros(pairs))
    assert one_sided.p_value == least_p_value(pairs)
    assert excludes_0(one_sided) == (pairs > 5)
    assert (none.delta, none.p_value) == (0, 1)
    assert (none.low, none.high) == ((0, 0) if pairs > 5 else (-math.inf, math.inf))


def test_the_least_p_value_halves_with_each_pair_until_ways_are_drawn() -> None:
    # of 15 pairs all 16,384 ways are more than 10,000 draws and the one observed
    least = [least_p_value(pairs) for pairs in (0, 1, 2, 3, 14, 15, 500)]
    assert np.isnan(least[:2]).all()
    assert least[2:] == [1 / 2, 1 / 4, 1 / 8192, 1 / 10_001, 1 / 10_001]


def test_drawn_ways_come_to_what_all_of_them_say() -> None:
    deltas = np.random.default_rng(3).exponential(size=14) - 0.4
    exact, drawn = against_0(deltas), against_0(deltas, resamples=8000)
    assert 0.01 < exact.p_value < 0.2
    error = math.sqrt(exact.p_value * (1 - exact.p_value) / 8000)
    assert drawn.p_value != exact.p_value
    assert drawn.p_value == pytest.approx(exact.p_value, abs=4 * error)
    assert [drawn.low, drawn.high] == pytest.approx([exact.low, exact.high], abs=0.03)


def test_a_draw_that_turns_nothing_or_all_reaches_the_mean_whatever_is_taken_off() -> None:
    # of 1, 2 and 3 no other way reaches 6 or -6; such a draw comes one time in four, and two of them leave no end
    tests = [paired_permutation([0, 0, 0], [1, 2, 3], resamples=2, seed=seed, level=0.4) for seed in range(40)]
    assert {(test.p_value, math.isinf(test.low), math.isinf(test.high)) for test in tests} == {
        (1 / 3, False, False),
        (2 / 3, True, True),
        (1, True, True),
    }


def test_six_units_and_two_groups_by_hand() -> None:
    # deltas 1 to 6: mean 3.5, variance 3.5. Of 32 ways the largest |t| is the observed one: p = 1/32. The second
    # largest turns the 1: mean 19/6, squares 91, variance (91 - 6 (19/6)^2) / 5 = 37/6, t = 19/6 / sqrt(37/36) = 3.1236
    (pair,) = pairwise_differences([[number, 0] for number in range(1, 7)])
    half = 19 / 6 / math.sqrt(37 / 36) * math.sqrt(3.5 / 6)
    assert (pair.units, pair.delta, pair.p_value) == (6, 3.5, 1 / 32)
    assert (pair.low, pair.high) == pytest.approx((3.5 - half, 3.5 + half))
    assert half == pytest.approx(2.386, abs=0.001)


def test_a_group_that_equals_another_is_not_above_it_and_costs_the_others_nothing() -> None:
    first, same, third = pairwise_differences([[0, number, 0] for number in range(1, 7)])
    assert (first.first, first.second, same.first, same.second) == (0, 1, 0, 2)
    assert [first.delta, third.delta] == [-3.5, 3.5]
    assert [first.p_value, same.p_value, third.p_value] == [1 / 32, 1, 1 / 32]
    assert (same.delta, same.low, same.high) == (0, 0, 0)


def test_an_interval_leaves_0_out_where_p_is_below_the_level_and_each_is_as_many_standard_errors_wide() -> None:
    random = np.random.default_rng(4)
    for _ in range(50):
        for pair in pairwise_differences(random.normal([0, 0.5, 1.5, 3], size=(8, 4))):
            assert (pair.low > 0 or pair.high < 0) == (pair.p_value < 0.05)
    # also where units are missing
    values = random.normal(size=(9, 3))
    values[:2, 2] = NAN
    widths = []
    for pair in pairwise_differences(values):
        deltas = (values[:, pair.first] - values[:, pair.second])[9 - pair.units :]
        widths.append((pair.high - pair.delta) / deltas.std(ddof=1) * math.sqrt(pair.units))
    assert widths == pytest.approx([widths[0]] * 3)


def test_too_few_units_leave_every_interval_open_and_one_unit_has_none() -> None:
    # of ways that are drawn the one observed is one
    assert pairwise_differences([[number, 0] for number in range(1, 21)], resamples=99)[0].p_value == 1 / 100
    (pair,) = pairwise_differences([[number, 0] for number in range(1, 6)])
    assert (pair.p_value, pair.low, pair.high) == (1 / 16, -math.inf, math.inf)
    values = np.array([[1, 0, NAN], [2, 1, NAN], [3, 0, 5]])
    both, one, _ = pairwise_differences(values)
    assert both.units == 3
    assert (one.units, one.delta) == (1, -2)
    assert math.isnan(one.p_value)
    assert math.isnan(one.low)
    none, *_ = pairwise_differences([[1, NAN], [NAN, 2]])
    assert (none.units, math.isnan(none.delta), math.isnan(none.p_value)) == (0, True, True)
    assert pairwise_differences([[1], [2]]) == []


@pytest.mark.parametrize(("units", "groups"), [(8, 5), (20, 8)])
def test_groups_without_a_difference_are_told_apart_in_about_one_of_twenty_runs(units: int, groups: int) -> None:
    random, runs, found = np.random.default_rng(units + groups), 400, 0
    # the last two groups are truly above the others, and spreads are up to seven times as large in one as in another
    above, spreads = np.where(np.arange(groups) < groups - 2, 0, 4), np.linspace(0.3, 2, groups)
    for _ in range(runs):
        values = random.normal(size=(units, groups)) * spreads + 2 * random.normal(size=(units, 1)) + above
        pairs = pairwise_differences(values, resamples=400)
        found += any(pair.p_value < 0.05 for pair in pairs if above[pair.first] == above[pair.second])
    # standard error 1.1 points
    assert found / runs <= 0.07


def sides(both: int, lost: int, won: int, neither: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    before = [1] * both + [1] * lost + [0] * won + [0] * neither
    after = [1] * both + [0] * lost + [1] * won + [0] * neither
    return np.array(before, dtype=float), np.array(after, dtype=float)


@pytest.mark.parametrize(
    ("lost", "won", "expected"), [(1, 5, 14 / 64), (0, 6, 2 / 64), (3, 3, 1), (0, 0, 1), (5, 1, 14 / 64)]
)
def test_mcnemars_p_is_the_binomials_by_hand_and_that_of_all_ways_to_sign_the_deltas(
    lost: int, won: int, expected: float
) -> None:
    assert mcnemar_p_value(lost, won) == pytest.approx(expected)
    assert paired_permutation(*sides(2, lost, won, 1)).p_value == pytest.approx(expected)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        # Fagerland, Lydersen and Laake (2017), Statistical Analysis of Contingency Tables, chapter 8: complete response
        # before and after a therapy of 161, -.0621 (-.1186 to -.0046) as first less second
        ((59, 6, 16, 80), (0.0046, 0.1186)),
        # by hand: Wilson limits of 5 of 10 are .2366 and .7634, the correlation of what is never alike is -1, without
        # a correction for continuity, and so the limits are those of either share added: 0 -+ 2 (.5 - .2366)
        ((0, 5, 5, 0), (-0.5268, 0.5268)),
        # Wilson: 8 of 8 leaves 1 / (1 + 8 / 1.96^2) = .3244 below; without a spread there is no correlation
        ((8, 0, 0, 0), (-0.3244, 0.3244)),
    ],
)
def test_the_interval_of_shares_is_the_published_one_with_either_side_first(
    cells: tuple[int, int, int, int], expected: tuple[float, float]
) -> None:
    both, lost, won, neither = cells
    low, high = paired_shares_interval(*cells)
    assert (low, high) == pytest.approx(expected, abs=5e-5)
    assert paired_shares_interval(both, won, lost, neither) == pytest.approx((-high, -low))


@pytest.mark.parametrize("cells", [(8, 0, 0, 0), (0, 0, 0, 8), (0, 0, 8, 0), (0, 8, 0, 0), (4, 0, 0, 4)])
def test_the_interval_holds_at_the_ends_of_the_scale(cells: tuple[int, int, int, int]) -> None:
    low, high = paired_shares_interval(*cells)
    delta = (cells[2] - cells[1]) / 8
    assert -1 <= low <= delta <= high <= 1
    assert high - low > 0.1


def test_a_difference_of_yes_and_no_has_both_and_no_other_has() -> None:
    before, after = sides(3, 1, 9, 7)
    (difference,) = differences(before[:, None], after[:, None])
    found = yes_no_difference(difference, before, after)
    assert found is not None
    assert (found.p_value, found.least_p) == (mcnemar_p_value(1, 9), 2.0**-19)
    assert (found.low, found.high) == paired_shares_interval(3, 1, 9, 7)
    assert (found.delta, found.pairs, found.p_unlike) == (difference.delta, 20, difference.p_unlike)
    # a pair without a score counts as little as elsewhere
    more = np.array([*before, np.nan, 1]), np.array([*after, 0, np.nan])
    assert yes_no_difference(difference, *more) == found
    assert yes_no_difference(difference, before, [*after[:-1], 0.5]) is None
    assert yes_no_difference(difference, [1.0], [0.0]) is None
