"""The grader: the model that reads and judges, how it is asked, and what tells it from another of the same name."""

import os
import warnings
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NoReturn, TypeVar
from weakref import WeakSet

import anyio
from inspect_ai.model import (
    ChatMessageUser,
    Content,
    ContentText,
    GenerateConfig,
    Model,
    ModelName,
    ModelOutput,
    ResponseSchema,
    model_roles,
)
from inspect_ai.util import JSONSchema
from rich.markup import escape
from tenacity import RetryError  # Inspect's retries end in it

from genie_inspect.engines.identity import address, folder_digest, identified
from genie_inspect.errors import GenieError, GenieWarning, GraderFailedError, UnreadableReplyError
from genie_inspect.files.values import one_line
from genie_inspect.inspect_private import PrerequisiteError, bounded, connections, resolved_settings, waiting
from genie_inspect.prompting.forms import Form
from genie_inspect.prompting.templates import without_echo
from genie_inspect.prompting.texts import TOO_LONG, shortened, spoken, whole_text

__all__ = ["PrerequisiteError", "unmet"]


def unmet(reason: str | Exception) -> PrerequisiteError:
    """The error that ends a run, with its text shown as it is: Inspect would read `[extra]` as markup."""
    return PrerequisiteError(escape(str(reason)))


AskedT = TypeVar("AskedT", Model, tuple[Model, ...])
JudgeT = TypeVar("JudgeT")
ROLE, PREFERENCE_ROLE = "grader", "preference"
RECORDED = "bundled"  # the provider that replays what is on record
# providers whose chat endpoint takes a JSON schema; to the others the template alone says what form to reply in
STRUCTURED = frozenset({"openai", "azureai", "google", "mistral", "grok", "sglang"})
VLLM = "vllm"  # takes a pattern; under a schema a model may fill its whole allowance with spaces
THINKING_TOKENS = 16_384  # for models that think before they reply
_thinkers: WeakSet[Model] = WeakSet()
NO_GRADER = """\
The judge '{judge}' asks a model, and no grader is named: it must not be the model under evaluation by accident.
{ways}"""
NAME_ONE = "  --model-role grader=<provider/model>   any model of your choice"
WAYS = f"""\
Ways out:
{NAME_ONE} (bundled/grader for the bundled storytellers)
  -T judge=offline                      no model at all: a smoke test, not a measurement (-S when scoring a log)"""
PANEL_ALONE = """
  -T judge=none                          no model at all: the panel without Genie"""
ONE_OF_MANY = "role {role} has {count} models: the measure genie asks each of them, all else only the first, {first}"


def graders(judge: str, *, replaceable: bool = True, panel_alone: bool = False) -> tuple[Model, ...]:
    if ROLE not in model_roles():
        ways = WAYS + PANEL_ALONE * panel_alone if replaceable else f"Name one:\n{NAME_ONE}"
        raise unmet(NO_GRADER.format(judge=judge, ways=ways))
    models = _bound(ROLE)
    return models if replaceable else tuple(_real(model, repr(judge)) for model in models)


def grader(judge: str, *, replaceable: bool = True) -> Model:
    return _first(graders(judge, replaceable=replaceable), ROLE)


def bound_model(roles: Sequence[str], message: str) -> Model:
    """The model in the first of the roles that is bound; of several in it the first, with a warning."""
    for role in roles:
        if role in model_roles():
            return _first(_bound(role), role)
    raise unmet(message)


def judging_model(roles: Sequence[str], asked_by: str, message: str) -> Model:
    """As `bound_model`, for what no recording answers."""
    return _real(bound_model(roles, message), asked_by)


def bound_when_scored(model: Callable[[], AskedT], judge: Callable[[AskedT], JudgeT]) -> Callable[[], JudgeT]:
    """Gives the judge of the model that is bound when a sample is scored; one judge serves all samples of a run."""
    judge_of = lru_cache(maxsize=1)(judge)
    return lambda: judge_of(model())


def _bound(role: str) -> tuple[Model, ...]:
    models = model_roles()[role]
    return tuple(models) if isinstance(models, list) else (models,)


def _first(models: Sequence[Model], role: str) -> Model:
    if len(models) > 1:
        # Inspect would take the first without a word
        warnings.warn(ONE_OF_MANY.format(role=role, count=len(models), first=models[0]), GenieWarning, stacklevel=3)
    return models[0]


def _real(model: Model, asked_by: str) -> Model:
    if ModelName(model).api == RECORDED:
        raise unmet(f"{model} only replays recorded ratings, and {asked_by} needs new ones. Name a real grader")
    return model


