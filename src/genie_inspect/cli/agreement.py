"""`genie agreement`: whether a machine judges stories as people do."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from genie_inspect.agreement.figures import AVERAGE, RANKINGS, Agreement, Ranking, agreement_chart
from genie_inspect.agreement.figures import agreement as agreement_of
from genie_inspect.agreement.machine_scores import JudgedStory, read_scores
from genie_inspect.agreement.votes import read_votes
from genie_inspect.cli.tables import replacing, text_table
from genie_inspect.cli.terminal import console, echo_json
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.reports.charts import check_picture, write_chart
from genie_inspect.statistics.bootstrap import BootstrapInterval

if TYPE_CHECKING:
    from rich.table import Table

FILE = click.Path(path_type=Path)
PUBLISHED_AVERAGES = click.option(
    "--published-averages",
    is_flag=True,
    help="As published: an undefined correlation counts 0 in the means, and pairwise accuracy takes each pair of "
    "stories from one side, that of the writer whom people rate lower; else from both.",
)
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
@click.option("--votes", required=True, type=FILE, help="What people say: JSON Lines, CSV or JSON.")
@click.option("--judge", "judges", multiple=True, help="Only these judges, where a file has several.")
@click.option("--scorer", default="ttcw", show_default=True, help="Whose scores in logs.")
@click.option("--leave-out", multiple=True, help="Story ids that are not compared, such as '*_NewYorker'.")
@PUBLISHED_AVERAGES
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

    Stories of one plot (else those whose ids begin alike, up to the first underscore) are ranked against each other.
    Votes are yes and no, or numbers on a scale. Intervals: 95%, by bootstrap over these groups.

    \b
    Example: genie agreement logs/ttcw --votes votes.jsonl --picture agreement.svg
    """
    if picture:
        check_picture(picture)
    figures = agreement_of(
        read_votes(votes, numbers=True),
        _chosen(read_scores(scores, scorer), judges),
        leave_out=leave_out,
        published_averages=published_averages,
        resamples=resamples,
        seed=seed,
    )
    if picture:
        with replacing(picture):
            write_chart(lambda: agreement_chart(figures, NAMES), picture)
    if as_json:
        echo_json(figures)
    else:
        _print(figures)


def _chosen(scores: dict[str, dict[str, JudgedStory]], judges: tuple[str, ...]) -> dict[str, dict[str, JudgedStory]]:
    unknown = [judge for judge in judges if judge not in scores]
    if unknown:
        raise UnknownChoiceError("judge", unknown[0], "one of " + ", ".join(scores))
    return {judge: stories for judge, stories in scores.items() if not judges or judge in judges}


def _print(figures: Agreement) -> None:
    screen = console()
    tables = [_ranking_table(figures), _length_table(figures), _rater_table(figures), _pass_rate_table(figures)]
    for table in filter(None, tables):
        screen.print(table)


def _ranking_table(figures: Agreement) -> "Table":
    """How alike judge and people rank the stories of a prompt: a row a measure, a column a judge."""
    judges = figures.judges.values()
    # the published averages count a correlation that is undefined as 0
    how = "counts 0" if figures.published_averages else "is left out"
    rows = [[NAMES[name], *(_ranking(judge.rankings[name]) for judge in judges)] for name in RANKINGS]
    if any(judge.not_judged for judge in judges):
        rows.append(["stories not judged", *(str(judge.not_judged) for judge in judges)])
    title = f"Ranking of stories: mean over {figures.prompts} prompts [95% interval]"
    caption = f"{figures.stories} stories, {figures.raters} raters; an undefined value {how}"
    return _table(title, caption, figures.judges, rows)


def _ranking(ranking: Ranking) -> str:
    return _interval(ranking.mean) + (f"\n{ranking.undefined} undefined" if ranking.undefined else "")


def _length_table(figures: Agreement) -> "Table | None":
    """What is left of each judge's agreement when length is taken out; None where no length is known."""
    known = {name: judge.length for name, judge in figures.judges.items() if judge.length}
    if not known:
        return None
    caption = "Spearman's rho of ranks within prompts, over all prompts; partial: the words' ranks taken out of both"
    rows = [
        ["length alone", *(_interval(own.length_alone) for own in known.values())],
        ["the judge", *(_interval(own.as_it_is) for own in known.values())],
        ["the judge, partial", *(_interval(own.partial) for own in known.values())],
    ]
    return _table("Agreement and length [95% interval]", caption, known, rows)


def _rater_table(figures: Agreement) -> "Table":
    """Chance-corrected agreement, test by test: people among themselves, and each judge with their majority."""
    of_numbers = "people: among themselves; a judge who gives numbers: with their median; by the order of the numbers"
    of_verdicts = "people: among themselves; a judge: with the people's majority; Cohen's kappa is for two raters"
    raters = [figures.people, *(judge.raters for judge in figures.judges.values())]
    rows = [[NAMES[name], *(_interval(values[name]) for values in raters)] for name in figures.people]
    caption = of_numbers if figures.scale else of_verdicts
    return _table("Raters, test by test [95% interval]", caption, ["people", *figures.judges], rows)


def _pass_rate_table(figures: Agreement) -> "Table":
    """How often people say that a test passes, or their mean number: a row a test, a column a writer."""
    title = "Passed, percent of people's votes"
    if figures.scale:
        title = "Mean of people's numbers, {:g} to {:g}".format(*figures.scale)
    shown = _number if figures.scale else _percent
    by_writer = figures.pass_rates.values()
    # writers may lack tests: the rows are those of all of them, the average last
    tests = {test for rates in by_writer for test in rates if test != AVERAGE}
    rows = [[test, *(shown(rates.get(test, math.nan)) for rates in by_writer)] for test in (*sorted(tests), AVERAGE)]
    return _table(title, "by who wrote the story", figures.pass_rates, rows)


def _table(title: str, caption: str, columns: Iterable[str], rows: Iterable[Sequence[str]]) -> "Table":
    return text_table(title, ["", *columns], rows, caption=caption, justify="center")


def _interval(interval: BootstrapInterval) -> str:
    if math.isnan(interval.value):
        return "undefined"
    ends = "" if math.isnan(interval.low) else f"\n[{interval.low:.2f}, {interval.high:.2f}]"
    return f"{interval.value:.2f}{ends}"


def _percent(share: float) -> str:
    return "" if math.isnan(share) else f"{100 * share:.1f}"


def _number(mean: float) -> str:
    return "" if math.isnan(mean) else f"{mean:.2f}"
