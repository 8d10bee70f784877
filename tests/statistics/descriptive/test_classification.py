import math

import pytest

from genie_inspect.statistics.descriptive.classification import accuracy, f1, recall


def test_by_hand() -> None:
    ours, theirs = ["a", "a", "b", "c"], ["a", "b", "b", "b"]
    assert accuracy(ours, theirs) == 0.5
    assert [recall(ours, theirs, label) for label in "ab"] == [1, 1 / 3]
    # b: both 1; ours 1, theirs 3
    assert f1(ours, theirs, "b") == 0.5
    assert f1(ours, theirs, "c") == 0


def test_what_nobody_says_has_no_figure() -> None:
    assert math.isnan(accuracy([], []))
    assert math.isnan(recall(["a"], ["a"], "b"))
    assert math.isnan(f1(["a"], ["a"], "b"))


def test_both_sides_are_as_long() -> None:
    with pytest.raises(ValueError, match="zip"):
        accuracy("ab", "a")
