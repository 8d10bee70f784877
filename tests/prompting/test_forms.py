import re

import pytest

from genie_inspect.prompting.answers import NOT_SPECIFIED
from genie_inspect.prompting.forms import Form, answers_form, label_form, last_form, questions_form, reading_form

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


def test_the_schema_of_a_reading_has_the_attempt_first() -> None:
    schema = reading_form(2).schema
    assert schema is not None
    assert list(schema["properties"]) == schema["required"] == ["attempt", "1", "2"]
    assert schema["properties"]["attempt"]["enum"] == ["yes", "no"]
    assert schema["additionalProperties"] is False


def test_other_answers_are_asked_for_without_it() -> None:
    schema = answers_form(2).schema
    assert schema is not None
    assert schema["required"] == ["1", "2"]
    assert re.fullmatch(answers_form(2).pattern, '{"1": "hunger", "2": "night"}')


@pytest.mark.parametrize(
    ("reply", "fits"),
    [('{"last": "An owl."}', True), ('{"last": ""}', True), ('{"last": "A "b" c"}', False), ('{"last": "a\\', False)],
)
def test_the_pattern_of_a_sentence_is_an_object_that_is_json(reply: str, fits: bool) -> None:
    assert (re.fullmatch(last_form().pattern, reply) is not None) == fits


@pytest.mark.parametrize(
    "form",
    [
        reading_form(17),
        answers_form(17),
        questions_form(5),
        label_form(["[[YES]]", "[[NO]]"], analysed=True),
        last_form(),
    ],
    ids=["reading", "answers", "questions", "analysis", "sentence"],
)
def test_no_pattern_counts_characters_for_which_an_engine_builds_a_state_each(form: Form) -> None:
    # vLLM 0.32 gave up on [^"\\\n]{1,200} after five seconds, and answered every reading with an error
    assert not re.search(r"\]\{\d", form.pattern)
