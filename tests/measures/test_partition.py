"""Partition into classes, distinct and utility: hand-worked cases and properties."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie_inspect.measures.partition import (
    REWARD_THRESHOLDS,
    Classes,
    UndecidedError,
    distinct_count,
    joined,
    partition,
    reward_level,
    short_texts_same,
    utility,
)


def test_labels_count_up_in_order_of_first_appearance() -> None:
    assert partition(["b", "a", "b", "c", "a"], lambda first, item: first == item) == [0, 1, 0, 2, 1]


def test_an_item_is_compared_with_the_first_member_of_a_class_and_with_no_later_one() -> None:
    # 1 and 2 are near, 2 and 3 are near, 1 and 3 are not: 3 is compared with 1 alone, and founds a class
    assert partition([1, 2, 3], lambda first, item: abs(first - item) <= 1) == [0, 0, 1]


@given(st.lists(st.integers(0, 6), max_size=20))
def test_an_item_costs_at_most_one_comparison_a_class(items: list[int]) -> None:
    asked: list[tuple[int, int]] = []

    def same(first: int, item: int) -> bool:
        asked.append((first, item))
        return first == item

    labels = partition(items, same)
    founded = 0
    for item, label in zip(items, labels, strict=True):
        compared, asked = asked[: min(label + 1, founded)], asked[min(label + 1, founded) :]
        assert [other for _, other in compared] == [item] * len(compared)
        founded = max(founded, label + 1)
    assert asked == []


@given(st.lists(st.integers(0, 6), max_size=20))
def test_with_true_equality_classes_are_the_distinct_items(items: list[int]) -> None:
    labels = partition(items, lambda first, item: first == item)
    assert distinct_count(labels) == len(set(items))
    pairs = list(zip(items, labels, strict=True))
    assert all((a == b) == (x == y) for a, x in pairs for b, y in pairs)


def test_classes_take_one_item_after_another_with_the_verdicts_on_it() -> None:
    classes: Classes[str] = Classes()
    assert [classes.add(item, verdicts) for item, verdicts in [("a", []), ("b", [False]), ("a2", [True, False])]] == [
        0,
        1,
        0,
    ]
    assert (classes.labels, classes.founders, classes.undecided) == ([0, 1, 0], ["a", "b"], 0)


def test_an_item_of_which_nobody_could_tell_is_in_no_class_and_founds_none() -> None:
    classes: Classes[str] = Classes()
    classes.add("a", [])
    with pytest.raises(UndecidedError):
        classes.add("b", [None])
    assert classes.add("c", [False]) == 1
    assert (classes.labels, classes.founders, classes.undecided) == ([0, None, 1], ["a", "c"], 1)


def test_an_item_joins_the_first_class_that_says_yes() -> None:
    assert joined([False, True, True]) == 1


def test_a_class_that_nobody_could_judge_leaves_the_item_undecided() -> None:
    with pytest.raises(UndecidedError, match="1 of 2 comparisons"):
        joined([None, False])
    with pytest.raises(UndecidedError):
        joined([None, True])
    assert joined([True, None]) == 0  # the yes came first: what follows does not matter


def test_no_items_are_no_classes() -> None:
    assert partition([], lambda first, item: True) == []
    assert distinct_count([]) == 0


def test_what_is_in_no_class_counts_for_nothing() -> None:
    assert distinct_count([None, 0, 1, None]) == 2
    # weights 1, .8, .64 sum to 2.44; the empty first item adds 0, then 5 * .8 and 10 * .64
    assert utility([0, 5, 10], [None, 0, 1]) == pytest.approx((0.8 * 5 + 0.64 * 10) / 2.44)


def test_only_the_first_of_a_class_counts_its_quality() -> None:
    # (7 * 1 + 0 * .8 + 4 * .64) / 2.44
    assert utility([7, 9, 4], [0, 0, 1]) == pytest.approx((7 + 4 * 0.64) / 2.44)


def test_the_quality_of_a_later_member_need_not_be_known() -> None:
    assert utility([7, math.nan], [0, 0]) == pytest.approx(7 / 1.8)
    assert math.isnan(utility([math.nan, 7], [0, 1]))


@given(st.lists(st.floats(1, 10), min_size=1, max_size=12), st.floats(0, 1))
def test_with_all_classes_distinct_utility_lies_between_the_qualities(quality: list[float], patience: float) -> None:
    found = utility(quality, range(len(quality)), patience)
    assert min(quality) - 1e-9 <= found <= max(quality) + 1e-9


def test_nothing_generated_has_no_utility() -> None:
    assert math.isnan(utility([], []))


def test_wrong_input_is_named() -> None:
    with pytest.raises(ValueError, match="2 qualities but 1 classes"):
        utility([1, 2], [0])
    with pytest.raises(ValueError, match=r"patience is 1\.5"):
        utility([1], [0], patience=1.5)
    with pytest.raises(ValueError, match="reward is NaN"):
        reward_level(math.nan)


def test_levels_step_up_just_above_each_threshold() -> None:
    for level, threshold in enumerate(REWARD_THRESHOLDS, start=1):
        assert (reward_level(threshold), reward_level(threshold + 1e-9)) == (level, level + 1)


def test_short_texts_are_compared_by_their_words() -> None:
    assert short_texts_same("The Cat", "the dog") is True  # 1 shared of 2: 2 * 1 >= 2
    assert short_texts_same("a big black cat", "the cat") is False  # 1 shared of 4: 2 < 4
    assert short_texts_same("one two three four five six", "one") is None
