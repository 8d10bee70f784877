"""Caches of several processes or machines, added to one."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from genie_inspect.building.work import Progress
from genie_inspect.judges.cache import FILE, TABLES, Cache
from genie_inspect.scale.shards import ScaleError

TOGETHER = 10_000
"""Rows that are written at once."""


@dataclass(slots=True)
class Merged:
    """What became of the rows of other caches."""

    rows: int = 0
    kept: Counter[str] = field(default_factory=Counter)
    """What is new, by table."""
    conflicts: int = 0
    """Rows that are on record with another value, which stays."""
    refused: int = 0
    """Rows that are none of ours."""


def merged(cache: Cache, folders: Sequence[Path], progress: Progress) -> Merged:
    """Add the rows of other caches to one; to do it again changes nothing.

    Args:
        cache: What they are added to.
        folders: Where the others stand.
        progress: Told how many folders are done.

    Raises:
        ScaleError: If a folder holds no cache, or this very one.
    """
    for folder in folders:
        if not (folder / FILE).is_file():
            raise ScaleError(f"{folder} holds no {FILE}, expected the folder of a cache")
        if (folder / FILE).samefile(cache.path):
            raise ScaleError(f"{folder} is the cache that others are added to, expected another")
    result = Merged()
    for number, folder in enumerate(folders, start=1):
        other = Cache(folder)
        for table in TABLES:
            rows = other.rows(table)
            while some := list(islice(rows, TOGETHER)):
                added = cache.add(table, some)
                result.rows += len(some)
                result.kept[table] += added.new
                result.conflicts += added.conflicts
                result.refused += added.refused
        other.close()
        progress("merge", number, len(folders))
    return result
