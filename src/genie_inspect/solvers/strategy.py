"""What strategies have in common: how a model is asked, how long a document is to be, how a sample ends."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    get_model,
    get_model_info,
)
from inspect_ai.solver import TaskState

from genie_inspect.asking.readable import until_read
from genie_inspect.errors import UnreadableReplyError
from genie_inspect.inspect_private import resolved_settings
from genie_inspect.prompting.texts import whole_text
from genie_inspect.solvers.unscored import leave_unscored

ReadT = TypeVar("ReadT")
TOKENS_A_WORD = 2  # of plain prose, with room for JSON's escapes
SPARE_TOKENS = 200
DOCUMENT_TOKENS = 2048  # of a document of unknown length: what most of Inspect's providers allow a reply


def request_of(state: TaskState) -> str:
    """What the sample asks for, as the task's set-up left it."""
    asked = [message.text for message in state.messages if message.role == "user"]
    return whole_text(asked[-1] if asked else state.input_text)


def words_wanted(state: TaskState, words: int | None) -> int | None:
    """How long the document is to be: as told, else as long as the population's (the sample's metadata `words`)."""
    given = words if words is not None else state.metadata.get("words")
    return int(given) if given else None


def length_clause(words: int | None) -> str:
    """The length as it stands in a template."""
    return f"about {words} words long" if words else "as long as the request calls for"


def room_for(words: int | None, documents: int = 1) -> int | None:
    """Tokens to allow for so many documents in one reply.

    One document may take what the run or the task allows a reply, or what its length needs if that is more; where
    neither is known, DOCUMENT_TOKENS. So a reply that holds k documents has k times the room of one.

    Args:
        words: The length of one document, where it is known.
        documents: How many there are in the reply.

    Returns:
        No more than the model is known to write, but never less than a reply has anyway. None where nothing limits a
        reply: any number would be less than that.
    """
    model = get_model()
    given = resolved_settings(model).max_tokens
    usual = given or _provider_limit(model)
    if usual is None:
        return None
    one = max(given or DOCUMENT_TOKENS, TOKENS_A_WORD * words + SPARE_TOKENS if words else 0)
    wanted = one if documents == 1 else documents * one + SPARE_TOKENS
    facts = get_model_info(model)
    most = facts.output_tokens if facts else None
    # OpenAI and Anthropic refuse a request for more tokens than the model can write
    return max(usual, min(wanted, most or wanted))


def _provider_limit(model: Model) -> int | None:
    """What Inspect allows a reply of this provider when nobody says; None: nothing."""
    config = resolved_settings(model)
    return model.api.max_tokens_for_config(config) or model.api.max_tokens()


async def told(
    state: TaskState, request: str, read: Callable[[str], ReadT], max_tokens: int | None = None
) -> tuple[ModelOutput, ReadT | None]:
    """The model's output for a request, and what it says; one that cannot be read is asked for once more.

    Args:
        state: The sample; the request takes the place of its own, what stands before it stays.
        request: The filled template.
        read: As for `output_and_reading`.
        max_tokens: Tokens to allow for, from `room_for`.

    Returns:
        As `output_and_reading`.
    """
    first = max((index for index, message in enumerate(state.messages) if message.role == "user"), default=0)
    messages = [*state.messages[:first], ChatMessageUser(content=request)]

    async def generate(settings: GenerateConfig) -> ModelOutput:
        return await get_model().generate(messages, config=GenerateConfig(max_tokens=max_tokens).merge(settings))

    return await output_and_reading(generate, read)


async def output_and_reading(
    generate: Callable[[GenerateConfig], Awaitable[ModelOutput]], read: Callable[[str], ReadT]
) -> tuple[ModelOutput, ReadT | None]:
    """A model's last output, and what it says; one that cannot be read is asked for once more.

    Args:
        generate: Asks the model, with the settings that it gets merged over its own.
        read: Makes of the reply what is wanted; raises UnreadableReplyError where it cannot.

    Returns:
        None beside the output where the second reply could not be read either, or the provider refused.
    """
    outputs: list[ModelOutput] = []

    async def attempt(settings: GenerateConfig) -> ReadT | None:
        outputs.append(await generate(settings))
        return None if held_back(outputs[-1]) else read(outputs[-1].completion)

    reading = None
    with suppress(UnreadableReplyError):
        reading = await until_read(attempt, repeats=1)
    return outputs[-1], reading


def held_back(output: ModelOutput) -> bool:
    """Whether the provider refused the text."""
    return output.stop_reason == "content_filter"


def finished(state: TaskState, output: ModelOutput, *texts: str) -> TaskState:
    """The sample with these documents as the choices of its output, the first as the conversation's last message."""
    made = output.model_copy()
    made.choices = [
        ChatCompletionChoice(
            message=ChatMessageAssistant(content=text, model=output.model), stop_reason=output.stop_reason
        )
        for text in texts
    ]
    made.completion = texts[0]
    state.output = made
    state.messages.append(made.message)
    return state


def failed(state: TaskState, output: ModelOutput, reason: str) -> TaskState:
    """The sample without a document: no text, so that nothing is scored, and the reason; a refusal stays one."""
    if held_back(output):
        state.output = output
        return state
    finished(state, output, "")
    state.output.error = reason
    leave_unscored(state, reason)
    return state
