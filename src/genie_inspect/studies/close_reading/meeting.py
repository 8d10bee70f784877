"""`genie close-reading`: what close readers find where n-grams are newest to a corpus; its verbs.

Source: Saakyan et al. 2025 (arXiv 2509.22641). Nine in ten ratings of the most novel quarter did not call an expression
creative; of its expressions eight in ten were creative to nobody. The two answer two questions, so both are shown.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from numpy.typing import NDArray

from genie_inspect.cli import VerbGroup
from genie_inspect.cli.options import Answer, answering, option, resamples_option, seed_option
from genie_inspect.cli.tables import figure, ranged
from genie_inspect.cli.terminal import Unbroken
from genie_inspect.errors import GenieError
from genie_inspect.files.tables import Table, plain
from genie_inspect.logs.files import samples
from genie_inspect.logs.reading import read_logs
from genie_inspect.logs.scores import expressions, readings
from genie_inspect.samples import document_of, prompt_of
from genie_inspect.signature import digest
from genie_inspect.statistics.bootstrap import UNKNOWN, BootstrapInterval, bootstrap_interval

if TYPE_CHECKING:
    import altair

NOVEL, AWKWARD, NEITHER = "novel", "awkward", "neither"
VERDICTS = (NOVEL, AWKWARD, NEITHER)
QUARTER = 0.25
Counts = NDArray[np.float64]  # by cluster how often each verdict is given, last how many ratings: (4, clusters)


class MeetingError(GenieError):
    """There is nothing to hold together; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Rating:
    source: str  # who wrote it: a model, or people
    cluster: Hashable  # what is drawn together in a bootstrap: a prompt, or a passage
    expression: Hashable  # the same for every reader of it
    log_perplexity: float  # how new it is to a corpus
    novel: bool
    awkward: bool


@dataclass(frozen=True, slots=True)
class Shares:
    count: int  # of the most n-gram-novel quarter
    shares: dict[str, BootstrapInterval]  # by verdict; an expression may be novel and awkward


@dataclass(frozen=True, slots=True)
class WriterFigures:
    ratings: int
    expressions: int
    shares: dict[str, float]  # by verdict, of all its ratings
    # by verdict but neither, over the odds of the baseline: NaN of itself, and where a verdict is never or always given
    odds: dict[str, BootstrapInterval]


@dataclass(frozen=True, slots=True)
class Meeting:
    ratings: int
    clusters: int
    threshold: float  # the log perplexity above which the quarter begins
    by_rating: Shares
    by_expression: Shares  # an expression is novel, or awkward, where any reader says so
    novel_below_mean: float  # of the novel ratings, those less n-gram-novel than the mean; NaN without any
    novel_in_lowest_quarter: float
    baseline: str
    sources: dict[str, WriterFigures]


