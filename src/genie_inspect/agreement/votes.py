"""People's votes on stories, from a file."""

import codecs
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from genie_inspect.errors import GenieError
from genie_inspect.files.json_lines import SHOWN, json_object, json_objects, json_row, listed_objects, placed_lines
from genie_inspect.files.tables import csv_rows
from genie_inspect.files.values import MOST, Number, cell_number

YES, NO = ("1", "1.0", "true", "yes"), ("0", "0.0", "false", "no")
ROWS_FORM = "CSV (*.csv) or JSON Lines (*.jsonl)"


class VotesError(GenieError):
    """A table of votes or scores cannot be read, or its rows do not belong together; the message names the place."""


@dataclass(frozen=True, slots=True)
class TableRow:
    where: str
    cells: dict[str, Any]

    def __contains__(self, column: str) -> bool:
        value = self.cells.get(column)
        # only NaN is unequal to itself
        return value is not None and value == value and not (isinstance(value, str) and not value.strip())

    def text(self, column: str) -> str:
        return str(self.cells[column])

    def number(self, column: str) -> float:
        if math.isnan(found := cell_number(self.cells[column])):
            raise self._unreadable(column, f"a number of at most {MOST:g}")
        return found

    def verdict(self, column: str) -> bool:
        text = self.text(column).strip().lower()
        if text not in (*YES, *NO):
            raise self._unreadable(column, "1 or 0, true or false")
        return text in YES

    def _unreadable(self, column: str, expected: str) -> VotesError:
        value = repr(self.cells[column])[:SHOWN]
        return VotesError(f"{self.where}, column {column!r} is {value}, expected {expected}")


def read_rows(path: Path, columns: Collection[str]) -> list[TableRow]:
    if not path.is_file():
        raise VotesError(f"{path} does not exist, expected {ROWS_FORM}")
    if path.suffix == ".csv":
        rows = [TableRow(f"{path}, row {number}", cells) for number, cells in csv_rows(path, (), VotesError)]
    else:
        rows = [TableRow(f"{path}, line {number}", cells) for number, cells in json_objects(path, VotesError)]
    if not rows:
        raise VotesError(f"{path} has no row, expected {ROWS_FORM}")
    known = dict.fromkeys(column for row in rows for column in row.cells)
    if missing := [column for column in columns if column not in known]:
        raise VotesError(f"{path} has no column {missing[0]!r}: it has {', '.join(known)}")
    return rows


def numbers(rows: Sequence[TableRow], column: str) -> list[float] | None:
    """The column as numbers; None where its first cell is none, so that it holds categories."""
    return None if math.isnan(cell_number(rows[0].cells[column])) else [row.number(column) for row in rows]


ABOUT = ("story", "rater", "plot", "source")  # columns that say whose a row is; each other one is a test
NUMBER = "number"  # column of a row a vote whose votes are ratings, whatever they are
FEW = 0.1  # share of the votes up to which those beside 1 and 0 are taken for slips, and for no scale


@dataclass(frozen=True, slots=True)
class Vote:
    """What one rater says of one test of one story."""

    where: str
    story: str
    rater: str
    test: str
    value: float  # 1 = passes, 0 = fails, or a number; NaN = no vote
    plot: str = ""
    source: str = ""

    @property
    def tested(self) -> str:
        """The test as a message has it behind the story; empty where there is one test alone."""
        return f", test {self.test!r}" * bool(self.test)


def without_slips(votes: Iterable[Vote]) -> list[Vote]:
    votes = list(votes)
    cast = [vote for vote in votes if not math.isnan(vote.value)]
    others = [vote for vote in cast if vote.value not in (0, 1)]
    # one among three, and of more one in ten
    if others and len(cast) > 2 * len(others) and len(others) <= max(1, FEW * len(cast)):
        vote = others[0]
        raise VotesError(
            f"{vote.where}: {vote.value:g} by {vote.rater!r} on story {vote.story!r}{vote.tested} is neither 1 nor 0, "
            f"as {len(cast) - len(others)} of {len(cast)} votes are, expected yes or no; ratings that are mostly 1 and "
            f"0 have a row each with the column {NUMBER}"
        )
    return votes


def _annotations(path: Path) -> Iterator[Vote]:
    """The votes of a JSON list as Salesforce/creativity_eval has it: story_id, expert_idx, ttcw_idx, binary_verdict."""
    for where, item in listed_objects(path, VotesError):
        row = TableRow(where, item)
        if missing := [name for name in ("story_id", "expert_idx", "ttcw_idx", "binary_verdict") if name not in row]:
            raise VotesError(f"{where} has no field {missing[0]!r}, expected a vote as Salesforce/creativity_eval has")
        value = float(row.verdict("binary_verdict"))
        yield Vote(where, row.text("story_id"), row.text("expert_idx"), f"{int(row.number('ttcw_idx')):02d}", value)


