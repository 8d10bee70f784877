"""Replies to the panel's requests, as models write them."""

import re

import pytest

from genie_inspect.errors import UnreadableReplyError
from genie_inspect.prompting.forms import sameness_form
from genie_inspect.prompting.panel_replies import (
    numbered_sameness,
    preferred,
    preferred_at_once,
    preferred_for_a_reason,
    quality_level,
)


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


@pytest.mark.parametrize(
    ("reply", "points"),
    [
        ("Preferred: A", 1.0),
        ("\n Preferred: B \n", 0.0),
        # weights trained on plain text may write on
        ("Preferred: A\n\n### Assistant:\nPreferred: B", 1.0),
        ("<think>Preferred: A</think>Preferred: B", 0.0),
    ],
)
def test_a_verdict_alone_is_the_first_line_of_the_reply(reply: str, points: float) -> None:
    assert preferred_at_once(reply) == points


@pytest.mark.parametrize(
    "reply",
    [
        *("", "A", "[[A]]", "Preferred: [A]", "preferred: A", "Preferred:A", "Preferred: C", "Preferred: A or B"),
        *("**Preferred: A**", "Reasoning: Bold.\nPreferred: A", "Preferred: A, by far"),
    ],
)
def test_any_other_first_line_is_no_verdict_alone(reply: str) -> None:
    with pytest.raises(UnreadableReplyError, match="no Preferred: A or Preferred: B at the beginning of the reply"):
        preferred_at_once(reply)


@pytest.mark.parametrize(
    ("reply", "points"),
    [
        ("Reasoning: A is bold.\nPreferred: A", 1.0),
        ("Reasoning:\nA is bold.\n\nB is bolder.\n\nPreferred: B\n", 0.0),
        ("Reasoning: One says Preferred: A, but no.\nPreferred: B", 0.0),
        ("Reasoning: Bold.\nPreferred: A\nReasoning: Dull.\nPreferred: B", 1.0),
        ("<think>Hm.</think>Reasoning: Bold.\nPreferred: A", 1.0),
    ],
)
def test_a_verdict_for_a_reason_is_the_first_line_of_its_form(reply: str, points: float) -> None:
    assert preferred_for_a_reason(reply) == points


@pytest.mark.parametrize(
    "reply",
    [
        *("", "Preferred: A", "Reasoning:\nPreferred: A", "Reasoning: Bold. Preferred: A", "Reasoning: Bold."),
        *("A is bold.\nPreferred: A", "Reasoning: Bold.\nPreferred: [A]", "Preferred: A\nReasoning: Bold."),
    ],
)
def test_a_verdict_without_reason_or_form_is_none(reply: str) -> None:
    with pytest.raises(UnreadableReplyError, match="no Reasoning: and after it a line Preferred: A or Preferred: B"):
        preferred_for_a_reason(reply)


def test_the_level_is_the_number_after_the_last_rating() -> None:
    assert quality_level("Rating: 3 would be harsh.\nRating: 10") == 10
    assert quality_level("**Rating:** 6") == 6


@pytest.mark.parametrize("reply", ["", "Rating: 11", "Rating: 0", "Rating: 6.5", "Rating: high"])
def test_what_is_no_level_is_refused(reply: str) -> None:
    with pytest.raises(UnreadableReplyError):
        quality_level(reply)
