"""`genie agreement` and `genie answer-lengths`: scores compared with people's votes, and by answers of two lengths."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import click
import numpy as np

from genie_inspect.agreement.figures import AVERAGE, RANKINGS, Agreement, agreement_chart
from genie_inspect.agreement.figures import agreement as agreement_of
from genie_inspect.agreement.machine_scores import read_scores
from genie_inspect.agreement.votes import read_votes
from genie_inspect.cli import options as cli
from genie_inspect.cli.tables import figure, ranged, starred
from genie_inspect.errors import GenieError, UnknownChoiceError
from genie_inspect.files.tables import Table
from genie_inspect.files.values import number
from genie_inspect.logs.reading import read_logs
from genie_inspect.statistics.bootstrap import BootstrapInterval
from genie_inspect.statistics.descriptive import prompt_means
from genie_inspect.statistics.differences import TEST, differences, findings
from genie_inspect.statistics.effect import cohens_d
from genie_inspect.statistics.ranking import kendall

COMPARED = cli.together(
    cli.option("--leave-out", multiple=True, help="Stories to leave out, such as '*_NewYorker'; repeatable."),
    cli.flag(
        "--published-averages",
        help="Average as published: undefined is 0, pairs count once.",
    ),
    cli.resamples_option(),
    cli.seed_option(help="Random seed for the bootstrap."),
)
"""How graders are compared with people."""
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
@cli.option("--votes", required=True, type=cli.FILE, help="People's votes: JSON Lines, CSV or JSON.")
@cli.option("--judge", "judges", multiple=True, help="Judge of a file with several; repeatable. Default: all.")
@cli.option("--scorer", default="ttcw", help="Scorer to use in logs.")
@COMPARED
@cli.answering("tables", picture="a chart")
def agreement(
    scores: tuple[Path, ...], votes: Path, judges: tuple[str, ...], scorer: str, **options: Any
) -> cli.Answer:
    """Compare a grader's scores with people's votes on the same stories.

    SCORES are logs, or files of scores. Stories of one plot (or with the same id up to the first underscore) are ranked
    against each other. Votes are yes and no, or numbers. Intervals are 95%, by bootstrap over plots.

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


CONCISE = "concise"
MEASURE = "genie"
# the reader's digest too: it is of what a request sets, and longer answers may take more tokens; the judge's remains
_LENGTH = re.compile(r"(?:@[0-9a-f]+)?,template=[0-9a-f]+(?:,answers=(\w+))?(?=\)$)")
Novelty = dict[tuple[str, str], Mapping[str, float]]
"""Of each document, known by its prompt and the digest of its text."""


def length_shifts(paths: Iterable[str | Path]) -> list[dict[str, Any]]:
    """A row for each further length and each feature; `before` is concise where there are such answers.

    Source: Genie (arXiv 2606.12790), table 8, which has d the other way round: concise less unconstrained.
    """
    novelty: dict[str, Novelty] = {}
    # what else the signature of a length says
    rest: dict[str, dict[str, str]] = {}
    for document in (document for log in read_logs(paths) for document in log.documents):
        for scores in document.scores.values():
            facts = dict(scores.signature.facts)
            named = _LENGTH.search(facts.get("reader", ""))
            if facts.get("measure") != MEASURE or not named:
                continue
            length = named[1] or CONCISE
            facts["reader"] = _LENGTH.sub("", facts["reader"])
            if rest.setdefault(length, facts) != facts:
                raise GenieError(f"scores by {length} answers differ in {_differing(rest[length], facts)}")
            novelty.setdefault(length, {})[document.prompt, document.text] = scores.values
    if len(novelty) < 2:
        raise GenieError(
            f"all scores by {MEASURE} are by {', '.join(novelty) or 'no'} answers. Score the same documents again: "
            "inspect score LOG --scorer genie_inspect/genie -S answer_length=free --action append"
        )
    first, *others = rest
    for other in others:
        if rest[first] != rest[other]:
            differing = _differing(rest[first], rest[other])
            raise GenieError(f"scores by {first} and by {other} answers differ in more than that: {differing}")
    first = CONCISE if CONCISE in novelty else first
    return [row for length in novelty if length != first for row in _shifts(novelty, first, length)]


def _differing(here: Mapping[str, str], there: Mapping[str, str]) -> str:
    names = [name for name in {**here, **there} if here.get(name) != there.get(name)]
    return "; ".join(f"{name} is {here.get(name, '-')} and {there.get(name, '-')}" for name in names)


def _shifts(novelty: Mapping[str, Novelty], before: str, after: str) -> Iterator[dict[str, Any]]:
    both = [document for document in novelty[before] if document in novelty[after]]
    if not both:
        raise GenieError(f"no document was scored both by {before} and by {after} answers")
    features = list(dict.fromkeys(feature for document in both for feature in novelty[before][document]))
    sides = [
        np.array([[number(novelty[length][document].get(feature)) for feature in features] for document in both])
        for length in (before, after)
    ]
    # a document counts where both lengths have a value
    gaps = np.isnan(sides[0]) | np.isnan(sides[1])
    prompts = [prompt for prompt, _ in both]
    means = []
    for side in sides:
        side[gaps] = np.nan
        # documents of one prompt are alike: the test is over prompts
        by_prompt = [prompt_means(column.tolist(), prompts) for column in side.T]
        means.append(np.array([[own.get(prompt, np.nan) for own in by_prompt] for prompt in dict.fromkeys(prompts)]))
    family = findings(differences(means[0], means[1]))
    for feature, finding, gap, first, second in zip(features, family, gaps.T, sides[0].T, sides[1].T, strict=True):
        yield {
            "feature": feature,
            "before": before,
            "after": after,
            "documents": int((~gap).sum()),
            "tau": kendall(first, second),
            "effect": cohens_d(first, second),
            "finding": finding,
        }


LENGTHS_KEY = (
    "tau: Kendall's tau-b of the documents' novelty under both lengths, 1 same order. shift: second less first, means"
    f" over prompts, with its 95% interval; p: {TEST} over prompts, corrected (holm); *: significant. d: of the shift"
    " over documents."
)


@click.command()
@cli.LOGS
@cli.answering()
def answer_lengths(logs: tuple[str, ...]) -> cli.Answer:
    """Compare scores by long and by concise answers.

    Is the order the same, and how far do levels shift?

    LOGS have the same documents, scored by answers of different lengths.

    \b
    Example: inspect score LOG --scorer genie_inspect/genie -S answer_length=free --action append \\
                 --model-role grader=openai/gpt-4o
             genie answer-lengths LOG
    """
    rows = length_shifts(logs)
    return cli.Answer({"test": TEST, "shifts": rows}, _shift_tables(rows))


def _shift_tables(rows: Sequence[dict[str, Any]]) -> Iterator[Table | str]:
    heads = ("feature", "documents", "tau", "first", "second", "shift [95%]", "d", "p", "prompts")
    for (before, after), own in groupby(rows, key=itemgetter("before", "after")):
        cells = []
        for row in own:
            finding, shift = row["finding"], row["finding"].difference
            ends = f"[{figure(shift.low, '+.3f')}, {figure(shift.high, '+.3f')}]"
            levels = (figure(shift.before, ".3f"), figure(shift.after, ".3f"), f"{figure(shift.delta, '+.3f')} {ends}")
            test = (figure(row["effect"], "+.2f"), starred(finding.p_value, finding.differs), str(shift.pairs))
            cells.append([row["feature"].replace("_", " "), str(row["documents"]), figure(row["tau"]), *levels, *test])
        yield Table(f"{after} answers against {before} ones", heads, cells, look="narrow")
    yield LENGTHS_KEY
