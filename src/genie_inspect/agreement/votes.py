"""People's votes on stories, from a file."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from genie_inspect.agreement.mixed_models.rows import TableRow, read_rows
from genie_inspect.errors import GenieError
from genie_inspect.files.json_lines import json_object, json_row, placed_lines

Id = Annotated[str, StringConstraints(min_length=1)]
LETTERS = {"Y": 1.0, "N": 0.0, "B": 1.0, "-": math.nan}
"""Yes, no, neither of the two (which the published figures count as a pass), missing."""
FORM = 'a line a person and story: {"story": "3_GPT4", "rater": "ann", "votes": {"01": 1, "02": 0}}'
VERDICT, NUMBER = "verdict", "number"
TESTS = ("test", "question")
ONE_VOTE = "or a row a vote with the columns story, rater, verdict or number, and if there are several tests test"
"""Columns of a row a vote."""


class VotesError(GenieError):
    """Votes or scores cannot be read, or do not belong together; the message names file, line and story."""


class StoryRow(BaseModel):
    """One line about a story."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    story: Id


class _Ballot(StoryRow):
    rater: Id
    plot: str = ""
    source: str = ""
    votes: dict[Id, bool | None] = Field(min_length=1)


RowT = TypeVar("RowT", bound=StoryRow)


@dataclass(frozen=True, slots=True)
class VotedStory:
    """One story with people's votes on its tests."""

    story: str
    votes: dict[str, dict[str, float]]
    """By rater and test: 1 = passes, 0 = fails, or a number; NaN or no entry = no vote."""
    plot: str = ""
    """What else was written from the same plot or prompt has the same; empty where the file does not say."""
    source: str = ""
    """Who or what wrote it; empty where the file does not say."""

    def by_test(self) -> dict[str, list[float]]:
        """The votes on each test, in the order of the raters."""
        votes: dict[str, list[float]] = {}
        for ballot in self.votes.values():
            for test, vote in ballot.items():
                votes.setdefault(test, []).extend([] if math.isnan(vote) else [vote])
        return votes

    def majority(self) -> dict[str, float]:
        """1 where more than half of the votes say so, else 0; NaN without a vote."""
        # an even split is no majority, and so a fail
        return {test: float(sum(cast) * 2 > len(cast)) if cast else math.nan for test, cast in self.by_test().items()}


def prompt_of(story: str) -> str:
    """The prompt of a story, the part of its id before the first underscore: stories of one prompt are ranked together.

    >>> prompt_of("3_GPT4")
    '3'
    """
    return story.partition("_")[0]


def writer_of(story: str) -> str:
    """Who wrote a story: the part of the id after the first underscore, without the number of a repetition.

    >>> writer_of("3_GPT4#2")
    'GPT4'
    """
    return story.partition("_")[2].partition("#")[0]


def read_votes(path: Path, *, numbers: bool = False) -> list[VotedStory]:
    """The votes of a file, stories in its order.

    Args:
        path: JSON Lines, a line a person and story; CSV or JSON Lines, a row a vote; or JSON as {"stories": {id:
            {"experts": [...], "tests": ["YNN"]}}}, for each test a letter an expert.
        numbers: Whether rows may hold numbers in place of verdicts.

    Raises:
        VotesError: If the file cannot be read, is malformed or empty, holds numbers that are not wanted, or a person
            votes twice on a story, or on a test of it.
        TableError: If the rows of votes cannot be read.
    """
    if path.suffix == ".json":
        stories = [_released(story, row, path) for story, row in json_field(path, "stories").items()]
    elif path.suffix == ".csv" or not _has_ballots(path):
        stories = _single_votes(path, numbers=numbers)
    else:
        stories = _ballots(path)
    if not stories:
        raise VotesError(f"{path} holds no vote, expected {FORM}, {ONE_VOTE}")
    return stories


def _has_ballots(path: Path) -> bool:
    """Whether a JSON Lines file has a line a person and story; an empty or broken one is read as such."""
    try:
        return next((b'"verdict"' not in line and b'"number"' not in line for _, _, line in placed_lines(path)), True)
    except OSError as error:
        raise VotesError(f"{path} cannot be read: {error.strerror or error}") from error


def _ballots(path: Path) -> list[VotedStory]:
    stories: dict[str, VotedStory] = {}
    for where, row in rows(path, _Ballot, FORM):
        story = _same(stories, row.story, row.plot, row.source, where)
        if row.rater in story.votes:
            raise VotesError(f"{where}: {row.rater!r} votes twice on story {row.story!r}")
        story.votes[row.rater] = as_numbers(row.votes)
    return list(stories.values())


