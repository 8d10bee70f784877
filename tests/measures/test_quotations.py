"""Finding quotes in a text, and the parts of a text that spans cover."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie_inspect.measures.marks import similarity
from genie_inspect.measures.quotations import QuotedText, covered_share, pieces, without_overlaps

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


def test_of_two_places_the_closer_one_counts_and_of_equal_ones_the_first() -> None:
    text = "an old grey bell rang; an odd grey bell rang; an old grey bell rang"
    assert QuotedText(text).find("an oldd grey bell rang") == (0, 21)
    assert QuotedText(text).find("an oddd grey bell rang") == (23, 44)


def test_89_point_9_is_not_enough_and_90_is() -> None:
    # 2 * 9 of 20 is 90; 2 * 8 of 18 is 88.9
    assert similarity("abcdefghix", "abcdefghiy") == 90
    assert found("abcdefghix", "an abcdefghiy.") == "abcdefghiy"
    assert found("abcdefghx", "an abcdefghy.") is None


@given(
    st.lists(st.text("abc", min_size=1, max_size=4), min_size=2, max_size=12), st.text("abc ", min_size=3, max_size=14)
)
def test_the_closest_span_is_that_of_a_search_through_all_spans(words: list[str], quote: str) -> None:
    text = " ".join(words)
    plain = " ".join(quote.split())
    bounds = [(begin, begin + len(word)) for begin, word in zip(_begins(words), words, strict=True)]
    spans = [(first[0], last[1]) for i, first in enumerate(bounds) for last in bounds[i:]]
    best = max((similarity(plain, text[begin:end]) for begin, end in spans), default=0)
    span = QuotedText(text).find(quote)
    if not plain or best < 90:
        assert span is None
    elif best < 100:
        assert span is not None
        assert similarity(plain, text[slice(*span)]) >= best


def _begins(words: list[str]) -> list[int]:
    return [sum(len(word) + 1 for word in words[:place]) for place in range(len(words))]


@pytest.mark.parametrize(
    "text",
    [
        "Ein Wort \N{RIGHT-TO-LEFT OVERRIDE}und noch eins",
        "שלום עולם גדול",
        "a 👩‍👩‍👧 family of light",
        "\x1b[31mred light\x1b[0m",
    ],
)
def test_places_are_those_of_the_text_as_it_is_whatever_script_it_has(text: str) -> None:
    quote = " ".join(text.split()[1:3])
    assert found(quote, text) == quote


@pytest.mark.parametrize(
    ("quote", "text"),
    [("点亮了灯", "他点亮了灯，等着。"), ("กตะเกียง", "เขาจุกตะเกียงและรอ"), ("नीला द्रव", "एक नीला द्रव गिरा")],
)
def test_a_quote_in_a_script_without_spaces_or_with_vowel_signs_stands_where_it_does(quote: str, text: str) -> None:
    assert found(quote, text) == quote


def test_part_of_a_word_is_no_quote_in_any_script() -> None:
    assert found("ost", "the lost coin") is None
    assert found("नील", "एक नीला द्रव गिरा") is None
    assert found("a a", "ba a a") == "a a"


def test_of_spans_that_overlap_one_remains() -> None:
    assert without_overlaps([]) == []
    assert without_overlaps([(0, 4), (4, 8)]) == [0, 1]
    assert without_overlaps([(3, 9), (0, 4), (8, 12)]) == [1, 2], "the second ends in the first's place"


def test_a_word_is_covered_however_many_spans_touch_it() -> None:
    assert covered_share("one two three four", [(0, 7), (4, 7), (5, 9)]) == 0.75
    assert covered_share("one two", []) == covered_share("...", []) == covered_share("", [(0, 1)]) == 0


@given(st.text(max_size=20), st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=4))
def test_the_pieces_of_a_text_are_the_text(text: str, ends: list[tuple[int, int]]) -> None:
    spans = [(min(pair), max(pair)) for pair in ends if max(pair) <= len(text) and pair[0] != pair[1]]
    cut = list(pieces(text, spans))
    assert "".join(piece.text for piece in cut) == text
    for place, (begin, end) in enumerate(spans):
        assert "".join(piece.text for piece in cut if place in piece.spans) == text[begin:end]
        assert sum(place in piece.ending for piece in cut) == 1


def test_of_several_places_the_first_is_found_or_the_last() -> None:
    text = "A bell rang. “A bell,” she said: a  bell. A bello rang; a bells."
    for quote, first, last in (("bell", (2, 6), (36, 40)), ("A BELL", (0, 6), (33, 40)), ("the bello", None, None)):
        assert (QuotedText(text).find(quote), QuotedText(text).find(quote, last=True)) == (first, last), quote


def test_of_places_that_are_equally_near_the_last_can_be_asked_for() -> None:
    text = "the grey owl slept. the grey owl slept."
    assert QuotedText(text).find("the gray owl slept") == (0, 18)
    assert QuotedText(text).find("the gray owl slept", last=True) == (20, 38)
