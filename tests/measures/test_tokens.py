"""Words and marks."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie_inspect.measures.tokens import is_content, is_like_length, median_words, placed_tokens, tokens, word_count


def test_typography_does_not_tell_texts_apart() -> None:
    assert tokens("“Cafe—it’s…”") == tokens('"Cafe-it\'s..."')


def test_accents_tell_words_apart_in_whatever_form_they_are_written() -> None:
    assert tokens("schön") != tokens("schon")
    assert tokens("scho\u0308n") == tokens("schön") == ["schön"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("मैंने किताब पढ़ी।", ["मैंने", "किताब", "पढ़ी", "।"]),
        ("Он ждал, и ёж ушёл.", ["Он", "ждал", ",", "и", "ёж", "ушёл", "."]),
        ("أشعل المصباح، وانتظر.", ["أشعل", "المصباح", "،", "وانتظر", "."]),
        ("他点灯，等船。", ["他", "点", "灯", ",", "等", "船", "。"]),
        ("ที่นี่ดี", ["ที่", "นี่", "ดี"]),
        ("می‌خواهم", ["می‌خواهم"]),
        ("l·l צה״ל", ["l·l", "צה״ל"]),
        ("ok 👍🏽!", ["ok", "👍🏽", "!"]),
    ],
)
def test_words_keep_their_vowels_and_scripts_without_spaces_fall_into_characters(
    text: str, expected: list[str]
) -> None:
    assert tokens(text) == [unicodedata.normalize("NFKC", word) for word in expected]


def test_words_keep_inner_apostrophes_and_hyphens() -> None:
    assert tokens("The well-worn road doesn't end.") == ["The", "well-worn", "road", "doesn't", "end", "."]


def test_case_is_kept() -> None:
    assert tokens("May may") == ["May", "may"]


def test_silence_has_no_tokens() -> None:
    assert tokens(" \n\t") == []


@given(st.text(max_size=120))
def test_places_point_at_what_the_tokens_were_made_of(text: str) -> None:
    placed = placed_tokens(text)
    assert [token.text for token in placed] == tokens(text)
    assert all(0 <= token.start < token.end <= len(text) for token in placed)
    assert all(token.text in "".join(tokens(text[token.start : token.end])) for token in placed if token.text.isascii())


def test_function_words_and_marks_carry_no_content() -> None:
    assert [token for token in tokens("She didn't see the 7 black ships, though.") if is_content(token)] == [
        "see",
        "7",
        "black",
        "ships",
    ]


LENGTHS = st.integers(0, 5000)


@pytest.mark.parametrize(("text", "words"), [("", 0), (" \n", 0), ("It rained.", 2), ("well-worn  boots\n\nhere", 3)])
def test_words_are_runs_without_white_space(text: str, words: int) -> None:
    assert word_count(text) == words


def test_the_median_of_no_texts_is_none() -> None:
    assert median_words([]) is None


@given(LENGTHS, LENGTHS)
def test_likeness_of_length_has_no_direction(one: int, other: int) -> None:
    assert is_like_length(one, other) == is_like_length(other, one)


@pytest.mark.parametrize(
    ("one", "other", "alike"), [(100, 150, True), (100, 151, False), (98, 500, False), (0, 0, False), (7, 7, True)]
)
def test_lengths_are_alike_up_to_one_and_a_half_times(one: int, other: int, alike: bool) -> None:
    assert is_like_length(one, other) is alike
