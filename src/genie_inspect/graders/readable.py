"""Asking again, in one place: what cannot be read is asked for anew, past the provider's cache.

A request that is repeated under Inspect's cache (`--cache`, `cache=True`) would get the same unreadable reply from
there; so a repeat says to its provider that no cache counts.
"""

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from functools import cached_property
from typing import ClassVar, Generic, Protocol, TypeVar

from inspect_ai.model import GenerateConfig, Model
from inspect_ai.util import span

from genie_inspect.errors import UnreadableReplyError
from genie_inspect.files.values import one_line
from genie_inspect.graders.grader import Request, ask, identified_model
from genie_inspect.prompting.forms import Form
from genie_inspect.prompting.templates import Instruction, Template

T = TypeVar("T")
ItemT = TypeVar("ItemT", bound=Hashable)
ValueT = TypeVar("ValueT")

REPEATS = 2  # times that an unreadable reply is asked for again
ANEW = GenerateConfig(cache=False)  # merged into a request's settings when it is repeated


async def until_read(attempt: Callable[[GenerateConfig], Awaitable[T]], repeats: int = REPEATS) -> T:
    """What the first readable reply says."""
    for turn in range(repeats):
        with suppress(UnreadableReplyError):
            return await attempt(ANEW if turn else GenerateConfig())
    return await attempt(ANEW if repeats else GenerateConfig())


async def until_complete(
    items: Sequence[ItemT],
    attempt: Callable[[Sequence[ItemT], GenerateConfig], Awaitable[Mapping[ItemT, ValueT]]],
    repeats: int = REPEATS,
) -> dict[ItemT, ValueT]:
    """What the replies say of each item; those that are missing are asked for again, what stays missing is absent."""
    values: dict[ItemT, ValueT] = {}

    async def ask_missing(settings: GenerateConfig) -> None:
        values.update(await attempt([item for item in items if item not in values], settings))
        if any(item not in values for item in items):
            raise UnreadableReplyError("a reply lacks some of what was asked for")

    if items:
        with suppress(UnreadableReplyError):
            await until_read(ask_missing, repeats)
    return values


async def readable(
    model: Model,
    request: str,
    config: GenerateConfig,
    read: Callable[[str], T],
    form: Form | None = None,
    repeats: int = REPEATS,
    *,
    whole: bool = False,
) -> T:
    """What a grader's reply to one request says; with `whole` a reply that was cut off is unreadable."""

    async def attempt(settings: GenerateConfig) -> T:
        return read(await ask(model, request, config.merge(settings), form, whole=whole))

    return await until_read(attempt, repeats)


class Digested(Protocol):
    @property
    def digest(self) -> str: ...


TemplateT_co = TypeVar("TemplateT_co", bound=Digested, covariant=True)


class Asker(Generic[TemplateT_co]):
    """Asks a model by a wording of ours or the user's; the signature says what its replies depend on."""

    name = "grader"
    requests: Sequence[Request] = ()
    facts = ""  # in the signature beside model and template, with a comma behind it
    repeats = REPEATS

    def __init__(self, model: Model, template: TemplateT_co) -> None:
        self.model, self.template = model, template

    @cached_property
    def signature(self) -> str:
        """`<name>(<model>@<digest>,template=<digest>)`, with facts before the template where there are any."""
        model = identified_model(self.model, *self.requests)
        return f"{self.name}({model},{self.facts}template={self.template.digest})"

    async def read_of(self, request: str, read: Callable[[str], T], *label: str) -> T:
        """What the first readable reply says; it is asked again by the last of the settings of its requests."""

        async def attempt(settings: GenerateConfig) -> T:
            config, form = self.requests[-1 if settings == ANEW else 0]
            async with labelled(*label) if label else nullcontext():
                return read(await ask(self.model, request, config.merge(settings), form))

        return await until_read(attempt, self.repeats)


class InstructedAsker(Asker[Template]):
    """Asks by one instruction, in its bundled wording unless another is given."""

    instruction: ClassVar[Instruction]

    def __init__(self, model: Model, template: Template | None = None) -> None:
        super().__init__(model, template or self.instruction.template())


def asked_twice(max_tokens: int, form: Form | None = None) -> tuple[Request, Request]:
    """Settings of a request, and of its repeats: at temperature 0 most providers reply the same again."""
    first, again = (GenerateConfig(temperature=heat, max_tokens=max_tokens) for heat in (0.0, 0.7))
    return (first, form), (again, form)


WIDTH = 60  # characters of each part of a label: an outline of a transcript shows one line


def labelled(*parts: str) -> AbstractAsyncContextManager[None]:
    """The calls inside, in the transcript under a label."""
    lines = [one_line(part) for part in parts]
    # a request begins with instructions that all share: the label says what was asked
    return span(" | ".join(line if len(line) <= WIDTH else line[: WIDTH - 1] + "\u2026" for line in lines))
