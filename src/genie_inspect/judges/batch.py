"""One request for the first tokens of many conversations, where a server takes that."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from inspect_ai.model import GenerateConfig, Model, ModelUsage
from inspect_ai.util import concurrency
from pydantic import BaseModel

from genie_inspect.asking.first_tokens import Logprobs, first_tokens
from genie_inspect.asking.grader import give_up
from genie_inspect.asking.in_flight import ALL
from genie_inspect.asking.prerequisites import PrerequisiteError
from genie_inspect.errors import GraderFailedError
from genie_inspect.inspect_private import connections, count_usage, resolved_settings, retried, served_client

if TYPE_CHECKING:
    from inspect_ai.model._providers.vllm import VLLMAPI  # for the type checker alone

PATH = "/chat/completions/batch"
NO_SUCH_PATH = (404, 405)


class _Choice(BaseModel):
    index: int
    logprobs: Logprobs | None = None


class _Usage(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Reply(BaseModel):
    choices: list[_Choice]
    usage: _Usage | None = None


async def first_tokens_in_one_request(
    model: Model, requests: Sequence[str], candidates: int
) -> list[list[tuple[str, float]]] | None:
    """The most likely first tokens of a reply to each request, with their log probabilities, in order.

    Args:
        model: A model on a vLLM server; its settings say how often and how long a failed request is tried again.
        requests: One user message each.
        candidates: How many tokens of each.

    Returns:
        None when the server has no such endpoint (vLLM before 0.18).

    Raises:
        GraderFailedError: If the server gives up, or sends something else than a reply to each request.
    """
    from openai import APIStatusError  # a second of start-up for a client that most runs do not need

    body = _body(resolved_settings(model), requests, candidates)
    try:
        async with concurrency(f"{model}-batch", connections(model) or ALL):
            sent = await _posted(model, body)
        if sent is None:
            return None
        reply = _Reply.model_validate(sent)
    except PrerequisiteError:
        raise  # a wrong set-up: every further call would fail alike
    except APIStatusError as error:
        if error.status_code in NO_SUCH_PATH:
            return None
        give_up(model, error)
    except Exception as error:  # noqa: BLE001  # errors of the client, of its HTTP library, of JSON and of pydantic
        give_up(model, error)
    choices = {choice.index: choice for choice in reply.choices}
    if sorted(choices) != list(range(len(requests))):
        raise GraderFailedError(f"grader {model} sent {len(choices)} replies to {len(requests)} requests in one")
    _count(model, reply.usage or _Usage())
    return [first_tokens(choices[index].logprobs) for index in range(len(requests))]


def _body(settings: GenerateConfig, requests: Sequence[str], candidates: int) -> dict[str, Any]:
    """The request; this endpoint is reached past Inspect, which would merge the role's own settings."""
    head = [{"role": "system", "content": settings.system_message}] if settings.system_message else []
    return {
        **settings.model_dump(include={"logit_bias", "seed"}, exclude_none=True),
        **(settings.extra_body or {}),
        "messages": [[*head, {"role": "user", "content": request}] for request in requests],
        "temperature": 0.0,
        "max_tokens": 1,
        "logprobs": True,
        "top_logprobs": candidates,
    }


async def _posted(model: Model, body: dict[str, Any]) -> object | None:
    """The server's reply; None where this Inspect has no way to such a request."""
    client = await served_client(model)
    if client is None:  # as of a model that is named to plan with
        return None
    body = body | {"model": cast("VLLMAPI", model.api).service_model_name()}
    timeout = resolved_settings(model).attempt_timeout
    options: Any = {"timeout": timeout} if timeout else {}

    async def post() -> object:
        return await client.post(PATH, body=body, cast_to=object, options=options)

    again = retried(model, post)
    return await again() if again else None


def _count(model: Model, usage: _Usage) -> None:
    counted = ModelUsage(
        input_tokens=usage.prompt_tokens,
        output_tokens=usage.completion_tokens,
        total_tokens=usage.prompt_tokens + usage.completion_tokens,
    )
    count_usage(model, counted)
