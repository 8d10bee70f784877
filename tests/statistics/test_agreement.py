"""Agreement, ranking and power."""

import itertools
import math
import re
import warnings
from collections.abc import Callable, Sequence

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from genie_inspect.statistics.agreement import (
    Level,
    accuracy,
    cohen_kappa,
    f1,
    fleiss_kappa,
    krippendorff_alpha,
    randolph_kappa,
    recall,
)
from genie_inspect.statistics.effect import (
    chance_of_seeing,
    expected_unseen,
    margin,
    minimum_population,
    paired_power,
    pairs_needed,
)
from genie_inspect.statistics.ranking import (
    kendall,
    order_free_accuracy,
    pairwise_accuracy,
    position_effect,
    rank_correlation,
    rank_products,
    spearman,
)

NAN = math.nan
LEVELS: list[Level] = ["nominal", "ordinal", "interval"]
# units of as many ratings each, some missing
RATINGS = st.integers(2, 4).flatmap(
    lambda raters: st.lists(
        st.lists(st.sampled_from([1.0, 2.0, 3.0, 5.0, NAN]), min_size=raters, max_size=raters), min_size=1, max_size=8
    )
)


@given(RATINGS, st.sampled_from(LEVELS))
def test_alpha_equals_that_of_the_krippendorff_package(units: list[list[float]], level: Level) -> None:
    table = np.array(units).T
    pairable = table[:, (~np.isnan(table)).sum(axis=0) > 1]
    assume(len(np.unique(pairable[~np.isnan(pairable)])) > 1)
    theirs = krippendorff.alpha(reliability_data=table, level_of_measurement=level)
    assert krippendorff_alpha(table, level) == pytest.approx(theirs, abs=1e-9)


def test_alpha_by_hand() -> None:
    # two raters, units (1, 1), (1, 2), (2, 2), (2, 2): coincidences o11 = 2, o12 = o21 = 1, o22 = 4; totals 3 and 5 of
    # 8. Nominal: observed 2, by chance 2 * 3 * 5 / 7 = 30 / 7: 1 - 2 * 7 / 30 = 16 / 30. With two values every distance
    # but 0 cancels, on any scale
    for level in LEVELS:
        assert krippendorff_alpha([[1, 1, 2, 2], [1, 2, 2, 2]], level) == pytest.approx(16 / 30)
    # units (1, 2), (4, 4): coincidences o12 = o21 = 1, o44 = 2; totals n1 = n2 = 1, n4 = 2 of 4.
    # observed 2 * 1^2 = 2; by chance 2 * (n1 n2 * 1 + n1 n4 * 9 + n2 n4 * 4) / 3 = 2 * (1 + 18 + 8) / 3 = 18:
    # 1 - 2 / 18 = 8 / 9
    assert krippendorff_alpha([[1, 4], [2, 4]], "interval") == pytest.approx(8 / 9)


def test_alpha_without_anything_to_disagree_on_is_nan_and_what_is_no_table_or_level_is_refused() -> None:
    tables: list[list[list[float]]] = [[[1, 1], [1, 1]], [[1, NAN], [NAN, 2]], [[1, 2]], [[], []]]
    assert all(math.isnan(krippendorff_alpha(table)) for table in tables)
    with pytest.raises(ValueError, match=r"^ratings have 1 dimensions, expected 2: \(raters, units\)$"):
        krippendorff_alpha([1, 2])
    with pytest.raises(ValueError, match="level is 'ratio', expected nominal, ordinal or interval"):
        krippendorff_alpha([[1, 2], [1, 3]], "ratio")  # type: ignore[arg-type]  # what the check is for


