"""`genie rater`: a judge of one's own, from one's own votes."""

import click

from genie_inspect.cli.group import VerbGroup

VERBS = {
    "fit": (
        "genie_inspect.cli.verbs.rater.fit:fit",
        "Learn what raters say from votes and a grader's scores; says what it is worth.",
    ),
    "power": ("genie_inspect.cli.verbs.rater.power:power", "Say how many stories a rater has to vote on."),
    "forget": ("genie_inspect.cli.verbs.rater.forget:forget", "Take one rater out of a folder."),
    "curiosity": (
        "genie_inspect.cli.verbs.rater.curiosity:curiosity",
        "Say how a curiosity model of raters does, and what of it is reading the answer.",
    ),
}


@click.group(cls=VerbGroup, verbs=VERBS)
def rater() -> None:
    """A judge of one's own: a grader's scores, calibrated by a rater's votes.

    \b
    Example: genie rater fit votes.csv --scores logs/ -o taste
             inspect score LOG --scorer genie_inspect/personal -S rater=taste#ann --action append
    """
