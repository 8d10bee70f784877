import math
import warnings
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genie_inspect.statistics.ranking import (
    kendall,
    pairwise_accuracy,
    position_effect,
    rank_correlation,
    rank_products,
    spearman,
)

Statistic = Callable[[Sequence[float], Sequence[float]], float]
SCORES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=10)


def test_spearman_gives_ties_their_mean_rank() -> None:
    # ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4, both around 2.5: -1.5, 0, 0, 1.5 and -1.5, -0.5, 0.5, 1.5;
    # products 2.25 + 0 + 0 + 2.25 = 4.5; squares 4.5 and 5; 4.5 / sqrt(4.5 * 5) = 0.948683
    assert spearman([1, 2, 2, 3], [10, 20, 30, 99]) == pytest.approx(0.948683, abs=1e-6)


def test_kendall_corrects_for_ties() -> None:
    # six pairs: five in order, none reversed, one tied on the left: 5 / sqrt((6 - 1) * 6) = 0.912871
    assert kendall([1, 2, 2, 3], [10, 20, 30, 99]) == pytest.approx(0.912871, abs=1e-6)


def test_kendall_with_ties_on_both_sides() -> None:
    # (1, 1), (1, 2), (2, 2), (3, 1): pairs 1-2 tied left; 1-3 in order; 1-4 tied right; 2-3 tied right; 2-4 reversed;
    # 3-4 reversed: (1 - 2) / sqrt((6 - 1) * (6 - 2)) = -0.223607
    assert kendall([1, 1, 2, 3], [1, 2, 2, 1]) == pytest.approx(-0.223607, abs=1e-6)


def test_accuracy_counts_agreement_on_whether_the_first_is_better() -> None:
    # human 1 > 2? no, 1 > 3? no, 2 > 3? yes; judge: no (tie), yes, yes: two of three
    assert pairwise_accuracy([1, 3, 2], [5, 5, 2]) == pytest.approx(2 / 3)


def test_a_tie_is_not_better_whichever_side_has_it() -> None:
    assert pairwise_accuracy([1, 1], [1, 2]) == 1
    assert pairwise_accuracy([1, 1], [2, 1]) == 0
    assert pairwise_accuracy([1, 1], [3, 3]) == 1
    assert pairwise_accuracy([2, 1], [3, 3]) == 0


@pytest.mark.parametrize("statistic", [spearman, kendall])
@given(pairs=SCORES)
@settings(deadline=None, max_examples=50)
def test_correlations_are_symmetric_and_turn_with_a_side(
    statistic: Statistic, pairs: list[tuple[float, float]]
) -> None:
    human, judge = (list(side) for side in zip(*pairs, strict=True))
    found = statistic(human, judge)
    assert statistic(judge, human) == pytest.approx(found, nan_ok=True)
    assert statistic([-value for value in human], judge) == pytest.approx(-found, nan_ok=True)
    assert statistic([value**3 for value in human], judge) == pytest.approx(found, nan_ok=True)
    assert math.isnan(found) or -1 - 1e-9 <= found <= 1 + 1e-9


