"""Every private wire to Inspect: what it does not promise, why we use it, and what happens where it is gone.

Nothing else in the package imports what Inspect keeps private. Each wire is looked up when it is used, and each
function says what a user gets from an Inspect that has it no more: something slower or plainer, never a crash.
"""

import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from difflib import get_close_matches
from functools import partial, update_wrapper, wraps
from importlib import import_module
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, TypeVar
from zipfile import ZipFile

from inspect_ai.event import Event
from inspect_ai.log import Transcript, transcript
from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelAPI, ModelOutput, ModelUsage
from inspect_ai.util import registry_create, registry_info

try:
    # the one error that Inspect shows as a line, not a traceback
    from inspect_ai._util.error import (
        PrerequisiteError as PrerequisiteError,  # inspect-evals-lint: ignore[IECQ001] -- has a stand-in below
    )
except ImportError:

    class PrerequisiteError(Exception):  # type: ignore[no-redef]  # where Inspect's is gone, with a traceback
        """What a run needs is missing."""


if TYPE_CHECKING:
    from inspect_ai.scorer import Metric, Scorer

T = TypeVar("T")


def _wire(module: str, name: str) -> Any:
    """A private part of Inspect; None where this Inspect has none of that name."""
    with suppress(ImportError):
        return getattr(import_module(f"inspect_ai.{module}"), name, None)
    return None


def resolved_settings(model: Model) -> GenerateConfig:
    """What a model's role, and what of the run reaches it, add to every request; a request's own settings beat these.

    Inspect resolves them in `generate` alone. Where the wire is gone: the model's own settings, so that a judge's calls
    in flight follow the role, not the run.
    """
    resolve = getattr(model, "_resolve_config", None)
    settings: GenerateConfig = resolve(GenerateConfig()) if resolve else model.config
    return settings


def run_has_begun() -> bool:
    """Whether Inspect is making the task of a run: models and roles are bound, and an error is shown as one line.

    In Python a task may be made before its run; what it needs can then only be checked at its first sample. Where the
    wire is gone it always is.
    """
    active = _wire("model._model", "active_model")
    return active is not None and active() is not None


@contextmanager
def bound_roles(roles: Mapping[str, list[Model]]) -> Iterator[None]:
    """Inside, models have these roles as in a run, and no others. Where the wire is gone it is refused."""
    bound: ContextVar[Any] | None = _wire("model._model", "_model_roles")
    if bound is None:
        raise PrerequisiteError("this version of Inspect gives a model its role in a run alone: use `inspect eval`")
    before = bound.set({role: models if len(models) > 1 else models[0] for role, models in roles.items()})
    try:
        yield
    finally:
        bound.reset(before)


def run_extent() -> tuple[str, Sequence[str | int], int] | None:
    """The id, samples and epochs of the run that the current sample is of, as `--limit`, `--epochs` and others say.

    Nothing public says so before the log is written. None outside a sample, and where a wire is gone: what is said of
    a run is then said of its whole task.
    """
    sample, state_of = _wire("log._samples", "sample_active"), _wire("_control.eval_state", "get_eval_state")
    active = sample() if sample and state_of else None
    state = state_of(active.eval_id) if active else None
    return (state.eval_id, state.sample_ids, state.epochs) if state else None


def named_api(provider: str, model: str) -> ModelAPI | None:
    """A model's name and provider without what asks it: no client, key or package of the provider's.

    None for a provider that Inspect does not have, and where a wire is gone: to plan then takes what to ask takes.
    """
    names = ("registry_find", "registry_info", "registry_unqualified_name", "set_registry_info")
    find, info_of, bare, tagged = (_wire("_util.registry", name) for name in names)
    if not (find and info_of and bare and tagged):
        return None
    providers = find(lambda info: info.type == "modelapi" and bare(info) == provider)
    api: ModelAPI | None = tagged(_NamedAPI(model), info_of(providers[0])) if providers else None
    return api


def scorer_metadata(name: str) -> Mapping[str, Any]:
    """What the decorator of an installed scorer says of it, by package and name; nothing where there is no such scorer.

    What is public makes a scorer, with all that it needs. Where the wire is gone: nothing, as for anybody's scorer.
    """
    lookup = _wire("_util.registry", "registry_lookup")
    registered = lookup("scorer", name) if lookup else None
    return registry_info(registered).metadata if registered else {}


