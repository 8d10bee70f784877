"""Totals under every cutoff from the points that a log has: nobody is asked again."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from genie_inspect.agreement.machine_scores import JudgedStory
from genie_inspect.agreement.rankings import Ranking, rankings
from genie_inspect.agreement.votes import VotedStory, VotesError
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.measures.likert import passed, passes
from genie_inspect.signature import facts_of

Scores = Mapping[str, Mapping[str, JudgedStory]]


@dataclass(frozen=True, slots=True)
class CutoffPoint:
    """One judge under one cutoff."""

    cutoff: int
    total: float
    """Mean over stories of the tests that they pass; NaN when none was judged."""
    rankings: dict[str, Ranking] = field(default_factory=dict)
    """How far it ranks stories as people do; empty without votes."""


@dataclass(frozen=True, slots=True)
class CutoffCurve:
    """One judge under every cutoff."""

    judge: str
    cutoff: int | None
    """The one that the log was scored with; None where its signature does not say."""
    stories: int
    points: list[CutoffPoint]


def at_cutoff(story: JudgedStory, cutoff: int) -> JudgedStory:
    """The story as it would be scored with this cutoff.

    Raises:
        VotesError: If it has a total and no points.
    """
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
    """A curve for each judge who compared stories with references.

    Args:
        scores: By judge and story, with points.
        votes: What people say of the same stories.
        cutoffs: Which; unless given those of a judge's scale from the lowest that not every story passes up to 0.
        options: Of `rankings`.

    Raises:
        VotesError: If no judge gives points, or votes and scores do not belong together.
        UnknownChoiceError: If a cutoff is outside of a judge's scale.
    """
    compared = {judge: stories for judge, stories in scores.items() if any(own.points for own in stories.values())}
    if not compared:
        raise VotesError("no score has points on tests, which a cutoff needs: expected logs of stories with references")
    return [_curve(judge, stories, votes, cutoffs, options) for judge, stories in compared.items()]


def _curve(
    judge: str,
    stories: Mapping[str, JudgedStory],
    votes: Sequence[VotedStory],
    cutoffs: Sequence[int],
    options: Mapping[str, Any],
) -> CutoffCurve:
    facts = facts_of(next(iter(stories.values())).signature)
    levels, own = _whole(facts.get("levels")) or 5, _whole(facts.get("cutoff"))
    for cutoff in cutoffs:
        if cutoff not in range(2 - levels, levels):
            raise UnknownChoiceError("cutoff", cutoff, f"{2 - levels} to {levels - 1} with the levels of {judge}")
    points = []
    for cutoff in cutoffs or range(2 - levels, 1):
        counted = {name: at_cutoff(story, cutoff) for name, story in stories.items()}
        totals = [story.score for story in counted.values() if not math.isnan(story.score)]
        mean = math.fsum(totals) / len(totals) if totals else math.nan
        points.append(CutoffPoint(cutoff, mean, rankings(votes, counted, **options) if votes else {}))
    return CutoffCurve(judge, own, len(stories), points)


def _whole(text: str | None) -> int | None:
    """A number of a signature, which a log may have from anywhere."""
    try:
        return int(text or "")
    except ValueError:
        return None
