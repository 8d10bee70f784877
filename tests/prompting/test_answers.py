import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hostile import seconds

from genie_inspect.prompting.answers import (
    ATTEMPT,
    NO,
    NOT_SPECIFIED,
    YES,
    is_unspecified,
    normalised,
    reading_reply,
    repeats_question,
    says_nothing,
)
from genie_inspect.prompting.replies import LONGEST_ANSWER
from genie_inspect.prompting.templates import load_template


def listed(texts: str) -> list[str]:
    return [text.strip() for text in texts.split("|")]


NO_ANSWERS = listed("""
not specified | Not specified. | NOT SPECIFIED! | "not specified" | “Not specified.” | (not specified) |
[not specified] | **not specified** | not_specified | Not-specified | not   specified | unspecified |
not specified in the story | Not specified by the text. | not specified (the story does not say) |
Not specified; the narrator stays unnamed | not specified - only "the pilot" is mentioned | N/A | n/a | NA |
n.a. | N/A (not mentioned) | null | nil | unknown | Unclear. | undisclosed | indeterminate | unanswerable |
not stated | not explicitly stated | Not directly stated in the text | not mentioned | never mentioned |
never explained | It is never explained. | not made clear | not clear | is not clear | not given | not provided |
not described | not indicated | not applicable | not available | not determinable | not inferable from the text |
not found in the text | not present in the story | not enough information | insufficient information |
no information | No information given | no information is given | There is no information. |
There is no information about this | no mention | no explicit mention | no indication | no details given |
no answer | none specified | none mentioned | nothing is said | information not provided |
This information is not provided | The answer is not specified. | The question is not answered | It does not say |
It's not specified | It’s unclear from the story | it isn't mentioned | this is not mentioned |
The story does not say | The story doesn't say. | The story doesn’t say | the story never specifies |
The text does not explicitly state this. | the text doesn't provide this information |
The document does not mention it | The document does not specify this |
The story does not provide enough information | The story does not mention her occupation |
The passage does not indicate where it takes place | The narrator never says | cannot be determined |
Can't be determined from the text. | cannot tell | It's impossible to tell | we are not told |
The reader is never told. | I don't know | [not said] | [NOT SAID]. | not said | None | none. | Does not apply |
It doesn't apply here. | The question does not apply to this story | The time period is not specified |
Time period not specified | Location not mentioned | The location is not mentioned in the story |
Setting is unspecified | unspecified time | an unspecified location | Time: not specified |
the name of the town is not mentioned | The protagonist's occupation isn't stated. |
The colour of her scarf is not specified | The reason for the war is not explicitly stated in the text | - | — |
... | ?
""")

ANSWERS = listed("""
an unknown thief | in the name of the unknown | an unspecified illness | unspecified dread |
a time unknown to men | the place of the dead | not said, but felt: love | an unspecified disease | the unknown |
fear of the unknown | unknown to everyone | unknown lands | unclear skies | unexplained lights | unstated love |
an unnamed narrator | unidentified flying object | nobody | no one | nothing | nothing is left | none of them |
no one knows | no | nowhere | never | not now | not far | not happy | not enough | not enough food | never found |
not found | it is never found | not present | never answered | never given a chance | never returned |
nothing but snow | it says nothing | said nothing | says nothing to anyone | he never says goodbye |
cannot say farewell | cannot tell lies | does not say goodbye | no answer from the tower | no answer comes |
no information reaches the castle | no details, just fog | insufficient fuel | not described to the king |
his identity is not revealed to the guards | to not be named | not being known | she is not known |
known only as the captain | a story not told | the text of a letter | the story of a whale | a document |
the narrator | an author | present day | a clear night | to explain the stars | a null result | naan bread |
NASA | Nashville | 0 | 42
""")


@pytest.mark.parametrize("answer", NO_ANSWERS)
def test_whatever_says_that_there_is_no_answer_is_none(answer: str) -> None:
    assert is_unspecified(answer)


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_that_holds_such_words_is_an_answer(answer: str) -> None:
    assert not is_unspecified(answer)


@given(st.sampled_from(NO_ANSWERS + ANSWERS), st.sampled_from([" ", "  ", "\n", '"', "'", ".", "“", ""]))
def test_case_spacing_and_quotes_change_nothing(answer: str, around: str) -> None:
    assert is_unspecified(f"{around}{answer.upper()}{around}") == is_unspecified(answer)


REPEATED = [
    "not specified" + " this detail" * 24 + " x",
    "not specified" + " this detail" * 13 + " x",  # as many words as are looked at
    "not " + "explicitly " * 5_000 + "so",
    "no information" + " in this text" * 9 + " x",
    "the " + "story " * 20 + "says",
    " ".join(["time period"] * 14) + " is",
    "not specified" * 2_000,
    "it is " * 15 + "not",
    " " * 100_000 + "x",
    "\u0315\u0300" * 50_000,
    "-" * 100_000,
]


@pytest.mark.parametrize("text", REPEATED, ids=range(len(REPEATED)))
@pytest.mark.parametrize("judge", [is_unspecified, says_nothing])
def test_a_text_that_repeats_itself_is_decided_at_once(judge: Callable[[str], bool], text: str) -> None:
    assert min(seconds(lambda: judge(text)) for _ in range(3)) < 0.05