def test_kappas_by_hand() -> None:
    # three raters, units 3-0, 2-1, 0-3: agreeing pairs 6 + 2 + 6 of 6 each = 14 / 18;
    # shares 5 / 9 and 4 / 9, by chance 41 / 81: (63 - 41) / (81 - 41) = 22 / 40
    assert fleiss_kappa([[3, 0], [2, 1], [0, 3]]) == pytest.approx(22 / 40)
    # the same units: 14 / 18 observed, by chance 1 / 2: (14 / 18 - 9 / 18) / (9 / 18) = 5 / 9;
    # with an unused third category chance is 1 / 3: (14 - 6) / (18 - 6) = 2 / 3
    assert randolph_kappa([[3, 0], [2, 1], [0, 3]]) == pytest.approx(5 / 9)
    assert randolph_kappa([[3, 0, 0], [2, 1, 0], [0, 3, 0]]) == pytest.approx(2 / 3)
    # 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no of 50: observed 35 / 50; by chance (25 * 30 + 25 * 20) / 2500 = 1 / 2
    assert cohen_kappa("Y" * 25 + "N" * 25, "Y" * 20 + "N" * 5 + "Y" * 10 + "N" * 15) == pytest.approx(0.4)
    # units that a rater left out do not count
    assert cohen_kappa(["Y", "N", None, "Y"], ["Y", "N", "N", NAN]) == cohen_kappa("YN", "YN") == 1
    assert fleiss_kappa([[2, 0], [0, 2]]) == randolph_kappa([[2, 0], [0, 2]]) == 1
    assert fleiss_kappa([[1, 1], [1, 1]]) == randolph_kappa([[1, 1], [1, 1]]) == cohen_kappa("ab", "ba") == -1


def test_kappas_that_chance_explains_fully_or_that_nobody_rated_are_nan() -> None:
    undefined = [
        fleiss_kappa([[2, 0], [2, 0]]),
        cohen_kappa("aa", "aa"),
        cohen_kappa([], []),
        randolph_kappa([[2], [2]]),
    ]
    for kappa in (fleiss_kappa, randolph_kappa):
        undefined.append(kappa([[1, 0], [0, 1]]))  # one rater
        undefined += [kappa(np.zeros(shape)) for shape in ((0, 2), (0, 0), (3, 0))]
    assert all(map(math.isnan, undefined))


def test_a_table_that_is_not_one_of_counts_is_refused() -> None:
    no_count = "counts contain a value that is not a count, expected whole numbers of at least 0"
    refused: list[tuple[object, str]] = [([[2.0, strange]], no_count) for strange in (-1, 0.5, NAN, math.inf)]
    refused.append(([1, 2], "counts have 1 dimensions, expected 2: (units, categories)"))
    refused.append(([[2, 0], [2, 1], [4, 0]], "units have 2 to 4 ratings, expected as many for every unit"))
    for counts, message in refused:
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            randolph_kappa(np.array(counts))
    with pytest.raises(ValueError, match=r"^2 ratings against 1, expected as many from each rater$"):
        cohen_kappa("ab", "a")


def test_labels_against_the_right_ones_by_hand() -> None:
    ours, theirs = ["a", "a", "b", "c"], ["a", "b", "b", "b"]
    assert accuracy(ours, theirs) == 0.5
    assert [recall(ours, theirs, label) for label in "ab"] == [1, 1 / 3]
    # b: both 1; ours 1, theirs 3
    assert [f1(ours, theirs, label) for label in "bc"] == [0.5, 0]
    assert all(map(math.isnan, (accuracy([], []), recall(["a"], ["a"], "b"), f1(["a"], ["a"], "b"))))


Statistic = Callable[[Sequence[float], Sequence[float]], float]


def test_correlations_with_ties_by_hand() -> None:
    # ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4, both around 2.5: -1.5, 0, 0, 1.5 and -1.5, -0.5, 0.5, 1.5;
    # products 2.25 + 0 + 0 + 2.25 = 4.5; squares 4.5 and 5; 4.5 / sqrt(4.5 * 5) = 0.948683
    assert spearman([1, 2, 2, 3], [10, 20, 30, 99]) == pytest.approx(0.948683, abs=1e-6)
    # (1, 1), (1, 2), (2, 2), (3, 1): pairs 1-2 tied left; 1-3 in order; 1-4 tied right; 2-3 tied right; 2-4 reversed;
    # 3-4 reversed: (1 - 2) / sqrt((6 - 1) * (6 - 2)) = -0.223607
    assert kendall([1, 1, 2, 3], [1, 2, 2, 1]) == pytest.approx(-0.223607, abs=1e-6)


