"""A grader that is named on the command line, outside an evaluation."""

from collections.abc import Sequence

import click
from inspect_ai.model import Model, get_model

from genie_inspect.asking.planned import planned_model
from genie_inspect.asking.prerequisites import PrerequisiteError


def named_model(name: str, *, asked: bool = True) -> Model:
    """The model of that name.

    Args:
        name: `provider/model`.
        asked: False where nobody will be asked, so that neither a key nor a client is needed.

    Raises:
        ClickException: If there is none, or it cannot be used here; in one line.
    """
    try:
        # not memoized: a client belongs to one event loop
        return get_model(name, memoize=False) if asked else planned_model(name)
    except (PrerequisiteError, ValueError) as error:
        raise click.ClickException(f"grader {name}: {one_line(error)}") from error


def named_models(names: Sequence[str], *, asked: bool = True) -> tuple[Model, ...]:
    """The models of these names: a grader, or a jury.

    Args:
        names: Each `provider/model`.
        asked: As for `named_model`.

    Raises:
        ClickException: If one cannot be used here, or is named twice; in one line.
    """
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise click.ClickException(f"grader {twice} is named twice, expected each grader of a jury once")
    return tuple(named_model(name, asked=asked) for name in names)


def one_line(error: Exception) -> str:
    """The message of an error of Inspect's, without its markup and line breaks."""
    # errors of Inspect are written for rich, with markup
    from rich.text import Text

    return " ".join(Text.from_markup(str(getattr(error, "message", error))).plain.split())
