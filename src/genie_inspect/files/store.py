"""Key-value tables in a SQLite file that any number of processes share, and that is never a reason for a run to end."""

import os
import sqlite3
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from genie_inspect.errors import GenieWarning
from genie_inspect.files.values import number

T = TypeVar("T")
V = TypeVar("V")
ASKED_AT_ONCE = 500  # keys in one query; SQLite before 3.32 takes 999 values
WAIT = 30.0  # seconds that a write waits for another process
LONGEST = 2**28  # bytes of a value


@dataclass(frozen=True, slots=True)
class KeyTable(Generic[V]):
    name: str
    place: tuple[str, ...]  # columns that say where a look-up looks: the first says who gave the values
    key: str  # the column that tells the rows at one place from each other
    values: Mapping[str, str]  # columns of a value and their SQL types; a value of several columns is a tuple
    made: Callable[..., V]  # makes a value of its columns; raises sqlite3.DatabaseError for what cannot be ours

    @property
    def keys(self) -> tuple[str, ...]:
        return *self.place, self.key

    @property
    def schema(self) -> str:
        kinds = dict.fromkeys(self.keys, "text not null") | dict(self.values)
        columns = ", ".join(f"{column} {kind}" for column, kind in kinds.items())
        primary = f"primary key ({', '.join(self.keys)})"
        return f"create table if not exists {self.name} ({columns}, {primary}) without rowid;"

    @property
    def insert(self) -> str:
        return f"into {self.name} values ({', '.join('?' * (len(self.keys) + len(self.values)))})"

    def select(self, columns: Iterable[str], known: Iterable[str] = ()) -> str:
        """The query for some columns of the rows in which the known ones have certain values."""
        conditions = " and ".join(f"{column} = ?" for column in known)
        return f"select {', '.join(columns)} from {self.name}" + (f" where {conditions}" if conditions else "")  # noqa: S608  # our own names

    def row(self, row: Mapping[str, object]) -> tuple[Any, ...]:
        """The values of a row from outside, in the order of the columns; nothing of one that cannot be ours."""
        keys = tuple(map(row.get, self.keys))
        values = tuple(
            number(value) if isinstance(value := row.get(column), int) and kind.startswith("real") else value
            for column, kind in self.values.items()
        )
        try:
            self.made(*values)
        except sqlite3.DatabaseError:
            return ()
        return keys + values if all(isinstance(key, str) for key in keys) else ()


class Added(NamedTuple):
    new: int
    conflicts: int  # of which another value is on record
    refused: int  # which are no rows of ours


