"""Key-value tables in a SQLite file: one way of asking and keeping for whatever models gave."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from genie_inspect.files.numbers import number
from genie_inspect.files.sqlite_file import SqliteFile

V = TypeVar("V")
ASKED_AT_ONCE = 500  # keys in one query; SQLite before 3.32 takes 999 values


@dataclass(frozen=True, slots=True)
class KeyTable(Generic[V]):
    name: str
    place: tuple[str, ...]
    """Columns that say where a look-up looks: the first says who gave the values."""
    key: str
    """The column that tells the rows at one place from each other."""
    values: Mapping[str, str]
    """Columns of a value and their SQL types; a value of several columns is a tuple."""
    made: Callable[..., V]
    """Makes a value of its columns; raises sqlite3.DatabaseError for what cannot be ours."""

    @property
    def keys(self) -> tuple[str, ...]:
        return *self.place, self.key

    @property
    def columns(self) -> tuple[str, ...]:
        return *self.keys, *self.values

    @property
    def schema(self) -> str:
        kinds = dict.fromkeys(self.keys, "text not null") | dict(self.values)
        columns = ", ".join(f"{column} {kind}" for column, kind in kinds.items())
        return (
            f"create table if not exists {self.name} ({columns}, primary key ({', '.join(self.keys)})) without rowid;"
        )

    @property
    def insert(self) -> str:
        return f"into {self.name} values ({', '.join('?' * len(self.columns))})"

    @property
    def row_there(self) -> str:
        return f"select {', '.join(self.values)} from {self.name} where {_equal(self.keys)}"  # noqa: S608  # our own names

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
    conflicts: int
    """Of which another value is on record."""
    refused: int
    """Which are no rows of ours."""


class Store(SqliteFile):
    """Tables in one SQLite file that any number of processes share; what becomes of a damaged one, see `SqliteFile`."""

    def __init__(self, path: Path, tables: Sequence[KeyTable[Any]]) -> None:
        super().__init__(path, "".join(table.schema for table in tables))
        self.tables = tables
        self._together = False

    def found(self, table: KeyTable[V], place: Sequence[str], keys: Iterable[str] | None = None) -> dict[str, V]:
        """What is on record at a place, by key; of all keys, or of these. What cannot be ours is damage of the file."""
        select = f"select {table.key}, {', '.join(table.values)} from {table.name} where {_equal(table.place)}"  # noqa: S608  # our own names
        listed = [] if keys is None else list(keys)
        parts = [listed[start : start + ASKED_AT_ONCE] for start in range(0, len(listed), ASKED_AT_ONCE)]
        queries = (
            [(select, tuple(place))]
            if keys is None
            else [(f"{select} and {table.key} in ({', '.join('?' * len(part))})", (*place, *part)) for part in parts]
        )

        def look(connection: sqlite3.Connection) -> dict[str, V]:
            return {key: table.made(*row) for query in queries for key, *row in connection.execute(*query)}

        return self.run(look)

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
        select = f"select {', '.join(table.columns)} from {table.name}"  # noqa: S608  # our own names
        for row in self.run(lambda connection: connection.execute(select)):
            yield dict(zip(table.columns, row, strict=True))

    def add(self, table: KeyTable[Any], rows: Iterable[Mapping[str, object]]) -> Added:
        """Put rows on record that are not there, as `rows` gives them; what is on record stays as it is."""
        made, keys = [table.row(row) for row in rows], len(table.keys)
        whole = [row for row in made if row]

        def write(connection: sqlite3.Connection) -> Added:
            new = conflicts = 0
            with connection:
                for row in whole:
                    if connection.execute(f"insert or ignore {table.insert}", row).rowcount:
                        new += 1
                    else:
                        conflicts += connection.execute(table.row_there, row[:keys]).fetchone() != row[keys:]
            return Added(new, conflicts, len(made) - len(whole))

        return self.run(write)

    def count(self, table: KeyTable[Any]) -> dict[str, int]:
        """Rows by who gave them."""
        query = f"select {table.place[0]}, count(*) from {table.name} group by 1"  # noqa: S608  # our own names
        return self.run(lambda connection: dict(connection.execute(query).fetchall()))

    def clear(self) -> None:
        def forget(connection: sqlite3.Connection) -> None:
            with connection:
                for table in self.tables:
                    connection.execute(f"delete from {table.name}")  # noqa: S608  # our own names
            connection.execute("vacuum")  # outside the transaction: SQLite refuses it inside one

        self.run(forget)


def _equal(columns: Iterable[str]) -> str:
    return " and ".join(f"{column} = ?" for column in columns)