def _table_votes(rows: Sequence[TableRow]) -> Iterator[Vote]:
    """The votes of a table with a row a rater and story and a column a test: numbers, or yes and no."""
    # a column of nothing but words is a remark and no test
    columns = [column for column in dict.fromkeys(name for row in rows for name in row.cells) if column not in ABOUT]
    tests = [column for column in columns if any(column in row and _value(row, column) is not None for row in rows)]
    for row in rows:
        if missing := [column for column in ("story", "rater") if column not in row]:
            raise VotesError(f"{row.where} has no {missing[0]}, expected story, rater and a column a test")
        about = {column: row.text(column) for column in ABOUT if column in row}
        for test in tests:
            value = _value(row, test) if test in row else math.nan
            if value is None:
                raise VotesError(f"{row.where}, column {test!r} is {row.text(test)!r}, expected a number, yes or no")
            yield Vote(row.where, test=test, value=value, **about)


def _value(row: TableRow, column: str) -> float | None:
    """A cell as a number, or as 1 or 0; None where it is neither."""
    for read in (row.verdict, row.number):
        with suppress(VotesError):
            return float(read(column))
    return None


Id = Annotated[str, StringConstraints(min_length=1)]
Result = bool | Number | None
# yes, no, neither of the two (which the published figures count as a pass), missing
LETTERS = {"Y": 1.0, "N": 0.0, "B": 1.0, "-": math.nan}
FORM = 'one line per person and story: {"story": "3_GPT4", "rater": "ann", "votes": {"01": 1, "02": 0}}'
VERDICT = "verdict"
TESTS = ("test", "question")
ONE_VOTE = "or one row per vote with the columns story, rater, verdict or number, and if there are several tests test"
A_TABLE = "or a CSV with the columns story, rater and one a test"


class StoryRow(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    story: Id


class _Ballot(StoryRow):
    rater: Id
    plot: str = ""
    source: str = ""
    votes: dict[Id, Result] = Field(min_length=1)


RowT = TypeVar("RowT", bound=StoryRow)


@dataclass(frozen=True, slots=True)
class VotedStory:
    """One story with people's votes on its tests."""

    story: str
    votes: dict[str, dict[str, float]]  # by rater and test, as of `Vote`; no entry = no vote
    plot: str = ""  # empty where the file does not say, as is `source`, who or what wrote it
    source: str = ""

    def by_test(self) -> dict[str, list[float]]:
        votes: dict[str, list[float]] = {}
        for ballot in self.votes.values():
            for test, vote in ballot.items():
                votes.setdefault(test, []).extend([] if math.isnan(vote) else [vote])
        return votes

    @property
    def prompt(self) -> str:
        """What else was written from the same plot has the same."""
        return self.plot or prompt_of(self.story)

    @property
    def writer(self) -> str:
        return self.source or writer_of(self.story)

    def means(self) -> dict[str, float]:
        """The mean of the votes on each test; NaN without a vote."""
        return self._of_each(lambda cast: math.fsum(cast) / len(cast))

    def medians(self) -> dict[str, float]:
        return self._of_each(median)

    def majority(self) -> dict[str, float]:
        """1 where more than half of the votes say so, else 0; NaN without a vote."""
        # an even split is no majority, and so a fail
        return self._of_each(lambda cast: float(sum(cast) * 2 > len(cast)))

    def _of_each(self, figure: Callable[[list[float]], float]) -> dict[str, float]:
        return {test: figure(cast) if cast else math.nan for test, cast in self.by_test().items()}


def prompt_of(story: str) -> str:
    """The part of a story's id before the first underscore: stories of one prompt are ranked together."""
    return story.partition("_")[0]


def writer_of(story: str) -> str:
    """Who wrote a story: the part of the id after the first underscore, without the number of a repetition."""
    return story.partition("_")[2].partition("#")[0]


def read_votes(path: Path, *, numbers: bool = False) -> list[VotedStory]:
    """The votes of a file, stories in its order."""
    if path.suffix == ".json":
        with votes_file(path), path.open("rb") as file:
            is_list = file.read(64).removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"[")
        if is_list:
            stories = _gathered(_annotations(path))
        else:
            stories = [_released(story, row, path) for story, row in json_field(path, "stories").items()]
    # an empty or broken file is read as one with a line a person and story
    elif path.suffix == ".csv" or any(column in first_line(path) for column in (b'"verdict"', b'"number"')):
        stories = _gathered(_rows_of_votes(path))
    else:
        stories = _gathered(without_slips(_ballots(path)))
    if not stories:
        raise VotesError(f"{path} has no vote, expected {FORM}, {ONE_VOTE}, {A_TABLE}")
    if not numbers and (on_scale := next(_on_scale(stories), None)):
        raise VotesError(f"{path}: {on_scale} is a number, expected verdicts, yes or no")
    return stories


