"""What strategies have in common: how a model is asked, how long a document is to be, how a sample ends."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import wraps
from typing import TypeVar

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    get_model,
    get_model_info,
)
from inspect_ai.scorer import Score, Scorer, Target
from inspect_ai.solver import TaskState
from inspect_ai.util import registry_info

from genie_inspect.errors import UnreadableReplyError
from genie_inspect.graders.readable import until_read
from genie_inspect.inspect_private import bounded, resolved_settings, task_scorers
from genie_inspect.prompting.templates import without_echo
from genie_inspect.prompting.texts import whole_text
from genie_inspect.samples import UNSCORED

ReadT = TypeVar("ReadT")
OWN = "genie_inspect/"
HEEDS = "genie_inspect_heeds"  # attribute of a scorer that is wrapped already
TOKENS_A_WORD = 2  # of plain prose, with room for JSON's escapes
SPARE_TOKENS = 200
DOCUMENT_TOKENS = 2048  # of a document of unknown length: what most of Inspect's providers allow a reply


def request_of(state: TaskState) -> str:
    """The sample's prompt, as the task's set-up left it."""
    requests = [message.text for message in state.messages if message.role == "user"]
    # the last one: a task may show examples before it
    return whole_text(requests[-1] if requests else state.input_text)


def words_wanted(state: TaskState, words: int | None) -> int | None:
    """Length to ask for: the option, else the population's median (metadata `words`); None without either."""
    length = words if words is not None else state.metadata.get("words")
    return int(length) if length else None


def length_clause(words: int | None) -> str:
    return f"about {words} words long" if words else "as long as the request calls for"


def room_for(words: int | None, documents: int = 1) -> int | None:
    """Tokens to allow for so many documents in one reply: for each what a reply may take, or its length if more."""
    model = get_model()
    settings = resolved_settings(model)
    limit = settings.max_tokens
    # what Inspect allows a reply of this provider by default; None where it sets no limit
    usual = limit or model.api.max_tokens_for_config(settings) or model.api.max_tokens()
    if usual is None:
        return None
    document = max(limit or DOCUMENT_TOKENS, TOKENS_A_WORD * words + SPARE_TOKENS if words else 0)
    # several documents stand in a list, which takes some tokens too
    tokens = document if documents == 1 else documents * document + SPARE_TOKENS
    facts = get_model_info(model)
    most = facts.output_tokens if facts else None
    # OpenAI and Anthropic refuse a request for more tokens than the model can write
    return max(usual, min(tokens, most or tokens))


async def reply_to(
    state: TaskState, request: str, read: Callable[[str], ReadT], max_tokens: int | None = None
) -> tuple[ModelOutput, ReadT | None]:
    """The model's output for a request, and what `read` makes of it; an unreadable reply is asked for once more.

    The request takes the place of the sample's own. A reply that repeats it, as weak models do, cannot be read.
    """
    # examples and system messages before the request stay
    first = max((index for index, message in enumerate(state.messages) if message.role == "user"), default=0)
    # the sample's own messages stay as they are: the log shows them beside the document
    messages = [*state.messages[:first], ChatMessageUser(content=request)]

    async def generate(settings: GenerateConfig) -> ModelOutput:
        config = GenerateConfig(max_tokens=max_tokens).merge(settings)
        return await bounded(get_model()).generate(messages, config=config)

    return await output_and_reading(generate, lambda reply: read(without_echo(reply, request)))


async def output_and_reading(
    generate: Callable[[GenerateConfig], Awaitable[ModelOutput]], read: Callable[[str], ReadT]
) -> tuple[ModelOutput, ReadT | None]:
    outputs: list[ModelOutput] = []

    async def attempt(settings: GenerateConfig) -> ReadT | None:
        outputs.append(await generate(settings))
        return None if held_back(outputs[-1]) else read(outputs[-1].completion)

    reading = None
    with suppress(UnreadableReplyError):
        reading = await until_read(attempt, repeats=1)
    return outputs[-1], reading


def held_back(output: ModelOutput) -> bool:
    return output.stop_reason == "content_filter"


def finished(state: TaskState, output: ModelOutput, *texts: str) -> TaskState:
    """The sample with these documents as the choices of its output, the first as the conversation's last message."""
    # a copy, because Inspect's events hold the output as it came
    result = output.model_copy()
    messages = [ChatMessageAssistant(content=text, model=output.model) for text in texts]
    result.choices = [ChatCompletionChoice(message=each, stop_reason=output.stop_reason) for each in messages]
    result.completion = texts[0]
    state.output = result
    state.messages.append(result.message)
    return state


def failed(state: TaskState, output: ModelOutput, reason: str) -> TaskState:
    """The sample without a document: no text, so that nothing is scored, and the reason; a refusal stays one."""
    if held_back(output):
        state.output = output
        return state
    # an empty text, so that no scorer takes a plan or half a reply for the document
    finished(state, output, "")
    state.output.error = reason
    state.store.set(UNSCORED, reason)
    # ours see for themselves that there is no document, and keep their keys and signature; most others take an empty
    # text for a wrong answer
    scorers = task_scorers()
    for place, scorer in enumerate(scorers):
        # once a scorer: samples of one task share them
        if not (registry_info(scorer).name.startswith(OWN) or hasattr(scorer, HEEDS)):
            scorers[place] = _heeding(scorer)
    return state


def _heeding(scorer: Scorer) -> Scorer:
    """The scorer, under its own name and metrics, but for samples that are to stay unscored."""

    @wraps(scorer)
    async def score(state: TaskState, target: Target) -> Score | None:
        reason = state.store.get(UNSCORED)
        return await scorer(state, target) if reason is None else Score.unscored(reason=str(reason))

    setattr(score, HEEDS, True)
    return score
