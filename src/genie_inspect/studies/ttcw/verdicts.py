"""Verdicts of the Torrance Test counted anew: `genie ttcw`."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from genie_inspect.agreement.figures import DOTS, INK, Ranking, human_score, rankings
from genie_inspect.agreement.machine_scores import JudgedStory, read_scores
from genie_inspect.agreement.votes import VotedStory, VotesError, are_numbers, read_votes, writer_of
from genie_inspect.cli import VerbGroup
from genie_inspect.cli.agreement import COMPARED
from genie_inspect.cli.options import FILE, Answer, answering, option, together
from genie_inspect.cli.tables import figure, ranged
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.files.tables import Table, plain
from genie_inspect.graders.rubrics import setup_said
from genie_inspect.logs.scores import known_mean
from genie_inspect.measures.likert import passed, passes
from genie_inspect.signature import Signature

if TYPE_CHECKING:
    import altair

STORIES = "genie_inspect.studies.ttcw.stories"
VERBS = {
    "cutoffs": (f"{__name__}:cutoffs", "Count how many tests stories pass with each cutoff."),
    "totals": (f"{__name__}:totals", "Count how many tests the stories of each writer pass."),
    "setups": (f"{__name__}:setups", "Compare the setups in which graders were asked."),
    "words": (f"{STORIES}:words", "Count the words of stories, by plot and writer."),
    "extract-plots": (f"{STORIES}:extract_plots", "Extract the plot of each story, in one sentence."),
}
Scores = Mapping[str, Mapping[str, JudgedStory]]
Rows = list[dict[str, Any]]  # as JSON has them
NAMES = {"spearman": "Spearman's rho", "kendall": "Kendall's tau-b", "pairwise_accuracy": "pairwise accuracy"}
SHOWN = "spearman"  # in the chart
PEOPLE = "people"
_MODEL = re.compile(r"critic\((.+)@[0-9a-f]+,template=[0-9a-f]+\)")


@click.group(cls=VerbGroup, sections={"Commands": VERBS})
def ttcw() -> None:
    """Analyse verdicts of the Torrance Test of Creative Writing.

    \b
    Example: genie ttcw setups logs/ --votes votes.jsonl
    """


VOTES = option("--votes", type=FILE, help="People's votes, as for `genie agreement`.")
# a comparison with people: what is beside --votes is given on as it is
compared = together(VOTES, COMPARED)


def read(paths: tuple[Path, ...], votes: Path | None) -> tuple[dict[str, dict[str, JudgedStory]], list[VotedStory]]:
    return read_scores(paths), read_votes(votes, numbers=True) if votes else []


def ranked(rankings: Mapping[str, Ranking]) -> list[str]:
    means = [rankings[name].mean for name in NAMES if name in rankings]
    return [ranged(mean.value, mean.low, mean.high, none="undefined") for mean in means]


def at_cutoff(story: JudgedStory, cutoff: int) -> JudgedStory:
    if not story.points and not math.isnan(story.score):
        raise VotesError(f"story {story.story!r} has no points on single tests in its log, which a cutoff needs")
    tests = {
        test: math.nan if math.isnan(points) else float(passes(int(points), cutoff))
        for test, points in story.points.items()
    }
    return replace(story, score=passed(tests.values()), tests=tests)


def cutoff_curves(
    scores: Scores, votes: Sequence[VotedStory] = (), cutoffs: Sequence[int] = (), **options: Any
) -> Rows:
    """By judge the mean over stories of the tests that they pass under each cutoff, NaN where none was judged.

    With votes also how far each cutoff ranks stories as people do. `cutoff` is the one of the log, None where its
    signature does not say it.
    """
    compared = {judge: stories for judge, stories in scores.items() if any(own.points for own in stories.values())}
    if not compared:
        raise VotesError("no score has points on tests, which a cutoff needs: expected logs of stories with references")
    curves = []
    for judge, stories in compared.items():
        facts = Signature(next(iter(stories.values())).signature).facts
        lowest = 2 - (_whole(facts.get("levels", "")) or 5)
        if wrong := [cutoff for cutoff in cutoffs if cutoff not in range(lowest, 2 - lowest)]:
            raise UnknownChoiceError("cutoff", wrong[0], f"{lowest} to {1 - lowest} with the levels of {judge}")
        points = []
        for cutoff in cutoffs or range(lowest, 1):
            counted = {name: at_cutoff(story, cutoff) for name, story in stories.items()}
            total = known_mean(story.score for story in counted.values())
            ranked = rankings(votes, counted, **options) if votes else {}
            points.append({"cutoff": cutoff, "total": total, "rankings": ranked})
        about = {"judge": judge, "cutoff": _whole(facts.get("cutoff", "")), "stories": len(stories)}
        curves.append({**about, "points": points})
    return curves


def _whole(text: str) -> int | None:
    # a log may have its signature from anywhere
    return int(text) if re.fullmatch(r"-?\d{1,9}", text) else None


def asked_setups(scores: Scores, votes: Sequence[VotedStory] = (), **options: Any) -> Rows:
    """One row per judge and setup; the means are NaN where no story was judged."""
    rows = []
    for judge, stories in scores.items():
        facts = Signature(next(iter(stories.values())).signature).facts
        model = _MODEL.fullmatch(facts.get("judge", ""))
        totals = {name: story.score for name, story in stories.items()}
        rows.append(
            {
                "judge": model[1] if model else judge,
                "setup": setup_said(facts),
                "cutoff": facts.get("cutoff", ""),
                "stories": len(stories),
                "not_judged": sum(map(math.isnan, totals.values())),
                "total": known_mean(totals.values()),
                "by_writer": {writer: known_mean(own) for writer, own in by_writer(totals, votes).items()},
                "rankings": rankings(votes, stories, **options) if votes else {},
            }
        )
    return rows


def by_writer(totals: Mapping[str, float], votes: Sequence[VotedStory]) -> dict[str, list[float]]:
    writers = {story.story: story.writer for story in votes}
    rows: dict[str, list[float]] = {}
    for name, total in totals.items():
        rows.setdefault(writers.get(name) or writer_of(name), []).append(total)
    return rows


def writer_totals(scores: Scores, votes: Sequence[VotedStory] = ()) -> Rows:
    """How many tests the stories of each writer pass that were judged, as each judge or most people say."""
    if are_numbers(votes):
        raise VotesError("votes are numbers, expected yes and no: a number says of no test that it is passed")
    if not (votes or scores):
        raise VotesError("there is nothing to count: expected logs or files of scores, or --votes")
    by_judge = {PEOPLE: {story.story: human_score(story, numbers=False) for story in votes}} if votes else {}
    by_judge |= {judge: {name: story.score for name, story in stories.items()} for judge, stories in scores.items()}
    rows = []
    for judge, totals in by_judge.items():
        for writer, own in by_writer(totals, votes).items():
            judged = [total for total in own if not math.isnan(total)]
            rows.append({"judge": judge, "writer": writer, "mean": known_mean(judged), "totals": judged})
    return rows


def histogram(row: Mapping[str, Any]) -> dict[int, int]:
    return dict(sorted(Counter(map(round, row["totals"])).items()))


def most_passed(rows: Rows) -> int:
    return max((total for row in rows for total in histogram(row)), default=0)


def cutoff_chart(curves: Rows) -> "altair.VConcatChart":
    """A curve a judge, a panel each: agreement with people by cutoff with 95% intervals, or the mean total."""
    import altair

    with_votes = any(point["rankings"] for curve in curves for point in curve["points"])
    y_title = NAMES[SHOWN] if with_votes else "tests passed, mean"
    panels = []
    for curve in curves:
        rows = []
        for point in curve["points"]:
            mean = point["rankings"][SHOWN].mean if SHOWN in point["rankings"] else None
            shown = {"value": mean.value, "low": mean.low, "high": mean.high} if mean else {"value": point["total"]}
            rows.append(plain({"cutoff": point["cutoff"], **shown}))
        base = altair.Chart(altair.InlineData(values=rows)).encode(
            x=altair.X("cutoff:O", title="a test passes from this score on", sort=None, axis=altair.Axis(labelAngle=0))
        )
        y = altair.Y("value:Q", title=y_title, scale=altair.Scale(domain=[-1, 1]) if with_votes else altair.Undefined)
        line = base.mark_line(color=DOTS, point=altair.OverlayMarkDef(color=DOTS, size=60)).encode(y=y)
        rule = base.mark_rule(color=INK, opacity=0.5).encode(y=altair.Y("low:Q", title=y_title), y2="high:Q")
        panels.append(altair.layer(rule, line).properties(width=360, height=180, title=curve["judge"]))
    heading = altair.TitleParams("One set of verdicts under every cutoff", anchor="start")
    return altair.vconcat(*panels, title=heading)


def totals_chart(rows: Rows) -> "altair.VConcatChart":
    """A histogram of totals a judge and writer, with its mean as a line."""
    import altair

    x = altair.X("from:Q", title="tests passed", scale=altair.Scale(domain=[-0.5, most_passed(rows) + 0.5]))
    y = altair.Y("stories:Q", title="stories", axis=altair.Axis(tickMinStep=1))
    panels = []
    for row in rows:
        bars = [
            {"from": total - 0.4, "to": total + 0.4, "none": 0, "stories": count}
            for total, count in histogram(row).items()
        ]
        means = [] if math.isnan(row["mean"]) else [{"from": row["mean"]}]
        shown = altair.Chart(altair.InlineData(values=bars)).mark_rect(color=DOTS).encode(x, y, x2="to:Q", y2="none:Q")
        mean = altair.Chart(altair.InlineData(values=means)).mark_rule(color=INK, strokeWidth=2).encode(x)
        title = f"{row['writer'] or 'nobody named'}, by {row['judge']}"
        panels.append(altair.layer(shown, mean).properties(width=360, height=90, title=title))
    heading = altair.TitleParams("Tests passed by writer", subtitle="black: the mean", anchor="start")
    return altair.vconcat(*panels, title=heading)


@click.command()
@click.argument("logs", nargs=-1, required=True, type=FILE)
@option("--cutoff", "cutoffs", multiple=True, type=int, help="Cutoff to try; repeatable. Default: all up to 0.")
@compared
@answering(picture="a chart")
def cutoffs(logs: tuple[Path, ...], cutoffs: tuple[int, ...], votes: Path | None, **options: Any) -> Answer:
    """Count how many tests stories pass with each cutoff, without model calls.

    --votes also shows how well each cutoff ranks stories as people do.

    \b
    Example: genie ttcw cutoffs logs/ --votes votes.jsonl --picture cutoffs.svg
    """
    scores, voted = read(logs, votes)
    curves = cutoff_curves(scores, voted, cutoffs, **options)
    heads = ("a test passes from", "tests passed, mean", *(NAMES.values() if voted else ()))
    tables = []
    for curve in curves:
        rows = []
        for point in curve["points"]:
            cutoff = "*" * (point["cutoff"] == curve["cutoff"]) + str(point["cutoff"])
            rows.append((cutoff, figure(point["total"], none=""), *ranked(point["rankings"])))
        caption = f"{curve['stories']} stories; *: as the log was scored"
        tables.append(Table(curve["judge"], heads, rows, caption=caption, words=0, look="folded"))
    return Answer(curves, tables, lambda: cutoff_chart(curves))


@click.command()
@click.argument("scores", nargs=-1, type=FILE)
@VOTES
@answering(picture="a chart")
def totals(scores: tuple[Path, ...], votes: Path | None) -> Answer:
    """Count how many tests the stories of each writer pass.

    By each grader and by most people.

    \b
    Example: genie ttcw totals logs/ --votes votes.jsonl
    """
    rows = writer_totals(*read(scores, votes))
    every = range(most_passed(rows) + 1)
    cells = []
    for row in rows:
        counts = (str(histogram(row).get(total, "")) for total in every)
        stories, mean = str(len(row["totals"])), figure(row["mean"], none="")
        cells.append((row["judge"], row["writer"], stories, mean, *counts))
    heads = ("judge", "writer", "stories", "mean", *map(str, every))
    caption = "people: tests that most of them let pass"
    table = Table("Stories by number of tests passed", heads, cells, caption=caption, words=2, look="folded")
    return Answer(rows, [table], lambda: totals_chart(rows))


@click.command()
@click.argument("logs", nargs=-1, required=True, type=FILE)
@compared
@answering()
def setups(logs: tuple[Path, ...], votes: Path | None, **options: Any) -> Answer:
    """Compare the setups in which graders were asked: mean tests passed by writer.

    --votes also shows how well each setup ranks stories as people do. A run of the task ttcw_stories with setups=all
    has all setups.

    \b
    Example: genie ttcw setups logs/ --votes votes.jsonl
    """
    scores, voted = read(logs, votes)
    rows = asked_setups(scores, voted, **options)
    writers = list(dict.fromkeys(writer for row in rows for writer in row["by_writer"]))
    cells = []
    for row in rows:
        means = [row["total"], *(row["by_writer"].get(writer, math.nan) for writer in writers)]
        judged = f"{row['stories'] - row['not_judged']} of {row['stories']}"
        figures = [figure(mean, none="") for mean in means]
        cells.append((row["judge"], row["setup"], row["cutoff"], judged, *figures, *ranked(row["rankings"])))
    heads = ("judge", "setup", "cutoff", "judged", "all", *writers, *(NAMES.values() if voted else ()))
    caption = "tests passed, mean over stories: of all, then by writer"
    return Answer(rows, [Table("Setups", heads, cells, caption=caption, words=2, look="folded")])
