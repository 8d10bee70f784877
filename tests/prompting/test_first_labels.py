"""Replies that begin with their label."""

import re

import pytest

from genie_inspect.errors import UnreadableReplyError
from genie_inspect.prompting.first_labels import up_to_label
from genie_inspect.prompting.forms import label_form
from genie_inspect.prompting.panel_replies import YES_NO, yes_or_no
from genie_inspect.prompting.replies import labels, verdict


@pytest.mark.parametrize(
    ("reply", "points"),
    [
        ("[[A>B]]\nA: earned. B: abrupt.", 1),
        ("**[[B>>A]]**\n\nA: flat. [[A>B]] would be kind.", -2),
        ("<think>[[A>>B]]</think>\n[[A=B]]\nNeither ends.", 0),
        ("My label: [[A>B]]\nA: earned.", 1),
    ],
)
def test_the_first_label_counts_and_none_in_the_reasons(reply: str, points: int) -> None:
    assert verdict(up_to_label(reply)) == points


@pytest.mark.parametrize(
    "reply", ["[[A>>B]] - much better\n[[A>B]] - better", "- [[A>B]]\n- [[B>A]]", "", "A: earned."]
)
def test_a_list_of_labels_or_none_is_no_verdict(reply: str) -> None:
    with pytest.raises(UnreadableReplyError):
        verdict(up_to_label(reply))


def test_what_the_form_lets_through_can_be_read() -> None:
    for choices in (labels(5), labels(7), YES_NO):
        form = label_form(choices, analysed=False, reasons=True)
        for label in choices:
            reply = f"{label}\nIt ends where it must."
            assert re.fullmatch(form.pattern, reply)
            assert up_to_label(reply) == label
    assert yes_or_no(up_to_label("[[NO]]\nIt stops. [[YES]] to the rest.")) == 0
