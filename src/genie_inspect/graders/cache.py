"""What readers have answered, judges rated and critics found, kept on disk across samples, runs and processes."""

import os
import warnings
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple, TypeVar
from weakref import WeakValueDictionary

import anyio
import platformdirs

from genie_inspect.errors import NetworkFolderWarning
from genie_inspect.files.store import KeyTable, Store, damaged
from genie_inspect.files.writing import network_file_system
from genie_inspect.measures.genie import HIGHEST, LOWEST
from genie_inspect.prompting.replies import LEVELS
from genie_inspect.prompting.texts import shortened

V = TypeVar("V")

# in place of a question, which is never empty: whether the document is an attempt at all; kept where it is none
WHETHER_ATTEMPT, NO = "", "no"

FOLDER_VARIABLE = "GENIE_CACHE_DIR"
FILE = "cache.sqlite"
NETWORKED = (
    "{path} is on a network file system ({kind}), where SQLite can lose or damage what several machines write: "
    f"give each process a folder of its own by ${FOLDER_VARIABLE}, and join them with `genie cache merge`"
)
MOST_POINTS = max(LEVELS) // 2


class Judged(NamedTuple):
    rating: float  # 1 to 4; 0: one side gives no answer
    off_labels: float | None = None  # probability off the labels, 0 to 1, where the judge reads probabilities


class Verdict(NamedTuple):
    points: int  # of story A over story B; of a story alone 1 = yes, 0 = no
    reply: str  # the whole, with the analysis before the label


def _answer(answer: object) -> str | None:
    if answer is None or isinstance(answer, str):
        return answer
    raise damaged(f"an answer is a {type(answer).__name__}, expected text or nothing")


def _rating(rating: object, off_labels: object) -> Judged:
    if not isinstance(rating, float) or (rating and not LOWEST <= rating <= HIGHEST):
        raise damaged(f"a rating is {shortened(str(rating))}, expected 0 or {LOWEST} to {HIGHEST}")
    if off_labels is None or (isinstance(off_labels, float) and 0 <= off_labels <= 1):
        return Judged(rating, off_labels)
    raise damaged(f"a probability off the labels is {shortened(str(off_labels))}, expected 0 to 1")


def _verdict(points: object, reply: object) -> Verdict:
    if isinstance(points, int) and abs(points) <= MOST_POINTS and isinstance(reply, str):
        return Verdict(points, reply)
    raise damaged(f"a verdict is {shortened(str(points))}, expected -{MOST_POINTS} to {MOST_POINTS} points and a reply")


# what a reader said of a document, by its digest; None: the document does not say
ANSWERS = KeyTable("answers", ("reader", "document"), "question", {"answer": "text"}, _answer)
# what a judge said of an answer and another one
_RATED = {"rating": "real not null", "off_labels": "real"}
RATINGS = KeyTable("ratings", ("judge", "question", "answer"), "other", _RATED, _rating)
# what a critic, by its signature, said of the stories that stood first and second: digests, the second empty where one
# stood alone. By the digest of the test's name and question
_SAID = {"points": "integer not null", "reply": "text not null"}
VERDICTS = KeyTable("verdicts", ("judge", "story_a", "story_b"), "test", _SAID, _verdict)
TABLES = {table.name: table for table in (ANSWERS, RATINGS, VERDICTS)}


def cache_folder() -> Path:
    """$GENIE_CACHE_DIR, else the user's cache folder for genie-inspect."""
    return Path(os.environ.get(FOLDER_VARIABLE) or platformdirs.user_cache_dir("genie-inspect"))


class Cache(Store):
    """Answers, ratings and verdicts in one file.

    It is opened at once, so that a cache that cannot be used is a warning before anything is asked.
    """

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__((folder or cache_folder()) / FILE, list(TABLES.values()))
        if kind := network_file_system(self.path):
            warnings.warn(NETWORKED.format(path=self.path, kind=kind), NetworkFolderWarning, stacklevel=2)
        self.run(lambda _: None)

    def counts(self) -> dict[str, dict[str, int]]:
        """Rows by table, and in it by reader, judge or critic."""
        return {name: self.count(table) for name, table in TABLES.items()}


class Memo:
    """What was said, kept for later runs; samples that ask for the same at one time ask once, with `anew` all ask."""

    def __init__(self, cache: Cache | None = None, *, anew: bool = False) -> None:
        self.cache, self.anew = cache, anew
        # a lock lives as long as somebody asks: kept for good, those of a thousand stories would be 28 MB
        self._asking: WeakValueDictionary[tuple[str, ...], anyio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def on_record(self, table: KeyTable[V], *place: str, key: str = "") -> AsyncIterator[dict[str, V]]:
        async with self.asking(*place, key):
            yield self.found(table, *place)

    def asking(self, *what: str) -> AbstractAsyncContextManager[None]:
        """Lets one ask for this at a time."""
        return self._asking.setdefault(what, anyio.Lock()) if self.cache else nullcontext()

    def found(self, table: KeyTable[V], *place: str) -> dict[str, V]:
        return self.cache.found(table, place) if self.cache and not self.anew else {}

    def keep(self, table: KeyTable[V], place: tuple[str, ...], values: Mapping[str, V]) -> None:
        """Put values on record: before anything is made of them, so that a crash repeats no call."""
        if self.cache and values:
            self.cache.keep(table, place, values)
