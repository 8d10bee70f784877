"""Options of the verbs that make populations."""

from pathlib import Path
from typing import Any

import click

FOLDER = click.Path(path_type=Path)
OUTPUT = click.option("--output", "-o", required=True, type=FOLDER, help="The new folder; nothing may stand there.")
WRITE_NOTHING = click.option("--dry-run", is_flag=True, help="Write nothing: count. No model is asked either way.")
CLEAN = click.option(
    "--clean-by-model",
    is_flag=True,
    help="Ask the grader where each document falls apart, a call each, and cut it there.",
)


def described(command: Any) -> Any:
    """The command with the options that become fields of a population's manifest."""
    command = click.option("--description", default="", help="One line for the card.")(command)
    command = click.option("--licence", required=True, help="Of the documents, as an SPDX name: MIT, CC-BY-4.0, ...")(
        command
    )
    command = click.option("--version", default="1", show_default=True)(command)
    return click.option("--name", required=True, help="How the population is called in scores.")(command)