def meeting(ratings: Sequence[Rating], baseline: str = "", resamples: int = 2_000, seed: int = 0) -> Meeting:
    """What readers find in expressions, by how new these are to a corpus.

    The quarter is that of the ratings, so that an expression counts in it as often as it was rated. Where it begins, a
    resample does not ask again.
    """
    if not ratings:
        raise MeetingError("no rating, expected texts with both close_reading and expression_novelty")
    by_source: dict[str, list[Rating]] = {}
    for rating in ratings:
        by_source.setdefault(rating.source, []).append(rating)
    baseline = baseline or ratings[0].source
    if baseline not in by_source:
        raise MeetingError(f"baseline is {baseline!r}, expected one of {', '.join(by_source)}")
    logs = np.array([rating.log_perplexity for rating in ratings])
    threshold = float(np.quantile(logs, 1 - QUARTER))
    novel = logs[[rating.novel for rating in ratings]]
    top = [rating for rating in ratings if rating.log_perplexity > threshold]
    clusters = {cluster: place for place, cluster in enumerate(dict.fromkeys(rating.cluster for rating in ratings))}

    def counted(own: Iterable[Rating]) -> Counts:
        counts = np.zeros((len(VERDICTS) + 1, len(clusters)))
        for rating in own:
            neither = not (rating.novel or rating.awkward)
            counts[:, clusters[rating.cluster]] += (rating.novel, rating.awkward, neither, 1)
        return counts

    def interval(ratio: Callable[..., tuple[float, float]], *parts: Counts) -> BootstrapInterval:
        """The ratio of two numbers that come of sums over clusters; NaN where it has no end."""

        def statistic(drawn: NDArray[np.intp]) -> float:
            part, whole = ratio(*(counts[:, drawn].sum(axis=1) for counts in parts))
            return float(part / whole) if whole else np.nan

        return bootstrap_interval(statistic, len(clusters), resamples, seed)

    def shares(own: Sequence[Rating]) -> Shares:
        counts = counted(own)
        by_verdict = {name: interval(tuple, counts[[at, -1]]) for at, name in enumerate(VERDICTS)}
        return Shares(len(own), by_verdict)

    def odds_ratio(ours: Counts, base: Counts) -> tuple[float, float]:
        return ours[0] * (base[1] - base[0]), base[0] * (ours[1] - ours[0])

    def writer(source: str, own: Sequence[Rating]) -> WriterFigures:
        counts, base = counted(own), counted(by_source[baseline])
        given = (counts[:-1].sum(axis=1) / len(own)).tolist()
        odds = {NOVEL: UNKNOWN, AWKWARD: UNKNOWN}
        if source != baseline:
            odds = {name: interval(odds_ratio, counts[[at, -1]], base[[at, -1]]) for at, name in enumerate(odds)}
        return WriterFigures(len(own), len(by_expression(own)), dict(zip(VERDICTS, given, strict=True)), odds)

    return Meeting(
        ratings=len(ratings),
        clusters=len(clusters),
        threshold=threshold,
        by_rating=shares(top),
        by_expression=shares(by_expression(top)),
        novel_below_mean=float(np.mean(novel < logs.mean())) if len(novel) else np.nan,
        novel_in_lowest_quarter=float(np.mean(novel < np.quantile(logs, QUARTER))) if len(novel) else np.nan,
        baseline=baseline,
        sources={source: writer(source, own) for source, own in by_source.items()},
    )


def by_expression(ratings: Iterable[Rating]) -> list[Rating]:
    """One rating an expression: novel, or awkward, where any reader says so."""
    units: dict[Hashable, Rating] = {}
    for one in ratings:
        key = (one.source, one.cluster, one.expression)
        unit = units.get(key, one)
        units[key] = replace(unit, novel=unit.novel or one.novel, awkward=unit.awkward or one.awkward)
    return list(units.values())


def logged_ratings(paths: Iterable[str | Path]) -> tuple[list[Rating], int]:
    """A rating for each expression and close reader of the logs, and how many texts lack a score, or a value of it.

    A source is a log, by its label. An expression is novel, or awkward, where a mark of the reader lies on any part.
    """
    ratings: list[Rating] = []
    left_out = 0
    for log in read_logs(paths):
        for sample in samples(log.file):
            before, scores = len(ratings), sample.scores or {}
            # a text that was written twice has its expressions once
            prompt, text = prompt_of(sample), digest(document_of(sample))
            for _, marks, measured, _ in readings(scores):
                for one in expressions(scores) if {NOVEL, AWKWARD} <= measured else ():
                    marked = {mark.aspect for mark in marks if mark.start < one.end and one.start < mark.end}
                    told = (NOVEL in marked, AWKWARD in marked)
                    ratings.append(Rating(log.label, prompt, (text, one.start, one.end), one.log_perplexity, *told))
            left_out += len(ratings) == before
    if not ratings:
        raise MeetingError(
            "no text of these logs has marks and expressions, expected scores of close_reading and expression_novelty: "
            "-T panel=close_reading,expression_novelty"
        )
    return ratings, left_out


INKS = ("#1b1b1b", "#0072b2")  # told apart by the colour-blind, in grey, and by their shapes
COUNTS = ("by rating", "by expression")


