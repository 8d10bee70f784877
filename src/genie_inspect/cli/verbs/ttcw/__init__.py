"""`genie ttcw`: what one set of verdicts on stories says beside its totals."""

import click

from genie_inspect.cli.verbs.group import VerbGroup

VERBS = {
    "cutoffs": "Count the verdicts of logs under every cutoff; asks nobody.",
    "ways": "Put ways of asking side by side: a row each.",
    "totals": "Show how many tests stories pass, by writer.",
    "words": "Show how long stories are, by plot and writer.",
}


@click.group(cls=VerbGroup, room=__name__, verbs=VERBS)
def ttcw() -> None:
    """Ablations, word counts and histograms of the Torrance Test, from verdicts that are there.

    \b
    Example: genie ttcw ways logs/ --votes votes.jsonl
             genie ttcw cutoffs logs/ --votes votes.jsonl --picture cutoffs.svg
    """