def refuse_unknown_options(exported: Iterable[object]) -> None:
    """Has a run stop in one line at an option that our scorer, solver or task does not have, with the nearest one.

    Inspect drops a task's with a warning that scrolls by, and for the others shows the traceback of a TypeError. Where
    the wire is gone it still does.
    """
    add = _wire("_util.registry", "registry_add")
    for made in exported:
        with suppress(ValueError):  # of what is not registered
            info = registry_info(made)
            if add and callable(made) and info.type in ("scorer", "solver", "task"):
                add(_known_options(made, info.name), info)


def _known_options(make: Callable[..., T], name: str) -> Callable[..., T]:
    takes = signature(make)
    options = list(takes.parameters)

    @wraps(make)
    def made(*values: Any, **given: Any) -> T:
        for option in given.keys() - options:
            nearest = "".join(f"did you mean {near}? " for near in get_close_matches(option, options, 1))
            raise PrerequisiteError(f"{name} has no option {option!r}: {nearest}It has {', '.join(sorted(options))}")
        return make(*values, **given)

    # without it Inspect would not hand on what the task does not name
    unknown = Parameter("unknown", Parameter.VAR_KEYWORD)
    made.__signature__ = takes.replace(parameters=[*takes.parameters.values(), unknown])  # type: ignore[attr-defined]
    return made


def loaded_scorer(name: str, options: Mapping[str, Any]) -> "Scorer":
    """The scorer that a name stands for: an installed one's, or `file.py@name` as `inspect score --scorer` takes it.

    Where the wire is gone: an installed one's alone.
    """
    load, spec = _wire("_eval.loader", "scorer_from_spec"), _wire("scorer._scorer", "ScorerSpec")
    if load and spec:
        loaded: Scorer = load(spec(scorer=name), None, **options)
        return loaded
    installed: Scorer = registry_create("scorer", name, **options)
    return installed


class _NamedAPI(ModelAPI):
    async def generate(self, *args: Any, **options: Any) -> Any:
        raise NotImplementedError(f"{self.model_name} is named to plan with and cannot be asked")


def sample_epoch() -> int:
    """Which telling of a prompt this is, from 1, as a provider sees it. Where the wire is gone: always the first."""
    state = _wire("solver._task_state", "sample_state")
    current = state() if state else None
    return current.epoch if current else 1


def waiting() -> AbstractContextManager[Any]:
    """Inside, a sample waits for its turn, which is no part of its working time. Where the wire is gone it is."""
    wait = _wire("_util.working", "sample_wait")
    return wait() if wait else nullcontext()


def connections(model: Model) -> int | None:
    """How many requests to a model are under way at most; None where its provider takes batches of any size.

    Where the wire is gone: what the role or the provider says, also where Inspect adapts the number to the server.
    """
    config = resolved_settings(model)
    if config.batch:
        return None
    active, resolve = (_wire("util._concurrency", name) for name in ("adaptive_active", "resolve_adaptive"))
    if active and resolve and active(config.adaptive_connections, config.max_connections, config.batch):
        most: int = resolve(config.adaptive_connections).max
        return most
    return config.max_connections or model.api.max_connections()


def task_scorers() -> "list[Scorer]":
    """The scorers of the task that runs, as Inspect goes through them: to replace one changes what scores a sample.

    Inspect has no public way to leave a sample unscored without making an error of the run. Where the wire is gone
    there are none, so that a scorer that is not ours scores the empty text of a strategy that failed.
    """
    scorers = _wire("scorer._score", "_scorers")
    current: list[Scorer] = (scorers.get(None) if scorers else None) or []
    return current


_unlogged: ContextVar[bool] = ContextVar("unlogged", default=False)


def called_as(named: "Metric", metric: "Metric") -> "Metric":
    """A metric of ours under the name of one of Inspect's, which logs, columns and scripts know.

    Under a name of ours it would stand there as `genie_inspect/...`, with the slash. Where the wire is gone: Inspect's.
    """
    update_wrapper(metric, named)
    try:
        registry_info(metric)
    except ValueError:
        return named
    return metric


def with_metrics(scorer: "Scorer", changed: "Callable[[Metric], Metric]") -> "Scorer":
    """A scorer, anybody's, with each of its metrics changed. Where the wire is gone: the scorer as it is."""
    facts = registry_info(scorer).metadata

    def each(metrics: Any) -> Any:
        if isinstance(metrics, dict):
            return {key: each(own) for key, own in metrics.items()}
        return list(map(each, metrics)) if isinstance(metrics, list) else changed(metrics)

    if "metrics" in facts:
        facts["metrics"] = each(facts["metrics"])
    return scorer


