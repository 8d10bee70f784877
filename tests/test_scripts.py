"""Words of every script, and what is English."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie_inspect.measures.partition import short_texts_same
from genie_inspect.measures.tokens import word_count
from genie_inspect.populations.survey import NearDuplicates
from genie_inspect.prompting.templates import without_echo
from genie_inspect.scripts import is_english, main_script, spaced_words, words

LATIN = st.text("abz éß'’“—-_.,!?09 \n\t", max_size=60)


@given(LATIN)
def test_words_in_latin_letters_are_those_of_white_space_and_word_characters(text: str) -> None:
    assert words(text) == re.findall(r"\w+", text)
    assert spaced_words(text) == text.split()


@given(st.text(max_size=60))
def test_words_between_spaces_stand_in_the_text_in_order(text: str) -> None:
    place = 0
    for word in spaced_words(text):
        assert not any(map(str.isspace, word))
        place = text.index(word, place) + len(word)


@pytest.mark.parametrize(
    ("text", "count"), [("他点亮了灯，等着船。", 8), ("वह दीपक जलाता है।", 4), ("เขารอเรือ", 8), ("“他说：OK。”", 3)]
)
def test_length_counts_words_and_where_there_are_no_spaces_characters(text: str, count: int) -> None:
    assert word_count(text) == count


def test_texts_in_a_script_without_spaces_are_compared_by_character() -> None:
    # two of the three characters of the longer one
    assert short_texts_same("蓝色", "蓝色的") is True
    assert short_texts_same("红", "蓝色的") is False
    story = (
        "从前有一座小岛，岛上只有一位老看守和他的猫。"
        "老看守爬上灯塔的楼梯，风暴拍打着下面的岩石。他点亮了灯，等待着船只，一直等到天亮，可是没有一只船来。"
    )
    seen = NearDuplicates()
    assert [seen.twin(story), seen.twin(story.replace("天亮", "天明", 1))] == [None, 0]
    asked = "请仔细阅读下面的文章，然后用尽量少的字回答每一个问题，不要猜测，也不要解释你的答案，只写一个对象。"
    assert without_echo("好的。" + asked, asked) == ""


def test_the_script_is_that_of_most_letters() -> None:
    found = [main_script(text) for text in ("schön, да", "да, ok ты", "灯塔", "ตะเกียง", "दीपक", "مصباح", "…")]
    assert found == ["Latin", "Cyrillic", "Han", "Thai", "Devanagari", "Arabic", ""]


@pytest.mark.parametrize(
    "text",
    [
        "Me dijo que no me fuera sin él, y no me lo creí; he de decir que a mí me daba lo mismo, no me importaba.",
        "Hij was in een huis over de rivier en ze had me in de tuin gezien; we was er over een uur, we is in de war.",
        "Ich war in dem Haus, so am Abend, und was will man da an dem Tag mit dir? Die Frau war in Not, so wie er.",
        "他点灯",
    ],
)
def test_words_that_english_shares_with_another_language_make_no_english(text: str) -> None:
    assert not is_english(text)
