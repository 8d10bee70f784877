"""`genie agreement`: whether a machine judges stories as people do."""

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from genie_inspect.agreement.figures import AVERAGE, RANKINGS, Agreement, agreement_chart
from genie_inspect.agreement.figures import agreement as agreement_of
from genie_inspect.agreement.machine_scores import read_scores
from genie_inspect.agreement.votes import read_votes
from genie_inspect.cli import options as cli
from genie_inspect.cli.tables import figure, ranged
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.files.tables import Table
from genie_inspect.statistics.bootstrap import BootstrapInterval

COMPARED = cli.together(
    cli.option("--leave-out", multiple=True, help="Story ids that are not compared, such as '*_NewYorker'."),
    cli.flag(
        "--published-averages",
        help="As published: an undefined correlation counts 0 in the means, and pairwise accuracy takes each pair of "
        "stories from one side, that of the writer whom people rate lower; else from both.",
    ),
    cli.resamples_option(),
    cli.seed_option(help="Of the bootstrap."),
)
"""How machines are held against people."""
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
@click.argument("scores", nargs=-1, required=True, type=cli.FILE)
@cli.option("--votes", required=True, type=cli.FILE, help="What people say: JSON Lines, CSV or JSON.")
@cli.option("--judge", "judges", multiple=True, help="Only these judges, where a file has several.")
@cli.option("--scorer", default="ttcw", help="Whose scores in logs.")
@COMPARED
@cli.answering("tables", picture="a chart")
def agreement(
    scores: tuple[Path, ...], votes: Path, judges: tuple[str, ...], scorer: str, **options: Any
) -> cli.Answer:
    """How far SCORES (logs, or files of machine scores) agree with people's votes on the same stories.

    Stories of one plot (else those whose ids begin alike, up to the first underscore) are ranked against each other.
    Votes are yes and no, or numbers on a scale. Intervals: 95%, by bootstrap over these groups.

    \b
    Example: genie agreement logs/ttcw --votes votes.jsonl --picture agreement.svg
    """
    read, scored = read_votes(votes, numbers=True), read_scores(scores, scorer)
    if unknown := [judge for judge in judges if judge not in scored]:
        raise UnknownChoiceError("judge", unknown[0], "one of " + ", ".join(scored))
    chosen = {judge: stories for judge, stories in scored.items() if not judges or judge in judges}
    figures = agreement_of(read, chosen, **options)
    return cli.Answer(figures, _tables(figures), lambda: agreement_chart(figures, NAMES))


def _tables(figures: Agreement) -> Iterator[Table]:
    """A column a judge, or a writer: rankings, what length explains, agreement test by test, and what people say."""
    judges = figures.judges.values()

    def table(title: str, columns: Iterable[str], rows: Sequence[Sequence[str]], caption: str) -> Table:
        return Table(title, ["", *columns], rows, caption, look="centred")

    rows = []
    for name in RANKINGS:
        rankings = [judge.rankings[name] for judge in judges]
        undefined = [f"\n{one.undefined} undefined" if one.undefined else "" for one in rankings]
        rows.append([NAMES[name], *(_interval(one.mean) + more for one, more in zip(rankings, undefined, strict=True))])
    if any(judge.not_judged for judge in judges):
        rows.append(["stories not judged", *(str(judge.not_judged) for judge in judges)])
    title = f"Ranking of stories: mean over {figures.prompts} prompts [95% interval]"
    # the published averages count a correlation that is undefined as 0
    how = "counts 0" if figures.published_averages else "is left out"
    caption = f"{figures.stories} stories, {figures.raters} raters; an undefined value {how}"
    yield table(title, figures.judges, rows, caption)
    if known := {name: judge.length for name, judge in figures.judges.items() if judge.length}:
        parts = {"length_alone": "length alone", "as_it_is": "the judge", "partial": "the judge, partial"}
        rows = [[label, *(_interval(own[part]) for own in known.values())] for part, label in parts.items()]
        caption = (
            "Spearman's rho of ranks within prompts, over all prompts; partial: the words' ranks taken out of both"
        )
        yield table("Agreement and length [95% interval]", known, rows, caption)
    of_numbers = "people: among themselves; a judge who gives numbers: with their median; by the order of the numbers"
    of_verdicts = "people: among themselves; a judge: with the people's majority; Cohen's kappa is for two raters"
    raters = [figures.people, *(judge.raters for judge in judges)]
    rows = [[NAMES[name], *(_interval(values[name]) for values in raters)] for name in figures.people]
    caption = of_numbers if figures.scale else of_verdicts
    yield table("Raters, test by test [95% interval]", ["people", *figures.judges], rows, caption)
    title, factor, form = "Passed, percent of people's votes", 100, ".1f"
    if figures.scale:
        title, factor, form = "Mean of people's numbers, {:g} to {:g}".format(*figures.scale), 1, ".2f"
    by_writer = figures.pass_rates.values()
    # writers may lack tests: the rows are those of all of them, the average last
    tests = [*sorted({test for rates in by_writer for test in rates if test != AVERAGE}), AVERAGE]
    rows = [[test, *(figure(factor * rates.get(test, math.nan), form, "") for rates in by_writer)] for test in tests]
    yield table(title, figures.pass_rates, rows, "by who wrote the story")


def _interval(interval: BootstrapInterval) -> str:
    return ranged(interval.value, interval.low, interval.high, none="undefined", gap="\n")
