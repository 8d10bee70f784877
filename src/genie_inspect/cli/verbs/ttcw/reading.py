"""What the verbs of `genie ttcw` share: which scores and votes are read, and how figures are shown."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from genie_inspect.agreement.machine_scores import JudgedStory, read_scores
from genie_inspect.agreement.rankings import Ranking
from genie_inspect.agreement.votes import VotedStory, read_votes
from genie_inspect.cli.options import with_options

if TYPE_CHECKING:
    from rich.table import Table

CommandT = TypeVar("CommandT", bound=Callable[..., Any])
FILE = click.Path(path_type=Path)
VOTES = click.option("--votes", type=FILE, help="What people say of the same stories, as for `genie agreement`.")
PICTURE = click.option("--picture", type=FILE, help="Write a chart to this .svg or .png.")
NAMES = {"spearman": "Spearman's rho", "kendall": "Kendall's tau-b", "pairwise_accuracy": "pairwise accuracy"}
_OPTIONS = (
    VOTES,
    click.option("--leave-out", multiple=True, help="Story ids that are not compared, such as '*_NewYorker'."),
    click.option("--published-averages", is_flag=True, help="An undefined correlation counts 0 in the means."),
    click.option("--resamples", default=2_000, show_default=True, type=click.IntRange(1), help="Of the bootstrap."),
    click.option("--seed", default=0, show_default=True, help="Of the bootstrap."),
)


def compared(command: CommandT) -> CommandT:
    """A command with the options of a comparison with people; those beside --votes are given on as they are."""
    return with_options(_OPTIONS)(command)


def read(paths: tuple[Path, ...], votes: Path | None) -> tuple[dict[str, dict[str, JudgedStory]], list[VotedStory]]:
    """Scores by judge and story, and the votes, none without a file.

    Raises:
        GenieError: If a file cannot be used.
    """
    return read_scores(paths), read_votes(votes, numbers=True) if votes else []


def plain_table(title: str, caption: str, *columns: str, left: int = 1) -> "Table":
    """A table whose first columns hold words and the others figures."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=title, caption=caption, title_justify="left", caption_justify="left")
    for place, column in enumerate(columns):
        table.add_column(escape(column), justify="left" if place < left else "right")
    return table


def figure(value: float, decimals: int = 2) -> str:
    """A number, blank where there is none."""
    return "" if math.isnan(value) else f"{value:.{decimals}f}"


def ranked(rankings: Mapping[str, Ranking]) -> list[str]:
    """The mean of each measure with its interval."""
    return [_ranked(rankings[name]) for name in NAMES if name in rankings]


def _ranked(ranking: Ranking) -> str:
    mean = ranking.mean
    if math.isnan(mean.value):
        return "undefined"
    # the bracket is escaped: rich would read the interval as markup
    return f"{mean.value:.2f}" + ("" if math.isnan(mean.low) else f" \\[{mean.low:.2f}, {mean.high:.2f}]")
