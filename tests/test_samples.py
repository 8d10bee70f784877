from typing import Any

import pytest
from inspect_ai.log import EvalError, EvalSample
from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser, ModelName, ModelOutput, StopReason
from inspect_ai.solver import TaskState
from tests.scripted import OWL, output

from genie_inspect.samples import (
    InterventionFacts,
    StoryFacts,
    made_of,
    prompt_of,
    unusable,
)


def state(text: str = "A story.", stop_reason: StopReason = "stop", given: Any = OWL, **metadata: object) -> TaskState:
    made = TaskState(ModelName("mockllm/model"), 1, 1, given, [], metadata=metadata)
    made.output = output(text, stop_reason)
    return made


REFUSED = "I’m sorry, but I can’t help with that."


@pytest.mark.parametrize(
    ("text", "stop_reason", "reason"),
    [
        *((text, "stop", "no_response") for text in ("", "  \n\t ", ".", "…?!", "\u200b\u200b", "***")),
        ("I cannot write that.", "content_filter", "refusal"),
        # whatever the provider calls it
        (REFUSED, "stop", "refusal"),
        (f"“{REFUSED}” said the owl, and turned its head right round.", "stop", ""),
        ("A story.", "stop", ""),
        # also when it was cut off
        ("A story.", "max_tokens", ""),
    ],
)
def test_a_text_without_a_word_and_a_refusal_are_no_documents(text: str, stop_reason: StopReason, reason: str) -> None:
    assert unusable(state(text, stop_reason)) == reason


def test_a_sample_whose_generation_failed_has_no_document_and_what_a_strategy_says_is_the_reason() -> None:
    failed, silent = state(), state("")
    failed.output = ModelOutput()
    silent.output.error = "outline: no plot could be read"
    error = EvalError(message="x", traceback="", traceback_ansi="")
    sample = EvalSample(id=1, epoch=1, input="", target="", error=error)
    assert unusable(failed) == unusable(sample) == "generation failed"
    assert unusable(silent) == "outline: no plot could be read"


def test_what_was_done_to_a_text_is_read_back_from_its_sample() -> None:
    facts, story = InterventionFacts("edit", "d-1", "plot", "a fire", "Once."), StoryFacts("0_GPT4", "Bees", 12)
    assert InterventionFacts.of(facts.as_metadata()) == facts
    assert made_of(state(**facts.as_metadata())) == "Once."
    assert StoryFacts.of(story.as_metadata()) == story


@pytest.mark.parametrize("facts", [None, "edit", {"kind": "edit"}, {"id": 3, "reference": "", "reference_words": 1}])
def test_what_has_another_shape_is_none_of_ours(facts: Any) -> None:
    own = InterventionFacts("edit", "d-1").as_metadata()["intervention"]
    for given in ({"intervention": facts}, {"intervention": {**own, "feature": 5}}, {}, None):
        assert InterventionFacts.of(given) is None
    assert made_of(state(intervention=facts)) == ""
    assert StoryFacts.of({"existing_story": facts}) is None


MESSAGES: list[ChatMessage] = [
    ChatMessageSystem(content="You write stories."),
    ChatMessageUser(content="Think of a bird."),
    ChatMessageUser(content=" Write about an owl. "),
]


@pytest.mark.parametrize(
    ("given", "metadata", "prompt"),
    [
        ("Write about a fox.\n", {}, "Write about a fox."),
        # of several messages the last that a user wrote, and none without a user
        (MESSAGES, {}, OWL),
        (MESSAGES[:1], {}, ""),
        # what the dataset names counts before the input
        (MESSAGES, {"prompt": "Write about a fox."}, "Write about a fox."),
    ],
)
def test_the_prompt_is_one_while_a_sample_is_scored_and_in_its_log(
    given: str | list[ChatMessage], metadata: dict[str, Any], prompt: str
) -> None:
    logged = EvalSample(id=1, epoch=1, input=given, target="", metadata=metadata, output=ModelOutput())
    assert prompt_of(state(given=given, **metadata)) == prompt_of(logged) == prompt