def test_a_sentence_of_thirty_words_may_say_that_there_is_nothing_and_a_longer_one_says_something() -> None:
    assert is_unspecified("never explained " + "in the text " * 9 + "anywhere")  # 2 + 27 + 1 words
    assert not is_unspecified("never explained " + "in the text " * 9 + "anywhere here")
    assert is_unspecified("never explained" + " " * 400 + "in the text"), "space is no word"


# What a reader of ours says: the marker it was asked for, and nothing else

MARKED = listed("""
[not said] | [Not said]. | [NOT SAID] | "[not said]" | **[not said]** | `[not said]` | (not said) | not said |
[not said] (but she may be old)
""")


@pytest.mark.parametrize("answer", MARKED)
def test_the_marker_says_that_there_is_no_answer_and_to_who_was_asked_for_it_no_other_words_do(answer: str) -> None:
    assert says_nothing(answer)
    assert is_unspecified(answer), "whoever it is from"
    assert not any(map(says_nothing, ["none", "Unknown!", "no information", "the time is unknown", "N/A", "未提及"]))


def test_an_import_knows_the_usual_phrases_of_other_languages_and_full_width_letters() -> None:
    phrases = ["Не указано.", "غير مذكور", "उल्लेख नहीं।", "不明。", "알 수 없음", "ไม่ระบุ", "No especificado"]
    # nicht angegeben; N/A as typed on a Japanese keyboard
    assert all(map(is_unspecified, [*phrases, "nicht angegeben", "\uff2e\uff0f\uff21"]))


def test_a_long_answer_is_not_cut_to_a_part_that_says_nothing() -> None:
    silent = "story " * 46 + "not specified"  # nearly as long as what is looked at
    assert is_unspecified(silent)
    assert not is_unspecified(silent + " " * 30 + "but the owl has a lamp")


def test_marker_field_and_values_are_what_the_templates_ask_for() -> None:
    text = load_template("read", {"count", "data"}).text
    assert f'"{ATTEMPT}": "{YES}"' in text
    assert f'{{"{ATTEMPT}": "{NO}"}}' in text
    assert says_nothing(NOT_SPECIFIED)
    for name in ("read", "read_free", "read_sentence"):
        assert f'"{NOT_SPECIFIED}"' in load_template(name, {"count", "data"}).text


EQUAL = [("The old pilot", "the old pilot."), ("the  old\npilot", " the old pilot "), ("“home”", '"home"')]
EQUAL += [("the pilot's son", "the pilot’s son"), ("Straße", "STRASSE"), ("ﬁsh", "fish"), ("cafe\u0301", "café")]
APART = [("a pilot", "the pilot"), ("re-form", "reform"), ("1.5", "15"), ("C", "C++"), ("ill", "i'll")]


@pytest.mark.parametrize(("one", "other"), EQUAL + APART)
def test_equal_answers_have_one_normal_form_and_answers_that_differ_stay_apart(one: str, other: str) -> None:
    assert (normalised(one) == normalised(other)) == ((one, other) in EQUAL)


@given(st.text())
def test_a_normal_form_is_its_own(text: str) -> None:
    assert normalised(normalised(text)) == normalised(text)


WHOLE = {1: "a pilot", 2: "at night"}
REPLIES = {
    "as asked for": ('{"attempt": "yes", "1": "a pilot", "2": "at night"}', WHOLE, True),
    "no attempt": ('{"attempt": "no"}', {}, False),
    "no attempt, and answers all the same": ('{"attempt": "no", "1": "a pilot", "2": "at night"}', WHOLE, False),
    "the field last": ('{"1": "a pilot", "2": "at night", "attempt": "no"}', WHOLE, False),
    "a template that does not ask": ('{"1": "a pilot", "2": "at night"}', WHOLE, None),
    "an odd field": ('{"attempt": "perhaps", "1": "a pilot", "2": "at night"}', WHOLE, None),
    "a word that begins alike": ('{"attempt": "not sure", "1": "a pilot", "2": "at night"}', WHOLE, None),
    "in capitals": ('{"Attempt": "NO"}', {}, False),
    "with a reason": ('{"attempt": "no, it is an apology"}', {}, False),
    "answers in an object of their own": (
        '{"attempt": "yes", "answers": {"1": "a pilot", "2": "at night"}}',
        WHOLE,
        True,
    ),
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
    "endless": (json.dumps({"1": "x" * LONGEST_ANSWER, "2": "x" * (LONGEST_ANSWER + 1)}), {1: "x" * 400}, None),
}


@pytest.mark.parametrize(("reply", "answers", "is_attempt"), REPLIES.values(), ids=REPLIES.keys())
def test_a_reading_is_its_answers_and_whether_there_was_an_attempt(
    reply: str, answers: dict[int, str | None], is_attempt: bool | None
) -> None:
    assert reading_reply(reply, 2) == (answers, is_attempt)


def test_a_reply_that_says_its_own_question_again_answers_nothing() -> None:
    reply = '{"1": "Who is it?", "2": "Who is it?"}'
    assert reading_reply(reply, 2, ["Who is it?", "What happens?"])[0] == {2: "Who is it?"}


def test_an_answer_of_words_of_its_question_alone_repeats_it() -> None:
    question = "What brings the owl to the airport?"
    assert [repeats_question(text, question) for text in ("The airport", "a storm", "")] == [True, False, False]
