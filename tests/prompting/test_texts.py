"""Whole characters, words and thoughts."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie_inspect.prompting.replies import numbered_answers
from genie_inspect.prompting.responses import verbalized_responses, written_text
from genie_inspect.prompting.texts import LONGEST, has_word, shortened, spoken, whole_json, whole_text

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
