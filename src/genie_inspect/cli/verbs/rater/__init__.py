"""`genie rater`: a judge of one's own, from one's own votes."""

import importlib

import click

VERBS = {
    "fit": "Learn what raters say from votes and a grader's scores; says what it is worth.",
    "power": "Say how many stories a rater has to vote on.",
    "forget": "Take one rater out of a folder.",
    "curiosity": "Say how a curiosity model of raters does, and what of it is reading the answer.",
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
    """A judge of one's own: a grader's scores, calibrated by a rater's votes.

    \b
    Example: genie rater fit votes.csv --scores logs/ -o taste
             inspect score LOG --scorer genie_inspect/personal -S rater=taste#ann --action append
    """
