"""Verdicts of TTCW counted anew: cutoffs, ways of asking, totals and words by writer."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genie_inspect.agreement.figures import DOTS, INK, Ranking, human_score, rankings
from genie_inspect.agreement.machine_scores import JudgedStory
from genie_inspect.agreement.votes import VotedStory, VotesError, are_numbers, prompt_of, writer_of
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.files.tables import plain
from genie_inspect.graders.rubrics import way_said
from genie_inspect.logs.files import each_log, log_header, samples
from genie_inspect.measures.likert import passed, passes
from genie_inspect.measures.tokens import word_count
from genie_inspect.populations.stories import ReferenceStory, existing_stories
from genie_inspect.samples import StoryFacts, document_of
from genie_inspect.signature import Signature

if TYPE_CHECKING:
    import altair


Scores = Mapping[str, Mapping[str, JudgedStory]]


@dataclass(frozen=True, slots=True)
class CutoffPoint:
    cutoff: int
    total: float  # mean over stories of the tests that they pass; NaN when none was judged
    rankings: dict[str, Ranking]  # how far it ranks stories as people do; empty without votes


@dataclass(frozen=True, slots=True)
class CutoffCurve:
    judge: str
    cutoff: int | None  # the one that the log was scored with; None where its signature does not say
    stories: int
    points: list[CutoffPoint]


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
) -> list[CutoffCurve]:
    compared = {judge: stories for judge, stories in scores.items() if any(own.points for own in stories.values())}
    if not compared:
        raise VotesError("no score has points on tests, which a cutoff needs: expected logs of stories with references")
    curves = []
    for judge, stories in compared.items():
        facts = Signature(next(iter(stories.values())).signature).facts
        lowest = 2 - (_whole(facts.get("levels")) or 5)
        for cutoff in cutoffs:
            if cutoff not in range(lowest, 2 - lowest):
                raise UnknownChoiceError("cutoff", cutoff, f"{lowest} to {1 - lowest} with the levels of {judge}")
        points = []
        for cutoff in cutoffs or range(lowest, 1):
            counted = {name: at_cutoff(story, cutoff) for name, story in stories.items()}
            mean = judged_mean(story.score for story in counted.values())
            points.append(CutoffPoint(cutoff, mean, rankings(votes, counted, **options) if votes else {}))
        curves.append(CutoffCurve(judge, _whole(facts.get("cutoff")), len(stories), points))
    return curves


def _whole(text: str | None) -> int | None:
    """A number of a signature, which a log may have from anywhere."""
    try:
        return int(text or "")
    except ValueError:
        return None


_MODEL = re.compile(r"critic\((.+)@[0-9a-f]+,template=[0-9a-f]+\)")


@dataclass(frozen=True, slots=True)
class AskedWay:
    judge: str
    way: str  # how it was asked, in words; empty where no log says it
    cutoff: str  # empty where there is none
    stories: int
    not_judged: int
    total: float  # mean over stories of the tests that they pass; NaN when none was judged
    by_writer: dict[str, float]
    rankings: dict[str, Ranking]  # how far it ranks stories as people do; empty without votes


def asked_ways(scores: Scores, votes: Sequence[VotedStory] = (), **options: Any) -> list[AskedWay]:
    rows = []
    for judge, stories in scores.items():
        facts = Signature(next(iter(stories.values())).signature).facts
        model = _MODEL.fullmatch(facts.get("judge", ""))
        totals = {name: story.score for name, story in stories.items()}
        rows.append(
            AskedWay(
                judge=model[1] if model else judge,
                way=way_said(facts),
                cutoff=facts.get("cutoff", ""),
                stories=len(stories),
                not_judged=sum(map(math.isnan, totals.values())),
                total=judged_mean(totals.values()),
                by_writer={writer: judged_mean(own) for writer, own in by_writer(totals, votes).items()},
                rankings=rankings(votes, stories, **options) if votes else {},
            )
        )
    return rows


def judged_mean(totals: Iterable[float]) -> float:
    judged = [total for total in totals if not math.isnan(total)]
    return math.fsum(judged) / len(judged) if judged else math.nan


def by_writer(totals: Mapping[str, float], votes: Sequence[VotedStory]) -> dict[str, list[float]]:
    writers = {story.story: story.writer for story in votes}
    rows: dict[str, list[float]] = {}
    for name, total in totals.items():
        rows.setdefault(writers.get(name) or writer_of(name), []).append(total)
    return rows


PEOPLE = "people"
REFERENCE = "reference"  # who wrote what others are held against, where no id says it


@dataclass(frozen=True, slots=True)
class StoryWords:
    plot: str
    writer: str
    words: int
    is_reference: bool = False


@dataclass(frozen=True, slots=True)
class WriterTotals:
    """How many tests the stories of one writer pass, as one judge or most people say."""

    judge: str
    writer: str
    totals: list[float]  # one a story that was judged

    @property
    def mean(self) -> float:
        return judged_mean(self.totals)

    @property
    def stories(self) -> dict[int, int]:
        return dict(sorted(Counter(map(round, self.totals)).items()))


def writer_totals(scores: Scores, votes: Sequence[VotedStory] = ()) -> list[WriterTotals]:
    if are_numbers(votes):
        raise VotesError("votes are numbers, expected yes and no: a number says of no test that it is passed")
    if not (votes or scores):
        raise VotesError("there is nothing to count: expected logs or files of scores, or --votes")
    by_judge = {PEOPLE: {story.story: human_score(story, numbers=False) for story in votes}} if votes else {}
    by_judge |= {judge: {name: story.score for name, story in stories.items()} for judge, stories in scores.items()}
    return [
        WriterTotals(judge, writer, [total for total in own if not math.isnan(total)])
        for judge, totals in by_judge.items()
        for writer, own in by_writer(totals, votes).items()
    ]


def story_words(paths: Iterable[Path], references: Sequence[ReferenceStory] = ()) -> list[StoryWords]:
    words: list[StoryWords] = []
    logs = []
    for path in paths:
        if path.suffix in (".json", ".jsonl"):
            for story in existing_stories(path, references, compared=False):
                words += _of_story(story.id, story.text, story.reference, story.reference_name)
        else:
            logs.append(path)
    for found in each_log(logs, _of_log):
        words += found
    # a reference that several stories share counts once
    shared = dict.fromkeys(story for story in words if story.is_reference)
    return [*(story for story in words if not story.is_reference), *shared]


def _of_log(file: str) -> list[StoryWords]:
    model = log_header(file).eval.model
    words: list[StoryWords] = []
    for sample in samples(file):
        story = StoryFacts.of(sample.metadata)
        name = story.id if story else f"{sample.id}_{model}"
        target = sample.target if isinstance(sample.target, str) else "\n".join(sample.target)
        words += _of_story(name, document_of(sample), target, story.reference if story else "")
    return words


def _of_story(name: str, text: str, reference: str, reference_name: str) -> Iterator[StoryWords]:
    yield StoryWords(prompt_of(name), writer_of(name), word_count(text))
    if reference:
        writer = writer_of(reference_name) or REFERENCE
        yield StoryWords(prompt_of(name), writer, word_count(reference), is_reference=True)


NAMES = {"spearman": "Spearman's rho", "kendall": "Kendall's tau-b", "pairwise_accuracy": "pairwise accuracy"}
SHOWN = "spearman"  # in the chart


def cutoff_chart(curves: Sequence[CutoffCurve]) -> "altair.VConcatChart":
    """A curve a judge, a panel each: agreement with people by cutoff with 95% intervals, or the mean total."""
    import altair

    with_votes = any(point.rankings for curve in curves for point in curve.points)
    y_title = NAMES[SHOWN] if with_votes else "tests passed, mean"
    panels = []
    for curve in curves:
        rows = []
        for point in curve.points:
            mean = point.rankings[SHOWN].mean if SHOWN in point.rankings else None
            ends = {"low": mean.low, "high": mean.high} if mean else {}
            rows.append(plain({"cutoff": point.cutoff, "value": mean.value if mean else point.total, **ends}))
        base = altair.Chart(altair.InlineData(values=rows)).encode(
            x=altair.X("cutoff:O", title="a test passes from this score on", sort=None, axis=altair.Axis(labelAngle=0))
        )
        y = altair.Y("value:Q", title=y_title, scale=altair.Scale(domain=[-1, 1]) if with_votes else altair.Undefined)
        line = base.mark_line(color=DOTS, point=altair.OverlayMarkDef(color=DOTS, size=60)).encode(y=y)
        rule = base.mark_rule(color=INK, opacity=0.5).encode(y=altair.Y("low:Q", title=y_title), y2="high:Q")
        panels.append(altair.layer(rule, line).properties(width=360, height=180, title=curve.judge))
    heading = altair.TitleParams("One set of verdicts under every cutoff", anchor="start")
    return altair.vconcat(*panels, title=heading)


def totals_chart(rows: Sequence[WriterTotals]) -> "altair.VConcatChart":
    """A histogram of totals a judge and writer, with its mean as a line."""
    import altair

    most = max((total for row in rows for total in row.stories), default=0)
    x = altair.X("from:Q", title="tests passed", scale=altair.Scale(domain=[-0.5, most + 0.5]))
    y = altair.Y("stories:Q", title="stories", axis=altair.Axis(tickMinStep=1))
    panels = []
    for row in rows:
        bars = [
            {"from": total - 0.4, "to": total + 0.4, "none": 0, "stories": count}
            for total, count in row.stories.items()
        ]
        means = [] if math.isnan(row.mean) else [{"from": row.mean}]
        shown = altair.Chart(altair.InlineData(values=bars)).mark_rect(color=DOTS).encode(x, y, x2="to:Q", y2="none:Q")
        mean = altair.Chart(altair.InlineData(values=means)).mark_rule(color=INK, strokeWidth=2).encode(x)
        title = f"{row.writer or 'nobody named'}, by {row.judge}"
        panels.append(altair.layer(shown, mean).properties(width=360, height=90, title=title))
    heading = altair.TitleParams("Tests passed by writer", subtitle="black: the mean", anchor="start")
    return altair.vconcat(*panels, title=heading)
