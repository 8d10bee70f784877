"""`genie ttcw`: what one set of verdicts on stories says beside its totals."""

import importlib

import click

VERBS = {
    "cutoffs": "Count the verdicts of logs under every cutoff; asks nobody.",
    "ways": "Put ways of asking side by side: a row each.",
    "totals": "Show how many tests stories pass, by writer.",
    "words": "Show how long stories are, by plot and writer.",
}


class Ttcw(click.Group):
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


@click.group(cls=Ttcw)
def ttcw() -> None:
    """Ablations, word counts and histograms of the Torrance Test, from verdicts that are there.

    \b
    Example: genie ttcw ways logs/ --votes votes.jsonl
             genie ttcw cutoffs logs/ --votes votes.jsonl --picture cutoffs.svg
    """
