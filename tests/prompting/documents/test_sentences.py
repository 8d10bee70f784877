import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie_inspect.prompting.documents.sentences import sentence_spans, without_repeated_tail, without_sentences

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
