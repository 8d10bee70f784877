"""`genie ttcw`: what one set of verdicts on stories says beside its totals."""

import click

from genie_inspect.cli.group import VerbGroup

VERBS = {
    "cutoffs": (
        "genie_inspect.cli.verbs.ttcw.cutoffs:cutoffs",
        "Count the verdicts of logs under every cutoff; asks nobody.",
    ),
    "ways": ("genie_inspect.cli.verbs.ttcw.ways:ways", "Put ways of asking side by side: a row each."),
    "totals": ("genie_inspect.cli.verbs.ttcw.totals:totals", "Show how many tests stories pass, by writer."),
    "words": ("genie_inspect.cli.verbs.ttcw.words:words", "Show how long stories are, by plot and writer."),
}


@click.group(cls=VerbGroup, verbs=VERBS)
def ttcw() -> None:
    """Ablations, word counts and histograms of the Torrance Test, from verdicts that are there.

    \b
    Example: genie ttcw ways logs/ --votes votes.jsonl
             genie ttcw cutoffs logs/ --votes votes.jsonl --picture cutoffs.svg
    """
