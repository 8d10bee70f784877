"""Votes with what machines say of the same stories and tests: a row a vote."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from genie_inspect.agreement.figures import compared_stories, some
from genie_inspect.agreement.machine_scores import JudgedStory, read_scores
from genie_inspect.agreement.votes import Vote, VotedStory, VotesError, prompt_of, read_votes, writer_of
from genie_inspect.cli.options import FILE, flag, option, seed_option, together
from genie_inspect.studies.personal.judge import ALL, ScoreSource, values_of

Scores = Mapping[str, Mapping[str, JudgedStory]]
Values = NDArray[np.float64]
Codes = NDArray[np.int64]

MOST_STEPS = 20
HUMAN, MACHINE = "human", "machine"


@dataclass(frozen=True, slots=True)
class Factor:
    names: tuple[str, ...]
    codes: Codes

    @classmethod
    def of(cls, labels: Sequence[str]) -> "Factor":
        """The labels' names in order of appearance."""
        numbers: dict[str, int] = {}
        codes = np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.int64)
        return cls(tuple(numbers), codes)

    def __len__(self) -> int:
        return len(self.names)

    def at(self, rows: NDArray[np.intp]) -> "Factor":
        return Factor(self.names, self.codes[rows])


@dataclass(frozen=True)
class Ballots:
    stories: Factor
    plots: Factor
    tests: Factor
    raters: Factor
    sources: Factor | None  # who or what wrote each story; None where that is not named of all
    levels: Codes  # of each vote its step of the scale, from 0
    scale: tuple[float, ...]
    columns: tuple[ScoreSource, ...]
    scores: Values  # shape (votes, columns)
    left_out: Mapping[str, int]  # votes that are not among them, by reason

    def __len__(self) -> int:
        return len(self.levels)

    def at(self, rows: NDArray[np.intp]) -> "Ballots":
        factors: dict[str, Any] = {name: part.at(rows) for name, part in vars(self).items() if isinstance(part, Factor)}
        return replace(self, **factors, levels=self.levels[rows], scores=self.scores[rows])


def ballots(
    stories: Sequence[VotedStory],
    scores: Scores,
    *,
    tests: Sequence[str] = (),
    leave_out: Sequence[str] = (),
    plot: Callable[[str], str] = prompt_of,
    humans: Sequence[str] = (),
    keys: Sequence[str] = (),
    points: bool = False,
) -> Ballots:
    """The votes on some tests (none named: all) that have every score beside them.

    `leave_out` are patterns of stories that do not count, `plot` tells the plot of a story by its id, where the file
    does not say it. Where `humans` are named, sources count as human or machine. `keys` are the values of scores that
    count; none: what scores say of the tests, else all.
    """
    votes: list[Vote] = []
    for story in compared_stories(stories, leave_out):
        if ALL in story.votes:
            raise VotesError(f"a rater has the id {ALL!r}, expected another: it means all raters")
        votes += [
            Vote("", story.story, rater, test, value, story.plot, story.source)
            for rater, ballot in story.votes.items()
            for test, value in ballot.items()
            if not math.isnan(value) and (not tests or test in tests)
        ]
    if not votes:
        raise VotesError("no vote is left, expected votes on the tests and stories that are not left out")
    sources = _score_sources(scores, {vote.test for vote in votes}, keys, points)
    kept, numbers, left_out = _with_scores(votes, sources, scores)
    if not kept:
        reasons = "; ".join(f"{count} {reason}" for reason, count in left_out.items())
        raise VotesError(f"no vote has scores beside it: {reasons}")
    scale, levels = np.unique([vote.value for vote in kept], return_inverse=True)
    if len(scale) > MOST_STEPS:
        raise VotesError(f"votes have {len(scale)} different numbers, expected at most {MOST_STEPS} steps of a scale")
    if len(scale) < 2:
        raise VotesError(f"all {len(kept)} votes are {scale[0]:g}, expected votes that differ")
    writers = [vote.source or writer_of(vote.story) for vote in kept]
    if all(writers) and (missing := [human for human in humans if human not in writers]):
        raise VotesError(f"no story is by {missing[0]!r}, expected one of {some(writers)}")
    kinds = [HUMAN if writer in humans else MACHINE for writer in writers] if humans else writers
    return Ballots(
        stories=Factor.of([vote.story for vote in kept]),
        plots=Factor.of([vote.plot or plot(vote.story) for vote in kept]),
        tests=Factor.of([vote.test for vote in kept]),
        raters=Factor.of([vote.rater for vote in kept]),
        sources=Factor.of(kinds) if all(writers) and len(set(kinds)) > 1 else None,
        levels=levels.astype(np.int64),
        # of verdicts both, as of numbers those that somebody gave
        scale=tuple(map(float, scale)),
        columns=tuple(source for source, _ in sources),
        scores=np.array(numbers).reshape(len(kept), len(sources)),
        left_out=left_out,
    )


