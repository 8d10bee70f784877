"""`genie interventions`: write, check."""

import click

from genie_inspect.cli.verbs.interventions.check import check
from genie_inspect.cli.verbs.interventions.write import write


@click.group()
def interventions() -> None:
    """Write edits and paraphrases by which a measure is tested, and check whether they are good.

    \b
    Example: genie interventions write starter -o pairs --editor openai/gpt-4o --per-prompt 2 --dry-run
             genie interventions check pairs --grader openai/gpt-4o
    """


interventions.add_command(write)
interventions.add_command(check)
