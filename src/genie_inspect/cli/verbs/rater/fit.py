"""`genie rater fit`: what raters say, learnt from votes and a grader's scores."""

from pathlib import Path
from typing import Any

import click

from genie_inspect.agreement.personal.calibration_chart import calibration_chart
from genie_inspect.agreement.personal.fitting import fit_judge
from genie_inspect.cli.outputs import replacing
from genie_inspect.cli.running import JSON, progress_bar
from genie_inspect.cli.tables import shown_errors
from genie_inspect.cli.terminal import console, echo, echo_json
from genie_inspect.cli.verbs.rater.tables import (
    calibration_table,
    chances_table,
    left_out,
    raters_table,
    verdicts_table,
)
from genie_inspect.cli.verbs.rater.voting import FILE, reading_votes, voted
from genie_inspect.files.folders import check_unused
from genie_inspect.raters.figures import HeldOut
from genie_inspect.raters.folder import write_folder
from genie_inspect.raters.judge import PersonalJudge
from genie_inspect.reports.charts import check_picture, write_chart


@click.command()
@reading_votes
@click.option("--output", "-o", required=True, type=FILE, help="The folder to make.")
@click.option("--taste/--no-taste", default=True, help="Whether raters may differ by test too.  [default: taste]")
@click.option("--resamples", default=1_000, show_default=True, type=click.IntRange(1), help="Of the bootstrap.")
@click.option("--picture", type=FILE, help="Write a chart of the calibration to this .svg or .png.")
@JSON
def fit(
    output: Path, taste: bool, resamples: int, picture: Path | None, as_json: bool, seed: int, **given: Any
) -> None:
    """Learn from VOTES what each rater would say, given a grader's scores of the same stories.

    VOTES: CSV or JSON Lines, a row a vote with story, rater, verdict or number, and test if there are several (plot,
    source where they are known); or what `genie agreement` takes. Every plot is held out once, with all its stories.

    \b
    Example: genie rater fit votes.csv --scores logs/ -o taste
    """
    with shown_errors():
        check_unused(output)
        if picture:
            check_picture(picture)
        ballots = voted(**given)
        with progress_bar() as advance:
            judge, figures = fit_judge(ballots, taste=taste, resamples=resamples, seed=seed, told=advance)
        write_folder(judge, figures, output)
        if picture:
            with replacing(picture):
                write_chart(lambda: calibration_chart(figures), picture)
    if as_json:
        told = {"judge": judge.model_dump(), "figures": figures.model_dump()}
        echo_json({"folder": str(output), "sentence": figures.sentence, **told})
    else:
        _print(judge, figures, output)


def _print(judge: PersonalJudge, figures: HeldOut, output: Path) -> None:
    screen = console()
    for table in (chances_table(figures), verdicts_table(figures), calibration_table(figures)):
        screen.print(table)
    screen.print(raters_table(judge, figures))
    for line in (*left_out(figures), figures.sentence, f"{output}: {len(judge.raters)} raters, judge@{judge.digest}"):
        echo(line)
