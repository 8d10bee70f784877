"""What is a rating and what is none, wherever one is due."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie_inspect.errors import UnreadableReplyError
from genie_inspect.prompting.panel_replies import quality_level
from genie_inspect.prompting.ratings import pair_rating, rating_between, rating_in
from genie_inspect.prompting.replies import numbered_ratings

NONE = ["3/10", "3/40", "2,5", "10,000", "3-9", "3 - 4", "3 to 4", "3 or 4", "3 (or 4)", "3 (0-4)", "4 knights", "3rd"]
NONE += ["2.5", "3.05", "-1", "+3", "3:1", "3 2", "3; 2", "three", "", "1" * 5_000, "3 because", "3_000", "3e1"]
THREE = [
    "3",
    " 3 ",
    "3.0",
    "3.",
    "**3**",
    "[3]",
    "(3)",
    "3/4",
    "3 / 4",
    "3 out of 4",
    "3/4.0",
    "3 - alike",
    "3 (alike)",
]
THREE += ["3: alike", "3, as both rise", "`3`", '"3"', "Rating: 3", "3 \u2013 alike", "3 | alike", "\u0663"]


@pytest.mark.parametrize("text", NONE)
def test_a_number_that_does_not_stand_alone_is_no_rating(text: str) -> None:
    assert rating_in(text, 0, 4) is None
    assert numbered_ratings(f'{{"1": "{text}"}}', 1) == {}
    assert numbered_ratings(f"1: {text}", 1) == {}
    with pytest.raises(UnreadableReplyError, match="no rating from 0 to 4"):
        pair_rating(f"They are alike.\nRating: {text}")
    if "/10" not in text:
        with pytest.raises(UnreadableReplyError, match="no rating from 1 to 10"):
            quality_level(f"They are alike.\nRating: {text}")


@pytest.mark.parametrize("text", THREE)
def test_a_number_alone_or_before_its_reason_is_a_rating(text: str) -> None:
    assert rating_in(text, 0, 4) == 3
    assert pair_rating(f"They are alike.\nRating: {text}") == 3


def test_what_a_rating_is_out_of_is_the_end_of_its_own_scale() -> None:
    assert [quality_level(f"Rating: {text}") for text in ("3/10", "10/10", "7 out of 10.")] == [3, 10, 7]
    assert rating_between("Rating: 3/5", 1, 5) == 3
    for text in ("3/5", "3/100", "3/1"):
        with pytest.raises(UnreadableReplyError):
            quality_level(f"Rating: {text}")


def test_the_ends_of_a_scale_are_on_it_and_nothing_beyond() -> None:
    assert [rating_in(str(number), 1, 5) for number in range(7)] == [None, 1, 2, 3, 4, 5, None]


@pytest.mark.parametrize("reply", ["I say 3", "It was 4 knights\nof 3", "3 of them", "3\n4 knights"])
def test_a_number_in_prose_is_no_rating(reply: str) -> None:
    with pytest.raises(UnreadableReplyError):
        pair_rating(reply)


@given(st.integers(-20, 20), st.sampled_from(["", ".", " ", "\n", "**", " - so", " (so)", "/10"]))
def test_a_number_is_read_as_itself_or_not_at_all(number: int, behind: str) -> None:
    with contextlib.suppress(UnreadableReplyError):
        assert quality_level(f"Rating: {number}{behind}") == number
        return
    assert not 1 <= number <= 10
