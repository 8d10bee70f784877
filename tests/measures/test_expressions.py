"""Where a text falls into expressions, and what of it they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie_inspect.measures.expressions import split_expressions
from genie_inspect.measures.tokens import plain_typography, word_count


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