def are_numbers(stories: Iterable[VotedStory]) -> bool:
    return next(_on_scale(stories), None) is not None


def _on_scale(stories: Iterable[VotedStory]) -> Iterator[str]:
    for story in stories:
        for rater, ballot in story.votes.items():
            for vote in ballot.values():
                if vote not in (0, 1) and not math.isnan(vote):
                    yield f"{vote:g} by {rater!r} on story {story.story!r}"


@contextmanager
def votes_file(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise VotesError(f"{path} cannot be read: {error.strerror or error}") from error


def first_line(path: Path) -> bytes:
    with votes_file(path):
        return next((line for _, _, line in placed_lines(path)), b"")


def _ballots(path: Path) -> Iterator[Vote]:
    known: set[tuple[str, str]] = set()
    for where, row in rows(path, _Ballot, FORM):
        if (row.story, row.rater) in known:
            raise VotesError(f"{where}: {row.rater!r} votes twice on story {row.story!r}")
        known.add((row.story, row.rater))
        for test, value in as_numbers(row.votes).items():
            yield Vote(where, row.story, row.rater, test, value, row.plot, row.source)


def _rows_of_votes(path: Path) -> Iterator[Vote]:
    """A vote a row; or a vote a cell, where no column is named after a vote."""
    table = read_rows(path, ("story", "rater"))
    if not any(VERDICT in row or NUMBER in row for row in table):
        yield from without_slips(_table_votes(table))
        return
    for row in table:
        if missing := [column for column in ("story", "rater") if column not in row]:
            raise VotesError(f"{row.where} has no {missing[0]}, expected a vote: {ONE_VOTE}")
        test = next((row.text(column) for column in TESTS if column in row), "")
        plot, source = (row.text(column) if column in row else "" for column in ("plot", "source"))
        if NUMBER in row and VERDICT in row:
            raise VotesError(f"{row.where} has a verdict and a number, expected one of them")
        value = float(row.verdict(VERDICT)) if VERDICT in row else math.nan
        if NUMBER in row:
            value = row.number(NUMBER)
        yield Vote(row.where, row.text("story"), row.text("rater"), test, value, plot, source)


def _gathered(votes: Iterable[Vote]) -> list[VotedStory]:
    stories: dict[str, VotedStory] = {}
    for vote in votes:
        story = stories.setdefault(vote.story, VotedStory(vote.story, {}, vote.plot, vote.source))
        for what, before, now in (("plot", story.plot, vote.plot), ("source", story.source, vote.source)):
            if before != now:
                raise VotesError(f"{vote.where}: story {vote.story!r} has the {what} {now!r}, and {before!r} before")
        ballot = story.votes.setdefault(vote.rater, {})
        if vote.test in ballot:
            raise VotesError(f"{vote.where}: {vote.rater!r} votes twice on story {vote.story!r}{vote.tested}")
        ballot[vote.test] = vote.value
    return list(stories.values())


def _released(story: str, row: Any, path: Path) -> VotedStory:
    where = f"{path}: story {story!r}"
    experts, tests = (row.get(name) if isinstance(row, dict) else None for name in ("experts", "tests"))
    if not (isinstance(experts, list) and isinstance(tests, list) and tests):
        raise VotesError(f"{where} has no list of experts or no list of tests")
    if uneven := [letters for letters in tests if not isinstance(letters, str) or len(letters) != len(experts)]:
        raise VotesError(f"{where} has the votes {uneven[0]!r} for {len(experts)} experts, expected a letter for each")
    ballots = (from_letters("".join(letters), where) for letters in zip(*tests, strict=True))
    return VotedStory(story, {str(expert): votes for expert, votes in zip(experts, ballots, strict=True)})


def from_letters(letters: str, where: str) -> dict[str, float]:
    """Results by test, 01, 02 and so on, from a letter a test."""
    if unknown := [letter for letter in letters if letter not in LETTERS]:
        raise VotesError(f"{where}: {unknown[0]!r} is not a verdict, expected one of {', '.join(LETTERS)}")
    return {f"{number:02d}": LETTERS[letter] for number, letter in enumerate(letters, start=1)}


def as_numbers(results: Mapping[str, bool | float | None]) -> dict[str, float]:
    return {test: math.nan if result is None else float(result) for test, result in results.items()}


def rows(path: Path, kind: type[RowT], form: str) -> Iterator[tuple[str, RowT]]:
    """The rows of a JSON Lines file, each with the place where it stands."""
    with votes_file(path):
        for number, _, line in placed_lines(path):
            where = f"{path}, line {number}"
            yield where, json_row(line, kind, where, VotesError, form)


def json_field(path: Path, name: str) -> dict[str, Any]:
    with votes_file(path):
        content = json_object(path.read_bytes(), str(path), VotesError)
    if not isinstance(content.get(name), dict):
        raise VotesError(f"{path} has no object {name!r}")
    return dict(content[name])
