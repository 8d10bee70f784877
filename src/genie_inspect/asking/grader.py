"""The grader: the model that reads and judges, and how it is asked."""

import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NoReturn, TypeVar
from weakref import WeakSet

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
from tenacity import RetryError  # Inspect's retries end in it

from genie_inspect.asking.prerequisites import PrerequisiteError, unmet
from genie_inspect.errors import GenieWarning, GraderFailedError, UnreadableReplyError
from genie_inspect.prompting.echo import without_echo
from genie_inspect.prompting.forms import Form
from genie_inspect.prompting.texts import shortened, spoken, whole_text

AskedT = TypeVar("AskedT", Model, tuple[Model, ...])
JudgeT = TypeVar("JudgeT")
ROLE, PREFERENCE_ROLE = "grader", "preference"
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
  -T judge=embedded                      no model at all: a smoke test, not a measurement (-S when scoring a log)"""
PANEL_ALONE = """
  -T judge=none                          no model at all: the panel without Genie"""
ONE_OF_MANY = "role {role} has {count} models: the measure genie asks each of them, all else only the first, {first}"


def graders(judge: str, *, replaceable: bool = True, panel_alone: bool = False) -> tuple[Model, ...]:
    """All models in the grader role, in its order: one, or a jury.

    Args:
        judge: The judge that needs it, for the error message.
        replaceable: Whether `judge=embedded` could take its place, for the error message.
        panel_alone: Whether a task could do with its panel alone, for the error message.

    Raises:
        PrerequisiteError: If the role is not bound; it ends the run before anything is generated.
    """
    if ROLE not in model_roles():
        ways = WAYS + PANEL_ALONE * panel_alone if replaceable else f"Name one:\n{NAME_ONE}"
        raise unmet(NO_GRADER.format(judge=judge, ways=ways))
    models = _bound(ROLE)
    return models if replaceable else tuple(_real(model, repr(judge)) for model in models)


def grader(judge: str, *, replaceable: bool = True) -> Model:
    """The model in the grader role; of several the first, with a warning.

    Args:
        judge: As for `graders`, like the rest.
        replaceable: Whether `judge=embedded` could take its place, for the error message.

    Raises:
        PrerequisiteError: If the role is not bound; it ends the run before anything is generated.
    """
    return _first(graders(judge, replaceable=replaceable), ROLE)


def bound_model(roles: Sequence[str], message: str) -> Model:
    """The model in the first of the roles that is bound; of several in it the first, with a warning.

    Args:
        roles: In order of preference.
        message: What the user reads when none is bound.

    Raises:
        PrerequisiteError: If none is bound; it ends the run before anything is generated.
    """
    for role in roles:
        if role in model_roles():
            return _first(_bound(role), role)
    raise unmet(message)


def judging_model(roles: Sequence[str], asked_by: str, message: str) -> Model:
    """As `bound_model`, for what no recording answers.

    Args:
        roles: In order of preference.
        asked_by: The measure or option that asks, for the error message.
        message: What the user reads when none is bound.

    Raises:
        PrerequisiteError: If none is bound, or a bundled one; it ends the run before anything is generated.
    """
    return _real(bound_model(roles, message), asked_by)


def bound_when_scored(model: Callable[[], AskedT], judge: Callable[[AskedT], JudgeT]) -> Callable[[], JudgeT]:
    """Gives the judge of the model that is bound when a sample is scored; one judge serves all samples of a run.

    Args:
        model: Finds the model; roles are bound after the scorer is made.
        judge: Makes the judge.
    """
    judge_of = lru_cache(maxsize=1)(judge)
    return lambda: judge_of(model())


def _bound(role: str) -> tuple[Model, ...]:
    """The models of a role that is bound."""
    models = model_roles()[role]
    return tuple(models) if isinstance(models, list) else (models,)


def _first(models: Sequence[Model], role: str) -> Model:
    if len(models) > 1:
        # Inspect would take the first without a word
        said = ONE_OF_MANY.format(role=role, count=len(models), first=models[0])
        warnings.warn(said, GenieWarning, stacklevel=3)
    return models[0]


def _real(model: Model, asked_by: str) -> Model:
    if ModelName(model).api == "bundled":
        raise unmet(f"{model} has its readings on record and can judge nothing else, {asked_by} needs a real grader")
    return model


async def ask(
    model: Model, request: str, config: GenerateConfig, form: Form | None = None, *, whole: bool = False
) -> str:
    """The grader's reply to one request, as text; empty where it repeats the request.

    Args:
        model: The grader.
        request: The filled template.
        config: Settings that belong to the instrument; they beat the role's own.
        form: What the reply looks like, for providers that can hold a model to one; None asks for plain text.
        whole: Whether a reply that was cut off at its allowance is none.

    Raises:
        GraderFailedError: If the provider gives up after its own retries.
        UnreadableReplyError: If the reply was cut off and must be whole.
    """
    if form is not None:
        config = config.merge(held_to(form, model))
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
    """The grader's whole output for one request, its text without halves of characters.

    Args:
        model: The grader.
        request: The filled template, or its parts; a part that many requests share stands first, so that providers and
            logs keep it once.
        config: As for `ask`.

    Raises:
        GraderFailedError: If the provider gives up after its own retries, its reply is empty of choices, or the request
            is longer than its window.
    """
    # one text is sent as it is: not every provider takes a list of texts
    content: str | list[Content] = request if isinstance(request, str) else [ContentText(text=part) for part in request]
    try:
        output = await model.generate([ChatMessageUser(content=content)], config=config)
    except PrerequisiteError:
        raise  # a wrong set-up: every further call would fail alike
    except Exception as error:  # noqa: BLE001  # providers raise types of their own, hundreds of them
        give_up(model, error)
    if output.error:
        raise GraderFailedError(f"grader {model} failed: {output.error}")
    # of such an output Inspect's own properties raise an IndexError
    if not output.choices:
        raise GraderFailedError(f"grader {model} failed: its reply has no choices")
    if output.stop_reason == "model_length":
        raise GraderFailedError(
            f"a request of {_words(request)} words is longer than the window of grader {model}, expected a "
            f"grader with a longer one or a shorter text ({output.completion[:200]})"
        )
    return output.model_copy(update={"completion": whole_text(output.completion)})


def give_up(model: Model, error: Exception) -> NoReturn:
    """Say of a provider's error that the grader failed.

    Raises:
        GraderFailedError: Always; of many attempts it names what went wrong in the last one.
    """
    cause = error.last_attempt.exception() if isinstance(error, RetryError) else error
    raise GraderFailedError(f"grader {model} failed: {type(cause).__name__}: {cause}") from error


def _words(request: str | Sequence[str]) -> int:
    return len((request if isinstance(request, str) else " ".join(request)).split())


def held_to_json(model: Model) -> bool:
    """Whether a provider's numbered replies are held to a JSON schema; else the template says their form."""
    return ModelName(model).api in STRUCTURED


def held_to(form: Form, model: Model) -> GenerateConfig:
    """The setting that holds a provider's replies to a form; none where it cannot."""
    api = ModelName(model).api
    if api == VLLM:
        return GenerateConfig(extra_body={"structured_outputs": {"regex": form.pattern}})
    if held_to_json(model) and form.schema is not None:
        schema = JSONSchema.model_validate(form.schema)
        return GenerateConfig(response_schema=ResponseSchema(name="numbered", json_schema=schema, strict=True))
    return GenerateConfig()
