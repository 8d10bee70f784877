"""What readers have answered, judges rated and critics found, kept on disk across samples, runs and processes."""

import os
import sqlite3
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import platformdirs

from genie_inspect.errors import NetworkFolderWarning
from genie_inspect.files.folders import network_file_system
from genie_inspect.files.numbers import number
from genie_inspect.files.sqlite_file import SqliteFile, damaged
from genie_inspect.measures.genie import HIGHEST, LOWEST
from genie_inspect.prompting.replies import LEVELS
from genie_inspect.prompting.texts import shortened

T = TypeVar("T")

WHETHER_ATTEMPT, NO = "", "no"
"""In place of a question, which is never empty: whether the document is an attempt at all; kept where it is none."""

FOLDER_VARIABLE = "GENIE_CACHE_DIR"
FILE = "cache.sqlite"
NETWORKED = (
    "{path} stands on a network file system ({kind}), where SQLite can lose or damage what several machines write: "
    f"give each process a folder of its own by ${FOLDER_VARIABLE}, and join them with `genie cache merge`"
)
MOST_POINTS = max(LEVELS) // 2
TABLES = {
    "answers": ("reader", "document", "question", "answer"),
    "ratings": ("judge", "question", "answer", "other", "rating", "off_labels"),
    "verdicts": ("judge", "story_a", "story_b", "test", "points", "reply"),
}
KEYS = {"answers": 3, "ratings": 4, "verdicts": 4}
"""How many of a table's columns, the first ones, tell a row from all others."""
READ_COLUMNS = {"answers": 2, "ratings": 3, "verdicts": 2}
"""How many of them, the last ones, a look-up reads."""
SCHEMA = """
create table if not exists answers (
    reader text not null, document text not null, question text not null, answer text,
    primary key (reader, document, question)
) without rowid;
create table if not exists ratings (
    judge text not null, question text not null, answer text not null, other text not null,
    rating real not null, off_labels real,
    primary key (judge, question, answer, other)
) without rowid;
create table if not exists verdicts (
    judge text not null, story_a text not null, story_b text not null, test text not null,
    points integer not null, reply text not null,
    primary key (judge, story_a, story_b, test)
) without rowid;
"""


class Judged(NamedTuple):
    rating: float
    """1 to 4; 0: one side gives no answer."""
    off_labels: float | None = None
    """Probability off the labels, 0 to 1, where the judge reads probabilities."""


class VerdictKey(NamedTuple):
    judge: str
    """The critic's signature: model, templates and labels, but not what is made of its verdicts."""
    story_a: str
    """Digest of the story that stood first, or alone."""
    story_b: str
    """Digest of the story that stood second; empty where one stood alone."""
    test: str
    """Digest of the test's name and question."""


class Verdict(NamedTuple):
    points: int
    """Of story A over story B; of a story alone 1 = yes, 0 = no."""
    reply: str
    """The whole reply, with the analysis before the label."""


class Added(NamedTuple):
    new: int
    conflicts: int
    """Of which another value is on record."""
    refused: int
    """Which are no rows of ours."""


def cache_folder() -> Path:
    """$GENIE_CACHE_DIR, else the user's cache folder for genie-inspect."""
    return Path(os.environ.get(FOLDER_VARIABLE) or platformdirs.user_cache_dir("genie-inspect"))


