"""Votes with what machines say of the same stories and tests: a row a vote."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import numpy as np
from numpy.typing import NDArray

from genie_inspect.agreement.machine_scores import JudgedStory
from genie_inspect.agreement.votes import VotedStory, VotesError, prompt_of, writer_of
from genie_inspect.studies.personal.judge import ALL, Given, Source

Scores = Mapping[str, Mapping[str, JudgedStory]]

SHOWN = 3


@dataclass(frozen=True, slots=True)
class Choice:
    """Which votes and scores count, and how stories are told apart."""

    tests: tuple[str, ...] = ()
    """Empty: all."""
    leave_out: tuple[str, ...] = ()
    """Patterns of story ids."""
    plot: Callable[[str], str] = prompt_of
    """The plot of a story by its id, where the file does not say it."""
    humans: tuple[str, ...] = ()
    """Sources that are people; where any is named, sources count as human or machine."""
    keys: tuple[str, ...] = ()
    """Values of scores that count; empty: what scores say of the tests, else all values."""
    points: bool = False


def source_columns(scores: Scores, tests: Iterable[str], choice: Choice) -> list[tuple[Source, str]]:
    """The numbers that there are to go by, each with the judge whose it is.

    A judge who says something of the tests that were voted on counts by that, any other by all values of his scores.
    """
    wanted = set(tests)
    columns: list[tuple[Source, str]] = []
    for judge, judged in scores.items():
        first = next(iter(judged.values()))
        origin = {"scorer": first.scorer, "signature": first.signature}
        says = {test for story in judged.values() for test in (story.points if choice.points else story.tests)}
        values = list(dict.fromkeys(key for story in judged.values() for key in _values(story)))
        keys = [key for key in values if not choice.keys or key in choice.keys]
        if says & wanted:
            columns.append((Source(name=judge, points=choice.points).model_copy(update=origin), judge))
            keys = keys if choice.keys else []
        columns += [(Source(name=f"{judge} {key}", key=key).model_copy(update=origin), judge) for key in keys]
    known = {source.key for source, _ in columns}
    if missing := [key for key in choice.keys if key not in known]:
        raise VotesError(f"no score has a key {missing[0]!r}, expected keys of the scores")
    if not columns:
        what = "points on" if choice.points else "verdicts on"
        raise VotesError(f"the scores have no {what} the tests {', '.join(sorted(wanted)[:SHOWN])}, and no other value")
    return columns


def given_by(story: JudgedStory) -> Given:
    return Given(story.tests, story.points, _values(story))


def _values(story: JudgedStory) -> Mapping[str, float]:
    # a file has a score, or tests
    return story.values or ({} if story.tests else {"score": story.score})


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
    """Votes that have every score beside them."""

    stories: Factor
    plots: Factor
    tests: Factor
    raters: Factor
    sources: Factor | None
    """Who or what wrote each story; None where that is not named of all."""
    levels: Codes
    """Of each vote its step of the scale, from 0."""
    scale: tuple[float, ...]
    columns: tuple[Source, ...]
    scores: Values
    """Shape (votes, columns)."""
    left_out: Mapping[str, int]
    """Votes that are not among them, by reason."""

    def __len__(self) -> int:
        return len(self.levels)

    def at(self, rows: NDArray[np.intp]) -> "Ballots":
        return replace(
            self,
            stories=self.stories.at(rows),
            plots=self.plots.at(rows),
            tests=self.tests.at(rows),
            raters=self.raters.at(rows),
            sources=self.sources and self.sources.at(rows),
            levels=self.levels[rows],
            scores=self.scores[rows],
        )


@dataclass(frozen=True, slots=True)
class _Vote:
    story: VotedStory
    test: str
    rater: str
    value: float


def ballots(stories: Sequence[VotedStory], scores: Scores, choice: Choice) -> Ballots:
    votes = list(_votes(stories, choice))
    if not votes:
        raise VotesError("no vote is left, expected votes on the tests and stories that are not left out")
    sources = source_columns(scores, {vote.test for vote in votes}, choice)
    kept, numbers, left_out = _with_scores(votes, sources, scores)
    if not kept:
        reasons = "; ".join(f"{count} {reason}" for reason, count in left_out.items())
        raise VotesError(f"no vote has scores beside it: {reasons}")
    scale, levels = _scale([vote.value for vote in kept])
    return Ballots(
        stories=Factor.of([vote.story.story for vote in kept]),
        plots=Factor.of([vote.story.plot or choice.plot(vote.story.story) for vote in kept]),
        tests=Factor.of([vote.test for vote in kept]),
        raters=Factor.of([vote.rater for vote in kept]),
        sources=_sources([vote.story for vote in kept], choice.humans),
        levels=levels,
        scale=scale,
        columns=tuple(source for source, _ in sources),
        scores=np.array(numbers).reshape(len(kept), len(sources)),
        left_out=left_out,
    )


def _votes(stories: Sequence[VotedStory], choice: Choice) -> Iterator[_Vote]:
    for story in stories:
        if any(fnmatchcase(story.story, pattern) for pattern in choice.leave_out):
            continue
        for rater, ballot in story.votes.items():
            if rater == ALL:
                raise VotesError(f"a rater has the id {ALL!r}, expected another: it stands for all of them")
            for test, value in ballot.items():
                if not math.isnan(value) and (not choice.tests or test in choice.tests):
                    yield _Vote(story, test, rater, value)


def _with_scores(
    votes: Sequence[_Vote], sources: Sequence[tuple[Source, str]], scores: Scores
) -> tuple[list[_Vote], list[list[float]], dict[str, int]]:
    given = {judge: {story: given_by(own) for story, own in judged.items()} for judge, judged in scores.items()}
    unknown = Given()
    numbers = {
        (story, test): [source.number(given[judge].get(story, unknown), test) for source, judge in sources]
        for story, test in dict.fromkeys((vote.story.story, vote.test) for vote in votes)
    }
    scored = {story for judged in scores.values() for story in judged}
    judged = {test for (_, test), row in numbers.items() if not all(map(math.isnan, row))}
    kept, rows = [], []
    missing: dict[str, list[str]] = {}
    for vote in votes:
        row = numbers[vote.story.story, vote.test]
        if not any(map(math.isnan, row)):
            kept.append(vote)
            rows.append(row)
        elif vote.story.story not in scored:
            missing.setdefault("on stories without a score", []).append(vote.story.story)
        elif vote.test not in judged:
            missing.setdefault("on tests that no grader judged", []).append(vote.test)
        else:
            missing.setdefault("without a score by every grader", []).append(vote.story.story)
    left_out = {f"{reason}: {_some(names)}": len(names) for reason, names in missing.items()}
    return kept, rows, left_out


def _scale(values: Sequence[float]) -> tuple[tuple[float, ...], Codes]:
    steps, levels = np.unique(np.array(values), return_inverse=True)
    if len(steps) > MOST_STEPS:
        raise VotesError(f"votes have {len(steps)} different numbers, expected at most {MOST_STEPS} steps of a scale")
    if len(steps) < 2:
        raise VotesError(f"all {len(values)} votes are {steps[0]:g}, expected some of another kind: nothing to learn")
    # of verdicts both, as of numbers those that somebody gave
    return tuple(map(float, steps)), levels.astype(np.int64)


def _sources(stories: Sequence[VotedStory], humans: Sequence[str]) -> Factor | None:
    names = [story.source or writer_of(story.story) for story in stories]
    if not all(names):
        return None
    if missing := [human for human in humans if human not in names]:
        raise VotesError(f"no story is by {missing[0]!r}, expected one of {_some(names)}")
    kinds = [(HUMAN if name in humans else MACHINE) if humans else name for name in names]
    return Factor.of(kinds) if len(set(kinds)) > 1 else None


def _some(names: Iterable[str]) -> str:
    counted = Counter(names)
    shown = ", ".join(list(counted)[:SHOWN])
    return shown + (f" and {len(counted) - SHOWN} more" if len(counted) > SHOWN else "")
