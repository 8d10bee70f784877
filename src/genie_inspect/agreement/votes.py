"""People's votes on stories, from a file."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from genie_inspect.errors import GenieError
from genie_inspect.files.json_lines import json_object, json_row, placed_lines

Id = Annotated[str, StringConstraints(min_length=1)]
LETTERS = {"Y": 1.0, "N": 0.0, "B": 1.0, "-": math.nan}
"""Yes, no, neither of the two (which the published figures count as a pass), missing."""
FORM = 'a line a person and story: {"story": "3_GPT4", "rater": "ann", "votes": {"01": 1, "02": 0}}'


class VotesError(GenieError):
    """Votes or scores cannot be read, or do not belong together; the message names file, line and story."""


class StoryRow(BaseModel):
    """One line about a story."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    story: Id


class _Ballot(StoryRow):
    rater: Id
    votes: dict[Id, bool | None] = Field(min_length=1)


RowT = TypeVar("RowT", bound=StoryRow)


@dataclass(frozen=True, slots=True)
class VotedStory:
    """One story with people's votes on its tests."""

    story: str
    votes: dict[str, dict[str, float]]
    """By rater and test: 1 = passes, 0 = fails; NaN or no entry = no vote."""

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


def read_votes(path: Path) -> list[VotedStory]:
    """The votes of a file, stories in its order.

    Args:
        path: JSON Lines, a line a person and story; or JSON as {"stories": {id: {"experts": [...], "tests": ["YNN"]}}},
            for each test a letter an expert.

    Raises:
        VotesError: If the file cannot be read, is malformed or empty, or a person votes twice on a story.
    """
    if path.suffix == ".json":
        stories = [_released(story, row, path) for story, row in json_field(path, "stories").items()]
    else:
        ballots: dict[str, dict[str, dict[str, float]]] = {}
        for where, row in rows(path, _Ballot, FORM):
            ballots_of_story = ballots.setdefault(row.story, {})
            if row.rater in ballots_of_story:
                raise VotesError(f"{where}: {row.rater!r} votes twice on story {row.story!r}")
            ballots_of_story[row.rater] = as_numbers(row.votes)
        stories = [VotedStory(story, votes) for story, votes in ballots.items()]
    if not stories:
        raise VotesError(f"{path} holds no vote, expected {FORM}")
    return stories


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
