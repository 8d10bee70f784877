"""Verdicts as critics write them."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie_inspect.errors import UnreadableReplyError
from genie_inspect.prompting.forms import label_form, one_sentence
from genie_inspect.prompting.replies import (
    YES_NO,
    analysis,
    labels,
    preferred,
    preferred_at_once,
    preferred_for_a_reason,
    up_to_label,
    verdict,
    yes_or_no,
)
from genie_inspect.prompting.templates import fenced, load_template


def echo(test: str, scale: str) -> str:
    """The part of a request that all critics get last, with its data."""
    data = fenced({"aspect": "narrative ending", "question": "Is it earned?"})
    listed = load_template(scale, set()).fill().strip()
    return load_template(test, {"scale", "data"}).fill(scale=listed, data=data)


def before_the_reasons(reply: str) -> int:
    return verdict(up_to_label(reply))


READ: dict[Callable[[str], float], dict[str, float]] = {
    # the last label counts in every spelling
    verdict: {
        "[[A>>B]]": 2,
        "[[A≫B]]": 2,
        "[[B≫A]]": -2,
        "[[A>B]]": 1,
        "[[A=B]]": 0,
        "[[B>A]]": -1,
        "[[B>>A]]": -2,
        "[[b>>a]]": -2,
        "[[ A > B ]]": 1,
        "[[A\uff1eB]]": 1,
        "[[A&gt;&gt;B]]": 2,
        "[[A<B]]": -1,
        "**[[A>B]]**": 1,
        "`[[A=B]]`": 0,
        "\\[\\[B>A\\]\\]": -1,
        "- A: a stock ending\n- B: earned\n\n**Verdict:** [[B>>A]].": -2,
        "I was drawn to [[A>>B]] at first, for the dialogue.\nB wins all the same.\n\n[[B>A]]": -1,
        "[[A=B]]\nBoth end in tears.": 0,
        "It is [[A>B]], or rather [[A=B]]": 0,
        "<think>maybe [[A>>B]]</think>Even.\n[[A=B]]": 0,
        "[[A>B]]\n[[A>B]]": 1,
        "[[a>b]]\n[[A>B]]": 1,
    },
    yes_or_no: {
        "[[YES]]": 1,
        "[[NO]]": 0,
        "[[Yes]].": 1,
        "**[[ no ]]**": 0,
        "\\[\\[YES\\]\\]": 1,
        "\uff3b\uff3bNO\uff3d\uff3d": 0,
        "- earned\n- not tacked on\n\n**Verdict:** [[YES]]": 1,
        "I first leaned to [[YES]].\nThe turn is tacked on.\n\n[[NO]]": 0,
        "I first leaned to [[NO]].\n[[YES]]": 1,
        "[[NO]] - the ending is abrupt\nEvery reader will notice.": 0,
        "[[YES]]\n[[yes]]": 1,
        "<think>surely [[NO]]</think>It is earned.\n[[YES]]": 1,
    },
    preferred: {
        "[[A]]": 1.0,
        "Story B moved me.\n\n**[[B]]**": 0.0,
        "A is [[A]] at first sight, yet:\n[[B]]": 0.0,
        "[[Tie]].": 0.5,
        "<think>[[A]]</think>[[B]]": 0.0,
    },
    # the first line alone: weights trained on plain text may write on
    preferred_at_once: {
        "Preferred: A": 1.0,
        "\n Preferred: B \n": 0.0,
        "Preferred: A\n\n### Assistant:\nPreferred: B": 1.0,
        "<think>Preferred: A</think>Preferred: B": 0.0,
    },
    preferred_for_a_reason: {
        "Reasoning: A is bold.\nPreferred: A": 1.0,
        "Reasoning:\nA is bold.\n\nB is bolder.\n\nPreferred: B\n": 0.0,
        "Reasoning: One says Preferred: A, but no.\nPreferred: B": 0.0,
        "Reasoning: Bold.\nPreferred: A\nReasoning: Dull.\nPreferred: B": 1.0,
        "<think>Hm.</think>Reasoning: Bold.\nPreferred: A": 1.0,
    },
    # the first label counts, and none in the reasons behind it
    before_the_reasons: {
        "[[A>B]]\nA: earned. B: abrupt.": 1,
        "**[[B>>A]]**\n\nA: flat. [[A>B]] would be kind.": -2,
        "<think>[[A>>B]]</think>\n[[A=B]]\nNeither ends.": 0,
        "<think>\nIs it [[A>>B]]?\nNo.\n</think>\n[[A=B]]\nNeither ends.": 0,
        "My label: [[A>B]]\nA: earned.": 1,
    },
}
UNREADABLE: dict[Callable[[str], float], tuple[str, list[str]]] = {
    verdict: (
        "label",
        [
            *("", "   \n", "A is better than B.", "A>B", "[A>B]", "I'm sorry, I can't compare these stories."),
            *("[[A>A]]", "[[A<>B]]", "[[A>>>B]]", "[[tie]]", "At first [[A>B]], but the scale lacks it: [[B>>>A]]"),
            "Choose one: [[A>>B]] [[A>B]] [[A=B]] [[B>A]] [[B>>A]]",
            *("<think>it may be [[A>B]]</think>I cannot say.", "[[A>B]]\n[[B>A]]"),
            *("- [[A>B]]: A is better\n\n- [[B>A]]: B is", "1. [[A>B]]\n2) [[A=B]]"),
        ],
    ),
    yes_or_no: (
        r"no single \[\[YES\]\] or \[\[NO\]\]",
        [
            *("", "Yes.", "[YES]", "[[MAYBE]]", "[[YES/NO]]", "[[YESTERDAY]]"),
            *("I'm sorry, I can't judge this story.", "It is [[YES]], or rather [[NO]]"),
            *("Reply with [[YES]] or [[NO]].", "[[YES]]\n[[NO]]", "- [[NO]]\n\n- [[YES]]"),
            "<think>it may be [[YES]]</think>I cannot say.",
            *(echo(test, "scale_yes_no") for test in ("critic_alone_analyse", "critic_alone_label")),
        ],
    ),
    preferred: (
        r"no single \[\[A\]\], \[\[B\]\] or \[\[tie\]\]",
        ["", "A", "[A]", "Verdict: [[A]] or [[B]]", "[[C]]", "<think>[[A]]"],
    ),
    preferred_at_once: (
        "no Preferred: A or Preferred: B at the beginning of the reply",
        [
            *("", "A", "[[A]]", "Preferred: [A]", "preferred: A", "Preferred:A", "Preferred: C", "Preferred: A or B"),
            *("**Preferred: A**", "Reasoning: Bold.\nPreferred: A", "Preferred: A, by far"),
        ],
    ),
    preferred_for_a_reason: (
        "no Reasoning: and after it a line Preferred: A or Preferred: B",
        [
            *("", "Preferred: A", "Reasoning:\nPreferred: A", "Reasoning: Bold. Preferred: A", "Reasoning: Bold."),
            *("A is bold.\nPreferred: A", "Reasoning: Bold.\nPreferred: [A]", "Preferred: A\nReasoning: Bold."),
        ],
    ),
    before_the_reasons: (
        "label",
        ["[[A>>B]] - much better\n[[A>B]] - better", "- [[A>B]]\n- [[B>A]]", "", "A: earned."],
    ),
}


@pytest.mark.parametrize(("read", "reply"), [(read, reply) for read, replies in READ.items() for reply in replies])
def test_the_label_that_counts_is_the_verdict_in_every_spelling(read: Callable[[str], float], reply: str) -> None:
    assert read(reply) == READ[read][reply]


@pytest.mark.parametrize(
    ("read", "reply"), [(read, reply) for read, (_, replies) in UNREADABLE.items() for reply in replies]
)
def test_a_reply_without_one_label_where_it_belongs_is_unreadable(read: Callable[[str], float], reply: str) -> None:
    with pytest.raises(UnreadableReplyError, match=UNREADABLE[read][0]):
        read(reply)


@pytest.mark.parametrize("levels", [3, 5, 7])
def test_every_label_of_a_scale_is_read_as_its_place_on_it(levels: int) -> None:
    assert [verdict(label, levels) for label in labels(levels)] == list(range(levels // 2, -(levels // 2) - 1, -1))


def test_a_label_that_the_scale_lacks_is_unreadable() -> None:
    with pytest.raises(UnreadableReplyError, match=r"\[\[A>B\]\], \[\[A=B\]\], \[\[B>A\]\]"):
        verdict("[[A>>B]]", levels=3)


@given(st.text(max_size=200), st.sampled_from(labels(5)))
def test_whatever_stands_before_the_last_line_does_not_count(prose: str, label: str) -> None:
    prose = prose.replace("<", "(")  # no thoughts that never end
    assert verdict(f"{prose}\n{label}") == verdict(label)


def test_what_a_form_lets_through_can_be_read() -> None:
    for choices in (labels(3), labels(5), labels(7), list(YES_NO)):
        alone, analysed = (label_form(choices, analysed=analysed).pattern for analysed in (False, True))
        explained = label_form(choices, analysed=False, reasons=True).pattern
        for label in choices:
            assert re.fullmatch(alone, label)
            assert re.fullmatch(analysed, f"A drags; B does not.\n{label}")
            assert not re.fullmatch(analysed, f"A drags. {label} B does not.")
            assert re.fullmatch(explained, f"{label}\nIt ends where it must.")
            assert up_to_label(f"{label}\nIt ends where it must.") == label
    assert yes_or_no(up_to_label("[[NO]]\nIt stops. [[YES]] to the rest.")) == 0


@pytest.mark.parametrize("levels", [3, 5, 7])
@pytest.mark.parametrize("test", ["critic_analyse", "critic_label"])
def test_a_reply_that_repeats_the_request_holds_no_verdict(test: str, levels: int) -> None:
    repeated = echo(test, f"scale_{levels}")
    with pytest.raises(UnreadableReplyError, match="label"):
        verdict(repeated, levels)
    assert verdict(f"{repeated}\n\n[[A>B]]", levels) == 1


def test_the_analysis_is_what_stands_before_the_label() -> None:
    assert analysis("<think>hm</think>A: flat.\nB: *alive*.\n\n**[[B>A]]**.") == "A: flat. B: *alive*."
    assert analysis("[[B>A]]") == ""


def test_a_plot_is_the_last_line_without_what_introduces_it() -> None:
    assert one_sentence("Sure! Here it is:\n\n**Plot:** “A diver finds a door.”") == "A diver finds a door."
    with pytest.raises(UnreadableReplyError, match="no sentence"):
        one_sentence(" \n ")
