"""A SQLite file that any number of processes share, and that is never a reason for a run to end."""

import sqlite3
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from genie_inspect.errors import GenieWarning
from genie_inspect.files.folders import private_file

T = TypeVar("T")

WAIT = 30.0  # seconds that a write waits for another process
LONGEST = 2**28  # bytes of a value


class SqliteFile:
    """A file opened when it is first needed, by one thread at a time, which only this user may read.

    A write is in the file when it returns: a killed process loses nothing that it had (a machine that loses its power
    may lose the last moments). A file that is no database, or whose rows are none of ours, is set aside with a warning,
    and an empty one takes its place; where no file can be used that is a warning too, and memory takes its place.
    """

    def __init__(self, path: Path, schema: str) -> None:
        self.path = path
        self._schema = schema
        self._opened: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None

    def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """The result of some work on the database.

        Damage shows only where it is met, so that any work may have to be done again, on an empty file.
        """
        connection = self._opened or self._open()
        try:
            return work(connection)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            connection.close()
            # all of the work again: what it read from the damaged file is worth nothing
            return work(self._instead_of(error))

    def close(self) -> None:
        """Let go of the file; it opens again when it is needed."""
        if self._opened is not None:
            self._opened.close()
        self._opened = None

    def _open(self) -> sqlite3.Connection:
        self._file = _identity(self.path)
        try:
            return self._anew()
        except (OSError, sqlite3.DatabaseError, UnicodeDecodeError) as error:
            return self._instead_of(error)

    def _anew(self) -> sqlite3.Connection:
        private_file(self.path)
        self._opened = connected(self.path, self._schema)
        self._file = _identity(self.path)
        return self._opened

    def _instead_of(self, error: Exception) -> sqlite3.Connection:
        """An empty file where the old one is damaged; memory alone where a file cannot be used; both with a warning."""
        self._opened = None
        try:
            if is_damage(error):
                self._set_aside(error)
                return self._anew()
        except (OSError, sqlite3.DatabaseError) as refused:
            error = refused
        if not isinstance(error, OSError | sqlite3.OperationalError):
            raise error
        warnings.warn(f"{self.path} cannot be used ({error}); what it holds is kept for this run only", GenieWarning, 4)
        self._opened = connected(":memory:", self._schema)
        return self._opened

    def _set_aside(self, error: Exception) -> None:
        if self._file != _identity(self.path):  # another process has set it aside already
            return
        aside = self.path.with_suffix(f".damaged-{time.time_ns()}")
        for ending in ("-wal", "-shm", ""):  # a log left behind would be played into the new file
            with suppress(FileNotFoundError):
                Path(f"{self.path}{ending}").replace(f"{aside}{ending}")
        warnings.warn(f"{self.path} is no readable cache ({error}); it was set aside as {aside}", GenieWarning, 5)


def connected(path: Path | str, schema: str) -> sqlite3.Connection:
    """An open database with its tables, in a mode in which writers stop no readers."""
    # callers hold a lock of their own, so one connection may serve several threads
    connection = sqlite3.connect(path, timeout=WAIT, check_same_thread=False)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
    try:
        _into_wal_mode(connection)
        connection.execute("pragma synchronous = normal")  # in WAL mode what was written outlives the process
        with connection:
            connection.executescript(schema)
        # a view of a table's name may have rows without end
        if made := connection.execute(
            "select type, name from sqlite_master where type in ('view', 'trigger')"
        ).fetchone():
            raise damaged("it has a {} {!r}, as no file of ours".format(*made))
    except (sqlite3.Error, UnicodeDecodeError):
        connection.close()
        raise
    return connection


def damaged(what: str) -> sqlite3.DatabaseError:
    """The error of a row that nobody of ours can have written; says what of it is wrong."""
    return sqlite3.DatabaseError(what)


def is_damage(error: Exception) -> bool:
    """Whether the file is at fault: subclasses of DatabaseError are about other things.

    The exception among them has no code of SQLite's: Python's own complaint about text that is no UTF-8.
    """
    if isinstance(error, sqlite3.OperationalError):
        return not hasattr(error, "sqlite_errorcode")
    return type(error) is sqlite3.DatabaseError or isinstance(error, UnicodeDecodeError)


def _into_wal_mode(connection: sqlite3.Connection) -> None:
    """Writers that do not stop readers; SQLite itself does not wait for others that open a file at the same moment."""
    deadline = time.monotonic() + WAIT
    while True:
        try:
            connection.execute("pragma journal_mode = wal")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file stands at a path, whatever its name; None when there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
