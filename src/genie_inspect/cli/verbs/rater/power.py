"""`genie rater power`: how many stories a rater has to vote on."""

from pathlib import Path
from typing import Any

import click

from genie_inspect.agreement.personal.power import from_data, from_simulation
from genie_inspect.agreement.personal.power_chart import power_chart
from genie_inspect.cli.outputs import replacing
from genie_inspect.cli.running import JSON, progress_bar
from genie_inspect.cli.tables import shown_errors
from genie_inspect.cli.terminal import console, echo, echo_json
from genie_inspect.cli.verbs.rater.tables import power_table
from genie_inspect.cli.verbs.rater.voting import FILE, reading_votes, voted
from genie_inspect.reports.charts import check_picture, write_chart


@click.command()
@reading_votes
@click.option("--simulate", is_flag=True, help="Draw votes like these instead: for more stories than there are.")
@click.option("--stories", "sizes", multiple=True, type=click.IntRange(2), help="How many; repeatable.")
@click.option("--repeats", default=40, show_default=True, type=click.IntRange(2), help="Draws of each number.")
@click.option("--taste/--no-taste", default=True, help="Whether raters may differ by test too.  [default: taste]")
@click.option("--picture", type=FILE, help="Write the learning curve to this .svg or .png.")
@JSON
def power(
    simulate: bool,
    sizes: tuple[int, ...],
    repeats: int,
    taste: bool,
    picture: Path | None,
    as_json: bool,
    seed: int,
    **given: Any,
) -> None:
    """How much better than by the grader alone raters are foretold, by the number of stories with VOTES.

    From the data: plots are drawn to learn from, and what is foretold of all other plots counts. With --simulate votes
    are drawn from a model of these votes, for any number of stories.

    \b
    Example: genie rater power votes.csv --scores logs/ --picture power.svg
    """
    with shown_errors():
        if picture:
            check_picture(picture)
        ballots = voted(**given)
        with progress_bar() as told:
            learning = from_simulation if simulate else from_data
            curve = learning(ballots, sizes, repeats=repeats, taste=taste, seed=seed, told=told)
        if picture:
            with replacing(picture):
                write_chart(lambda: power_chart(curve), picture)
    if as_json:
        echo_json(curve)
        return
    console().print(power_table(curve))
    echo(curve.sentence)
