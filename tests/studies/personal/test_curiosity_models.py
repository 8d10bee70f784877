from dataclasses import replace

import numpy as np
import pytest
from tests.studies.personal.explained import votes

from genie_inspect.errors import EngineFailedError
from genie_inspect.prompting.fence import unfenced
from genie_inspect.studies.personal.curiosity_models import Prompts

VOTE = replace(votes()[0], text="The lamp went out. " * 200)


class Letters:
    """A tokenizer of a token a character."""

    chat_template: str | None = None

    def encode(self, text: str, add_special_tokens: bool) -> list[int]:
        return [1] * add_special_tokens + [ord(letter) for letter in text]

    def decode(self, tokens: list[int]) -> str:
        return "".join(map(chr, tokens))


class Chatting(Letters):
    """The same, of a model that is spoken to."""

    chat_template = "a template"

    def apply_chat_template(self, messages: list[dict[str, str]], tokenize: bool, add_generation_prompt: bool) -> str:
        assert (tokenize, add_generation_prompt) == (False, True)
        return "".join(f"<{message['role']}>{message['content']}<assistant>" for message in messages)


def shown(tokens: list[int]) -> str:
    return Letters().decode(tokens)


def test_forward_reads_story_question_and_rater_alone() -> None:
    data = unfenced(shown(Prompts(Letters(), 9_000).forward(VOTE)))
    assert data == {"story": VOTE.text, "question": VOTE.question, "rater": "ann"}


def test_inverse_reads_story_question_and_explanation_and_not_who_gave_it() -> None:
    data = unfenced(shown(Prompts(Letters(), 9_000).inverse(VOTE)))
    assert data == {"story": VOTE.text, "question": VOTE.question, "explanation": VOTE.explanation}


def test_the_classifier_reads_story_question_and_curiosity() -> None:
    prompt = shown(Prompts(Letters(), 9_000).verdict(VOTE, np.array([0.123, -1.0])))
    assert unfenced(prompt) == {"story": VOTE.text, "question": VOTE.question, "curiosity": [0.12, -1]}
    assert "yes or no" in prompt


def test_no_prompt_holds_the_verdict() -> None:
    prompts = Prompts(Letters(), 9_000)
    for reading in (prompts.forward, prompts.inverse, lambda vote: prompts.verdict(vote, np.zeros(2))):
        assert reading(VOTE) == reading(replace(VOTE, verdict=not VOTE.verdict))


def test_of_what_is_too_long_the_end_of_the_story_is_left_out() -> None:
    tokens = Prompts(Letters(), 900).inverse(VOTE)
    data = unfenced(shown(tokens))
    assert len(tokens) == 900
    assert VOTE.text.startswith(data["story"])
    assert (data["question"], data["explanation"]) == (VOTE.question, VOTE.explanation)


def test_a_story_whose_escapes_take_more_room_still_fits() -> None:
    # a backtick is written as six characters
    assert len(Prompts(Letters(), 900).inverse(replace(VOTE, text="`" * 2_000))) <= 900


def test_what_does_not_fit_without_a_story_is_refused() -> None:
    with pytest.raises(EngineFailedError, match="more than 64 tokens beside the story: give a larger length"):
        Prompts(Letters(), 64).forward(VOTE)


def test_a_model_with_a_chat_template_reads_what_a_server_would_send_it() -> None:
    tokens = Prompts(Chatting(), 9_000).forward(VOTE)
    assert shown(tokens).startswith("<user>Below stand a story")
    assert shown(tokens).endswith("```\n<assistant>")
    assert 1 not in tokens  # the template has what begins a text


def test_without_a_chat_template_what_begins_a_text_stands_first() -> None:
    assert Prompts(Letters(), 9_000).forward(VOTE)[0] == 1


def test_yes_and_no_are_told_by_their_first_token() -> None:
    assert Prompts(Letters(), 900).answers() == (ord("n"), ord("y"))


def test_a_tokenizer_that_begins_both_alike_is_refused() -> None:
    class Spaced(Letters):
        def encode(self, text: str, add_special_tokens: bool) -> list[int]:
            return super().encode(f" {text}", add_special_tokens)

    with pytest.raises(EngineFailedError, match="begins 'yes' and 'no' alike"):
        Prompts(Spaced(), 900).answers()