async def ask(
    model: Model, request: str, config: GenerateConfig, form: Form | None = None, *, whole: bool = False
) -> str:
    """The grader's reply to one request, as text; empty where it repeats the request."""
    config = held_to(config, form, model)
    for _ in range(2):
        if model in _thinkers:
            config = config.merge(GenerateConfig(max_tokens=THINKING_TOKENS))
        output = await answered(model, request, config)
        if output.stop_reason != "max_tokens" or spoken(output.completion).strip() or model in _thinkers:
            break
        _thinkers.add(model)  # it spent its whole allowance on thought
    if whole and output.stop_reason == "max_tokens":
        raise UnreadableReplyError(f"cut off at {config.max_tokens} tokens: {shortened(output.completion)}")
    return without_echo(output.completion, request)


async def answered(model: Model, request: str | Sequence[str], config: GenerateConfig) -> ModelOutput:
    """The grader's whole output for one request, its text without halves of characters."""
    parts = [request] if isinstance(request, str) else request
    # one text is sent as it is: not every provider takes a list of texts
    content: str | list[Content] = request if isinstance(request, str) else [ContentText(text=part) for part in parts]
    try:
        output = await bounded(model).generate([ChatMessageUser(content=content)], config=config)
    except PrerequisiteError:
        raise  # a wrong set-up: every further call would fail alike
    except Exception as error:  # noqa: BLE001  # providers raise types of their own, hundreds of them
        give_up(model, error)
    if output.error and output.error != TOO_LONG:  # such a reply is as unreadable as any other that says nothing
        raise GraderFailedError(f"grader {model} failed: {output.error}")
    # of such an output Inspect's own properties raise an IndexError
    if not output.choices:
        raise GraderFailedError(f"grader {model} failed: its reply has no choices")
    if output.stop_reason == "model_length":
        raise GraderFailedError(
            f"a request of {sum(len(part.split()) for part in parts)} words is longer than the window of grader "
            f"{model}. Use a grader with a longer window or a shorter text ({output.completion[:200]})"
        )
    return output.model_copy(update={"completion": whole_text(output.completion)})


def give_up(model: Model, error: Exception) -> NoReturn:
    cause = error.last_attempt.exception() if isinstance(error, RetryError) else error
    raise GraderFailedError(f"grader {model} failed: {type(cause).__name__}: {cause}") from error


def held_to_json(model: Model) -> bool:
    return ModelName(model).api in STRUCTURED


def held_to(config: GenerateConfig, form: Form | None, model: Model) -> GenerateConfig:
    """The settings, with one that holds a provider's replies to a form where it can."""
    if form is not None and ModelName(model).api == VLLM:
        return config.merge(GenerateConfig(extra_body={"structured_outputs": {"regex": form.pattern}}))
    if form is not None and form.schema is not None and held_to_json(model):
        schema = ResponseSchema(name="numbered", json_schema=JSONSchema.model_validate(form.schema), strict=True)
        return config.merge(GenerateConfig(response_schema=schema))
    return config


T = TypeVar("T")


async def gathered(*tasks: Awaitable[T]) -> list[T]:
    """The results in the order of the tasks, which run side by side.

    Inspect's `collect` opens a span a task, which at hundreds of small calls is a tenth of all time, and raises an
    ExceptionGroup when several tasks fail at once, which no `except` of one error sees.
    """
    results: dict[int, T] = {}

    async def run(index: int, task: Awaitable[T]) -> None:
        results[index] = await task

    with one_error():
        async with anyio.create_task_group() as group:
            for index, task in enumerate(tasks):
                group.start_soon(run, index, task)
    return [results[index] for index in range(len(tasks))]


@contextmanager
def one_error() -> Iterator[None]:
    """One error where a task group raises several; a wrong set-up before a grader's failure."""
    try:
        yield
    except ExceptionGroup as failures:
        errors: list[Exception] = []
        groups = [failures]
        while groups:
            for error in groups.pop(0).exceptions:
                (groups if isinstance(error, ExceptionGroup) else errors).append(error)
        raise next((error for error in errors if not isinstance(error, GraderFailedError)), errors[0]) from failures


ALL = 1_000_000
S = TypeVar("S")


