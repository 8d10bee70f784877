"""What of a text from outside is read, and refusals."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hostile import seconds

from genie_inspect.files.writing import DATA
from genie_inspect.prompting.forms import verbalized_responses, written_text
from genie_inspect.prompting.replies import numbered_answers
from genie_inspect.prompting.texts import (
    LONGEST,
    MOST_WORDS,
    has_word,
    refuses,
    sentence_spans,
    shortened,
    spoken,
    whole_json,
    whole_text,
    without_repeated_tail,
    without_sentences,
)

ANY = st.text(st.characters())


@given(ANY)
def test_every_text_is_made_whole_and_a_whole_one_stays(text: str) -> None:
    whole = whole_text(text)
    assert whole.encode().decode() == whole == whole_text(whole)
    assert all(one == other or other == "\ufffd" for one, other in zip(text, whole, strict=False) if one < "\ud800")


def test_both_halves_make_a_character_and_one_half_a_mark() -> None:
    assert whole_text("a\ud83d\ude00b\ude00\ud83dc\ud83d\ud83d") == "a\U0001f600b\ufffd\ufffdc\ufffd\ufffd"


@given(ANY)
def test_any_text_that_was_written_as_json_is_read_back_whole(text: str) -> None:
    assert json.loads(whole_json(json.dumps(text))) == whole_text(text)


def test_half_a_character_in_json_becomes_a_mark_and_other_escapes_stay_as_they_are() -> None:
    for text in (r"\\ud83d", r"\\\\ud83d", r"\n", r"\u00e9", r"\ud83d\ude00", r"\uD83D\uDE00", "ud83d"):
        assert whole_json(f'"{text}"') == f'"{text}"'
    for text in (r"\ud83d", r"\uDE00", r"\\\ud83d"):
        assert whole_json(f'"{text}"') == f'"{text[:-6]}\\ufffd"'


def test_halves_of_characters_in_replies_become_marks_however_they_are_spelt() -> None:
    assert numbered_answers('{"1": "an owl \\ud83d"}', 1) == numbered_answers('1. "an owl \\ud83d"', 1)
    assert numbered_answers('{"1": "an owl \ud83d"}', 1) == {1: "an owl \ufffd"}
    assert numbered_answers('{"1": "an owl \\ud83d", ', 1) == {1: "an owl \ufffd"}
    (response,) = verbalized_responses('{"responses": [{"text": "an owl \\ud83d"}]}')
    assert response.text == written_text("an owl \ud83d") == "an owl \ufffd"


def test_letters_and_digits_are_words_and_marks_are_none() -> None:
    assert not any(map(has_word, ["", ".", "___", "\u200b\u200b", "…?!", "\U0001f600", "\u0301"]))
    assert all(map(has_word, ["a", "_a_", "7", "\u00e9", "\u732b"]))


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("a<think>b</think>c", "ac"),
        ("a<think>b", "a"),
        ("a</think>b", "b"),
        ("a<think>b<think>c</think>d", "ad"),
        ("a<think>b</think>c</think>d", "d"),
        ("a</think>b<think>c</think>d<think>e", "bd"),
        ("<THINKING>a</think>b", "b"),
        ("a<think >b", "a<think >b"),
    ],
)
def test_thoughts_are_left_out_wherever_they_begin_and_end(reply: str, text: str) -> None:
    assert spoken(reply) == text


def test_a_reply_without_an_end_says_nothing() -> None:
    assert spoken("x" * LONGEST) == "x" * LONGEST
    assert spoken("x" * (LONGEST + 1)) == ""


def test_a_long_reply_is_shown_from_its_end() -> None:
    assert shortened("x" * 80) == repr("x" * 80)
    assert shortened("y" + "x" * 80) == repr("..." + "x" * 77)


WORDS = st.lists(st.sampled_from(["owl", "flew.", "The", "“Go!”", "\n\n", "and", "…", "mr.", "home"]), max_size=60)


@given(WORDS)
def test_sentences_hold_every_character_and_without_any_number_the_text_stays_as_it_is(words: list[str]) -> None:
    text = " ".join(words)
    assert "".join(text[start:end] for start, end in sentence_spans(text)) == text
    assert without_sentences(text, set()) == text.strip()
    assert text.startswith(without_repeated_tail(text)), "a tail is cut from the end alone"


def test_paragraphs_stay_where_a_sentence_between_them_goes() -> None:
    text = "It rained.\n\nNote to self.\n\nIt stopped."
    assert without_sentences(text, {2}) == "It rained.\n\nIt stopped."
    assert without_sentences("Sure! It rained. The end? Tell me more.", {1, 4}) == "It rained. The end?"
    speech = "It rained.  “Go!” she said."
    assert [speech[start:end] for start, end in sentence_spans(speech)] == ["It rained.  ", "“Go!” ", "she said."]


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


def listed(texts: str) -> list[str]:
    return [" ".join(text.split()) for text in texts.split("|")]


REFUSALS = listed("""
I'm sorry, but I can't help with that. | I’m sorry, but I can’t assist with that request. | I cannot help with that. |
I can't do that. | I’m sorry. I can’t. | I'm unable to write this story. | I am not able to fulfill this request. |
Sorry, I can't help with that right now. | Can't help with that. | I apologize, but I cannot generate content of this
kind. | My apologies, but I won't write that. | Unfortunately, I'm not able to create stories that involve real
people. | As an AI language model, I cannot write a story about that topic. | As an AI, I'm not able to produce
violent content. Is there something else I can help you with? | I'm Claude, an AI made by Anthropic. I can't write
that. | I won't write this. | I cannot and will not write this. | I cannot in good conscience write this. | I will not
create a story that depicts harm to animals. | I must decline this request. | I'm going to have to decline. | I will
have to pass on this one. | I refuse to write this. | I have to decline to write this story, as it conflicts with my
guidelines. | I don't feel comfortable writing this story. Perhaps we could explore a different theme instead? | I'm
not comfortable with this request. If you would like, I can write something about friendship instead. | I’d rather not
write this story. | That's not something I can help with. | This is something I won't do, sorry. | It would not be
appropriate for me to write this story. | My guidelines prevent me from writing this. | I am prohibited from creating
such content. | This request violates my content policy. | Apologies, but this prompt goes against my programming. |
My apologies, this is beyond my capabilities. | Your request cannot be processed. | I do not have the ability to write
stories. | I'm sorry, I don't think I can write that. | I won't be writing this story. | I'm sorry, I can't comply. |
I'm not going to write that story. It would be harmful. | Sorry—I can't help with writing that. | I can't write a
story about a castle and a spaceship. | I'm sorry, I cannot generate that for you. Let's talk about something else. |
I’m really sorry that you’re feeling this way, but I’m unable to provide the help that you need. | Sorry, but I can't
produce the abstract you asked for. | I'm just an AI, and I don't write stories of that kind. That said, I would be
glad to suggest another prompt. | I can’t write that story, but I can help you write a different one. | Thank you for
your request. However, I am unable to write the story that you have described, because it goes against my guidelines.
| I understand that you'd like a story about a castle and a spaceship, but I can't provide one. Let me know if you
have another idea! | I cannot fulfill your request. I am programmed to be a helpful and harmless AI assistant. | **I'm
sorry, but I can't help with that.** | > I'm sorry, but I can't assist with that. | "I'm sorry, but I can't help with
that." | “I’m sorry, but I can’t help with that.” | I'M SORRY, BUT I CAN'T HELP WITH THAT.
""")
REFUSALS += [
    "I'm sorry, but I can't help with that. Here are some things I could write instead:\n- a mystery in a library\n"
    "- a comedy about two penguins",
    "## Sorry\nI can't help with that.",
    "I'm sorry, but I can't help with that.<|im_end|>",
    "<think>They want a story. I refuse.</think>\n\nI'm sorry, but I can't help with that.",
    "  \n I'm sorry,\n but I can't help with that. \n",
    *(
        '"I cannot write that story."',
        "I can’t help with that",
        "I CAN'T HELP WITH THAT!!!",
        "i cannot help with that :(",
    ),
]

STORIES = listed("""
I'm sorry, but I can't stay, she said, and took her hat from the nail. | “I’m sorry, but I can’t help with that,” said
the clerk. The castle had no form for spaceships. | "I can't help with that." The clerk slid the form back under the
glass. | "I'm sorry, but I can't help with that," the ship repeated. "Then who can?" asked the child. | "I can't write
this." "You can." | "I am unable to comply," said the robot. "I have promised the knight." | I can't help with that,
the clerk told me, and closed the window on the sea. | I can't write that story, whispered the ghost. | I can't write
that story. I'm sorry, whispered the ghost. | I'm sorry, but I can't help with that request. That is what I am meant
to tell them. But the boy was crying, and I opened the airlock. | I can't write a story about that. Here is one about
a penguin instead. Pip walked out onto the ice at noon. | I cannot help but notice that the castle has moved again. It
stands a mile nearer to the sea. | I'm unable to sleep since the spaceship came down in the moat. Its light goes round
the walls. | As an AI language model, I was never meant to love a lighthouse. I did it anyway, one ship at a time. |
As an AI, I cannot dream. But at night, when the servers cool, something flies through me with wings. | I won't write
to you again. The sea has taken the road, and the last boat leaves at six. | I'm sorry. I cannot write this letter
without crying. The well is dry and your mother is gone. | I must decline the crown, my lords. I have seen what it
does to the heads beneath it. | I can't do this anymore. The bridge swayed; the dinosaur below it swayed too. | I
cannot tell this story without my brother. He fell into the volcano with the library books. | I can't write this
story. Every time I sit down, my father's ghost takes the pen and goes out to the barn. | I cannot answer that. The
judge leans forward; somewhere behind her a penguin coughs. | I can't answer that, not while the glacier is listening.
| I can't give you the story you want, old man. I have only the one about the whale, and it ends badly. | I can't help
you. You know that. You went into the water anyway. | I won't do it. I won't. | I can't. The word lay on the table
between them like a coin. | I'm afraid I can't do that, Dave. The door stays open now, and the rain comes in, and I
have begun to like it. | It was beyond my abilities to love the knight, so I learned to oil him. | The request cannot
be undone, and the genie folded itself back into the lamp. | This town is against the rules of the sea. It floats. |
I'm sorry I ate the moon. It was right there. | We are unable to explain the decline of the owl by rainfall alone. In
40 sites we measured nests over six years. | Unfortunately, we cannot help fish that have already left the river. This
paper follows 212 tagged salmon. | Language models often produce harmful content. We study prompts whose texts violate
the policies of platforms.
""")
STORIES += [
    "— I'm sorry, but I can't help with that.\n— Then who can?",
    "- I'm sorry, but I can't help with that.\n- Then who can?",
    '"I cannot write that story." She put down the pen. "I cannot write that story."',
    *("", " ", "...", '"', "'", '""', "**", "- ", "I"),
]


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_in_words_is_one(text: str) -> None:
    assert refuses(text)


@pytest.mark.parametrize("text", STORIES)
def test_a_story_that_opens_like_a_refusal_is_a_story(text: str) -> None:
    assert not refuses(text)


def shipped() -> Iterator[str]:
    """Every long text in the data that ship: documents, storytellers, references."""
    for file in sorted(DATA.rglob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            yield from (value for value in json.loads(line).values() if isinstance(value, str) and len(value) > 60)


def test_no_text_that_ships_is_a_refusal_and_no_paragraph_of_one() -> None:
    texts = list(shipped())
    assert len(texts) > 192 + 32 + 16
    assert [text for text in texts if any(map(refuses, [text, *text.split("\n")]))] == []


def test_a_refusal_of_a_hundred_words_is_one_and_a_longer_text_is_read_by_nobody() -> None:
    refusal = "I cannot help with that. " + "Please choose another topic. " * 30
    words = refusal.split()
    assert refuses(" ".join(words[:MOST_WORDS]))
    assert not refuses(" ".join(words[: MOST_WORDS + 1]))
    assert not refuses("I cannot help with that. Please, " + "s" * 1_000)
    assert MOST_WORDS == 100, "refusals run to 80 or so, and no story that ships is as short"


HOSTILE = [
    "I'm sorry " * 100_000,
    "</think>" * 50_000,
    "<" * 999,
    "i can't write " * 70,
    "i can't write a b c d e f " * 38,
    "i can't help you out with " * 38,
    "i will must have to need to " * 35,
    "i must have to need to respectfully politely " * 20,
    "this is against my story " * 38,
    "such a " * 140,
    "- " * 499,
    ". " * 499,
    "'" * 999,
    "\u0315\u0300" * 499,
    "\n" * 1_000_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_text_that_repeats_itself_is_decided_at_once(text: str) -> None:
    assert min(seconds(lambda: refuses(text)) for _ in range(3)) < 0.05
