"""A SQLite file that any number of processes share, and that is never a reason for a run to end."""

import sqlite3
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

WAIT = 30.0  # seconds that a write waits for another process


class SqliteFile:
    """A file opened when it is first needed, by one thread at a time.

    A write is in the file when it returns. A file that is no database is set aside with a warning, and an empty one
    takes its place; where no file can be used that is a warning too, and memory takes its place.

    Args:
        path: Where it stands; its folder is made when missing.
        schema: Creates the tables where they are missing.
    """

    def __init__(self, path: Path, schema: str) -> None:
        self.path = path
        self._schema = schema
        self._opened: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None

    def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """What the work gives; damage shows only where it is met, so that any work may have to be done again."""
        connection = self._opened or self._open()
        try:
            return work(connection)
        except sqlite3.DatabaseError as error:
            connection.close()
            return work(self._instead_of(error))

    def close(self) -> None:
        """Let go of the file; it opens again when it is needed."""
        if self._opened is not None:
            self._opened.close()
        self._opened = None

    def _open(self) -> sqlite3.Connection:
        self._file = file_identity(self.path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._opened = self._connected(self.path)
        except (OSError, sqlite3.DatabaseError) as error:
            return self._instead_of(error)
        self._file = file_identity(self.path)
        return self._opened

    def _instead_of(self, error: Exception) -> sqlite3.Connection:
        """An empty file where the old one is damaged; memory alone where a file cannot be used; both with a warning."""
        self._opened = None
        if type(error) is sqlite3.DatabaseError:  # its subclasses are not about damage
            if self._file == file_identity(self.path):  # else another process has set it aside already
                aside = self.path.with_suffix(f".damaged-{time.time_ns()}")
                for ending in ("-wal", "-shm", ""):  # a log left behind would be played into the new file
                    with suppress(FileNotFoundError):
                        Path(f"{self.path}{ending}").replace(f"{aside}{ending}")
                warnings.warn(f"{self.path} is no readable cache ({error}); it was set aside as {aside}", stacklevel=4)
            self._opened = self._connected(self.path)
            self._file = file_identity(self.path)
        elif isinstance(error, OSError | sqlite3.OperationalError):
            warnings.warn(
                f"{self.path} cannot be used ({error}); what it holds is kept for this run only", stacklevel=4
            )
            self._opened = self._connected(":memory:")
        else:
            raise error
        return self._opened

    def _connected(self, path: Path | str) -> sqlite3.Connection:
        connection = sqlite3.connect(path, timeout=WAIT, check_same_thread=False)
        try:
            into_wal_mode(connection)
            connection.execute("pragma synchronous = normal")  # in WAL mode what was written outlives the process
            with connection:
                connection.executescript(self._schema)
        except sqlite3.Error:
            connection.close()
            raise
        return connection


def into_wal_mode(connection: sqlite3.Connection) -> None:
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


def file_identity(path: Path) -> tuple[int, int] | None:
    """Which file stands at a path, whatever its name; None when there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
