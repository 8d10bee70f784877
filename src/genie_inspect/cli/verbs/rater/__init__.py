"""`genie rater`: whose taste a score speaks for."""

import importlib

import click

VERBS = {
    "curiosity": "The curiosity model of a rater's taste, and what it owes to reading the answer.",
}


class Rater(click.Group):
    """A group whose verbs are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The verb of that name."""
        if cmd_name not in VERBS:
            return None
        command: click.Command = getattr(importlib.import_module(f"{__name__}.{cmd_name}"), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The verbs with their one line each, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


@click.group(cls=Rater)
def rater() -> None:
    """Whose taste a score speaks for.

    \b
    Example: genie rater curiosity explained_votes.jsonl
    """
