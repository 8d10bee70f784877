"""Asking again, in one place: what cannot be read is asked for anew, past the provider's cache.

A request that is repeated under Inspect's cache (`--cache`, `cache=True`) would get the same unreadable reply from
there; so a repeat says to its provider that no cache counts.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cached_property
from typing import Generic, Protocol, TypeVar

from inspect_ai.model import GenerateConfig, Model
from inspect_ai.util import span

from genie_inspect.errors import UnreadableReplyError
from genie_inspect.files.printable import one_line
from genie_inspect.graders.grader import Request, ask, identified_model
from genie_inspect.inspect_private import unlogged
from genie_inspect.prompting.forms import Form

T = TypeVar("T")
ItemT = TypeVar("ItemT", bound=Hashable)
ValueT = TypeVar("ValueT")

REPEATS = 2
"""How often an unreadable reply is asked for again."""
ANEW = GenerateConfig(cache=False)
"""Merged into a request's settings when it is repeated."""


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
    """What the replies say of each item; those that are missing are asked for again, what stays missing is absent.

    Args:
        items: What is asked for, each once.
        attempt: Asks for the items that are still missing, with the settings that it gets merged over its own.
        repeats: How often they are asked for again.

    Raises:
        GraderFailedError: If an attempt does.
    """
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
    """What a grader's reply to one request says.

    Args:
        model: The grader.
        request: The filled template.
        config: Settings that belong to the instrument.
        read: Makes of the reply what is wanted; raises UnreadableReplyError where it cannot.
        form: What the reply looks like, for providers that can hold a model to one.
        repeats: How often an unreadable reply is asked for again.
        whole: Whether a reply that was cut off is unreadable, whatever it says.

    Raises:
        UnreadableReplyError: If no reply could be read.
        GraderFailedError: If the provider gives up.
    """

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
    """The settings and forms of the instrument's requests."""
    facts = ""
    """What the signature says beside model and template, with a comma behind it."""

    def __init__(self, model: Model, template: TemplateT_co, repeats: int = REPEATS) -> None:
        self.model = model
        self.template = template
        self.repeats = repeats

    @cached_property
    def signature(self) -> str:
        """`<name>(<model>@<digest>,template=<digest>)`, with facts before the template where there are any."""
        model = identified_model(self.model, *self.requests)
        return f"{self.name}({model},{self.facts}template={self.template.digest})"


WIDTH = 60  # characters of each part: an outline of a transcript shows one line


@asynccontextmanager
async def labelled(*parts: str, logged: bool = True) -> AsyncIterator[None]:
    """The calls inside, in the transcript under a label, or not in it at all.

    The request itself begins with the instructions, which all requests share and providers so need to read once; who
    looks at a transcript wants to know first what was asked.
    """
    if logged:
        async with span(" | ".join(_cut(one_line(part)) for part in parts)):
            yield
    else:
        with unlogged():
            yield


def _cut(text: str) -> str:
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "\u2026"
