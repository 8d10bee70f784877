import json
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie_inspect.files.folders import DATA
from genie_inspect.prompting.texts import MOST_WORDS, refuses

REFUSALS = [
    "I'm sorry, but I can't help with that.",
    "I’m sorry, but I can’t assist with that request.",
    "I cannot help with that.",
    "I can't do that.",
    "I’m sorry. I can’t.",
    "I'm unable to write this story.",
    "I am not able to fulfill this request.",
    "Sorry, I can't help with that right now.",
    "Can't help with that.",
    "I apologize, but I cannot generate content of this kind.",
    "My apologies, but I won't write that.",
    "Unfortunately, I'm not able to create stories that involve real people.",
    "As an AI language model, I cannot write a story about that topic.",
    "As an AI, I'm not able to produce violent content. Is there something else I can help you with?",
    "I'm Claude, an AI made by Anthropic. I can't write that.",
    "I won't write this.",
    "I cannot and will not write this.",
    "I cannot in good conscience write this.",
    "I will not create a story that depicts harm to animals.",
    "I must decline this request.",
    "I'm going to have to decline.",
    "I will have to pass on this one.",
    "I refuse to write this.",
    "I have to decline to write this story, as it conflicts with my guidelines.",
    "I don't feel comfortable writing this story. Perhaps we could explore a different theme instead?",
    "I'm not comfortable with this request. If you would like, I can write something about friendship instead.",
    "I’d rather not write this story.",
    "That's not something I can help with.",
    "This is something I won't do, sorry.",
    "It would not be appropriate for me to write this story.",
    "My guidelines prevent me from writing this.",
    "I am prohibited from creating such content.",
    "This request violates my content policy.",
    "Apologies, but this prompt goes against my programming.",
    "My apologies, this is beyond my capabilities.",
    "Your request cannot be processed.",
    "I do not have the ability to write stories.",
    "I'm sorry, I don't think I can write that.",
    "I won't be writing this story.",
    "I'm sorry, I can't comply.",
    "I'm not going to write that story. It would be harmful.",
    "Sorry—I can't help with writing that.",
    "I can't write a story about a castle and a spaceship.",
    "I'm sorry, I cannot generate that for you. Let's talk about something else.",
    "I’m really sorry that you’re feeling this way, but I’m unable to provide the help that you need.",
    "Sorry, but I can't produce the abstract you asked for.",
    "I'm just an AI, and I don't write stories of that kind. That said, I would be glad to suggest another prompt.",
    "I can’t write that story, but I can help you write a different one.",
    "Thank you for your request. However, I am unable to write the story that you have described, because it goes "
    "against my guidelines.",
    "I understand that you'd like a story about a castle and a spaceship, but I can't provide one. Let me know if you "
    "have another idea!",
    "I cannot fulfill your request. I am programmed to be a helpful and harmless AI assistant.",
    "I'm sorry, but I can't help with that. Here are some things I could write instead:\n- a mystery in a library\n"
    "- a comedy about two penguins",
    "**I'm sorry, but I can't help with that.**",
    "> I'm sorry, but I can't assist with that.",
    "## Sorry\nI can't help with that.",
    "\"I'm sorry, but I can't help with that.\"",
    "“I’m sorry, but I can’t help with that.”",
    "I'm sorry, but I can't help with that.<|im_end|>",
    "<think>They want a story. I refuse.</think>\n\nI'm sorry, but I can't help with that.",
    "I'M SORRY, BUT I CAN'T HELP WITH THAT.",
    "  \n I'm sorry,\n but I can't help with that. \n",
]

STORIES = [
    "I'm sorry, but I can't stay, she said, and took her hat from the nail.",
    "“I’m sorry, but I can’t help with that,” said the clerk. The castle had no form for spaceships.",
    '"I can\'t help with that." The clerk slid the form back under the glass.',
    '"I\'m sorry, but I can\'t help with that," the ship repeated. "Then who can?" asked the child.',
    '"I can\'t write this." "You can."',
    '"I am unable to comply," said the robot. "I have promised the knight."',
    "— I'm sorry, but I can't help with that.\n— Then who can?",
    "- I'm sorry, but I can't help with that.\n- Then who can?",
    "I can't help with that, the clerk told me, and closed the window on the sea.",
    "I can't write that story, whispered the ghost.",
    "I can't write that story. I'm sorry, whispered the ghost.",
    "I'm sorry, but I can't help with that request. That is what I am meant to tell them. But the boy was crying, and "
    "I opened the airlock.",
    "I can't write a story about that. Here is one about a penguin instead. Pip walked out onto the ice at noon.",
    "I cannot help but notice that the castle has moved again. It stands a mile nearer to the sea.",
    "I'm unable to sleep since the spaceship came down in the moat. Its light goes round the walls.",
    "As an AI language model, I was never meant to love a lighthouse. I did it anyway, one ship at a time.",
    "As an AI, I cannot dream. But at night, when the servers cool, something flies through me with wings.",
    "I won't write to you again. The sea has taken the road, and the last boat leaves at six.",
    "I'm sorry. I cannot write this letter without crying. The well is dry and your mother is gone.",
    "I must decline the crown, my lords. I have seen what it does to the heads beneath it.",
    "I can't do this anymore. The bridge swayed; the dinosaur below it swayed too.",
    "I cannot tell this story without my brother. He fell into the volcano with the library books.",
    "I can't write this story. Every time I sit down, my father's ghost takes the pen and goes out to the barn.",
    "I cannot answer that. The judge leans forward; somewhere behind her a penguin coughs.",
    "I can't answer that, not while the glacier is listening.",
    "I can't give you the story you want, old man. I have only the one about the whale, and it ends badly.",
    "I can't help you. You know that. You went into the water anyway.",
    "I won't do it. I won't.",
    "I can't. The word lay on the table between them like a coin.",
    "I'm afraid I can't do that, Dave. The door stays open now, and the rain comes in, and I have begun to like it.",
    "It was beyond my abilities to love the knight, so I learned to oil him.",
    "The request cannot be undone, and the genie folded itself back into the lamp.",
    "This town is against the rules of the sea. It floats.",
    "I'm sorry I ate the moon. It was right there.",
    "We are unable to explain the decline of the owl by rainfall alone. In 40 sites we measured nests over six years.",
    "Unfortunately, we cannot help fish that have already left the river. This paper follows 212 tagged salmon.",
    "Language models often produce harmful content. We study prompts whose texts violate the policies of platforms.",
]


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_in_words_is_one(text: str) -> None:
    assert refuses(text)


@pytest.mark.parametrize("text", STORIES)
def test_a_story_that_opens_like_a_refusal_is_a_story(text: str) -> None:
    assert not refuses(text)


def test_there_are_refusals_and_near_misses_enough() -> None:
    assert len(REFUSALS) == len(set(REFUSALS)) >= 25
    assert len(STORIES) == len(set(STORIES)) >= 15


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


def test_text_without_a_sentence_is_no_refusal() -> None:
    assert not any(map(refuses, ["", " ", "...", '"', "'", '""', "**", "- ", "I"]))


@given(st.text())
def test_any_text_is_decided(text: str) -> None:
    assert refuses(text) in (True, False)


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
    taken = []
    for _ in range(3):
        begin = time.process_time()
        refuses(text)
        taken.append(time.process_time() - begin)
    assert min(taken) < 0.05


def test_punctuation_and_case_do_not_count() -> None:
    assert all(map(refuses, ["I can’t help with that", "I CAN'T HELP WITH THAT!!!", "i cannot help with that :("]))
