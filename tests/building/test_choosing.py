from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie_inspect.building.choosing import is_degenerate, loses_most, stratified, trimmed, up_to_sentence

ITEMS = [("a", number) for number in range(7)] + [("b", number) for number in range(3)] + [("c", 0)]


def model(item: tuple[str, int]) -> str:
    return item[0]


def test_every_beginning_takes_the_models_as_equally_as_can_be() -> None:
    order = stratified(ITEMS, model, 0)
    for size in range(1, len(ITEMS) + 1):
        taken = Counter(map(model, order[:size]))
        left = Counter(map(model, order[size:]))
        # nobody has two more than another who still has some left
        assert all(taken[one] - taken[other] <= 1 for one in taken for other in left)


def test_a_seed_gives_one_order_and_another_seed_another() -> None:
    assert stratified(ITEMS, model, 1, "prompt") == stratified(ITEMS, model, 1, "prompt")
    assert stratified(ITEMS, model, 1, "prompt") != stratified(ITEMS, model, 2, "prompt")


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers())), st.integers())
def test_nothing_is_lost_or_added(items: list[tuple[str, int]], seed: int) -> None:
    assert Counter(stratified(items, model, seed)) == Counter(items)


STORY = "The owl left at dusk. It flew over nine barns, and none of them was its own."


@pytest.mark.parametrize(
    ("generation", "document"),
    [
        (f"<think>An owl, then?</think>\n{STORY}", STORY),
        (f"An owl, then?</think>{STORY}", STORY),
        (f"\n\n {STORY}<|im_end|>\n", STORY),
        (f"[INST] {STORY} [/INST]</s>", STORY),
        (f"{STORY} {'And on it flew into the night. ' * 4}And on it fl", f"{STORY} And on it flew into the night."),
    ],
)
def test_thoughts_marks_and_repeated_tails_are_no_document(generation: str, document: str) -> None:
    assert trimmed(generation) == document


@pytest.mark.parametrize("text", [STORY, "Ha ha ha ha!", "Row, row, row your boat.", "No. No. No. Never again."])
def test_repetition_that_is_style_stays(text: str) -> None:
    assert trimmed(text) == text


@pytest.mark.parametrize("generation", ["", "...", "<think>An owl?</think>", "<|im_end|>"])
def test_a_generation_without_a_word_is_no_document(generation: str) -> None:
    assert trimmed(generation) == ""


def test_a_generation_that_mostly_repeats_itself_is_degenerate() -> None:
    assert is_degenerate("The owl flew. " + "It flew and flew. " * 40)
    assert not is_degenerate(STORY)
    assert not is_degenerate("")


@given(st.text(max_size=300))
def test_what_remains_is_no_longer_and_can_be_written_to_a_file(text: str) -> None:
    once = trimmed(text)
    assert len(once) <= len(text)
    once.encode("utf-8")


LOST = "She said: “Go!” He went. She said: “Go!” Nobody did go of the go"


@pytest.mark.parametrize(
    ("sentence", "rest"),
    [
        ("He went.", "She said: “Go!” He went."),
        ("He went", "She said: “Go!” He went."),
        ('she said: "Go!"', "She said: “Go!” He went. She said: “Go!”"),
        ("She sayd: “Go!”", "She said: “Go!” He went. She said: “Go!”"),
        ("Nobody did go of the go", LOST),
    ],
    ids=["as it is", "without its mark", "in plain typography", "nearly", "to the end"],
)
def test_a_text_ends_behind_the_sentence_the_last_time_that_it_stands_there(sentence: str, rest: str) -> None:
    assert up_to_sentence(LOST, sentence) == rest


@pytest.mark.parametrize("sentence", ["It rained.", "She", "Nobody did", "", "“"])
def test_what_is_no_sentence_of_the_text_ends_it_nowhere(sentence: str) -> None:
    assert up_to_sentence(LOST, sentence) is None


def test_a_line_ends_a_sentence_too() -> None:
    poem = "The owl is white \nthe moon is old\nold of moon moon"
    assert up_to_sentence(poem, "The owl is white") == "The owl is white"
    assert up_to_sentence("猫が寝た。月が出た。月の月の", "月が出た。") == "猫が寝た。月が出た。"


def test_half_a_text_is_not_the_most_of_it() -> None:
    assert [loses_most("abcd", rest) for rest in ("abc", "ab", "a", "")] == [False, False, True, True]
