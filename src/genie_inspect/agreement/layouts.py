"""Votes and verdicts in the layouts in which studies release them, a vote or a verdict at a time."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from genie_inspect.agreement.mixed_models.rows import NO, YES, TableError, TableRow
from genie_inspect.files.json_lines import json_objects, listed_objects

ABOUT = ("story", "rater", "plot", "source")
"""Columns of a table of ratings that say whose a row is; each other one is a test."""
NUMBER = "number"
"""Column of a row a vote whose votes are ratings, whatever they are."""
FEW = 0.1
"""Share of the votes up to which those beside 1 and 0 are taken for slips, and for no scale."""
_ANSWER = re.compile(r"story_(.+)_test(\d{1,3})")
_BEGINS = re.compile(r"\W*(yes|no)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Vote:
    """What one rater says of one test of one story."""

    where: str
    story: str
    rater: str
    test: str
    value: float
    """1 = passes, 0 = fails, or a number; NaN = no vote."""
    plot: str = ""
    source: str = ""

    @property
    def tested(self) -> str:
        """The test as a message has it behind the story; empty where there is one test alone."""
        return f", test {self.test!r}" * bool(self.test)


def without_slips(votes: Iterable[Vote]) -> list[Vote]:
    """The votes as they are.

    Raises:
        TableError: If nearly all are 1 or 0, and the others would make a scale of them.
    """
    votes = list(votes)
    cast = [vote for vote in votes if not math.isnan(vote.value)]
    others = [vote for vote in cast if vote.value not in (0, 1)]
    # one among three, and of more one in ten
    if others and len(cast) > 2 * len(others) and len(others) <= max(1, FEW * len(cast)):
        vote = others[0]
        raise TableError(
            f"{vote.where}: {vote.value:g} by {vote.rater!r} on story {vote.story!r}{vote.tested} is neither 1 nor 0, "
            f"as {len(cast) - len(others)} of {len(cast)} votes are, expected yes or no; ratings that are mostly 1 and "
            f"0 have a row each with the column {NUMBER}"
        )
    return votes


def annotation_votes(path: Path) -> Iterator[Vote]:
    """The votes of a JSON list as Salesforce/creativity_eval has it: story_id, expert_idx, ttcw_idx, binary_verdict.

    Raises:
        TableError: If the file cannot be read, or an item is no such vote.
    """
    for where, item in listed_objects(path, TableError):
        row = TableRow(where, item)
        if missing := [name for name in ("story_id", "expert_idx", "ttcw_idx", "binary_verdict") if name not in row]:
            raise TableError(f"{where} has no field {missing[0]!r}, expected a vote as Salesforce/creativity_eval has")
        value = float(row.verdict("binary_verdict"))
        yield Vote(where, row.text("story_id"), row.text("expert_idx"), _numbered(row.number("ttcw_idx")), value)


def table_votes(rows: Sequence[TableRow]) -> Iterator[Vote]:
    """The votes of a table with a row a rater and story and a column a test: numbers, or yes and no.

    A column of nothing but words is a remark and no test.

    Raises:
        TableError: If a row has no story or rater, or a cell of a test is neither number nor verdict.
    """
    columns = [column for column in dict.fromkeys(name for row in rows for name in row.cells) if column not in ABOUT]
    tests = [column for column in columns if any(column in row and _value(row, column) is not None for row in rows)]
    for row in rows:
        if missing := [column for column in ("story", "rater") if column not in row]:
            raise TableError(f"{row.where} has no {missing[0]}, expected story, rater and a column a test")
        about = {column: row.text(column) for column in ABOUT if column in row}
        for test in tests:
            value = _value(row, test) if test in row else math.nan
            if value is None:
                raise TableError(f"{row.where}, column {test!r} is {row.text(test)!r}, expected a number, yes or no")
            yield Vote(row.where, test=test, value=value, **about)


def answers(path: Path) -> Iterator[tuple[str, str, str, float]]:
    """Place, story, test and result of each answer of a file {"id": "story_3_GPT4_test1", "response": "Yes, ..."}.

    An answer that begins with neither yes nor no counts as a pass, as in the published figures.

    Raises:
        TableError: If the file cannot be read, or a line is no such answer.
    """
    for number, item in json_objects(path, TableError):
        where = f"{path}, line {number}"
        name, response = item.get("id"), item.get("response")
        match = _ANSWER.fullmatch(name) if isinstance(name, str) else None
        if match is None or not isinstance(response, str):
            raise TableError(f'{where} is no answer, expected {{"id": "story_3_GPT4_test1", "response": "Yes, ..."}}')
        begin = _BEGINS.match(response[:200])
        yield where, match[1], _numbered(float(match[2])), float(begin is None or begin[1].lower() == "yes")


def _numbered(index: float) -> str:
    return f"{int(index):02d}"


def _value(row: TableRow, column: str) -> float | None:
    """A cell as a number, or as 1 or 0; None where it is neither."""
    text = row.text(column).strip().lower()
    if text in (*YES, *NO):
        return float(text in YES)
    try:
        return row.number(column)
    except TableError:
        return None
