"""A grader that is named on the command line, outside an evaluation."""

from collections.abc import Sequence

import click
import yaml
from inspect_ai.model import GenerateConfig, Model, get_model
from pydantic import ValidationError

from genie_inspect.asking.planned import planned_model
from genie_inspect.asking.prerequisites import PrerequisiteError
from genie_inspect.files.json_lines import first_fault


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


def planned_role(role: str) -> Model:
    """A grader to plan with, as `--model-role grader=` takes it: a name, or `{model: NAME, temperature: 0.5}`.

    Args:
        role: The name, or YAML or JSON with the settings, which are part of what a grader is known by.

    Raises:
        ClickException: If there is no such model, or it has no such settings; in one line.
    """
    if not role.lstrip().startswith("{"):
        return named_model(role, asked=False)
    try:
        settings = dict(yaml.safe_load(role))
        model = named_model(str(settings.pop("model", "")), asked=False)
        arguments = dict(settings.pop("model_args", None) or {})
        if "base_url" in arguments:
            raise click.ClickException(
                "grader: base_url is read from the provider's variable here, such as VLLM_BASE_URL"
            )
        return Model(model.api, GenerateConfig.model_validate(settings), arguments)
    except (yaml.YAMLError, ValueError, TypeError) as error:
        reason = first_fault(error, "grader") if isinstance(error, ValidationError) else f"grader {role}: {error}"
        raise click.ClickException(" ".join(reason.split())) from error


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
