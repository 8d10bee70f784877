import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie_inspect.prompting.readings import ATTEMPT, NO, YES, ReadingReply, reading_reply
from genie_inspect.prompting.replies import LONGEST_ANSWER
from genie_inspect.prompting.templates import load_template

WHOLE = {1: "a pilot", 2: "at night"}
REPLIES = {
    "as asked for": ('{"attempt": "yes", "1": "a pilot", "2": "at night"}', WHOLE, True),
    "no attempt": ('{"attempt": "no"}', {}, False),
    "no attempt, and answers all the same": ('{"attempt": "no", "1": "a pilot", "2": "at night"}', WHOLE, False),
    "the field last": ('{"1": "a pilot", "2": "at night", "attempt": "no"}', WHOLE, False),
    "a template that does not ask": ('{"1": "a pilot", "2": "at night"}', WHOLE, None),
    "an odd field": ('{"attempt": "perhaps", "1": "a pilot", "2": "at night"}', WHOLE, None),
    "a word that begins alike": ('{"attempt": "not sure", "1": "a pilot", "2": "at night"}', WHOLE, None),
    "a number": ('{"attempt": 1, "1": "a pilot", "2": "at night"}', WHOLE, None),
    "null": ('{"attempt": null, "1": "a pilot", "2": "at night"}', WHOLE, None),
    "in capitals": ('{"Attempt": "NO"}', {}, False),
    "with a reason": ('{"attempt": "no, it is an apology"}', {}, False),
    "answers in an object of their own": (
        '{"attempt": "yes", "answers": {"1": "a pilot", "2": "at night"}}',
        WHOLE,
        True,
    ),
    "all in an object of its own": ('{"reading": {"attempt": "yes", "1": "a pilot", "2": "at night"}}', WHOLE, True),
    "over several lines": ('```json\n{\n "attempt": "yes",\n "1": "a pilot",\n "2": "at night"\n}\n```', WHOLE, True),
    "no attempt over several lines": ('```json\n{\n  "attempt" :\n  "no"\n}\n```', {}, False),
    "cut off": ('{"attempt": "yes", "1": "a pilot", "2": "at ni', {1: "a pilot"}, True),
    "cut off at once": ('{"attempt": "no', {}, False),
    "a draft first": (
        '{"attempt": "no"}\nOn second thought:\n{"attempt": "yes", "1": "a pilot"}',
        {1: "a pilot"},
        True,
    ),
    "in thoughts only": ('<think>{"attempt": "no"}?</think>{"1": "a pilot"}', {1: "a pilot"}, None),
    "lines": ("attempt: yes\n1. a pilot\n2. at night", WHOLE, True),
    "lines with Markdown": ("- **Attempt:** no", {}, False),
    "a line in prose": ("He made an attempt: no luck.\n1. a pilot", {1: "a pilot"}, None),
    "an answer that looks like the field": (
        r'{"attempt": "yes", "1": "\"attempt\": \"no\"", "2": "attempt: no"}',
        {1: '"attempt": "no"', 2: "attempt: no"},
        True,
    ),
    "not said": ('{"attempt": "yes", "1": "[not said]", "2": "at night"}', {1: None, 2: "at night"}, True),
    "words for nothing, which are answers": ('{"1": "unknown", "2": "None"}', {1: "unknown", 2: "None"}, None),
    "null for an answer": ('{"1": null, "2": "at night"}', {1: None, 2: "at night"}, None),
    "without a word": ('{"1": "", "2": "..."}', {}, None),
    "two answers to one": ('{"1": "a pilot", "1": "a cook", "2": "at night"}', {2: "at night"}, None),
    "endless": (json.dumps({"1": "x" * LONGEST_ANSWER, "2": "x" * (LONGEST_ANSWER + 1)}), {1: "x" * 400}, None),
    "half a character": (r'{"1": "a pilot \ud83d"}', {1: "a pilot \ufffd"}, None),
    "a refusal to read": ("I'm sorry, but I can't help with that.", {}, None),
    "nothing": ("", {}, None),
}


@pytest.mark.parametrize(("reply", "answers", "is_attempt"), REPLIES.values(), ids=REPLIES.keys())
def test_a_reading_is_its_answers_and_whether_there_was_an_attempt(
    reply: str, answers: dict[int, str | None], is_attempt: bool | None
) -> None:
    assert reading_reply(reply, 2) == ReadingReply(answers, is_attempt)


def test_without_a_marker_in_the_instruction_words_say_that_there_is_no_answer() -> None:
    reply = '{"1": "The time period is not specified", "2": "None", "3": "a pilot"}'
    assert reading_reply(reply, 3, has_marker=False).answers == {1: None, 2: None, 3: "a pilot"}


def test_the_field_and_its_values_are_what_the_template_asks_for() -> None:
    text = load_template("read", {"count", "data"}).text
    assert f'"{ATTEMPT}": "{YES}"' in text
    assert f'{{"{ATTEMPT}": "{NO}"}}' in text


@given(st.text())
def test_any_reply_can_be_read(reply: str) -> None:
    assert reading_reply(reply, 3).is_attempt in (True, False, None)


@pytest.mark.parametrize(
    "reply", ['"attempt"' + " " * 50_000 + ":", '"attempt"' * 10_000, "\n" * 50_000 + "attempt", "> " * 50_000]
)
def test_a_reply_that_repeats_itself_is_read_at_once(reply: str) -> None:
    begin = time.process_time()
    reading_reply(reply, 2)
    assert time.process_time() - begin < 0.5
