"""`genie agreement`: whether a machine judges stories as people do."""

import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

from genie_inspect.agreement.chart import agreement_chart
from genie_inspect.agreement.figures import AVERAGE, RANKINGS, RATERS, Agreement, Ranking
from genie_inspect.agreement.figures import agreement as agreement_of
from genie_inspect.agreement.machine_scores import JudgedStory, read_scores
from genie_inspect.agreement.votes import read_votes
from genie_inspect.cli.outputs import replacing
from genie_inspect.cli.tables import shown_errors
from genie_inspect.cli.terminal import console, echo_json
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.reports.charts import check_picture, write_chart
from genie_inspect.statistics.bootstrap import BootstrapInterval

if TYPE_CHECKING:
    from rich.table import Table

FILE = click.Path(path_type=Path)
NAMES = {
    "spearman": "Spearman's rho",
    "kendall": "Kendall's tau-b",
    "pairwise_accuracy": "pairwise accuracy",
    "fleiss_kappa": "Fleiss' kappa",
    "cohen_kappa": "Cohen's kappa",
    "randolph_kappa": "Randolph's kappa",
    "krippendorff_alpha": "Krippendorff's alpha",
}


@click.command()
@click.argument("scores", nargs=-1, required=True, type=FILE)
@click.option("--votes", required=True, type=FILE, help="What people say: JSON Lines or JSON.")
@click.option("--judge", "judges", multiple=True, help="Only these judges, where a file has several.")
@click.option("--scorer", default="ttcw", show_default=True, help="Whose scores in logs.")
@click.option("--leave-out", multiple=True, help="Story ids that are not compared, such as '*_NewYorker'.")
@click.option("--published-averages", is_flag=True, help="An undefined correlation counts 0 in the means.")
@click.option("--resamples", default=2_000, show_default=True, type=click.IntRange(1), help="Of the bootstrap.")
@click.option("--seed", default=0, show_default=True, help="Of the bootstrap.")
@click.option("--picture", type=FILE, help="Write a chart to this .svg or .png.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a script instead of tables.")
def agreement(
    scores: tuple[Path, ...],
    votes: Path,
    judges: tuple[str, ...],
    scorer: str,
    leave_out: tuple[str, ...],
    published_averages: bool,
    resamples: int,
    seed: int,
    picture: Path | None,
    as_json: bool,
) -> None:
    """How far SCORES (logs, or files of machine scores) agree with people's votes on the same stories.

    Stories whose ids begin alike, up to the first underscore, are ranked against each other. Intervals: 95%, by
    bootstrap over these groups.

    \b
    Example: genie agreement logs/ttcw --votes votes.jsonl --picture agreement.svg
    """
    with shown_errors():
        if picture:
            check_picture(picture)
        found = agreement_of(
            read_votes(votes),
            _chosen(read_scores(scores, scorer), judges),
            leave_out=leave_out,
            published_averages=published_averages,
            resamples=resamples,
            seed=seed,
        )
        if picture:
            with replacing(picture):
                write_chart(lambda: agreement_chart(found, NAMES), picture)
    if as_json:
        echo_json(found)
    else:
        _print(found)


def _chosen(read: dict[str, dict[str, JudgedStory]], judges: tuple[str, ...]) -> dict[str, dict[str, JudgedStory]]:
    unknown = [judge for judge in judges if judge not in read]
    if unknown:
        raise UnknownChoiceError("judge", unknown[0], "one of " + ", ".join(read))
    return {judge: stories for judge, stories in read.items() if not judges or judge in judges}


def _print(found: Agreement) -> None:
    screen = console()
    for table in (_ranking_table(found), _rater_table(found), _pass_rate_table(found)):
        screen.print(table)


def _ranking_table(found: Agreement) -> "Table":
    """How alike judge and people rank the stories of a prompt: a row a measure, a column a judge."""
    how = "counts 0" if found.published_averages else "is left out"
    table = _table(
        f"Ranking of stories: mean over {found.prompts} prompts [95% interval]",
        f"{found.stories} stories, {found.raters} raters; an undefined value {how}",
        *found.judges,
    )
    for name in RANKINGS:
        table.add_row(NAMES[name], *(_ranking(judge.rankings[name]) for judge in found.judges.values()))
    if any(judge.not_judged for judge in found.judges.values()):
        table.add_row("stories not judged", *(str(judge.not_judged) for judge in found.judges.values()))
    return table


def _ranking(ranking: Ranking) -> str:
    return _interval(ranking.mean) + (f"\n{ranking.undefined} undefined" if ranking.undefined else "")


def _rater_table(found: Agreement) -> "Table":
    """Chance-corrected agreement, test by test: people among themselves, and each judge with their majority."""
    table = _table(
        "Raters, test by test [95% interval]",
        "people: among themselves; a judge: with the people's majority; Cohen's kappa is for two raters",
        "people",
        *found.judges,
    )
    for name in RATERS:
        raters = [found.people, *(judge.raters for judge in found.judges.values())]
        table.add_row(NAMES[name], *(_interval(own[name]) for own in raters))
    return table


def _pass_rate_table(found: Agreement) -> "Table":
    """How often people say that a test passes: a row a test, a column a writer."""
    table = _table("Passed, percent of people's votes", "by who wrote the story", *found.pass_rates)
    tests = dict.fromkeys(test for rates in found.pass_rates.values() for test in rates if test != AVERAGE)
    for test in (*sorted(tests), AVERAGE):
        table.add_row(test, *(_percent(rates.get(test, math.nan)) for rates in found.pass_rates.values()))
    return table


def _table(title: str, caption: str, *columns: str) -> "Table":
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=title, caption=caption)
    table.add_column("")
    for column in columns:
        table.add_column(escape(column), justify="right")
    return table


def _interval(found: BootstrapInterval) -> str:
    if math.isnan(found.value):
        return "undefined"
    ends = "" if math.isnan(found.low) else f"\n\\[{found.low:.2f}, {found.high:.2f}]"
    return f"{found.value:.2f}{ends}"


def _percent(share: float) -> str:
    return "" if math.isnan(share) else f"{100 * share:.1f}"
