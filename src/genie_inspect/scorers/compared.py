"""What a document is compared with: a population's documents less those that are the same text."""

from collections.abc import Iterable
from dataclasses import dataclass

from genie_inspect.engines.texts import identity
from genie_inspect.populations.schema import Document


@dataclass(frozen=True, slots=True)
class Compared:
    """What a document is compared with."""

    documents: tuple[Document, ...]
    """In the order in which they were given."""
    left_out: tuple[str, ...]
    """Ids of documents with the same text, which do not count."""


def compared(documents: Iterable[Document], text: str) -> Compared:
    """The documents without those that have the same text but for spacing."""
    own = identity(text)
    documents = tuple(documents)
    same = tuple(document.id for document in documents if identity(document.text) == own)
    return Compared(tuple(document for document in documents if document.id not in same), same)
