"""Whole characters, words and thoughts."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie_inspect.prompting.forms import verbalized_responses, written_text
from genie_inspect.prompting.replies import numbered_answers
from genie_inspect.prompting.texts import (
    LONGEST,
    has_word,
    sentence_spans,
    shortened,
    spoken,
    whole_json,
    whole_text,
    without_repeated_tail,
    without_sentences,
)

ANY = st.text(st.characters())


@given(ANY)
def test_every_text_is_made_whole_and_a_whole_one_stays(text: str) -> None:
    whole = whole_text(text)
    assert whole.encode().decode() == whole == whole_text(whole)
    assert all(one == other or other == "\ufffd" for one, other in zip(text, whole, strict=False) if one < "\ud800")


def test_both_halves_make_a_character_and_one_half_a_mark() -> None:
    assert whole_text("a\ud83d\ude00b\ude00\ud83dc\ud83d\ud83d") == "a\U0001f600b\ufffd\ufffdc\ufffd\ufffd"


@given(ANY)
def test_any_text_that_was_written_as_json_is_read_back_whole(text: str) -> None:
    assert json.loads(whole_json(json.dumps(text))) == whole_text(text)


@pytest.mark.parametrize(
    "text", [r"\\ud83d", r"\\\\ud83d", r"\n", r"\u00e9", r"\ud83d\ude00", r"\uD83D\uDE00", "ud83d"]
)
def test_escapes_that_are_no_half_character_stay_as_they_are(text: str) -> None:
    assert whole_json(f'"{text}"') == f'"{text}"'


@pytest.mark.parametrize("text", [r"\ud83d", r"\uDE00", r"\\\ud83d"])
def test_half_a_character_in_json_becomes_a_mark(text: str) -> None:
    assert whole_json(f'"{text}"') == f'"{text[:-6]}\\ufffd"'


def test_halves_of_characters_in_replies_become_marks_however_they_are_spelt() -> None:
    assert numbered_answers('{"1": "an owl \\ud83d"}', 1) == numbered_answers('1. "an owl \\ud83d"', 1)
    assert numbered_answers('{"1": "an owl \ud83d"}', 1) == {1: "an owl \ufffd"}
    assert numbered_answers('{"1": "an owl \\ud83d", ', 1) == {1: "an owl \ufffd"}
    (response,) = verbalized_responses('{"responses": [{"text": "an owl \\ud83d"}]}')
    assert response.text == written_text("an owl \ud83d") == "an owl \ufffd"


@pytest.mark.parametrize("text", ["", ".", "___", "\u200b\u200b", "…?!", "\U0001f600", "\u0301"])
def test_marks_are_no_words(text: str) -> None:
    assert not has_word(text)


@pytest.mark.parametrize("text", ["a", "_a_", "7", "\u00e9", "\u732b"])
def test_letters_and_digits_are_words(text: str) -> None:
    assert has_word(text)


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("a<think>b</think>c", "ac"),
        ("a<think>b", "a"),
        ("a</think>b", "b"),
        ("a<think>b<think>c</think>d", "ad"),
        ("a<think>b</think>c</think>d", "d"),
        ("a</think>b<think>c</think>d<think>e", "bd"),
        ("<THINKING>a</think>b", "b"),
        ("a<think >b", "a<think >b"),
    ],
)
def test_thoughts_are_left_out_wherever_they_begin_and_end(reply: str, text: str) -> None:
    assert spoken(reply) == text


def test_a_reply_without_an_end_says_nothing() -> None:
    assert spoken("x" * LONGEST) == "x" * LONGEST
    assert spoken("x" * (LONGEST + 1)) == ""


def test_a_long_reply_is_shown_from_its_end() -> None:
    assert shortened("x" * 80) == repr("x" * 80)
    assert shortened("y" + "x" * 80) == repr("..." + "x" * 77)


WORDS = st.lists(st.sampled_from(["owl", "flew.", "The", "“Go!”", "\n\n", "and", "…", "mr.", "home"]), max_size=60)


@given(WORDS)
def test_sentences_follow_on_one_another_and_hold_every_character(words: list[str]) -> None:
    text = " ".join(words)
    assert "".join(text[start:end] for start, end in sentence_spans(text)) == text


@given(WORDS)
def test_without_any_number_the_text_stays_as_it_is(words: list[str]) -> None:
    text = " ".join(words)
    assert without_sentences(text, set()) == text.strip()


def test_paragraphs_stay_where_a_sentence_between_them_goes() -> None:
    text = "It rained.\n\nNote to self.\n\nIt stopped."
    assert without_sentences(text, {2}) == "It rained.\n\nIt stopped."


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("他来了！？她说：“走。”后来下雨。", 3),
        ("बारिश हुई। वह सोई। अंत।", 3),
        ("هل جاء؟ نعم. نام۔", 3),
        ("一。\n二。", 2),
    ],
)
def test_sentences_of_other_scripts_end_at_their_own_marks(text: str, count: int) -> None:
    spans = sentence_spans(text)
    assert len(spans) == count
    assert "".join(text[start:end] for start, end in spans) == text


@given(WORDS)
def test_trimming_a_tail_leaves_a_beginning_of_the_text(words: list[str]) -> None:
    text = " ".join(words)
    assert text.startswith(without_repeated_tail(text))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("It rained. " + "The owl flew over the barn. " * 8, "It rained. The owl flew over the barn."),
        ("It rained. " + "The owl flew over the barn. " * 8 + "The owl fl", "It rained. The owl flew over the barn."),
        ("Home. " + "and on " * 40, "Home. and on"),
        ("He sang:\n" + "Na na na, hey you,\n" * 9, "He sang:\nNa na na, hey you,"),
        ("He sang:\n" + "Na na na, hey you!\n" * 5 + "Na na n", "He sang:\nNa na na, hey you!"),
        ("下雨了。" + "猫头鹰飞过谷仓。" * 8 + "猫头", "下雨了。猫头鹰飞过谷仓。"),
    ],
)
def test_a_loop_to_the_end_is_cut_after_its_first_round(text: str, left: str) -> None:
    assert without_repeated_tail(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "“No, no, no.”",
        "Row, row, row your boat. " * 2 + "And then she slept.",
        "The owl flew. " * 9 + "Then it landed on the barn and slept until the morning came.",
        "",
        # a poem that ends with its refrain, and one of four stanzas' last line, eight times
        "The harbour slept.\n" + "O bring the boats home, bring the boats home now,\n" * 3,
        "He sang:\n" + "Na na na, hey you,\n" * 8,
        "Rain.\n\n" + "The sea is wide,\nthe night is long,\nsing it again, sing it again.\n\n" * 3,
    ],
)
def test_a_refrain_and_an_echo_are_no_loop(text: str) -> None:
    assert without_repeated_tail(text) == text
