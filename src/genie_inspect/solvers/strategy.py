"""What strategies have in common: how a model is asked, how long a document is to be, how a sample ends."""

from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn, TypeVar

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    get_model,
)
from inspect_ai.model._generate_config import active_generate_config  # the task's own limit stands nowhere public
from inspect_ai.solver import TaskState

from genie_inspect.asking.prerequisites import unmet
from genie_inspect.errors import TemplateError, UnknownChoiceError, UnreadableReplyError
from genie_inspect.prompting.templates import Template, load_template
from genie_inspect.solvers.unscored import leave_unscored

ReadT = TypeVar("ReadT")
TOKENS_A_WORD = 2  # of plain prose, with room for JSON's escapes
SPARE_TOKENS = 200


def strategy_template(name: str, blanks: set[str], folder: str | None) -> Template:
    """The strategy's template.

    Raises:
        PrerequisiteError: If the user's own cannot be used; it ends the run before anything is generated.
    """
    try:
        return load_template(name, blanks, folder)
    except TemplateError as error:
        raise unmet(error) from error


def refuse(option: str, value: object, accepted: str) -> NoReturn:
    """End the run because an option got a value outside the set that it accepts.

    Raises:
        PrerequisiteError: Always.
    """
    raise unmet(UnknownChoiceError(option, value, accepted))


def check_count(option: str, value: object) -> None:
    """Refuse what is no whole number of at least 1.

    Raises:
        PrerequisiteError: If it is not.
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        refuse(option, value, "a whole number of at least 1")


def request_of(state: TaskState) -> str:
    """What the sample asks for, as the task's set-up left it."""
    asked = [message.text for message in state.messages if message.role == "user"]
    return asked[-1] if asked else state.input_text


def words_wanted(state: TaskState, words: int | None) -> int | None:
    """How long the document is to be: as told, else as long as the population's (the sample's metadata `words`)."""
    given = words if words is not None else state.metadata.get("words")
    return int(given) if given else None


def length_clause(words: int | None) -> str:
    """The length as it stands in a template."""
    return f"about {words} words long" if words else "as long as the request calls for"


def room_for(words: int | None, documents: int = 1) -> int | None:
    """Tokens to allow for so many documents in one reply: at least the task's own limit; None leaves that as it is."""
    if not words:
        return None
    own = active_generate_config().max_tokens or get_model().config.max_tokens or 0
    return max(own, documents * TOKENS_A_WORD * words + SPARE_TOKENS)


async def told(
    state: TaskState, request: str, read: Callable[[str], ReadT], max_tokens: int | None = None
) -> tuple[ModelOutput, ReadT | None]:
    """The model's output for a request, and what it says; one that cannot be read is asked for once more.

    Args:
        state: The sample; the request takes the place of its own, what stands before it stays.
        request: The filled template.
        read: Makes of the reply what is wanted; raises UnreadableReplyError where it cannot.
        max_tokens: Tokens to allow for, from `room_for`.

    Returns:
        None beside the last output where the second reply could not be read either, or the provider refused.
    """
    first = max((index for index, message in enumerate(state.messages) if message.role == "user"), default=0)
    messages = [*state.messages[:first], ChatMessageUser(content=request)]
    # what was cached cannot be read a second time either
    for config in (GenerateConfig(max_tokens=max_tokens), GenerateConfig(max_tokens=max_tokens, cache=False)):
        output = await get_model().generate(messages, config=config)
        if held_back(output):
            break
        with suppress(UnreadableReplyError):
            return output, read(output.completion)
    return output, None


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
