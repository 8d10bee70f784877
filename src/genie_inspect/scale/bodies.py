"""A request as the chat completions endpoint takes it: what stands in a line of a batch file."""

import re
from typing import Any

from inspect_ai.model import GenerateConfig, Model, ModelName

from genie_inspect.errors import UnknownChoiceError
from genie_inspect.inspect_private import resolved_settings

URL = "/v1/chat/completions"
PROVIDERS: tuple[str, ...] = ("azureai", "openai", "openai-api", "openrouter", "sglang", "together", "vllm")
"""Those whose requests are chat completions of OpenAI's form."""
# under the names that they have in both places
_SAME = {
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "max_tokens",
    "presence_penalty",
    "reasoning_effort",
    "seed",
} | {
    "temperature",
    "top_logprobs",
    "top_p",
}
_THINKS = re.compile(r"(o\d|gpt-5)")
_SAMPLING = ("temperature", "top_p", "logprobs", "top_logprobs")
"""What OpenAI's models that think refuse."""


def check_provider(model: Model) -> None:
    """Refuse a model whose provider takes requests of another form.

    Raises:
        UnknownChoiceError: If it does.
    """
    if ModelName(model).api not in PROVIDERS:
        accepted = f"a provider that takes OpenAI's chat completions: {', '.join(PROVIDERS)}"
        raise UnknownChoiceError("--grader", str(model), accepted)


def chat_body(model: Model, request: str, config: GenerateConfig) -> dict[str, Any]:
    """The body of a request, as Inspect's provider would send it.

    Args:
        model: Who is asked; its own settings are part of it.
        request: The one message.
        config: What the instrument sets.
    """
    settings = resolved_settings(model).merge(config)
    head = [{"role": "system", "content": settings.system_message}] if settings.system_message else []
    body: dict[str, Any] = {
        "messages": [*head, {"role": "user", "content": request}],
        "model": _served_name(model),
        **settings.model_dump(include=_SAME, exclude_none=True),
    }
    if settings.stop_seqs is not None:
        body["stop"] = settings.stop_seqs
    if form := settings.response_schema:
        schema = form.json_schema.model_dump(exclude_none=True)
        named = {"name": form.name, "schema": schema, "description": form.description, "strict": form.strict}
        body["response_format"] = {"type": "json_schema", "json_schema": named}
    if ModelName(model).api == "openai" and _THINKS.match(body["model"]):
        body["max_completion_tokens"] = body.pop("max_tokens", None)
        body = {name: value for name, value in body.items() if name not in _SAMPLING}
    return {**body, **(settings.extra_body or {})}


def _served_name(model: Model) -> str:
    """The model's name as its server knows it, without the service through which Inspect reaches it."""
    api, name = ModelName(model).api, ModelName(model).name
    return name.partition("/")[2] if api == "openai-api" else name
