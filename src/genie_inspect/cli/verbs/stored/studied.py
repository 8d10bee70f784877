"""What is measured, how and by whom: options that the verbs share whose requests go out in files."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from genie_inspect.cli.graders import planned_role
from genie_inspect.cli.options import with_options
from genie_inspect.cli.running import ANSWER_LENGTH
from genie_inspect.judges.choices import MODES
from genie_inspect.judges.instrument import Instrument
from genie_inspect.scale.planning import Study
from genie_inspect.scale.shards import Plan
from genie_inspect.scale.walk import Sources

Command = TypeVar("Command", bound=Callable[..., Any])


OPTIONS = (
    click.option(
        "--grader", required=True, metavar="ROLE", help="Who will be asked: as `--model-role grader=` takes it."
    ),
    click.option("--judge", default="list", show_default=True, help=", ".join(MODES)),
    ANSWER_LENGTH,
    click.option("--population", default="starter", show_default=True, help="What logs are measured against."),
    click.option("--templates", type=click.Path(), help="A folder of your own instruction templates."),
)


def STUDY(command: Command) -> Command:  # noqa: N802  # as the options of `cli.running`
    """The options of `studied`."""
    return with_options(OPTIONS)(command)


def studied(
    paths: Sequence[str], grader: str, judge: str, answer_length: str, population: str, templates: str | None
) -> Study:
    """The study that the options describe.

    Args:
        paths: Logs, or a population.
        grader: Who will be asked.
        judge: The judge's mode.
        answer_length: Of the reader's answers.
        population: What logs are measured against.
        templates: A folder of instruction templates.

    Raises:
        ClickException: If there is no such grader.
        GenieError: If a path, the judge or a population cannot be used.
    """
    plan = Plan(step="", judge=judge, answer_length=answer_length, grader=grader, signature="")
    model = planned_role(grader)
    instrument = Instrument(judge, templates=templates, answer_length=answer_length)
    return Study(Sources.of(paths, population), instrument, model, plan)
