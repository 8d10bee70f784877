"""What a document is compared with: the population's documents for its prompt, less those that are the same text."""

from collections.abc import Iterable
from dataclasses import dataclass

from genie_inspect.engines.texts import identity
from genie_inspect.populations.schema import Document

KEPT = 64  # prompts whose preparation is kept


@dataclass(frozen=True, slots=True)
class Compared:
    """What a document is compared with."""

    documents: tuple[Document, ...]
    """In the order in which they were given."""
    left_out: tuple[str, ...]
    """Ids of documents with the same text, which do not count."""


class Others:
    """Documents of one prompt, which any number of texts are compared with.

    Args:
        documents: In the order that counts.
    """

    def __init__(self, documents: Iterable[Document]) -> None:
        self.documents = tuple(documents)
        self._ids: dict[str, list[str]] = {}
        for document in self.documents:
            self._ids.setdefault(identity(document.text), []).append(document.id)

    def than(self, text: str) -> Compared:
        """The documents without those that have the same text but for spacing."""
        # a document of the population must not be its own neighbour at distance 0
        same = tuple(self._ids.get(identity(text), ()))
        different = (
            tuple(document for document in self.documents if document.id not in same) if same else self.documents
        )
        return Compared(different, same)
