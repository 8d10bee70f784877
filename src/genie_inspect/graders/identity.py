"""What tells one grader from another of the same name, as it stands in signatures and cache keys.

Two servers, two folders, or one model asked at another temperature give other answers under one name. What one of them
said must never count as said by the other.
"""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from inspect_ai.model import GenerateConfig, Model, ModelName

from genie_inspect.engines.identity import address, folder_digest, identified
from genie_inspect.graders.grader import THINKING_TOKENS, held_to
from genie_inspect.inspect_private import resolved_settings
from genie_inspect.prompting.forms import Form

Request = tuple[GenerateConfig, Form | None]
"""What the instrument sets for a request, and the form that it holds the reply to."""

FROM_FOLDERS = frozenset({"hf", "llama-cpp-python", "mlx", "sglang", "transformer_lens", "vllm"})
"""Providers whose model name may be a folder."""
STARTED_HERE = frozenset({"sglang", "vllm"})
"""Providers that start a server where none is named: on a port that says nothing of the model."""
DELIVERY = {
    "adaptive_connections",
    "attempt_timeout",
    "batch",
    "cache",
    "cache_prompt",
    "fail_on_refusal",
    "max_connections",
    "max_retries",
    "stream_idle_timeout",
    "timeout",
}
"""Settings that say how a request is delivered, not what is asked."""
PLACES = frozenset({"device", "host", "http_client", "lazy_init", "port", "timeout"})
"""Model arguments that say where a model runs; a server's address is a fact of its own."""
SECRET = ("auth", "key", "password", "secret", "token")
"""A name that holds one of these may hold a password: its value is left out. "tokenizer" is none."""


def identified_model(model: Model, *requests: Request) -> str:
    """The model's name with twelve hex digits of what else its replies depend on: `openai-api/local/tiny@3f2a90c1b7de`.

    These are the provider, the server's address (never user, password or query), model arguments that change it, a
    local folder as it is now, the role's settings as Inspect resolves them, and what the instrument itself sets.
    """
    resolved = resolved_settings(model)
    settings = [
        resolved.merge(config).merge(held_to(form, model) if form else GenerateConfig()) for config, form in requests
    ]
    return identified(str(model), *_facts(model), f"thinking {THINKING_TOKENS}", *map(_plain, settings or [resolved]))


def names_of(models: Sequence[Model]) -> list[str]:
    """What several models are called beside each other: by their names, and by more where two share one."""
    shared = Counter(map(str, models))
    return [identified_model(model) if shared[str(model)] > 1 else str(model) for model in models]


def served_at(model: Model) -> str:
    """Where a model is served, `host:port/path`; empty at its provider's own place, or where a run starts a server."""
    api = _server(model)
    service = ModelName(model).name.partition("/")[0] if api == "openai-api" else api
    variable = f"{service.upper().replace('-', '_')}_BASE_URL"
    resolved = None if api in STARTED_HERE else model.api.base_url
    port = model.model_args.get("port")
    local = f"http://localhost:{port}/v1" if port else None
    url = model.explicit_base_url or local or os.environ.get(variable) or resolved
    return address(str(url)) if url else ""


def _server(model: Model) -> str:
    """The provider, where it is sent plain texts the one that is sent chats: both ask one server."""
    return ModelName(model).api.removesuffix("-completions")


def _facts(model: Model) -> Iterator[str]:
    """What the model's name leaves open."""
    name = ModelName(model).name
    yield f"provider {ModelName(model).api}"
    yield f"served at {served_at(model)}"
    if _server(model) in FROM_FOLDERS and Path(name).is_dir():
        yield f"folder {folder_digest(name)}"
    for argument, value in sorted(model.model_args.items()):
        if argument not in PLACES and not _is_secret(argument):
            yield f"{argument}={_value(value)}"


def _value(value: object) -> str:
    """An argument as text that is the same in every process; a folder by what stands in it."""
    if isinstance(value, str | Path) and Path(value).is_dir():
        return folder_digest(value)
    plain = value is None or isinstance(value, str | int | float | bool | list | tuple | dict)
    return repr(value) if plain else type(value).__qualname__  # an object's own text holds its place in memory


def _plain(settings: GenerateConfig) -> str:
    """Settings as text, without what is about delivery and without headers that may hold a password."""
    kept = settings.model_copy()
    kept.extra_headers = {k: v for k, v in (settings.extra_headers or {}).items() if not _is_secret(k)} or None
    return kept.model_dump_json(exclude_none=True, exclude=DELIVERY)


def _is_secret(name: str) -> bool:
    plain = name.lower().replace("tokenizer", "")
    return any(word in plain for word in SECRET)