def test_accuracy_counts_agreement_on_whether_the_first_is_better_which_a_tie_is_not() -> None:
    # human 1 > 2? no, 1 > 3? no, 2 > 3? yes; judge: no (tie), yes, yes: two of three
    assert pairwise_accuracy([1, 3, 2], [5, 5, 2]) == pytest.approx(2 / 3)
    cases = ([1, 1], [1, 2]), ([1, 1], [2, 1]), ([1, 1], [3, 3]), ([2, 1], [3, 3])
    assert [pairwise_accuracy(*sides) for sides in cases] == [1, 0, 1, 0]
    # from both sides the order of the things changes nothing
    assert order_free_accuracy([1, 2], [3, 3]) == order_free_accuracy([2, 1], [3, 3]) == 0.5
    assert all(math.isnan(pairwise_accuracy(human, human)) for human in ([], [1], [1, NAN]))


@pytest.mark.parametrize("statistic", [spearman, kendall])
@pytest.mark.parametrize("human", [[], [1], [2, 2, 2], [2, NAN, 2]])
def test_an_undefined_correlation_is_nan_without_a_warning(statistic: Statistic, human: list[float]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert math.isnan(statistic(human, [1, 2, 3][: len(human)]))
        assert math.isnan(statistic([1, 2, 3][: len(human)], human))
    # items with a missing score are left out
    assert statistic([1, NAN, 3, 2], [2, 9, 1, NAN]) == pytest.approx(-1)


def test_ranks_within_groups_add_up_and_length_is_taken_out_of_them() -> None:
    # the second group is the first, a hundred higher: between groups there is nothing
    first, second = (rank_products([level + i for i in range(4)], [1, 2, 4, 3]) for level in (1, 101))
    assert rank_correlation(first + second) == pytest.approx(spearman([1, 2, 3, 4], [1, 2, 4, 3])) == pytest.approx(0.8)
    human, judge, words = [1, 2, 3, 4, 5], [2, 1, 4, 3, 5], [1, 3, 2, 5, 4]
    # squared differences of ranks 4, 4 and 14 of five: rho .8 of human and judge, .8 and .3 with words
    expected = (0.8 - 0.8 * 0.3) / math.sqrt((1 - 0.8**2) * (1 - 0.3**2))
    assert rank_correlation(rank_products(human, judge, words), partial=True) == pytest.approx(expected)
    # nothing is left of a judge who counts words, and all of one where stories are equally long
    human, words = [1, 2, 3, 4], [10, 30, 20, 40]
    assert math.isnan(rank_correlation(rank_products(human, words, words), partial=True))
    assert rank_correlation(rank_products(human, words, [7] * 4), partial=True) == pytest.approx(0.8)
    assert rank_correlation(rank_products([*human, 9], [*words, NAN], [7] * 5)) == pytest.approx(0.8)
    assert math.isnan(rank_correlation(rank_products([], [])))


def test_the_effect_of_position_is_the_slope_within_lists() -> None:
    # a: 1, 2, 3 at 0, 0.5, 1: product 0.5*1 + 0.5*1 = 1, square 0.5; b: 4, 4 at 0, 1: product 0, square 0.5
    found = position_effect([1, 2, 3, 4, 4], [0, 0.5, 1, 0, 1], "aaabb")
    assert found.value == 1 / (0.5 + 0.5)
    # variance: a: Spp Svv / (m - 1) = 0.5 * 2 / 2 = 0.5; b: 0; half = 1.96 * sqrt(0.5) / 1
    assert found.high - found.value == pytest.approx(1.959964 * math.sqrt(0.5), abs=1e-6)
    # that one list is rated higher than another is none; where all values are equal nothing says how sure the 0 is
    assert position_effect([1, 1, 4, 4, 4], [0, 1, 0, 0.5, 1], "aabbb").value == 0
    assert math.isnan(position_effect([2, 2], [0, 1], "aa").low)
    # what is missing is left out
    whole = position_effect([1, 2], [0, 1], "aa")
    assert position_effect([1, NAN, 2, 3], [0, 0.5, 1, NAN], "aaaa") == whole
    # without a list of two there is no effect to measure
    too_few: list[tuple[list[float], list[float], str]] = [([], [], ""), ([1, 2], [0, 1], "ab"), ([1], [NAN], "a")]
    assert all(math.isnan(position_effect(*things).value) for things in too_few)


@pytest.mark.parametrize(
    ("sd", "documents"), [(0.2745, 41), (0.302, 50), (0.270, 40), (0.2715, 40), (0.26, 37), (0.287, 45), (0, 1)]
)
def test_population_sizes_of_the_study(sd: float, documents: int) -> None:
    # z of two-sided 98% is 2.32635; for 0.2745: (2.32635 * 2.745)^2 = 6.38583^2 = 40.8
    assert minimum_population(sd) == documents


@given(st.floats(0.01, 2), st.floats(0.01, 1), st.floats(0.5, 0.999))
def test_the_minimum_meets_the_margin_and_one_fewer_does_not(sd: float, wanted: float, confidence: float) -> None:
    n = minimum_population(sd, wanted, confidence)
    assert margin(sd, n, confidence) <= wanted * (1 + 1e-9)
    assert n == 1 or margin(sd, n - 1, confidence) > wanted * (1 - 1e-9)


def test_margin_and_power_by_hand() -> None:
    # two-sided 95%: z = 1.959964; 1.959964 * 0.5 / sqrt(25) = 0.1959964
    assert margin(0.5, 25, confidence=0.95) == pytest.approx(0.1959964, abs=1e-7)
    # one degree of freedom: the bound of a two-sided 50% test is tan(pi / 4) = 1, and without an effect half reject
    assert paired_power(0, sd=1, n=2, level=0.5) == pytest.approx(0.5)


@pytest.mark.parametrize("n", [2, 3, 8, 50, 500])
def test_power_rises_from_the_level_whatever_the_sign_and_is_never_missing_however_large_the_effect(n: int) -> None:
    powers = [paired_power(delta / 10, sd=1, n=n) for delta in range(200)]
    assert powers == pytest.approx(sorted(powers))
    assert powers == pytest.approx([paired_power(-delta / 10, sd=1, n=n) for delta in range(200)])
    assert (powers[0], paired_power(0, 0.3, n, 0.01)) == pytest.approx((0.05, 0.01))
    assert powers[-1] <= 1
    assert paired_power(1e6, sd=1, n=n) == pytest.approx(1)


@pytest.mark.parametrize(
    ("delta", "sd", "level"), [(0.5, 1, 0.05), (0.05, 0.2, 0.05), (3, 1, 0.01), (-0.2, 0.3, 0.05 / 6), (1000, 1, 0.05)]
)
def test_the_pairs_that_are_needed_have_the_power_and_one_fewer_has_not(delta: float, sd: float, level: float) -> None:
    needed = pairs_needed(delta, sd, level=level)
    assert paired_power(delta, sd, needed, level) >= 0.8
    assert needed == 2 or paired_power(delta, sd, needed - 1, level) < 0.8
    assert (needed == 2) == (delta == 1000), "a difference that no pair hides takes two"


@given(st.integers(1, 4), st.integers(0, 4), st.integers(0, 8))
def test_the_chance_of_seeing_a_class_is_the_share_of_draws_that_hold_it(count: int, others: int, draws: int) -> None:
    things = ["it"] * count + ["other"] * others
    drawn = list(itertools.combinations(things, min(draws, len(things))))
    share = sum("it" in some for some in drawn) / len(drawn)
    assert chance_of_seeing(count, len(things), draws) == pytest.approx(share)


def test_what_was_never_seen_twice_goes_on_being_new() -> None:
    assert expected_unseen([1, 1, 1, 1], 4, 10) == 6  # 4 answers, all different: each of the 6 further draws is new
    assert expected_unseen([1, 1, 2], 4, 6) == 1  # half of what was seen was seen once
    assert expected_unseen([2, 2], 4, 100) == 0  # what was always seen twice shows nothing new
    assert [expected_unseen([1, 1, 1, 1], 4, draws) for draws in (0, 3, 4)] == [0, 0, 0]
    assert expected_unseen([], 0, 5) == 0
