"""What readers have answered, judges rated and critics found, kept on disk across samples, runs and processes."""

import os
import sqlite3
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import platformdirs

from genie_inspect.engines.sqlite_file import WAIT, file_identity, into_wal_mode
from genie_inspect.files.folders import private_file

T = TypeVar("T")

ATTEMPT, NO = "", "no"
"""In place of a question, which is never empty: whether the document is an attempt at all; kept where it is none."""

FOLDER_VARIABLE = "GENIE_CACHE_DIR"
FILE = "cache.sqlite"
TABLES = {
    "answers": ("reader", "document", "question", "answer"),
    "ratings": ("judge", "question", "answer", "other", "rating", "off_labels"),
    "verdicts": ("judge", "story_a", "story_b", "test", "points", "reply"),
}
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
    """What a judge said of one pair."""

    rating: float
    """1 to 4; 0: one side gives no answer."""
    off_labels: float | None = None
    """Probability off the labels, 0 to 1, where the judge reads probabilities."""


class VerdictKey(NamedTuple):
    """What a critic was asked."""

    judge: str
    """The critic's signature: model, templates and labels, but not what is made of its verdicts."""
    story_a: str
    """Digest of the story that stood first, or alone."""
    story_b: str
    """Digest of the story that stood second; empty where one stood alone."""
    test: str
    """Digest of the test's name and question."""


class Verdict(NamedTuple):
    """What a critic said of one test."""

    points: int
    """Of story A over story B; of a story alone 1 = yes, 0 = no."""
    reply: str
    """The whole reply, with the analysis before the label."""


def cache_folder() -> Path:
    """$GENIE_CACHE_DIR, else the user's cache folder for genie-inspect."""
    return Path(os.environ.get(FOLDER_VARIABLE) or platformdirs.user_cache_dir("genie-inspect"))


class Cache:
    """Answers, ratings and verdicts in one SQLite file that any number of processes share.

    A write is in the file when it returns: a killed process loses nothing that it had (a machine that loses its power
    may lose the last moments). A file that is no database is set aside with a warning, and an empty one takes its
    place; a file that cannot be written is a warning too, and nothing is kept.

    Args:
        folder: Where the cache file stands; it is made when missing, and then only this user may read it.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.path = (folder or cache_folder()) / FILE
        self._connection = self._open()

    def answers(self, reader: str, document: str, questions: Iterable[str]) -> dict[str, str | None]:
        """What a reader answered about a document (by its digest); None: the document does not say."""
        select = "select question, answer from answers where reader = ? and document = ?"
        recorded: dict[str, str | None] = dict(self._all(select, reader, document))
        return {question: recorded[question] for question in questions if question in recorded}

    def keep_answers(self, reader: str, document: str, answers: Mapping[str, str | None]) -> None:
        """Put answers by question on record."""
        self._write("answers", ((reader, document, question, answer) for question, answer in answers.items()))

    def ratings(self, judge: str, question: str, answer: str) -> dict[str, Judged]:
        """What a judge said of an answer against others, by the other answer."""
        select = "select other, rating, off_labels from ratings where judge = ? and question = ? and answer = ?"
        return {other: Judged(*said) for other, *said in self._all(select, judge, question, answer)}

    def keep_ratings(self, judge: str, question: str, answer: str, ratings: Mapping[str, Judged]) -> None:
        """Put ratings by the other answer on record."""
        self._write("ratings", ((judge, question, answer, other, *said) for other, said in ratings.items()))

    def verdict(self, key: VerdictKey) -> Verdict | None:
        """What a critic said of a test; None when it was not asked, or its reply could not be read."""
        select = "select points, reply from verdicts where judge = ? and story_a = ? and story_b = ? and test = ?"
        return next((Verdict(*row) for row in self._all(select, *key)), None)

    def keep_verdict(self, key: VerdictKey, verdict: Verdict) -> None:
        """Put a verdict on record."""
        self._write("verdicts", [(*key, *verdict)])

    def rows(self, table: str) -> Iterator[dict[str, object]]:
        """Every row of a table by column name, one at a time."""
        columns = TABLES[table]
        for row in self._connection.execute(f"select {', '.join(columns)} from {table}"):  # noqa: S608  # our own names
            yield dict(zip(columns, row, strict=True))

    def counts(self) -> dict[str, dict[str, int]]:
        """Rows by table, and in it by reader, judge or critic."""
        return {
            table: dict(self._all(f"select {columns[0]}, count(*) from {table} group by 1"))  # noqa: S608  # our names
            for table, columns in TABLES.items()
        }

    def clear(self) -> None:
        """Forget everything, and give the space back."""
        for table in TABLES:
            self._run(lambda connection, table=table: connection.execute(f"delete from {table}"))  # type: ignore[misc]  # noqa: S608  # our own names
        self._connection.commit()
        self._connection.execute("vacuum")

    def _all(self, select: str, *values: str) -> list[tuple[Any, ...]]:
        return self._run(lambda connection: connection.execute(select, values).fetchall())

    def _write(self, table: str, rows: Iterable[tuple[object, ...]]) -> None:
        blanks = ", ".join("?" * len(TABLES[table]))
        whole = list(rows)

        def write(connection: sqlite3.Connection) -> None:
            with connection:
                connection.executemany(f"insert or replace into {table} values ({blanks})", whole)  # noqa: S608  # our own names

        self._run(write)

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """What the work gives; damage shows only where it is met, so that any work may have to be done again."""
        try:
            return work(self._connection)
        except sqlite3.DatabaseError as error:
            self._connection.close()
            self._connection = self._instead_of(error)
            return work(self._connection)

    def _open(self) -> sqlite3.Connection:
        self._identity = file_identity(self.path)
        try:
            private_file(self.path)
            connection = _connect(self.path)
            self._identity = file_identity(self.path)
            return connection
        except (OSError, sqlite3.DatabaseError) as error:
            return self._instead_of(error)

    def _instead_of(self, error: Exception) -> sqlite3.Connection:
        """An empty file where the old one is damaged; memory alone where a file cannot be used; both with a warning."""
        if type(error) is sqlite3.DatabaseError:  # its subclasses are not about damage
            if self._identity == file_identity(self.path):  # else another process has set it aside already
                aside = self.path.with_suffix(f".damaged-{time.time_ns()}")
                for ending in ("-wal", "-shm", ""):  # a log left behind would be played into the new file
                    with suppress(FileNotFoundError):
                        Path(f"{self.path}{ending}").replace(f"{aside}{ending}")
                warnings.warn(f"{self.path} is no readable cache ({error}); it was set aside as {aside}", stacklevel=4)
            private_file(self.path)
            return _connect(self.path)
        if isinstance(error, OSError | sqlite3.OperationalError):
            warnings.warn(f"{self.path} cannot be used ({error}); nothing is cached in this run", stacklevel=4)
            return _connect(":memory:")
        raise error


def _connect(path: Path | str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=WAIT, check_same_thread=False)
    into_wal_mode(connection)
    connection.execute("pragma synchronous = normal")  # in WAL mode what was written outlives the process
    with connection:
        connection.executescript(SCHEMA)
    return connection
