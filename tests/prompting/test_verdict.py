"""Verdicts as critics write them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie_inspect.errors import UnreadableReplyError
from genie_inspect.prompting.fence import fenced
from genie_inspect.prompting.forms import label_form, one_sentence
from genie_inspect.prompting.replies import YES_NO, analysis, labels, verdict, yes_or_no
from genie_inspect.prompting.templates import load_template

WILD = [
    ("[[A>>B]]", 2),
    ("[[A≫B]]", 2),
    ("[[B≫A]]", -2),
    ("[[A>B]]", 1),
    ("[[A=B]]", 0),
    ("[[B>A]]", -1),
    ("[[B>>A]]", -2),
    ("[[b>>a]]", -2),
    ("[[ A > B ]]", 1),
    ("[[A\uff1eB]]", 1),
    ("[[A&gt;&gt;B]]", 2),
    ("[[A<B]]", -1),
    ("**[[A>B]]**", 1),
    ("`[[A=B]]`", 0),
    ("\\[\\[B>A\\]\\]", -1),
    ("- A: a stock ending\n- B: earned\n\n**Verdict:** [[B>>A]].", -2),
    ("I was drawn to [[A>>B]] at first, for the dialogue.\nB wins all the same.\n\n[[B>A]]", -1),
    ("[[A=B]]\nBoth end in tears.", 0),
    ("It is [[A>B]], or rather [[A=B]]", 0),
    ("<think>maybe [[A>>B]]</think>Even.\n[[A=B]]", 0),
]
NONE = [
    "",
    "   \n",
    "A is better than B.",
    "A>B",
    "[A>B]",
    "I'm sorry, I can't compare these stories.",
    "[[A>A]]",
    "[[A<>B]]",
    "[[A>>>B]]",
    "[[tie]]",
    "At first [[A>B]], but the scale lacks it: [[B>>>A]]",
    "Choose one: [[A>>B]] [[A>B]] [[A=B]] [[B>A]] [[B>>A]]",
    "<think>it may be [[A>B]]</think>I cannot say.",
]


@pytest.mark.parametrize(("reply", "points"), WILD)
def test_the_last_label_counts_in_every_spelling(reply: str, points: int) -> None:
    assert verdict(reply) == points


@pytest.mark.parametrize("reply", NONE)
def test_a_reply_without_a_label_of_the_scale_at_its_end_is_unreadable(reply: str) -> None:
    with pytest.raises(UnreadableReplyError, match="label"):
        verdict(reply)


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


def test_long_replies_are_read_at_once() -> None:
    assert verdict("[[A " * 50_000 + "\n[[A>B]]") == 1


@pytest.mark.parametrize("levels", [3, 5, 7])
def test_what_a_form_lets_through_can_be_read(levels: int) -> None:
    alone, analysed = (label_form(labels(levels), analysed=analysed).pattern for analysed in (False, True))
    for label in labels(levels):
        assert re.fullmatch(alone, label)
        assert re.fullmatch(analysed, f"A drags; B does not.\n{label}")
        assert not re.fullmatch(analysed, f"A drags. {label} B does not.")


def echo(test: str, scale: str) -> str:
    """The part of a request that all critics get last, with its data."""
    data = fenced({"aspect": "narrative ending", "question": "Is it earned?"})
    listed = load_template(scale, set()).fill().strip()
    return load_template(test, {"scale", "data"}).fill(scale=listed, data=data)


@pytest.mark.parametrize("levels", [3, 5, 7])
@pytest.mark.parametrize("test", ["critic_analyse", "critic_label"])
def test_a_reply_that_repeats_the_request_holds_no_verdict(test: str, levels: int) -> None:
    repeated = echo(test, f"scale_{levels}")
    with pytest.raises(UnreadableReplyError, match="label"):
        verdict(repeated, levels)
    assert verdict(f"{repeated}\n\n[[A>B]]", levels) == 1


@pytest.mark.parametrize(
    "listed", ["[[A>B]]\n[[B>A]]", "- [[A>B]]: A is better\n\n- [[B>A]]: B is", "1. [[A>B]]\n2) [[A=B]]"]
)
def test_labels_in_a_list_are_no_verdict_however_few(listed: str) -> None:
    with pytest.raises(UnreadableReplyError, match="label"):
        verdict(listed)


def test_two_lines_with_one_label_are_no_list() -> None:
    assert verdict("[[A>B]]\n[[A>B]]") == verdict("[[a>b]]\n[[A>B]]") == 1


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("[[YES]]", 1),
        ("[[NO]]", 0),
        ("[[Yes]].", 1),
        ("**[[ no ]]**", 0),
        ("\\[\\[YES\\]\\]", 1),
        ("\uff3b\uff3bNO\uff3d\uff3d", 0),
        ("- earned\n- not tacked on\n\n**Verdict:** [[YES]]", 1),
        ("I first leaned to [[YES]].\nThe turn is tacked on.\n\n[[NO]]", 0),
        ("I first leaned to [[NO]].\n[[YES]]", 1),
        ("[[NO]] - the ending is abrupt\nEvery reader will notice.", 0),
        ("[[YES]]\n[[yes]]", 1),
        ("<think>surely [[NO]]</think>It is earned.\n[[YES]]", 1),
    ],
)
def test_the_last_yes_or_no_counts_in_every_spelling(reply: str, answer: int) -> None:
    assert yes_or_no(reply) == answer


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "Yes.",
        "[YES]",
        "[[MAYBE]]",
        "[[YES/NO]]",
        "[[YESTERDAY]]",
        "I'm sorry, I can't judge this story.",
        "It is [[YES]], or rather [[NO]]",
        "Reply with [[YES]] or [[NO]].",
        "[[YES]]\n[[NO]]",
        "- [[NO]]\n\n- [[YES]]",
        "<think>it may be [[YES]]</think>I cannot say.",
        echo("critic_alone_analyse", "scale_yes_no"),
        echo("critic_alone_label", "scale_yes_no"),
    ],
)
def test_a_reply_without_one_yes_or_no_at_its_end_is_unreadable(reply: str) -> None:
    with pytest.raises(UnreadableReplyError, match=r"no single \[\[YES\]\] or \[\[NO\]\]"):
        yes_or_no(reply)


def test_what_the_form_of_a_yes_or_no_lets_through_can_be_read() -> None:
    for label, answer in zip(YES_NO, (1, 0), strict=True):
        assert re.fullmatch(label_form(YES_NO, analysed=False).pattern, label)
        assert re.fullmatch(label_form(YES_NO, analysed=True).pattern, f"It drags.\n{label}")
        assert yes_or_no(f"It drags.\n{label}") == answer


def test_the_analysis_is_what_stands_before_the_label() -> None:
    assert analysis("<think>hm</think>A: flat.\nB: *alive*.\n\n**[[B>A]]**.") == "A: flat. B: *alive*."
    assert analysis("[[B>A]]") == ""


def test_a_plot_is_the_last_line_without_what_introduces_it() -> None:
    assert one_sentence("Sure! Here it is:\n\n**Plot:** “A diver finds a door.”") == "A diver finds a door."
    with pytest.raises(UnreadableReplyError, match="no sentence"):
        one_sentence(" \n ")
