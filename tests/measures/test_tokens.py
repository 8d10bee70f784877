"""Tokens, expressions and distances."""

import math
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie_inspect.measures.distance import cosine_distances
from genie_inspect.measures.expressions import split_expressions
from genie_inspect.measures.tokens import (
    is_content,
    is_like_length,
    median_words,
    placed_tokens,
    plain_typography,
    tokens,
    word_count,
)


def test_typography_does_not_tell_texts_apart_but_case_and_accents_do() -> None:
    assert tokens("“Cafe—it’s…”") == tokens('"Cafe-it\'s..."')
    assert tokens("schön") != tokens("schon")
    assert tokens("scho\u0308n") == tokens("schön") == ["schön"]
    assert tokens("May may") == ["May", "may"]
    assert tokens(" \n\t") == []


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
        ("The well-worn road doesn't end.", ["The", "well-worn", "road", "doesn't", "end", "."]),
    ],
)
def test_words_keep_their_vowels_and_scripts_without_spaces_fall_into_characters(
    text: str, expected: list[str]
) -> None:
    assert tokens(text) == [unicodedata.normalize("NFKC", word) for word in expected]


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


@pytest.mark.parametrize(
    ("text", "words"),
    [("", 0), (" \n", 0), ("It rained.", 2), ("well-worn  boots\n\nhere", 3), ("他说：完了。", 4)],
)
def test_words_are_runs_without_white_space(text: str, words: int) -> None:
    assert word_count(text) == words
    assert (median_words([]), median_words([text, f"{text} and more"])) == (None, words + 1)


@pytest.mark.parametrize(
    ("one", "other", "alike"), [(100, 150, True), (100, 151, False), (98, 500, False), (0, 0, False), (7, 7, True)]
)
def test_lengths_are_alike_up_to_one_and_a_half_times(one: int, other: int, alike: bool) -> None:
    assert is_like_length(one, other) is is_like_length(other, one) is alike


def words(text: str) -> list[str]:
    return [expression.text for expression in split_expressions(text)]


@pytest.mark.parametrize("mark", [",", ".", "!", "?", ";", ":", "—", "(", ")", "\n", "\r\n", "…", "?!", "--", "\u2028"])
def test_an_expression_ends_at_a_mark(mark: str) -> None:
    assert words(f"the moon rose{mark}salt in the well") == ["the moon rose", "salt in the well"]


@pytest.mark.parametrize("mark", ["-", "'", '"', "–", "/", "’"])
def test_other_marks_stand_inside_an_expression(mark: str) -> None:
    assert words(f"half{mark}shut moon") == [f"half{plain_typography(mark)}shut moon"]


def test_quotes_and_marks_outside_are_left_off_and_offsets_are_those_of_the_text() -> None:
    text = " “Don’t look,” she told the — *painted well* — of stars."
    expressions = split_expressions(text)
    assert [expression.text for expression in expressions] == ["Don't look", "she told the", "painted well", "of stars"]
    assert [text[expression.start : expression.end] for expression in expressions] == [
        "Don’t look", "she told the", "painted well", "of stars"
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", "Rain.", "...", "Yes, no; maybe!", "* - *", "— 🔥 —", "月。", "قمر، جرس"])
def test_fewer_than_two_words_are_no_expression(text: str) -> None:
    assert words(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<p>the <b>salt</b> bell</p>", ["p>the <b>salt</b> bell</p"]),
        ("## The **salt** bell", ["The **salt** bell"]),
        ("\x1b[31mthe salt\x1b[0m bell", ["31mthe salt\x1b[0m bell"]),
        ("\u200fقمر من ملح، جرس\u200f", ["قمر من ملح"]),
        ("月が井戸に落ちた。塩、鐘が鳴る！", ["月が井戸に落ちた", "鐘が鳴る"]),
        ("นัยของเกลือ", ["นัยของเกลือ"]),
        ("🔥 hot 🔥 night 🔥", ["hot 🔥 night"]),
        ("नमक की घंटी। चाँद गिरा।", ["नमक की घंटी", "चाँद गिरा"]),
    ],
)
def test_texts_of_any_kind_fall_into_expressions(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@given(st.text("ab —–’“.,-\n…🔥é\u0301\u200f", max_size=60))
def test_every_expression_stands_where_it_says_in_order_and_apart(text: str) -> None:
    end = 0
    for expression in split_expressions(text):
        assert plain_typography(text[expression.start : expression.end]) == expression.text
        assert expression.start >= end
        assert word_count(expression.text) >= 2
        end = expression.end


def test_distances_by_hand() -> None:
    assert cosine_distances([3.0, 0.0], [[2.0, 0.0], [0.0, 0.5], [-1.0, 0.0]]).tolist() == pytest.approx([0, 1, 2])
    # cos((1, 1), (1, 0)) = 1 / sqrt(2); cos((1, 1), (3, 4)) = 7 / (5 sqrt(2))
    expected = [1 - 1 / math.sqrt(2), 1 - 7 / (5 * math.sqrt(2))]
    assert cosine_distances([1, 1], [[1, 0], [3, 4]]).tolist() == pytest.approx(expected)
    assert cosine_distances([1.0], []).shape == (0,)


@given(st.integers(1, 8), st.integers(1, 8), st.integers(0, 10_000))
def test_distances_are_from_0_to_2_and_length_does_not_matter(rows: int, width: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    target, population = draw.normal(size=width), draw.normal(size=(rows, width))
    found = cosine_distances(target, population)
    assert ((found >= 0) & (found <= 2)).all()
    scaled = cosine_distances(target * 7, population * draw.uniform(0.1, 9, size=(rows, 1)))
    assert scaled == pytest.approx(found, abs=1e-9)


def test_a_vector_without_direction_or_of_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match="target is a zero vector"):
        cosine_distances([0, 0], [[1, 0]])
    with pytest.raises(ValueError, match="population row 1 is a zero vector"):
        cosine_distances([1, 0], [[1, 0], [0, 0]])
    with pytest.raises(ValueError, match="shape"):
        cosine_distances([1, 0, 0], [[1, 0]])