class Room:
    """Starts a call when it can soon be sent: 85,000 at once would take a gigabyte, and more time."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._turn = anyio.Lock()

    @cached_property
    def _places(self) -> anyio.Semaphore:
        # made by the first call: only then are the run's settings known
        return anyio.Semaphore(calls_in_flight(self.model))

    async def each(self, ask: Callable[[S], Awaitable[T]], items: Sequence[S]) -> list[T]:
        """What each item got, in order; calls of one question together, as a prompt cache wants them."""
        results: dict[int, T] = {}
        taken = 0

        async def run(index: int, item: S) -> None:
            nonlocal taken
            try:
                results[index] = await ask(item)
            finally:
                taken -= 1
                self._places.release()

        try:
            with one_error():
                async with anyio.create_task_group() as group:
                    with waiting():
                        await self._turn.acquire()
                    try:
                        for index, item in enumerate(items):
                            with waiting():
                                await self._places.acquire()
                            taken += 1
                            group.start_soon(run, index, item)
                    finally:
                        self._turn.release()
        finally:
            for _ in range(taken):  # those that were cancelled before they began
                self._places.release()
        return [results[index] for index in range(len(items))]


def calls_in_flight(model: Model) -> int:
    """Twice the model's connections, so that none waits for a call; all calls where the provider takes batches."""
    most = connections(model)
    return ALL if most is None else 2 * most


class RefusedError(GenieError, PrerequisiteError):
    """A task or a scorer cannot be made; the text is the message of the error behind it."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        # Inspect prints it as it is, with rich, which would take "[extra]" for a style
        self.message = escape(one_line(text))


@contextmanager
def refusals() -> Iterator[None]:
    """Our own errors as refusals: Inspect hides a ValueError of a scorer behind "couldn't be loaded"."""
    try:
        yield
    except RefusedError:
        raise
    except GenieError as error:
        raise RefusedError(str(error)) from error


# two servers, two folders, or one model asked at another temperature give other answers under one name: what one of
# them said must never count as said by the other
Request = tuple[GenerateConfig, Form | None]  # what the instrument sets for it, and the form of its reply
# providers whose model name may be a folder
FROM_FOLDERS = frozenset({"hf", "llama-cpp-python", "mlx", "sglang", "transformer_lens", "vllm"})
# providers that start a server where none is named: on a port that says nothing of the model
STARTED_HERE = frozenset({"sglang", "vllm"})
# settings that say how a request is delivered and how long that may take, not what is asked
DELIVERY = {"adaptive_connections", "batch", "cache", "cache_prompt", "fail_on_refusal", "max_connections"}
PATIENCE = {"attempt_timeout", "max_retries", "stream_idle_timeout", "timeout"}
# model arguments that say where a model runs; a server's address is a fact of its own
PLACES = frozenset({"device", "host", "http_client", "lazy_init", "port", "timeout"})
# a name that holds one of these may hold a password: its value is left out; "tokenizer" is none
SECRET = ("auth", "key", "password", "secret", "token")


def identified_model(model: Model, *requests: Request) -> str:
    """The model's name with twelve hex digits of what else its replies depend on: `openai-api/local/tiny@3f2a90c1b7de`.

    These are the provider, the server's address (never user, password or query), model arguments that change it, a
    local folder as it is now, the role's settings as Inspect resolves them, and what the instrument itself sets.
    """
    name, resolved = ModelName(model), resolved_settings(model)
    facts = [f"provider {name.api}", f"served at {served_at(model)}"]
    if _server(model) in FROM_FOLDERS and Path(name.name).is_dir():
        facts.append(f"folder {folder_digest(name.name)}")
    for argument, value in sorted(model.model_args.items()):
        if argument not in PLACES and not _is_secret(argument):
            facts.append(f"{argument}={_value(value)}")
    facts.append(f"thinking {THINKING_TOKENS}")
    for config, form in requests or [(GenerateConfig(), None)]:
        settings = held_to(resolved.merge(config), form, model)
        headers = {k: v for k, v in (settings.extra_headers or {}).items() if not _is_secret(k)}
        kept = settings.model_copy(update={"extra_headers": headers or None})
        facts.append(kept.model_dump_json(exclude_none=True, exclude=DELIVERY | PATIENCE))
    return identified(str(model), *facts)


def names_of(models: Sequence[Model]) -> list[str]:
    """Names by which the graders of a jury are told apart."""
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


def _value(value: object) -> str:
    """An argument as text that is the same in every process; a folder by what stands in it."""
    if isinstance(value, str | Path) and Path(value).is_dir():
        return folder_digest(value)
    plain = value is None or isinstance(value, str | int | float | bool | list | tuple | dict)
    return repr(value) if plain else type(value).__qualname__  # an object's own text holds its place in memory


def _is_secret(name: str) -> bool:
    plain = name.lower().replace("tokenizer", "")
    return any(word in plain for word in SECRET)
