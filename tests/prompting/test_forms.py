"""Forms of replies, and replies that are texts."""

import json
import math
import re
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie_inspect.errors import UnreadableReplyError
from genie_inspect.prompting.answers import NOT_SPECIFIED
from genie_inspect.prompting.forms import (
    answers_form,
    choices_form,
    label_form,
    last_form,
    last_sound_sentence,
    questions_form,
    quotes,
    ratings_form,
    reading_form,
    sentences_to_cut,
    verbalized_responses,
    written_text,
)
from genie_inspect.prompting.replies import YES_NO

MADE = {
    "an attempt": ('{"attempt": "yes", "1": "a pilot", "2": "at night"}', True),
    "the marker": (f'{{"attempt": "yes", "1": "{NOT_SPECIFIED}", "2": "{NOT_SPECIFIED}"}}', True),
    "no attempt, and no more": ('{"attempt": "no"}', True),
    "no attempt, and answers": ('{"attempt": "no", "1": "a pilot", "2": "at night"}', False),
    "an attempt, and no answers": ('{"attempt": "yes"}', False),
    "too few answers": ('{"attempt": "yes", "1": "a pilot"}', False),
    "no word on it": ('{"1": "a pilot", "2": "at night"}', False),
    "another word": ('{"attempt": "maybe", "1": "a pilot", "2": "at night"}', False),
    "room for spaces": ('{   "attempt": "yes", "1": "a pilot", "2": "at night"}', False),
}


@pytest.mark.parametrize(("reply", "fits"), MADE.values(), ids=MADE.keys())
def test_the_pattern_of_a_reading_has_the_attempt_first_and_then_every_answer(reply: str, fits: bool) -> None:
    assert (re.fullmatch(reading_form(2).pattern, reply) is not None) == fits


def test_other_answers_are_asked_for_without_it_and_ratings_on_one_line() -> None:
    assert ratings_form(2).pattern == "1:[01234] 2:[01234]"
    assert re.fullmatch(choices_form(1, ["keep", "examples"]).pattern, '{"1": "examples"}')
    schema = answers_form(2).schema
    assert schema is not None
    assert schema["required"] == ["1", "2"]
    read = reading_form(2).schema
    assert read is not None
    assert list(read["properties"]) == ["attempt", "1", "2"], "in this order they are written"
    assert read["properties"]["attempt"]["enum"] == ["yes", "no"]
    assert re.fullmatch(answers_form(2).pattern, '{"1": "hunger", "2": "night"}')


@pytest.mark.parametrize(
    ("reply", "fits"),
    [
        ('{"last": "An owl."}', True),
        ('{"last": "\\"Go!\\" she said."}', True),
        ('{"last": ""}', True),
        ('{"last": "A "b" c"}', False),
        ('{"last": "a\\', False),
    ],
)
def test_the_pattern_of_a_sentence_is_an_object_that_is_json(reply: str, fits: bool) -> None:
    assert (re.fullmatch(last_form().pattern, reply) is not None) == fits


def test_no_pattern_counts_characters_for_which_an_engine_builds_a_state_each() -> None:
    forms = [reading_form(17), answers_form(17), questions_form(5), label_form(YES_NO, analysed=True), last_form()]
    # vLLM 0.32 gave up on [^"\\\n]{1,200} after five seconds, and answered every reading with an error
    assert not [form for form in forms if re.search(r"\]\{\d", form.pattern)]


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1).filter(
    lambda text: any(character.isalnum() for character in text)
)


@given(st.lists(st.tuples(TEXTS.map(str.strip), st.floats(0, 1)), min_size=1, max_size=5))
def test_what_is_well_formed_is_read_as_it_was_written(pairs: list[tuple[str, float]]) -> None:
    reply = json.dumps({"responses": [{"text": text, "probability": share} for text, share in pairs]})
    if "think" in reply:
        return  # a story may talk of thinking tags; what stands before them is taken for thoughts
    found = verbalized_responses(reply)
    assert [response.text for response in found] == [text for text, _ in pairs]
    assert all(0 <= response.probability <= 1 or math.isnan(response.probability) for response in found)


def texts_of(reply: str) -> list[str]:
    return [response.text for response in verbalized_responses(reply)]


@pytest.mark.parametrize("complete", range(5))
def test_a_reply_that_was_cut_off_gives_its_complete_responses(complete: int) -> None:
    reply = json.dumps({"responses": [{"text": f"Story {n}.", "probability": 0.1} for n in range(5)]})
    cut = reply[: reply.index(f"Story {complete}") + 4]
    assert texts_of(cut) == [f"Story {n}." for n in range(complete)]


def test_a_probability_is_a_share_or_percent_and_anything_else_is_not_a_number() -> None:
    reply = json.dumps([{"text": "a", "probability": share} for share in ("0.25", ".5", "5 %", 1, "often", None, 3)])
    assert str([response.probability for response in verbalized_responses(reply)]) == (
        "[0.25, 0.5, 0.05, 1.0, nan, nan, nan]"
    )


TWICE = '{"responses": [{"text": "A."}, {"text": "B."}, {"text": "A."}'
DRAFT, FINAL = '{"responses": [{"text": "A."}, {"text": "B."}]}', '{"responses": [{"text": "B."}, {"text": "C."}'


