"""`genie rater`: a judge of one's own, from one's own votes."""

import click

from genie_inspect.cli.verbs.group import VerbGroup

VERBS = {
    "fit": "Learn what raters say from votes and a grader's scores; says what it is worth.",
    "power": "Say how many stories a rater has to vote on.",
    "forget": "Take one rater out of a folder.",
    "curiosity": "Say how a curiosity model of raters does, and what of it is reading the answer.",
}


@click.group(cls=VerbGroup, room=__name__, verbs=VERBS)
def rater() -> None:
    """A judge of one's own: a grader's scores, calibrated by a rater's votes.

    \b
    Example: genie rater fit votes.csv --scores logs/ -o taste
             inspect score LOG --scorer genie_inspect/personal -S rater=taste#ann --action append
    """
