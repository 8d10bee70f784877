"""`genie interventions`: write, check."""

import click

from genie_inspect.cli.group import VerbGroup

VERBS = {
    "check": (
        "genie_inspect.cli.verbs.interventions.check:check",
        "Are the edits of PAIRS good: is the new value there, did its...",
    ),
    "write": (
        "genie_inspect.cli.verbs.interventions.write:write",
        "Edit each document of SOURCES along every feature, one at a time,...",
    ),
}


@click.group(cls=VerbGroup, verbs=VERBS)
def interventions() -> None:
    """Write edits and paraphrases by which a measure is tested, and check whether they are good.

    \b
    Example: genie interventions write starter -o pairs --editor openai/gpt-4o --per-prompt 2 --dry-run
             genie interventions check pairs --grader openai/gpt-4o
    """