def _single_votes(path: Path, *, numbers: bool) -> list[VotedStory]:
    """Stories from a row a vote."""
    stories: dict[str, VotedStory] = {}
    for row in read_rows(path, ("story", "rater")):
        name, rater = (_named(row, column) for column in ("story", "rater"))
        test = next((row.text(column) for column in TESTS if column in row), "")
        plot, source = (row.text(column) if column in row else "" for column in ("plot", "source"))
        story = _same(stories, name, plot, source, row.where)
        votes = story.votes.setdefault(rater, {})
        if test in votes:
            raise VotesError(
                f"{row.where}: {rater!r} votes twice on story {name!r}" + (f", test {test!r}" * bool(test))
            )
        votes[test] = _vote(row, numbers=numbers)
    return list(stories.values())


def _named(row: TableRow, column: str) -> str:
    if column not in row:
        raise VotesError(f"{row.where} has no {column}, expected a vote: {ONE_VOTE}")
    return row.text(column)


def _vote(row: TableRow, *, numbers: bool) -> float:
    """A verdict as 1 or 0, a number as it is; NaN where there is neither."""
    if NUMBER in row and VERDICT in row:
        raise VotesError(f"{row.where} has a verdict and a number, expected one of them")
    if NUMBER in row:
        if not numbers:
            raise VotesError(f"{row.where} is a number, expected verdicts, yes or no, in the column {VERDICT!r}")
        return row.number(NUMBER)
    return float(row.verdict(VERDICT)) if VERDICT in row else math.nan


def _same(stories: dict[str, VotedStory], name: str, plot: str, source: str, where: str) -> VotedStory:
    """The story of that name, so far or new."""
    story = stories.setdefault(name, VotedStory(name, {}, plot, source))
    for what, before, now in (("plot", story.plot, plot), ("source", story.source, source)):
        if before != now:
            raise VotesError(f"{where}: story {name!r} has the {what} {now!r}, and {before!r} before")
    return story


def _released(story: str, row: Any, path: Path) -> VotedStory:
    where = f"{path}: story {story!r}"
    experts, tests = (row.get(name) if isinstance(row, dict) else None for name in ("experts", "tests"))
    if not (isinstance(experts, list) and isinstance(tests, list) and tests):
        raise VotesError(f"{where} lacks a list of experts or of tests")
    uneven = [letters for letters in tests if not isinstance(letters, str) or len(letters) != len(experts)]
    if uneven:
        raise VotesError(f"{where} has the votes {uneven[0]!r} for {len(experts)} experts, expected a letter for each")
    ballots = (from_letters("".join(letters), where) for letters in zip(*tests, strict=True))
    return VotedStory(story, {str(expert): votes for expert, votes in zip(experts, ballots, strict=True)})


def from_letters(letters: str, where: str) -> dict[str, float]:
    """Results by test, 01, 02 and so on, from a letter a test.

    Raises:
        VotesError: If a letter is none of those in use.
    """
    unknown = [letter for letter in letters if letter not in LETTERS]
    if unknown:
        raise VotesError(f"{where}: {unknown[0]!r} is no verdict, expected one of {', '.join(LETTERS)}")
    return {f"{number:02d}": LETTERS[letter] for number, letter in enumerate(letters, start=1)}


def as_numbers(results: Mapping[str, bool | None]) -> dict[str, float]:
    """Results by test: 1 = passes, 0 = fails, NaN = none."""
    return {test: math.nan if result is None else float(result) for test, result in results.items()}


def rows(path: Path, kind: type[RowT], form: str) -> Iterator[tuple[str, RowT]]:
    """The rows of a JSON Lines file, each with the place where it stands.

    Raises:
        VotesError: If the file cannot be read, or a line is no such row.
    """
    try:
        for number, _, line in placed_lines(path):
            where = f"{path}, line {number}"
            yield where, json_row(line, kind, where, VotesError, form)
    except OSError as error:
        raise VotesError(f"{path} cannot be read: {error.strerror or error}") from error


def json_field(path: Path, name: str) -> dict[str, Any]:
    """The object in one field of a JSON file.

    Raises:
        VotesError: If the file cannot be read, is no JSON, or has no such field.
    """
    try:
        content = json_object(path.read_bytes(), str(path), VotesError)
    except OSError as error:
        raise VotesError(f"{path} cannot be read: {error.strerror or error}") from error
    if not isinstance(content.get(name), dict):
        raise VotesError(f"{path} has no object {name!r}")
    return dict(content[name])
