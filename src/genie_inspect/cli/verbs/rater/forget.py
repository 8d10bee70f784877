"""`genie rater forget`: a rater is taken out of a folder."""

from pathlib import Path

import click

from genie_inspect.cli.tables import shown_errors
from genie_inspect.cli.terminal import echo
from genie_inspect.raters.folder import forget as forgotten
from genie_inspect.raters.folder import read_judge


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("rater")
def forget(folder: Path, rater: str) -> None:
    """Take all that is of one RATER alone out of a FOLDER by genie rater fit.

    What rests on the votes of all raters together stays; fit anew without the rater's votes to be rid of that too.

    \b
    Example: genie rater forget taste ann
    """
    with shown_errors():
        before = read_judge(folder).digest
        votes = forgotten(folder, rater)
        after = read_judge(folder)
    echo(f"{folder}: forgot {rater} and the {votes} votes behind; {len(after.raters)} raters are left.")
    echo(f"judge@{before} is now judge@{after.digest}: scores by the one do not compare with those by the other.")
    echo("Coefficients of tests and scores, and the figures over all votes, still rest on these votes too: fit anew")
    echo("without them to take that away.")
