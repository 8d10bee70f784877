"""Vectors on disk, by embedder and text, across runs and processes."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from genie_inspect.engines.sqlite_file import SqliteFile

FILE = "embeddings.sqlite"
ASKED_AT_ONCE = 500  # texts in one query; SQLite before 3.32 takes 999 values
SCHEMA = """
create table if not exists embeddings (
    embedder text not null, text text not null, vector blob not null, primary key (embedder, text)
) without rowid
"""


class KeptVectors:
    """A file of vectors, by the embedder's identity and the digest of the text.

    Args:
        folder: Where the file stands; it is made when missing.
    """

    def __init__(self, folder: Path) -> None:
        self._file = SqliteFile(folder / FILE, SCHEMA)

    @property
    def path(self) -> Path:
        """Where the file stands."""
        return self._file.path

    def vectors(self, embedder: str, texts: Iterable[str]) -> dict[str, bytes]:
        """The vectors on record of an embedder (by its identity), by text (by its digest)."""
        keys = list(texts)
        parts = [keys[start : start + ASKED_AT_ONCE] for start in range(0, len(keys), ASKED_AT_ONCE)]
        return self._file.run(
            lambda connection: {text: vector for part in parts for text, vector in _rows(connection, embedder, part)}
        )

    def close(self) -> None:
        """Let go of the file; it opens again when it is needed."""
        self._file.close()

    def size(self, embedder: str) -> int:
        """Bytes of an embedder's vectors, as most of them have; 0 where no number is on record."""
        query = (
            # the most frequent length, because a damaged row must not set the width for all others
            "select length(vector) from embeddings where embedder = ? and typeof(vector) = 'blob' "
            "and length(vector) > 0 and length(vector) % 4 = 0 group by 1 order by count(*) desc limit 1"
        )
        row = self._file.run(lambda connection: connection.execute(query, (embedder,)).fetchone())
        return int(row[0]) if row else 0

    def keep(self, embedder: str, vectors: Mapping[str, bytes]) -> None:
        """Put vectors by text on record."""
        rows = [(embedder, text, vector) for text, vector in vectors.items()]

        def write(connection: sqlite3.Connection) -> None:
            with connection:
                connection.executemany("insert or replace into embeddings values (?, ?, ?)", rows)

        self._file.run(write)

    def counts(self) -> dict[str, int]:
        """How many vectors there are, by embedder."""
        query = "select embedder, count(*) from embeddings group by 1"
        return self._file.run(lambda connection: dict(connection.execute(query).fetchall()))

    def clear(self) -> None:
        """Forget all of them, and give the space back."""

        def forget(connection: sqlite3.Connection) -> None:
            with connection:
                connection.execute("delete from embeddings")
            connection.execute("vacuum")  # outside the transaction: SQLite refuses it inside one

        self._file.run(forget)


def _rows(connection: sqlite3.Connection, embedder: str, texts: Sequence[str]) -> list[tuple[str, bytes]]:
    blanks = ", ".join("?" * len(texts))
    query = f"select text, vector from embeddings where embedder = ? and text in ({blanks})"  # noqa: S608  # blanks only
    return connection.execute(query, (embedder, *texts)).fetchall()
