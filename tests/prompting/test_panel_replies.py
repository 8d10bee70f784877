"""Replies to the panel's requests, as models write them."""

import re

import pytest

from genie_inspect.errors import UnreadableReplyError
from genie_inspect.prompting.forms import sameness_form
from genie_inspect.prompting.panel_replies import numbered_sameness, preferred, quality_level


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ('{"1": "same", "2": "different"}', {1: True, 2: False}),
        ('Here you are: {"1": "Same.", "2": "DIFFERENT"}', {1: True, 2: False}),
        ("1. same\n2. different", {1: True, 2: False}),
        ('{"1": "same", "2": "diff', {1: True}),
        ('{"1": "similar", "2": "same"}', {2: True}),
        ('{"1": "same", "1": "different"}', {}),
        ("same", {}),
        ("", {}),
    ],
)
def test_sameness_is_read_by_number(reply: str, found: dict[int, bool]) -> None:
    assert numbered_sameness(reply, 2) == found


def test_the_form_of_sameness_holds_a_reply_that_is_read_whole() -> None:
    reply = '{"1": "same", "2": "different"}'
    assert re.fullmatch(sameness_form(2).pattern, reply)
    assert numbered_sameness(reply, 2) == {1: True, 2: False}


@pytest.mark.parametrize(
    ("reply", "points"),
    [
        ("[[A]]", 1.0),
        ("Story B moved me.\n\n**[[B]]**", 0.0),
        ("A is [[A]] at first sight, yet:\n[[B]]", 0.0),
        ("[[Tie]].", 0.5),
        ("<think>[[A]]</think>[[B]]", 0.0),
    ],
)
def test_the_last_label_is_the_verdict(reply: str, points: float) -> None:
    assert preferred(reply) == points


@pytest.mark.parametrize("reply", ["", "A", "[A]", "Verdict: [[A]] or [[B]]", "[[C]]", "<think>[[A]]"])
def test_no_single_label_is_no_verdict(reply: str) -> None:
    with pytest.raises(UnreadableReplyError):
        preferred(reply)


def test_the_level_is_the_number_after_the_last_rating() -> None:
    assert quality_level("Rating: 3 would be harsh.\nRating: 10") == 10
    assert quality_level("**Rating:** 6") == 6


@pytest.mark.parametrize("reply", ["", "Rating: 11", "Rating: 0", "Rating: 6.5", "Rating: high"])
def test_what_is_no_level_is_refused(reply: str) -> None:
    with pytest.raises(UnreadableReplyError):
        quality_level(reply)