def meeting_chart(found: Meeting) -> "altair.LayerChart | altair.FacetChart":
    """What readers find in the most n-gram-novel quarter: a row a verdict, a point with its 95% interval a count."""
    import altair

    rows = [
        plain({"count": count, "verdict": verdict, "share": share.value, "low": share.low, "high": share.high})
        for count, shares in zip(COUNTS, (found.by_rating, found.by_expression), strict=True)
        for verdict, share in shares.shares.items()
        if not math.isnan(share.value)
    ]
    title = altair.TitleParams(
        "What graders find where n-grams are newest",
        subtitle=f"the quarter of {found.ratings:,} ratings with the highest log perplexity; 95% intervals",
        anchor="start",
    )
    counts: dict[str, Any] = {"title": None, "sort": list(COUNTS)}
    of = "share of the quarter"
    x = altair.X("share:Q", title=of, scale=altair.Scale(domain=[0, 1]), axis=altair.Axis(format="%"))
    base = (
        altair.Chart(altair.InlineData(values=rows))
        .properties(width=420, height=150, title=title)
        .encode(
            y=altair.Y("verdict:N", title=None, sort=list(VERDICTS)),
            yOffset=altair.YOffset("count:N", sort=list(COUNTS)),
            color=altair.Color("count:N", **counts, scale=altair.Scale(domain=COUNTS, range=INKS)),
        )
    )
    shape = altair.Shape("count:N", **counts, scale=altair.Scale(domain=COUNTS))
    return altair.layer(
        base.mark_rule(strokeWidth=2).encode(x=altair.X("low:Q", title=of), x2="high:Q"),
        base.mark_point(filled=True, size=90, opacity=1).encode(x=x, shape=shape),
    )


VERBS = {
    "novelty": (f"{__name__}:novelty", "Show what graders find in the newest expressions."),
    "agreement": (".studies.close_reading.readers:agreement", "Measure how well models mark what experts marked."),
    "fit": (".studies.close_reading.mixed_models:fit", "Fit a mixed logistic model of verdicts."),
    "preference": (
        ".studies.close_reading.mixed_models:preference",
        "Test what predicts people's preference of two texts.",
    ),
}


@click.group(cls=VerbGroup, sections={"Commands": VERBS})
def close_reading() -> None:
    """Compare close readings with n-gram novelty and with people.

    \b
    Example: genie close-reading novelty logs/ --picture quarter.svg
    """


@click.command()
@click.argument("logs", nargs=-1, required=True)
@option("--baseline", default="", show_default=False, help="Run to compare odds with. Default: the first.")
@resamples_option()
@seed_option(help="Random seed for the bootstrap.")
@answering("tables", picture="a chart")
def novelty(logs: tuple[str, ...], baseline: str, resamples: int, seed: int) -> Answer:
    """Show what graders find in the newest quarter of expressions.

    LOGS have scores of close_reading and expression_novelty on the same texts. Intervals are 95%, by bootstrap over
    prompts.

    \b
    Example: genie close-reading novelty logs/ --picture quarter.svg
    """
    ratings, left_out = logged_ratings(logs)
    found = meeting(ratings, baseline, resamples, seed)

    def shown(own: BootstrapInterval, form: str, none: str) -> str:
        return ranged(own.value, own.low, own.high, form, none)

    def parts() -> Iterator[Table | str]:
        both = (found.by_rating, found.by_expression)
        rows = [[name, *(shown(own.shares[name], ".1%", "none") for own in both)] for name in VERDICTS]
        title = f"The most n-gram-novel quarter: log perplexity above {found.threshold:.2f} [95% interval]"
        of = ["of", *(f"{own.count:,}" for own in both)]
        yield Table(title, ("", *COUNTS), [*rows, None, of], look="folded")
        sources = found.sources.values()
        rows = [[what, *(f"{getattr(source, what):,}" for source in sources)] for what in ("expressions", "ratings")]
        rows += [[verdict, *(figure(own.shares[verdict], ".1%", "none") for own in sources)] for verdict in VERDICTS]
        odds = []
        for verdict in (NOVEL, AWKWARD):
            over = {name: shown(own.odds[verdict], ".2f", "undefined") for name, own in found.sources.items()}
            odds.append([f"odds of {verdict}", *(over | {found.baseline: "1"}).values()])
        title = f"All expressions, and odds over those of {found.baseline} [95% interval]"
        yield Table(title, ("", *found.sources), [*rows, None, *odds], look="folded")
        less = [figure(share, ".1%", "none") for share in (found.novel_below_mean, found.novel_in_lowest_quarter)]
        yield Unbroken(
            f"{less[0]} of the ratings as novel are of expressions less n-gram-novel than the mean, {less[1]} of the "
            "least n-gram-novel quarter."
        )
        if found.by_rating.count == found.by_expression.count:
            yield Unbroken("Every expression has one rating, so that both columns are one.")
        if left_out:
            yield Unbroken(f"Left out: {left_out} texts that lack one of the two scores, or a value of it.")

    return Answer(found, parts(), lambda: meeting_chart(found))
