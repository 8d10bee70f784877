"""`genie close-reading`: what close readers find, beside n-gram novelty and beside people."""

import click

from genie_inspect.cli.group import VerbGroup

VERBS = {
    "meeting": (
        "genie_inspect.cli.verbs.close_reading.meeting:meeting",
        "What readers find in the expressions that are newest to a corpus; needs no name.",
    ),
    "agreement": (
        "genie_inspect.cli.verbs.close_reading.agreement:agreement",
        "How far readers mark what experts mark.",
    ),
    "fit": ("genie_inspect.cli.verbs.close_reading.fit:fit", "What goes with a verdict, by a mixed logistic model."),
    "preference": (
        "genie_inspect.cli.verbs.close_reading.preference:preference",
        "Whether marks say which of two texts people prefer.",
    ),
}


class CloseReading(VerbGroup):
    """A group whose first word may also be a folder of logs."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb that the first word names; where it names none, the one that takes logs."""
        return super().resolve_command(ctx, args if args[0] in VERBS else ["meeting", *args])


# an option before the first word is the verb's, which may not be named
@click.group(
    cls=CloseReading,
    verbs=VERBS,
    no_args_is_help=True,
    subcommand_metavar="[VERB] LOGS|FILE...",
    context_settings={"ignore_unknown_options": True},
)
def close_reading() -> None:
    """Close readings of texts: beside n-gram novelty, beside experts, beside what people prefer.

    Without a verb, LOGS are log files or folders with scores of close_reading and expression_novelty; a folder that is
    called like a verb is given as ./fit.

    \b
    Example: genie close-reading logs/ --picture quarter.svg
             genie close-reading agreement passages.jsonl
    """