@pytest.mark.parametrize("statistic", [spearman, kendall])
@pytest.mark.parametrize("human", [[], [1], [2, 2, 2], [2, math.nan, 2]])
def test_an_undefined_correlation_is_nan_without_a_warning(statistic: Statistic, human: list[float]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert math.isnan(statistic(human, [1, 2, 3][: len(human)]))
        assert math.isnan(statistic([1, 2, 3][: len(human)], human))


@pytest.mark.parametrize("human", [[], [1], [1, math.nan]])
def test_fewer_than_two_items_have_no_accuracy(human: list[float]) -> None:
    assert math.isnan(pairwise_accuracy(human, human))


@pytest.mark.parametrize("statistic", [spearman, kendall, pairwise_accuracy])
def test_items_with_a_missing_score_are_left_out(statistic: Statistic) -> None:
    assert statistic([1, math.nan, 3, 2], [2, 9, 1, math.nan]) == statistic([1, 3], [2, 1])


@pytest.mark.parametrize("statistic", [spearman, kendall, pairwise_accuracy])
def test_the_same_order_is_complete_agreement(statistic: Statistic) -> None:
    scores = list(np.arange(6.0))
    assert statistic(scores, [score * 2 for score in scores]) == pytest.approx(1)


@pytest.mark.parametrize("statistic", [spearman, kendall, pairwise_accuracy])
def test_scores_of_different_things_are_refused(statistic: Statistic) -> None:
    with pytest.raises(ValueError, match=r"shape \(2,\) against \(3,\)"):
        statistic([1, 2], [1, 2, 3])


def test_ranks_within_groups_add_up_whatever_the_groups_levels_are() -> None:
    # the second group is the first, a hundred higher: between groups there is nothing
    first = rank_products([1, 2, 3, 4], [1, 2, 4, 3])
    second = rank_products([101, 102, 103, 104], [1, 2, 4, 3])
    assert rank_correlation(first + second) == pytest.approx(spearman([1, 2, 3, 4], [1, 2, 4, 3])) == pytest.approx(0.8)


def test_a_partial_rank_correlation_is_that_of_the_textbook_formula() -> None:
    human, judge, words = [1, 2, 3, 4, 5], [2, 1, 4, 3, 5], [1, 3, 2, 5, 4]
    # squared differences of ranks 4, 4 and 14 of five: rho .8 of human and judge, .8 and .3 with words
    expected = (0.8 - 0.8 * 0.3) / math.sqrt((1 - 0.8**2) * (1 - 0.3**2))
    assert rank_correlation(rank_products(human, judge, words), partial=True) == pytest.approx(expected)


def test_nothing_is_left_of_a_judge_who_counts_words_and_all_of_one_where_stories_are_equally_long() -> None:
    human, words = [1, 2, 3, 4], [10, 30, 20, 40]
    assert math.isnan(rank_correlation(rank_products(human, words, words), partial=True))
    assert rank_correlation(rank_products(human, words, [7] * 4), partial=True) == pytest.approx(0.8)
    assert rank_correlation(rank_products([*human, 9], [*words, math.nan], [7] * 5)) == pytest.approx(0.8)
    assert math.isnan(rank_correlation(rank_products([], [])))


def test_the_effect_is_the_slope_within_lists() -> None:
    # a: 1, 2, 3 at 0, 0.5, 1: product 0.5*1 + 0.5*1 = 1, square 0.5; b: 4, 4 at 0, 1: product 0, square 0.5
    found = position_effect([1, 2, 3, 4, 4], [0, 0.5, 1, 0, 1], "aaabb")
    assert found.value == 1 / (0.5 + 0.5)
    # variance: a: Spp Svv / (m - 1) = 0.5 * 2 / 2 = 0.5; b: 0; half = 1.96 * sqrt(0.5) / 1
    assert found.high - found.value == pytest.approx(1.959964 * math.sqrt(0.5), abs=1e-6)


def test_the_effect_is_that_of_a_whole_unit_down_the_list() -> None:
    # product 0.5 * 1 + 0.5 * 1, square 0.5
    assert position_effect([1, 2, 3], [0, 0.5, 1], "aaa").value == 2


def test_that_one_list_is_rated_higher_than_another_is_no_effect_of_position() -> None:
    assert position_effect([1, 1, 4, 4, 4], [0, 1, 0, 0.5, 1], "aabbb").value == 0


def test_what_is_missing_is_left_out() -> None:
    whole = position_effect([1, 2], [0, 1], "aa")
    assert position_effect([1, math.nan, 2, 3], [0, 0.5, 1, math.nan], "aaaa") == whole


@pytest.mark.parametrize(
    ("values", "positions", "lists"), [([], [], ""), ([1, 2], [0, 1], "ab"), ([1], [math.nan], "a")]
)
def test_without_a_list_of_two_there_is_no_effect_to_measure(
    values: list[float], positions: list[float], lists: str
) -> None:
    assert math.isnan(position_effect(values, positions, lists).value)


def test_where_all_values_are_equal_nothing_says_how_sure_the_zero_is() -> None:
    found = position_effect([2, 2], [0, 1], "aa")
    assert found.value == 0
    assert math.isnan(found.low)


def test_sides_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="expected as many of each"):
        position_effect([1, 2], [0], "aa")


@given(st.integers(0, 1000))
def test_reversing_every_list_reverses_the_effect(seed: int) -> None:
    values = np.random.default_rng(seed).integers(1, 5, size=12).astype(float)
    positions, lists = np.tile([0, 0.5, 1], 4), ["a"] * 3 + ["b"] * 3 + ["c"] * 3 + ["d"] * 3
    forth, back = position_effect(values, positions, lists), position_effect(values, 1 - positions, lists)
    assert forth.value == pytest.approx(-back.value)
    assert (forth.low, forth.high) == pytest.approx((-back.high, -back.low), nan_ok=True)


def test_the_interval_holds_zero_in_about_95_of_100_trials_without_an_effect() -> None:
    generator = np.random.default_rng(0)
    positions, lists = np.tile(np.arange(6) / 5, 8), np.repeat(np.arange(8), 6).tolist()
    trials = [position_effect(generator.choice([1, 1, 1, 2, 4], size=48), positions, lists) for _ in range(400)]
    assert 0.92 <= np.mean([found.low <= 0 <= found.high for found in trials]) <= 0.98
