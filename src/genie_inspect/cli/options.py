"""Options that several verbs share."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

CommandT = TypeVar("CommandT", bound=Callable[..., Any])


def with_options(options: Sequence[Callable[[CommandT], CommandT]]) -> Callable[[CommandT], CommandT]:
    """Gives a command all of the options, which its help lists in this order."""

    def given(command: CommandT) -> CommandT:
        for option in reversed(options):
            command = option(command)
        return command

    return given


def listed(context: click.Context, parameter: click.Parameter, value: str) -> tuple[str, ...]:
    """Names with commas between them, each once, for an option's callback.

    Raises:
        click.BadParameter: If there is none.
    """
    names = tuple(dict.fromkeys(name.strip() for name in value.split(",") if name.strip()))
    if not names:
        raise click.BadParameter(f"{value!r} holds no name, expected names with commas between them")
    return names