class Cache(SqliteFile):
    """Answers, ratings and verdicts in one SQLite file that any number of processes share.

    The file is opened at once, so that a cache that cannot be used is a warning before anything is asked; what becomes
    of a damaged one, see `SqliteFile`.
    """

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__((folder or cache_folder()) / FILE, SCHEMA)
        if kind := network_file_system(self.path):
            warnings.warn(NETWORKED.format(path=self.path, kind=kind), NetworkFolderWarning, stacklevel=2)
        self.run(lambda _: None)
        self._together = False

    def answers(self, reader: str, document: str, questions: Iterable[str]) -> dict[str, str | None]:
        """What a reader answered about a document (by its digest); None: the document does not say."""
        select = "select question, answer from answers where reader = ? and document = ?"
        recorded = dict(self._made(_answer, select, reader, document))
        return {question: recorded[question] for question in questions if question in recorded}

    def keep_answers(self, reader: str, document: str, answers: Mapping[str, str | None]) -> None:
        self._write("answers", ((reader, document, question, answer) for question, answer in answers.items()))

    def ratings(self, judge: str, question: str, answer: str) -> dict[str, Judged]:
        """What a judge said of an answer against others, by the other answer."""
        select = "select other, rating, off_labels from ratings where judge = ? and question = ? and answer = ?"
        return dict(self._made(_rating, select, judge, question, answer))

    def keep_ratings(self, judge: str, question: str, answer: str, ratings: Mapping[str, Judged]) -> None:
        self._write("ratings", ((judge, question, answer, other, *said) for other, said in ratings.items()))

    def verdict(self, key: VerdictKey) -> Verdict | None:
        """What a critic said of a test; None when it was not asked, or its reply could not be read."""
        select = "select points, reply from verdicts where judge = ? and story_a = ? and story_b = ? and test = ?"
        return next(iter(self._made(_verdict, select, *key)), None)

    def keep_verdict(self, key: VerdictKey, verdict: Verdict) -> None:
        self._write("verdicts", [(*key, *verdict)])

    @contextmanager
    def together(self) -> Iterator[None]:
        """What is put on record inside is on disk when the body ends, however it does; it takes a fraction of the time.

        Other processes wait with what they write, so that the body is to be short: what it finds to be new is new.
        """
        self.run(lambda connection: connection.execute("begin immediate"))
        self._together = True
        try:
            yield
        finally:
            self._together = False
            self.run(lambda connection: connection.commit())

    def rows(self, table: str) -> Iterator[dict[str, object]]:
        """Every row of a table by column name, one at a time."""
        columns = TABLES[table]
        select = f"select {', '.join(columns)} from {table}"  # noqa: S608  # our own names
        for row in self.run(lambda connection: connection.execute(select)):
            yield dict(zip(columns, row, strict=True))

    def add(self, table: str, rows: Iterable[Mapping[str, object]]) -> "Added":
        """Put rows on record that are not there, as `rows` gives them; what is on record stays as it is."""
        made, keys = [_row(table, row) for row in rows], KEYS[table]
        columns, whole = TABLES[table], [row for row in made if row]
        place = " and ".join(f"{column} = ?" for column in columns[:keys])
        select = f"select {', '.join(columns[keys:])} from {table} where {place}"  # noqa: S608  # our own names
        insert = f"insert or ignore into {table} values ({', '.join('?' * len(columns))})"  # noqa: S608  # our own names

        def write(connection: sqlite3.Connection) -> Added:
            new = conflicts = 0
            with connection:
                for row in whole:
                    if connection.execute(insert, row).rowcount:
                        new += 1
                    else:
                        conflicts += connection.execute(select, row[:keys]).fetchone() != row[keys:]
            return Added(new, conflicts, len(made) - len(whole))

        return self.run(write)

    def counts(self) -> dict[str, dict[str, int]]:
        """Rows by table, and in it by reader, judge or critic."""
        return {
            table: dict(self._all(f"select {columns[0]}, count(*) from {table} group by 1"))  # noqa: S608  # our names
            for table, columns in TABLES.items()
        }

    def clear(self) -> None:
        def forget(connection: sqlite3.Connection) -> None:
            with connection:
                for table in TABLES:
                    connection.execute(f"delete from {table}")  # noqa: S608  # our own names
            connection.execute("vacuum")

        self.run(forget)

    def _all(self, select: str, *values: str) -> list[tuple[Any, ...]]:
        return self.run(lambda connection: connection.execute(select, values).fetchall())

    def _made(self, make: Callable[..., T], select: str, *values: str) -> list[T]:
        """What is made of each row; a row of which nothing can be made is damage of the file."""
        return self.run(lambda connection: [make(*row) for row in connection.execute(select, values)])

    def _write(self, table: str, rows: Iterable[tuple[object, ...]]) -> None:
        blanks = ", ".join("?" * len(TABLES[table]))
        whole = list(rows)

        def write(connection: sqlite3.Connection) -> None:
            # a connection on its own commits at the end
            with nullcontext() if self._together else connection:
                connection.executemany(f"insert or replace into {table} values ({blanks})", whole)  # noqa: S608  # our own names

        self.run(write)


def _row(table: str, row: Mapping[str, object]) -> tuple[Any, ...]:
    """The values of a row from outside, in the order of the columns; nothing of one that cannot be ours."""
    columns, keys = TABLES[table], KEYS[table]
    values = tuple(number(v) if isinstance(v, int) and table == "ratings" else v for v in map(row.get, columns))
    try:
        CHECKS[table](*values[-READ_COLUMNS[table] :])
    except sqlite3.DatabaseError:
        return ()
    return values if all(isinstance(value, str) for value in values[:keys]) else ()


def _answer(question: str, answer: object) -> tuple[str, str | None]:
    if answer is None or isinstance(answer, str):
        return question, answer
    raise damaged(f"an answer is a {type(answer).__name__}, expected text or nothing")


def _rating(other: str, rating: object, off_labels: object) -> tuple[str, Judged]:
    if not isinstance(rating, float) or (rating and not LOWEST <= rating <= HIGHEST):
        raise damaged(f"a rating is {shortened(str(rating))}, expected 0 or {LOWEST} to {HIGHEST}")
    if off_labels is None or (isinstance(off_labels, float) and 0 <= off_labels <= 1):
        return other, Judged(rating, off_labels)
    raise damaged(f"a probability off the labels is {shortened(str(off_labels))}, expected 0 to 1")


def _verdict(points: object, reply: object) -> Verdict:
    if isinstance(points, int) and abs(points) <= MOST_POINTS and isinstance(reply, str):
        return Verdict(points, reply)
    raise damaged(f"a verdict is {shortened(str(points))}, expected -{MOST_POINTS} to {MOST_POINTS} points and a reply")


CHECKS: Mapping[str, Callable[..., object]] = {"answers": _answer, "ratings": _rating, "verdicts": _verdict}
"""What is made of the columns of a row that a look-up reads, which refuses what cannot be ours."""