class Store:
    """Tables in a file that is opened when it is first needed, by one thread at a time, for this user alone to read.

    A write is in the file when it returns: a killed process loses nothing that it had (a machine that loses its power
    may lose the last moments). A file that is no database, or whose rows are none of ours, is set aside with a warning,
    and an empty one takes its place; where no file can be used that is a warning too, and memory takes its place.
    """

    def __init__(self, path: Path, tables: Sequence[KeyTable[Any]]) -> None:
        self.path, self.tables = path, tables
        self._schema = "".join(table.schema for table in tables)
        self._together = False
        self._opened: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None

    def found(self, table: KeyTable[V], place: Sequence[str], keys: Iterable[str] | None = None) -> dict[str, V]:
        """What is on record at a place, by key; of all keys, or of these. What cannot be ours is damage of the file."""
        select, queries = table.select((table.key, *table.values), table.place), []
        if keys is None:
            queries.append((select, tuple(place)))
        else:
            listed = list(keys)
            for start in range(0, len(listed), ASKED_AT_ONCE):
                part = listed[start : start + ASKED_AT_ONCE]
                queries.append((f"{select} and {table.key} in ({', '.join('?' * len(part))})", (*place, *part)))

        return self.run(
            lambda connection: {key: table.made(*row) for q in queries for key, *row in connection.execute(*q)}
        )

    def keep(self, table: KeyTable[V], place: Sequence[str], values: Mapping[str, V]) -> None:
        rows = [(*place, key, *(value if isinstance(value, tuple) else (value,))) for key, value in values.items()]

        def write(connection: sqlite3.Connection) -> None:
            # a connection on its own commits at the end
            with nullcontext() if self._together else connection:
                connection.executemany(f"insert or replace {table.insert}", rows)

        self.run(write)

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

    def rows(self, table: KeyTable[Any]) -> Iterator[dict[str, object]]:
        """Every row of a table by column name, one at a time."""
        columns = (*table.keys, *table.values)
        for row in self.run(lambda connection: connection.execute(table.select(columns))):
            yield dict(zip(columns, row, strict=True))

    def add(self, table: KeyTable[Any], rows: Iterable[Mapping[str, object]]) -> Added:
        """Put rows on record that are not there, as `rows` gives them; what is on record stays as it is."""
        made, keys = [table.row(row) for row in rows], len(table.keys)
        whole = [row for row in made if row]
        there = table.select(table.values, table.keys)

        def write(connection: sqlite3.Connection) -> Added:
            new = conflicts = 0
            with connection:
                for row in whole:
                    if connection.execute(f"insert or ignore {table.insert}", row).rowcount:
                        new += 1
                    else:
                        conflicts += connection.execute(there, row[:keys]).fetchone() != row[keys:]
            return Added(new, conflicts, len(made) - len(whole))

        return self.run(write)

    def count(self, table: KeyTable[Any]) -> dict[str, int]:
        """Rows by who gave them."""
        query = f"{table.select((table.place[0], 'count(*)'))} group by 1"
        return self.run(lambda connection: dict(connection.execute(query).fetchall()))

    def clear(self) -> None:
        def forget(connection: sqlite3.Connection) -> None:
            with connection:
                for table in self.tables:
                    connection.execute(f"delete from {table.name}")  # noqa: S608  # our own names
            connection.execute("vacuum")  # outside the transaction: SQLite refuses it inside one

        self.run(forget)

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
        # only this user may read it; SQLite gives the files that it puts beside it the same permissions
        with suppress(FileExistsError):
            self.path.parent.mkdir(0o700, parents=True)
        with suppress(FileExistsError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL, 0o600))
        self._opened = connected(self.path, self._schema)
        self._file = _identity(self.path)
        return self._opened

    def _instead_of(self, error: Exception) -> sqlite3.Connection:
        """An empty file where the old one is damaged; memory alone where a file cannot be used; both with a warning."""
        self._opened = None
        try:
            if is_damage(error):
                # unless another process has set it aside already
                if self._file == _identity(self.path):
                    aside = self.path.with_suffix(f".damaged-{time.time_ns()}")
                    for ending in ("-wal", "-shm", ""):  # a log left behind would be played into the new file
                        with suppress(FileNotFoundError):
                            Path(f"{self.path}{ending}").replace(f"{aside}{ending}")
                    told = f"{self.path} is not a readable cache ({error}); it was set aside as {aside}"
                    warnings.warn(told, GenieWarning, 4)
                return self._anew()
        except (OSError, sqlite3.DatabaseError) as refused:
            error = refused
        if not isinstance(error, OSError | sqlite3.OperationalError):
            raise error
        warnings.warn(f"{self.path} cannot be used ({error}); its contents are kept for this run only", GenieWarning, 4)
        self._opened = connected(":memory:", self._schema)
        return self._opened


def connected(path: Path | str, schema: str) -> sqlite3.Connection:
    """An open database with its tables, in a mode in which writers stop no readers."""
    # callers hold a lock of their own, so one connection may serve several threads
    connection = sqlite3.connect(path, timeout=WAIT, check_same_thread=False)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
    try:
        # SQLite itself does not wait for others that open a file at the same moment
        deadline = time.monotonic() + WAIT
        while True:
            try:
                connection.execute("pragma journal_mode = wal")
                break
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
            time.sleep(0.01)
        connection.execute("pragma synchronous = normal")  # in WAL mode what was written outlives the process
        connection.executescript(schema)
        # a view of a table's name may have rows without end
        foreign = "select type, name from sqlite_master where type in ('view', 'trigger')"
        if made := connection.execute(foreign).fetchone():
            raise damaged("it has a {} {!r}, unlike a file of genie-inspect".format(*made))
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


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file stands at a path, whatever its name; None when there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
