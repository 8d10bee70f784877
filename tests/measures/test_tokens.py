"""Tokens, expressions, distances, and marks of two readers."""

import math
import unicodedata
from functools import partial

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.hostile import FULL, SECONDS_A_MILLION, SPARE_SECONDS, seconds

from genie_inspect.engines.embedders import cosine_distances
from genie_inspect.measures.marks import (
    LONGEST_SEARCHED,
    Agreement,
    QuotedText,
    agreement,
    covered_share,
    matches,
    overlap,
    pieces,
    similarity,
    without_overlaps,
)
from genie_inspect.measures.tokens import (
    is_content,
    is_like_length,
    median_words,
    placed_tokens,
    plain_typography,
    split_expressions,
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
    content = [token for token in tokens("She didn't see the 7 black ships, though.") if is_content(token)]
    assert content == ["see", "7", "black", "ships"]


@pytest.mark.parametrize(
    ("text", "words"),
    [("", 0), (" \n", 0), ("It rained.", 2), ("well-worn  boots\n\nhere", 3), ("他说：完了。", 4)],
)
def test_words_are_runs_without_white_space(text: str, words: int) -> None:
    assert word_count(text) == words
    assert (median_words([]), median_words([text, f"{text} and more"])) == (None, words + 1)


def test_lengths_are_alike_up_to_one_and_a_half_times() -> None:
    assert all(is_like_length(*both) for both in ((100, 150), (150, 100), (7, 7)))
    assert not any(is_like_length(*both) for both in ((100, 151), (151, 100), (0, 0)))


def words(text: str) -> list[str]:
    return [expression.text for expression in split_expressions(text)]


def test_an_expression_ends_at_some_marks_and_others_stand_inside_it() -> None:
    for mark in (*",.!?;:—()\n…\u2028", "\r\n", "?!", "--"):
        assert words(f"the moon rose{mark}salt in the well") == ["the moon rose", "salt in the well"]
    for mark in "-'\"–/’":
        assert words(f"half{mark}shut moon") == [f"half{plain_typography(mark)}shut moon"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # fewer than two words are no expression; quotes and marks outside are left off
        *((text, []) for text in ("", "Rain.", "...", "Yes, no; maybe!", "* - *", "— 🔥 —", "月。", "قمر، جرس")),
        (" “Don’t look,” she told the — *painted well* — of.", ["Don't look", "she told the", "painted well"]),
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
    refused = [([0, 0], [[1, 0]], "target is a zero vector"), ([1, 0], [[1, 0], [0, 0]], "population row 1 is a zero")]
    for target, population, said in [*refused, ([1, 0, 0], [[1, 0]], "shape")]:
        with pytest.raises(ValueError, match=said):
            cosine_distances(target, population)


@given(st.integers(1, 8), st.integers(1, 8), st.integers(0, 10_000))
def test_distances_are_from_0_to_2_and_length_does_not_matter(rows: int, width: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    target, population = draw.normal(size=width), draw.normal(size=(rows, width))
    found = cosine_distances(target, population)
    assert ((found >= 0) & (found <= 2)).all()
    scaled = cosine_distances(target * 7, population * draw.uniform(0.1, 9, size=(rows, 1)))
    assert scaled == pytest.approx(found, abs=1e-9)


PASSAGE = (
    "The moon hung over the harbour like a coin that nobody dared to spend, and the boats leaned together as if to "
    "share a rumour. Inside the customs house the clerk counted stamps, slept, and counted again. Rain wrote its "
    "small arithmetic on the glass until the morning came and rubbed it out."
)
NONE: list[str] = []
GOLD = ["like a coin that nobody dared to spend", "Rain wrote its small arithmetic on the glass", "share a rumour"]


def plain_subsequence(first: str, second: str) -> int:
    row = [0] * (len(second) + 1)
    for character in first:
        above = row
        row = [0]
        for place, other in enumerate(second):
            row.append(above[place] + 1 if character == other else max(above[place + 1], row[-1]))
    return row[-1]


@given(st.text("abc é", max_size=40), st.text("abc é", max_size=40))
def test_the_common_subsequence_is_that_of_the_whole_table(first: str, second: str) -> None:
    size = len(first) + len(second)
    assert similarity(first, second) * size == pytest.approx(200 * plain_subsequence(first, second))


@pytest.mark.parametrize(
    ("first", "second", "ratio"),
    [  # rapidfuzz 3.14.6, fuzz.ratio; 20,000 random pairs gave the same numbers too
        ("the light of a coin moon", "the light of the coin moon", 92.0),
        ("a lantern of salt and thyme", "a lantern of salt, and thyme", 98.18181818181819),
        ("", "", 100.0),
        ("", "sill", 0.0),
    ],
)
def test_similarity_is_that_of_rapidfuzz(first: str, second: str, ratio: float) -> None:
    assert similarity(first, second) == pytest.approx(ratio, abs=1e-12)


def test_marks_of_90_are_alike_and_of_89_9_are_not() -> None:
    unlike = "a" * 40 + "x" * 4, "a" * 40 + "y" * 5  # 80 of 89
    assert (round(similarity(*unlike), 1), matches(*unlike)) == (89.9, False)
    exactly = "a" * 9 + "x", "a" * 9 + "y"  # 18 of 20
    assert (similarity(*exactly), matches(*exactly)) == (90.0, True)


@given(st.text("ab ", max_size=24), st.text("ab ", max_size=24))
@example("share a rumour", "share")
@example("share", " \n")
def test_marks_match_where_one_contains_the_other_or_they_are_90_alike(first: str, second: str) -> None:
    alike = first in second or second in first or similarity(first, second) >= 90
    assert matches(first, second) == (alike and bool(first.strip()) and bool(second.strip()))


def test_predictions_count_as_right_or_wrong_and_gold_marks_as_found_or_missed() -> None:
    # "the glass" and "on the glass" are two right predictions for one gold mark
    found = agreement([["on the glass", "the glass", "slept"], ["cold fire"]], [GOLD, []])
    assert found == Agreement(true=2, false=2, missed=2)
    assert (found.precision, found.recall) == (2 / 4, 2 / 4)
    assert found.f1 == pytest.approx(2 * 2 / (2 * 2 + 2 + 2))
    with pytest.raises(ValueError, match="1 passages with predictions against 2, expected the same passages"):
        agreement([["a"]], [["a"], ["b"]])


@pytest.mark.parametrize("gamed", [[PASSAGE], ["e"], [PASSAGE] * 1000])
def test_the_whole_passage_or_a_letter_agrees_with_everything_but_by_the_strict_rule(gamed: list[str]) -> None:
    assert agreement([gamed], [GOLD]).f1 == 1.0
    assert agreement([gamed], [GOLD], strict=True).f1 < 0.1
    assert agreement([GOLD[:1] * 1000], [GOLD], strict=True) == Agreement(true=1, false=999, missed=2)


def test_marks_are_paired_so_that_most_words_are_in_common_and_half_of_them_at_least() -> None:
    # one by one "salt bell" would take "bell of salt" and leave nothing for the other
    predicted, gold = ["salt bell", "bell of salt"], ["bell of salt", "a salt bell"]
    assert agreement([predicted], [gold], strict=True).true == pytest.approx(4 / 5 + 1)
    assert overlap("the sky, unbuttoned", "the bell of salt") == pytest.approx(2 / 8)
    assert agreement([["the sky, unbuttoned"]], [["the bell of salt"]], strict=True).true == 0


@pytest.mark.parametrize("strict", [False, True])
def test_who_marks_nothing_scores_0_and_nothing_against_nothing_is_no_score(strict: bool) -> None:
    silent, needless, nothing = (
        agreement([predicted], [gold], strict) for predicted, gold in [(NONE, GOLD), (GOLD, NONE), (NONE, NONE)]
    )
    assert (silent.recall, silent.f1, needless.precision, needless.f1) == (0, 0, 0, 0)
    undefined = (silent.precision, needless.recall, nothing.precision, nothing.recall, nothing.f1)
    assert all(math.isnan(value) for value in undefined)


MARKS = st.lists(st.text("ab ", max_size=6), max_size=4)


@given(st.lists(st.tuples(MARKS, MARKS), max_size=4), st.booleans())
def test_passages_add_up_and_every_share_lies_between_0_and_1(
    passages: list[tuple[list[str], list[str]]], strict: bool
) -> None:
    predicted, gold = [side for side, _ in passages], [side for _, side in passages]
    found = agreement(predicted, gold, strict)
    parts = [agreement([marks], [right], strict) for marks, right in passages]
    assert found.true == pytest.approx(sum(part.true for part in parts))
    assert all(math.isnan(share) or 0 <= share <= 1 for share in (found.precision, found.recall, found.f1))


TEXT = (
    "She drank the cold, tin-coloured light. “Don’t,” said the sea — and it meant every salt word.\n\n"
    "The bells\nhad been unbuttoned by the wind; nobody minded the belly of the bell."
)


def found(quote: str, text: str = TEXT) -> str | None:
    span = QuotedText(text).find(quote)
    return text[slice(*span)] if span else None


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("tin-coloured light", "tin-coloured light"),
        ("Tin-Coloured Light.", "tin-coloured light"),  # case, and what is outside
        ('"Don\'t," said the sea - and', "Don’t,” said the sea — and"),  # plain quotes and dashes
        ("The bells had been", "The bells\nhad been"),
        ("the  bells   had been…", "The bells\nhad been"),
        ("it meant every salty word", "it meant every salt word"),  # 2 * 24 of 49
        ("had been unbuttoned by wind", "had been unbuttoned by the wind"),
        ("the bell", "the bell"),  # not the "bells" before it, nor the "belly"
        ("nobody minded the wind", None),
        ("salt", "salt"),
        ("al", None),  # in the middle of words
        ("", None),
        ("…", None),
        ("words of another text altogether", None),
    ],
)
def test_a_quote_is_found_as_it_is_then_folded_then_as_the_closest_whole_words(
    quote: str, expected: str | None
) -> None:
    assert found(quote) == expected
    # part of a word is no quote in any script
    assert found("ost", "the lost coin") is found("नील", "एक नीला द्रव गिरा") is None
    assert found("a a", "ba a a") == "a a"


def test_of_two_places_the_closer_one_counts_by_90_at_least() -> None:
    text = "an old grey bell rang; an odd grey bell rang; an old grey bell rang"
    assert QuotedText(text).find("an oldd grey bell rang") == (0, 21)
    assert QuotedText(text).find("an oddd grey bell rang") == (23, 44)
    # 2 * 9 of 20 is 90; 2 * 8 of 18 is 88.9
    assert found("abcdefghix", "an abcdefghiy.") == "abcdefghiy"
    assert found("abcdefghx", "an abcdefghy.") is None
    # any space is one
    assert found("c a  aa", "c a a") == "c a a"


@given(
    st.lists(st.text("abc", min_size=1, max_size=4), min_size=2, max_size=12), st.text("abc ", min_size=3, max_size=14)
)
def test_the_closest_span_is_that_of_a_search_through_all_spans(words: list[str], quote: str) -> None:
    text = " ".join(words)
    plain = " ".join(quote.split())
    spans = (words[first:last] for first in range(len(words)) for last in range(first + 1, len(words) + 1))
    best = max(similarity(plain, " ".join(span)) for span in spans)
    span = QuotedText(text).find(quote)
    if not plain or best < 90:
        assert span is None
    elif best < 100:
        assert span is not None
        assert similarity(plain, text[slice(*span)]) >= best


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("Wort \N{RIGHT-TO-LEFT OVERRIDE}und", "Ein Wort \N{RIGHT-TO-LEFT OVERRIDE}und noch eins"),
        ("עולם גדול", "שלום עולם גדול"),
        ("👩‍👩‍👧 family", "a 👩‍👩‍👧 family of light"),
        ("light\x1b[0m", "\x1b[31mred light\x1b[0m"),
        *(("点亮了灯", "他点亮了灯，等着。"), ("กตะเกียง", "เขาจุกตะเกียงและรอ"), ("नीला द्रव", "एक नीला द्रव गिरा")),
    ],
)
def test_places_are_those_of_the_text_as_it_is_whatever_script_it_has(quote: str, text: str) -> None:
    assert found(quote, text) == quote