@pytest.mark.parametrize(
    ("reply", "texts"),
    [
        ('```json\n{"responses": [{"text": "A.", "probability": 0.2}]}\n```', ["A."]),
        ('[{"text": "A.", "probability": 0.2}, {"text": "B.", "probability": "5%"}]', ["A.", "B."]),
        ('<think>{"text": "draft"}</think>{"responses": [{"text": "A."}]}', ["A."]),
        ('{"responses": [{"text": "A."}, {"text": "..."}, {"text": null}, {"text": "B."}]}', ["A.", "B."]),
        ('{"text": "A.", "probability": 0.2}\n{"text": "B.", "probability": 0.1}', ["A.", "B."]),
        ('{"responses": [{"text": "line one\nline two", "probability": 0.2}]}', ["line one\nline two"]),
        # a text that is given twice in one list is two responses; a list that repeats a draft adds what is new
        *((TWICE + end, ["A.", "B.", "A."]) for end in ("]}", ', {"text": "He wo')),
        *((f"{DRAFT} Or rather: {FINAL}{end}", ["A.", "B.", "C."]) for end in ("]}", "")),
        ('{"responses": [{"text": "A."}]}\n{"responses": [{"text": "B."}]}', ["A.", "B."]),
        ('{"text": "A."} and {"responses": [{"text": "B."}]}', ["B.", "A."]),
    ],
)
def test_replies_in_the_wild_are_read(reply: str, texts: list[str]) -> None:
    assert texts_of(reply) == texts


@pytest.mark.parametrize("reply", ["", "Once upon a time.", '{"responses": []}', '{"text": ""}', "{" * 3000])
def test_a_reply_without_responses_has_none(reply: str) -> None:
    assert verbalized_responses(reply) == []


cut_of_five = partial(sentences_to_cut, count=5)


@pytest.mark.parametrize(
    ("read", "reply", "value"),
    [
        (cut_of_five, '{"cut": []}', set()),
        (cut_of_five, '{"cut": [2, "3"]} done', {2, 3}),
        (cut_of_five, '{"cut": [9]}\n{"cut": [1, 5]}', {1, 5}),
        (last_sound_sentence, '{"last": " She woke. "}', "She woke."),
        (last_sound_sentence, '{"last": ""}', ""),
        (last_sound_sentence, 'At first {"last": "An owl."}, no: {"last": "\\"Go!\\" she said."}', '"Go!" she said.'),
        (last_sound_sentence, '<think>{"last": "An owl."}</think>```json\n{"last": "She woke."}\n```', "She woke."),
    ],
)
def test_what_stands_in_the_last_object_under_its_name_is_read(
    read: Callable[[str], object], reply: str, value: object
) -> None:
    assert read(reply) == value


UNREADABLE = {
    cut_of_five: (
        'no list "cut"|more than numbers from 1 to 5',
        ("", "[1, 2]", '{"cut": 3}', '{"cut": [0]}', '{"cut": [6]}', '{"cut": ["It rained."]}'),
    ),
    last_sound_sentence: (
        'no sentence under "last"',
        ("", "She woke.", '{"cut": []}', '{"last": null}', '{"last": ["A."]}', '{"last": "A'),
    ),
    written_text: ("no text", ("", " \n", "<think>An owl.</think>", "...", "—")),
}


@pytest.mark.parametrize(("read", "reply"), [(read, reply) for read in UNREADABLE for reply in UNREADABLE[read][1]])
def test_anything_else_is_unreadable(read: Callable[[str], object], reply: str) -> None:
    with pytest.raises(UnreadableReplyError, match=UNREADABLE[read][0]):
        read(reply)


SALT = '[{"expression": "a salt light", "reason": "Light has no taste."}]'
READ = [("a salt light", "Light has no taste.")]


@given(st.lists(st.tuples(TEXTS.map(str.strip), TEXTS.map(str.strip)), min_size=1))
def test_what_is_well_formed_is_read_as_it_was_written_in_quotes(pairs: list[tuple[str, str]]) -> None:
    reply = json.dumps([{"expression": expression, "reason": reason} for expression, reason in pairs])
    if "think" in reply:
        return  # a text may talk of thinking tags; what stands before them is taken for thoughts
    assert quotes(reply) == pairs


@pytest.mark.parametrize(
    "reply",
    [
        SALT,
        f"These qualify [two at most]:\n```json\n{SALT}\n```",
        f'{{"expressions": {SALT}}}',
        f'<think>[{{"expression": "the sea", "reason": "no"}}]</think>{SALT}',
        f'[{{"expression": "the sea"}}]\nOn a second reading:\n{SALT}',
        '[{"expression": " a salt light\\n", "reason": "Light has no taste.", "aspect": "novel"}]',
    ],
)
def test_the_last_list_of_a_reply_is_read_wherever_it_stands(reply: str) -> None:
    assert quotes(reply) == READ


def test_a_reader_may_quote_nothing_and_without_a_reason() -> None:
    for reply in ("[]", "Nothing qualifies: [ ]", '{"expressions": []}'):
        assert quotes(reply) == []
    for reason in ("", ', "reason": null', ', "reason": 3', ', "reason": ["x"]'):
        assert [expression for expression, _ in quotes(f'[{{"expression": "the sea"{reason}}}]')] == ["the sea"]


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "Nothing here is novel.",
        '["a salt light"]',
        '{"expression": "a salt light"}',
        '[{"quote": "a salt light"}]',
        '[{"expression": ["a salt light"]}]',
        '[{"expression": "a salt light"}, "the sea"]',
        SALT[:-1],
        SALT[:-1] + ', {"expression": "cut o',
        '[{"expression": "he said "no" twice", "reason": "Quotes without escapes."}]',
        f"{SALT}, or [] when nothing qualifies",
        "[" * 100_000,
        "[{" * 100_000,
    ],
)
def test_what_is_no_whole_list_of_expressions_is_unreadable(reply: str) -> None:
    with pytest.raises(UnreadableReplyError, match="no whole list of expressions"):
        quotes(reply)