@contextmanager
def unlogged() -> Iterator[None]:
    """What is asked inside leaves no events in the sample's transcript, and no records in Inspect's trace file.

    Hundreds of calls a document would be megabytes of the one and gigabytes of the other. Usage is counted, retries and
    warnings are logged as ever. Where a wire is gone the calls are logged.
    """
    logged, outside = transcript(), _unlogged.set(True)
    start = _wire("log._transcript", "init_transcript") or (lambda _: None)
    start(_Forgetful())
    try:
        yield
    finally:
        start(logged)
        _unlogged.reset(outside)


class _Forgetful(Transcript):
    """Holds on to nothing: nobody will read these events. Where Inspect renames its two methods, it does."""

    def _event(self, event: Event) -> None:
        pass

    def _event_updated(self, event: Event) -> None:
        pass


# writes two records a call for `inspect trace`; where Inspect renames it, these are written inside `unlogged` too
logging.getLogger("inspect_ai.model._model").addFilter(
    lambda record: not (record.levelname == "TRACE" and _unlogged.get())
)


def bounded(model: Model) -> Model:
    """The model, of which no reply beyond the limit is split, encoded, logged or kept: its text is dropped.

    The output says why as its error. Where Inspect asks a provider in another way long replies are logged whole, and
    are unreadable all the same.
    """
    from genie_inspect.prompting.texts import LONGEST, TOO_LONG  # here: names of tasks and scorers need none of it

    ask = model.api.generate
    if not hasattr(ask, "is_bounded"):

        @wraps(ask)
        async def generate(*given: Any, **named: Any) -> Any:
            said = await ask(*given, **named)
            output = said[0] if isinstance(said, tuple) else said
            if isinstance(output, ModelOutput) and sum(_length(one.message) for one in output.choices) > LONGEST:
                # what was counted stays; the provider's own record of it goes too
                none = ModelOutput.from_content(output.model, "", stop_reason="unknown", error=TOO_LONG)
                return none.model_copy(update={"usage": output.usage, "time": output.time})
            return said

        generate.is_bounded = True  # type: ignore[attr-defined]
        model.api.generate = generate  # type: ignore[method-assign]
    return model


SAID = ("text", "reasoning")  # of a part of a message


def _length(message: ChatMessage) -> int:
    """Characters of what it says, and of what it thought before."""
    parts = message.content
    said = [parts] if isinstance(parts, str) else [getattr(part, name, "") for part in parts for name in SAID]
    return sum(len(text) for text in said if isinstance(text, str))


def retried(model: Model, post: Callable[[], Awaitable[T]]) -> Callable[[], Awaitable[T]] | None:
    """A call that goes past `Model.generate`, tried again as Inspect would; None where the wires are gone."""
    options, log_retry = _wire("model._retry", "model_retry_config"), _wire("model._model", "log_model_retry")
    if not (options and log_retry):
        return None
    from tenacity import retry

    config, api = resolved_settings(model), model.api
    named = {"qualified_model_name": api.qualified_model_name}
    calls = (model.should_retry, model.before_retry, partial(log_retry, **named))
    limits = (api.model_name, config.max_retries, config.timeout)
    again: Callable[[], Awaitable[T]] = retry(
        **options(*limits, *calls, sample_waits=True, wait=api.retry_wait(), **named)
    )(post)
    return again


def count_usage(model: Model, usage: ModelUsage) -> None:
    """Count the tokens of a call that went past `Model.generate`. Where the wire is gone they are not in the log."""
    if record := _wire("model._model", "record_and_check_model_usage"):
        record(model, usage, role=model.role)


async def served_client(model: Model) -> Any:
    """The OpenAI client of a model on a vLLM server, which its first call makes; None where the wire is gone."""
    if start := getattr(model.api, "_ensure_server_started", None):
        await start()
    return getattr(model.api, "client", None)


def sample_members(archive: ZipFile) -> list[str]:
    """The members of a log's archive that are samples, each once; none where Inspect keeps them in another way.

    The way out is Inspect's own reader, which walks through every event: five times as slow, and of deep JSON it takes
    all memory.
    """
    # a sample that was written twice stands there twice; reading by name gives the later one
    return list(dict.fromkeys(name for name in archive.namelist() if name.startswith("samples/")))


def sample_member(sample: str | int, epoch: int) -> str:
    """The member that is a sample of an epoch, where there are `sample_members`."""
    return f"samples/{sample}_epoch_{epoch}.json"