@pytest.mark.parametrize("piece", ["The owl, which had slept, went. ", "灯", "a", "the      "])
@pytest.mark.parametrize("quote", ["The owl, which had slept, went out.", "灯x" * 90])
def test_a_million_characters_are_searched_in_a_second(piece: str, quote: str) -> None:
    for length in (FULL, LONGEST_SEARCHED):
        text = QuotedText(piece * (length // len(piece)))
        assert seconds(partial(text.find, quote, last=True)) < SECONDS_A_MILLION + SPARE_SECONDS


def test_of_spans_that_overlap_one_remains_and_a_word_is_covered_however_many_touch_it() -> None:
    assert without_overlaps([]) == []
    assert without_overlaps([(0, 4), (4, 8)]) == [0, 1]
    assert without_overlaps([(5, 9), (0, 3), (2, 6), (0, 4)]) == [3, 0]
    assert without_overlaps([(3, 9), (0, 4), (8, 12)]) == [1, 2], "the second ends in the first's place"
    assert covered_share("one two three four", [(0, 7), (4, 7), (5, 9)]) == 0.75
    assert covered_share("one two", []) == covered_share("...", []) == covered_share("", [(0, 1)]) == 0


@given(st.text(max_size=20), st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=4))
def test_the_pieces_of_a_text_are_the_text(text: str, ends: list[tuple[int, int]]) -> None:
    spans = [(min(pair), max(pair)) for pair in ends if max(pair) <= len(text) and pair[0] != pair[1]]
    cut = list(pieces(text, spans))
    assert "".join(piece for piece, _, _ in cut) == text
    for place, (begin, end) in enumerate(spans):
        assert "".join(piece for piece, over, _ in cut if place in over) == text[begin:end]
        assert sum(place in ending for _, _, ending in cut) == 1


def test_of_several_places_the_first_is_found_or_the_last() -> None:
    text = "A bell rang. “A bell,” she said: a  bell. A bello rang; a bells."
    near = "the grey owl slept. the grey owl slept."
    for where, quote, first, last in (
        (text, "bell", (2, 6), (36, 40)),
        (text, "A BELL", (0, 6), (33, 40)),
        (near, "the gray owl slept", (0, 18), (20, 38)),
    ):
        assert (QuotedText(where).find(quote), QuotedText(where).find(quote, last=True)) == (first, last), quote
