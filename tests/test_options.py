import re
from pathlib import Path
from typing import Any

import pytest

from genie_inspect.errors import UnknownChoiceError
from genie_inspect.options import check_between, check_count, check_share, check_switch, check_text


@pytest.mark.parametrize("value", [0, 0.5, 1, 1.0])
def test_a_share_is_a_number_from_0_to_1(value: float) -> None:
    check_share("patience", value)


def test_what_is_outside_of_a_scale_is_refused_with_its_ends() -> None:
    for value in (-1, 0, 1.0):
        check_between("threshold", value, -1, 1)
    with pytest.raises(UnknownChoiceError, match=r"threshold is 7\.0, expected -1 to 1, a cosine$"):
        check_between("threshold", 7.0, -1, 1, "a cosine")
    with pytest.raises(UnknownChoiceError, match=r"least is 0\.5, expected 1 to 5$"):
        check_between("least", 0.5, 1, 5)


@pytest.mark.parametrize("value", [-0.1, 1.1, True, "half", None, float("nan")])
def test_what_is_no_share_is_refused_with_its_value(value: Any) -> None:
    with pytest.raises(UnknownChoiceError, match=re.escape(f"patience is {value!r}, expected 0 to 1")):
        check_share("patience", value)


def test_a_count_is_a_whole_number_from_its_lowest_on() -> None:
    check_count("k", 1)
    check_count("k", 2, lowest=2)


@pytest.mark.parametrize("value", [0, -1, 2.0, True, "two", None])
def test_what_is_no_count_is_refused_with_its_value(value: Any) -> None:
    with pytest.raises(UnknownChoiceError, match=re.escape(f"k is {value!r}, expected a whole number of at least 1")):
        check_count("k", value)


def test_a_count_below_its_lowest_is_refused_with_the_reason() -> None:
    with pytest.raises(UnknownChoiceError, match=r"^k is 1, expected a whole number of at least 2: one is no set$"):
        check_count("k", 1, 2, "one is no set")


@pytest.mark.parametrize("value", ["no", 0, 1, None])
def test_a_switch_is_true_or_false_and_no_word(value: Any) -> None:
    check_switch("cache", True)
    check_switch("cache", False)
    with pytest.raises(UnknownChoiceError, match=re.escape(f"cache is {value!r}, expected true or false")):
        check_switch("cache", value)


@pytest.mark.parametrize("value", [5, None, True, ["a"]])
def test_a_text_is_a_name_or_a_path(value: Any) -> None:
    check_text("population", "starter")
    check_text("population", Path("folder"))
    with pytest.raises(UnknownChoiceError, match=re.escape(f"population is {value!r}, expected a name or a path")):
        check_text("population", value)
