"""Votes and scores as the verbs of `genie rater` take them."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from genie_inspect.agreement.machine_scores import read_scores
from genie_inspect.agreement.personal.ballots import Ballots, ballots
from genie_inspect.agreement.personal.columns import Choice
from genie_inspect.agreement.votes import VotesError, prompt_of, read_votes
from genie_inspect.cli.options import with_options

FILE = click.Path(path_type=Path)
CommandT = TypeVar("CommandT", bound=Callable[..., Any])

OPTIONS = (
    click.argument("votes", type=FILE),
    click.option("--scores", multiple=True, required=True, type=FILE, help="Logs, or files of scores; repeatable."),
    click.option("--scorer", "scorers", multiple=True, help="Whose scores in logs; repeatable.  [default: ttcw]"),
    click.option("--key", "keys", multiple=True, help="Values of scores to go by; repeatable.  [default: the tests']"),
    click.option("--points", is_flag=True, help="Go by a critic's points on each test, not by pass and fail."),
    click.option("--test", "tests", multiple=True, help="Only votes on these tests; repeatable."),
    click.option("--leave-out", multiple=True, help="Story ids that do not count, such as '*_NewYorker'; repeatable."),
    click.option(
        "--plot",
        metavar="PATTERN",
        help="A regular expression of a story's id; what its first group (else all of it) matches is the plot.  "
        "[default: the file's column plot, else what stands before the first underscore]",
    ),
    click.option("--human", "humans", multiple=True, help="Sources that are people, such as NewYorker; repeatable."),
    click.option("--seed", default=0, show_default=True, help="Of what is drawn."),
)
"""Of every verb that reads votes."""


def reading_votes(command: CommandT) -> CommandT:
    """A command with the options that say which votes and scores count."""
    return with_options(OPTIONS)(command)


def voted(
    votes: Path,
    scores: tuple[Path, ...],
    scorers: tuple[str, ...],
    plot: str | None,
    **chosen: Any,
) -> Ballots:
    """The votes with the scores beside them.

    Args:
        votes: The file.
        scores: Logs and files.
        scorers: Whose scores; none: ttcw's.
        plot: The pattern of a plot; None: what stands before the first underscore.
        chosen: The rest of `Choice`.

    Raises:
        VotesError: If votes or scores cannot be read, or do not belong together.
        TableError: If the rows of votes cannot be read.
        LogError: If a log cannot be used.
    """
    plot_of = prompt_of if plot is None else _plots(plot)
    return ballots(
        read_votes(votes, numbers=True), read_scores(scores, scorers or ("ttcw",)), Choice(plot=plot_of, **chosen)
    )


def _plots(pattern: str) -> Callable[[str], str]:
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise VotesError(f"plot is {pattern!r}, expected a regular expression: {error}") from error

    def plot_of(story: str) -> str:
        match = compiled.search(story)
        if match is None:
            raise VotesError(f"story {story!r} has no plot by {pattern!r}, expected a pattern that matches every story")
        return (match[1] if compiled.groups else match[0]) or ""

    return plot_of