def _score_sources(
    scores: Scores, wanted: set[str], keys: Sequence[str], points: bool
) -> list[tuple[ScoreSource, str]]:
    """The numbers that there are to go by, each with the judge whose it is.

    A judge who says something of the tests that were voted on counts by that, any other by all values of his scores.
    """
    sources: list[tuple[ScoreSource, str]] = []
    for judge, judged in scores.items():
        first = next(iter(judged.values()))
        source = partial(ScoreSource, scorer=first.scorer, signature=first.signature)
        says = {test for story in judged.values() for test in (story.points if points else story.tests)}
        own = [key for story in judged.values() for key in values_of(story) if not keys or key in keys]
        if says & wanted:
            sources.append((source(name=judge, points=points), judge))
            own = own if keys else []
        sources += [(source(name=f"{judge} {key}", key=key), judge) for key in dict.fromkeys(own)]
    known = {source.key for source, _ in sources}
    if missing := [key for key in keys if key not in known]:
        raise VotesError(f"no score has a key {missing[0]!r}, expected keys of the scores")
    if not sources:
        what = "points on" if points else "verdicts on"
        raise VotesError(f"the scores have no {what} the tests {', '.join(sorted(wanted)[:3])}, and no other value")
    return sources


def _with_scores(
    votes: Sequence[Vote], sources: Sequence[tuple[ScoreSource, str]], scores: Scores
) -> tuple[list[Vote], list[list[float]], dict[str, int]]:
    """The votes with a score by every source, these, and how many others there are by reason."""
    unknown = JudgedStory("", math.nan, {})
    numbers = {
        (story, test): [source.number(scores[judge].get(story, unknown), test) for source, judge in sources]
        for story, test in dict.fromkeys((vote.story, vote.test) for vote in votes)
    }
    scored = {story for judged in scores.values() for story in judged}
    judged = {test for (_, test), row in numbers.items() if not all(map(math.isnan, row))}
    kept, rows = [], []
    missing: dict[str, list[str]] = {}
    for vote in votes:
        row = numbers[vote.story, vote.test]
        if not any(map(math.isnan, row)):
            kept.append(vote)
            rows.append(row)
        elif vote.story not in scored:
            missing.setdefault("on stories without a score", []).append(vote.story)
        elif vote.test not in judged:
            missing.setdefault("on tests that no grader judged", []).append(vote.test)
        else:
            missing.setdefault("without a score by every grader", []).append(vote.story)
    return kept, rows, {f"{reason}: {some(names)}": len(names) for reason, names in missing.items()}


reading_votes = together(
    click.argument("votes", type=FILE),
    option("--scores", multiple=True, required=True, type=FILE, help="Log, or file of scores; repeatable."),
    option("--scorer", "scorers", multiple=True, help="Scorer in logs; repeatable. Default: ttcw."),
    option("--key", "keys", multiple=True, help="Value of scores; repeatable. Default: those of tests."),
    flag("--points", help="Use the grader's points instead of pass and fail."),
    option("--test", "tests", multiple=True, help="Test to use votes on; repeatable. Default: all."),
    option("--leave-out", multiple=True, help="Stories to leave out, such as '*_NewYorker'; repeatable."),
    option(
        "--plot",
        metavar="PATTERN",
        help="Pattern of the plot in a story's id (its first group). Default: column plot, else up to the first _.",
    ),
    option("--human", "humans", multiple=True, help="Source that is a person; repeatable."),
    seed_option(help="Random seed."),
)


def voted(votes: Path, scores: tuple[Path, ...], scorers: tuple[str, ...], plot: str | None, **chosen: Any) -> Ballots:
    try:
        compiled = plot if plot is None else re.compile(plot)
    except re.error as error:
        raise VotesError(f"plot is {plot!r}, expected a regular expression: {error}") from error

    def plot_of(story: str) -> str:
        if compiled is None:
            return prompt_of(story)
        match = compiled.search(story)
        if match is None:
            raise VotesError(f"story {story!r} has no plot by {plot!r}, expected a pattern that matches every story")
        return (match[1] if compiled.groups else match[0]) or ""

    return ballots(read_votes(votes, numbers=True), read_scores(scores, scorers or ("ttcw",)), plot=plot_of, **chosen)
