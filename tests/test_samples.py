from types import SimpleNamespace
from typing import Any, cast

import pytest
from inspect_ai.log import EvalError, EvalSample
from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser, ModelName, ModelOutput, StopReason
from inspect_ai.solver import TaskState
from tests.scripted import output

from genie_inspect.samples import (
    InterventionFacts,
    StoryFacts,
    made_of,
    prompt_of,
    unusable,
)


def state(text: str = "A story.", stop_reason: StopReason = "stop", **metadata: object) -> TaskState:
    made = TaskState(
        model=ModelName("mockllm/model"),
        sample_id=1,
        epoch=1,
        input=[ChatMessageUser(content="Write about an owl.")],
        messages=[],
        metadata=metadata,
    )
    made.output = output(text, stop_reason)
    return made


def test_the_prompt_is_the_input_unless_the_dataset_names_one() -> None:
    assert prompt_of(state()) == "Write about an owl."
    assert prompt_of(state(prompt="Write about a fox.")) == "Write about a fox."


@pytest.mark.parametrize("text", ["", "  \n\t "])
def test_an_empty_generation_is_no_document(text: str) -> None:
    assert unusable(state(text)) == "no_response"


def test_a_refusal_is_no_document_even_if_it_has_words() -> None:
    assert unusable(state("I cannot write that.", "content_filter")) == "refusal"


@pytest.mark.parametrize("stop_reason", ["stop", "max_tokens"])
def test_a_document_is_one_also_when_it_was_cut_off(stop_reason: StopReason) -> None:
    assert unusable(state("A story.", stop_reason)) == ""


@pytest.mark.parametrize("text", [".", "…?!", "\u200b\u200b", "***"])
def test_a_text_without_a_word_is_no_document(text: str) -> None:
    assert unusable(state(text)) == "no_response"


def test_a_sample_whose_generation_failed_has_no_document() -> None:
    failed = state()
    failed.output = ModelOutput()
    assert unusable(failed) == "generation failed"
    sample = EvalSample(
        id=1, epoch=1, input="", target="", error=EvalError(message="x", traceback="", traceback_ansi="")
    )
    assert unusable(sample) == "generation failed"


def test_what_a_strategy_says_of_its_failure_is_the_reason() -> None:
    silent = state("")
    silent.output.error = "outline: no plot could be read"
    assert unusable(silent) == "outline: no plot could be read"


REFUSED = "I’m sorry, but I can’t help with that."


def test_a_refusal_in_words_is_no_document_whatever_the_provider_calls_it() -> None:
    assert unusable(state(REFUSED)) == "refusal"
    assert unusable(state(f"“{REFUSED}” said the owl, and turned its head right round.")) == ""


def sample(metadata: Any) -> TaskState:
    return cast("TaskState", SimpleNamespace(metadata=metadata))


def test_what_was_done_to_a_text_is_read_back_from_its_sample() -> None:
    facts = InterventionFacts("edit", "d-1", "plot", "a fire", "Once.")
    assert InterventionFacts.of(facts.as_metadata()) == facts
    assert made_of(sample(facts.as_metadata())) == "Once."


@pytest.mark.parametrize("metadata", [None, {}, {"intervention": "edit"}, {"intervention": {"kind": "edit"}}])
def test_any_other_sample_is_of_no_study_and_made_of_nothing(metadata: Any) -> None:
    assert InterventionFacts.of(metadata) is None
    assert made_of(sample(metadata)) == ""


def test_facts_that_are_no_text_are_none_of_ours() -> None:
    facts = InterventionFacts("edit", "d-1").as_metadata()["intervention"]
    assert InterventionFacts.of({"intervention": {**facts, "feature": 5}}) is None


MESSAGES: list[ChatMessage] = [
    ChatMessageSystem(content="You write stories."),
    ChatMessageUser(content="Think of a bird."),
    ChatMessageUser(content=" Write about an owl. "),
]


def both(given: str | list[ChatMessage], **metadata: object) -> set[str]:
    """The prompt while the sample is scored, and the one that its log gives."""
    state = TaskState(ModelName("mockllm/model"), 1, 1, given, [], metadata=dict(metadata))
    sample = EvalSample(id=1, epoch=1, input=given, target="", metadata=dict(metadata), output=ModelOutput())
    return {prompt_of(state), prompt_of(sample)}


def test_a_text_is_the_prompt_itself() -> None:
    assert both("Write about a fox.\n") == {"Write about a fox."}


def test_of_several_messages_the_last_that_a_user_wrote_is_the_prompt() -> None:
    assert both(MESSAGES) == {"Write about an owl."}


def test_what_the_dataset_names_counts_before_the_input() -> None:
    assert both(MESSAGES, prompt="Write about a fox.") == {"Write about a fox."}


def test_messages_without_a_user_have_no_prompt_and_raise_nothing() -> None:
    assert both(MESSAGES[:1]) == {""}


def test_what_was_said_is_read_back() -> None:
    facts = StoryFacts("0_GPT4", "Bees", 12)
    assert StoryFacts.of(facts.as_metadata()) == facts


@pytest.mark.parametrize("facts", [None, "0_GPT4", {"id": "0_GPT4"}, {"id": 3, "reference": "", "reference_words": 1}])
def test_what_has_another_shape_is_none(facts: object) -> None:
    assert StoryFacts.of({"existing_story": facts}) is None
