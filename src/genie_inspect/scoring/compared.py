"""What a document is compared with: the population's documents for its prompt, less the text itself."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from genie_inspect.engines.texts import identity
from genie_inspect.measures.length import word_count
from genie_inspect.populations.schema import Document

KEPT = 64  # prompts whose preparation is kept


@dataclass(frozen=True)
class Compared:
    """What a document is compared with."""

    documents: tuple[Document, ...]
    """In the order in which they were given."""
    same: tuple[str, ...] = ()
    """Ids of documents with the same text, which do not count."""
    made_of: tuple[str, ...] = ()
    """Ids of documents that are the text of which it was made, which do not count either."""

    @property
    def left_out(self) -> tuple[str, ...]:
        """Ids of all documents that do not count: what is prepared for a prompt depends on them."""
        return (*self.same, *self.made_of)

    @cached_property
    def words(self) -> float:
        """Median words of the documents; NaN without any."""
        return median(word_count(document.text) for document in self.documents) if self.documents else math.nan


class Others:
    """Documents of one prompt, which any number of texts are compared with.

    Args:
        documents: In the order that counts.
    """

    def __init__(self, documents: Iterable[Document]) -> None:
        self.documents = tuple(documents)
        self._all = Compared(self.documents)
        self._ids: dict[str, list[str]] = {}
        for document in self.documents:
            self._ids.setdefault(identity(document.text), []).append(document.id)

    def than(self, text: str, made_of: str = "") -> Compared:
        """The documents without those that have the same text but for spacing.

        Args:
            text: What is compared.
            made_of: The text that it was made of, if any: its documents are left out too.
        """
        # a document of the population must not be its own neighbour at distance 0
        same = tuple(self._ids.get(identity(text), ()))
        # an edit would else stand beside its original, and the original not beside itself
        origin = tuple(name for name in self._ids.get(identity(made_of), ()) if name not in same)
        # most texts are none of them: what is counted for one of these stands for all
        if not same and not origin:
            return self._all
        left_out = {*same, *origin}
        return Compared(tuple(document for document in self.documents if document.id not in left_out), same, origin)
