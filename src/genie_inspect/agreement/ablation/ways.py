"""Ways of asking a critic, side by side."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from genie_inspect.agreement.machine_scores import JudgedStory
from genie_inspect.agreement.rankings import Ranking, rankings
from genie_inspect.agreement.votes import VotedStory, writer_of
from genie_inspect.critic.ways import way_said
from genie_inspect.signature import facts_of

_MODEL = re.compile(r"critic\((.+)@[0-9a-f]+,template=[0-9a-f]+\)")


@dataclass(frozen=True, slots=True)
class AskedWay:
    """What one judge says when asked in one way."""

    judge: str
    way: str
    """How it was asked, in words; empty where no log says it."""
    cutoff: str
    """Empty where there is none."""
    stories: int
    not_judged: int
    total: float
    """Mean over stories of the tests that they pass; NaN when none was judged."""
    by_writer: dict[str, float]
    rankings: dict[str, Ranking] = field(default_factory=dict)
    """How far it ranks stories as people do; empty without votes."""


def asked_ways(
    scores: Mapping[str, Mapping[str, JudgedStory]], votes: Sequence[VotedStory] = (), **options: Any
) -> list[AskedWay]:
    """A row for each judge and way of asking.

    Args:
        scores: By judge and story.
        votes: What people say of the same stories.
        options: Of `rankings`.

    Raises:
        VotesError: If votes and scores do not belong together.
    """
    writers = {story.story: story.writer for story in votes}
    return [_asked(judge, stories, votes, writers, options) for judge, stories in scores.items()]


def _asked(
    judge: str,
    stories: Mapping[str, JudgedStory],
    votes: Sequence[VotedStory],
    writers: Mapping[str, str],
    options: Mapping[str, Any],
) -> AskedWay:
    facts = facts_of(next(iter(stories.values())).signature)
    model = _MODEL.fullmatch(facts.get("judge", ""))
    totals: dict[str, list[float]] = {}
    for name, story in stories.items():
        totals.setdefault(writers.get(name) or writer_of(name), []).append(story.score)
    every = [score for own in totals.values() for score in own]
    return AskedWay(
        judge=model[1] if model else judge,
        way=way_said(facts),
        cutoff=facts.get("cutoff", ""),
        stories=len(stories),
        not_judged=sum(map(math.isnan, every)),
        total=_mean(every),
        by_writer={writer: _mean(own) for writer, own in totals.items()},
        rankings=rankings(votes, stories, **options) if votes else {},
    )


def _mean(values: Sequence[float]) -> float:
    judged = [value for value in values if not math.isnan(value)]
    return math.fsum(judged) / len(judged) if judged else math.nan
