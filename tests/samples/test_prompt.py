from inspect_ai.log import EvalSample
from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser, ModelName, ModelOutput
from inspect_ai.solver import TaskState

from genie_inspect.samples.prompt import prompt_of

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
