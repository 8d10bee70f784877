"""Embedders: texts in, one vector a text out, in order."""

import hashlib
import math
import threading
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from genie_inspect.engines.identity import identified
from genie_inspect.engines.requests import engine_failures
from genie_inspect.engines.served_embedders import (
    WINDOW,
    OpenAIEmbedder,
    SentenceTransformersEmbedder,
    check_width,
    checked_vectors,
    embeddable,
    unit,
)
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.files.store import KeyTable, Store
from genie_inspect.files.writing import DATA
from genie_inspect.scripts import is_unspaced, main_script
from genie_inspect.signature import digest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Vectors = NDArray[np.float64]
    from model2vec import StaticModel

UNKNOWN, LEAST_PIECE = "[UNK]", 3  # letters of a piece of a word that tell something
STATIC_FOLDER = DATA / "static_embedder"
STATIC_FILES = ("config.json", "model.safetensors", "tokenizer.json")
LONG = 10_000  # characters; the count of a shorter text is kept, which for whole books would fill the memory
ACCEPTED = "static, openai/<model>[#<tokens that it reads>] or sentence-transformers/<hub id or folder>"


class Embedder(Protocol):
    @property
    def name(self) -> str: ...  # how it is chosen and spoken of; several models may share it

    @property
    def identity(self) -> str:
        """How it stands in signatures and in caches: equal identities give a text one vector. It never changes."""

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """Unit vectors of whole texts, in order, shape (N, D); a row of zeros where the embedder knows none of it."""


def embedder(name: str = "static", base_url: str | None = None) -> Embedder:
    """The embedder of that name; loads nothing heavy before the first text."""
    # the first slash only: hub ids and folders have slashes of their own
    kind, _, model = name.partition("/")
    if kind == "static" and not model:
        return StaticEmbedder()
    served, marked, window = model.partition("#")
    if kind == "openai" and served and (not marked or (window.isdecimal() and int(window))):
        return OpenAIEmbedder(served, base_url, int(window) if marked else WINDOW)
    if kind == "sentence-transformers" and model:
        return SentenceTransformersEmbedder(model)
    raise UnknownChoiceError("embedder", name, ACCEPTED)


class StaticEmbedder:
    """all-MiniLM-L6-v2 distilled to a table of 128-dimensional word-piece vectors; no torch, no network."""

    name = "static"

    @property
    def identity(self) -> str:
        return _static_identity()

    def embed(self, texts: Sequence[str]) -> "Vectors":
        usable = embeddable(texts)
        with engine_failures(f"embedder {self.name}"):
            # without this, what follows the first 512 word pieces would not count
            rows: object = _static_model().encode(usable, max_length=None) if usable else []
        return unit(checked_vectors(rows, len(usable), self.name), self.name)


# shares of a text's letters. On record every English story has .96 or more; German, French and Spanish have .7 to .8,
# where unlike texts are .2 apart and English ones .6; Polish has .4, and other scripts have 0 to .03
LEAST_KNOWN, WELL_KNOWN = 0.5, 0.9


def known_share(embedder: Embedder, text: str) -> float:
    """Share of a text's letters in words or pieces of words that the embedder has learnt, 0 to 1; NaN where unknown."""
    share = _remembered_share if len(text) < LONG else _share
    return share(text) if embedder.identity == _static_identity() else math.nan


def _share(text: str) -> float:
    encoded = _static_model().tokenizer.encode(text, add_special_tokens=False)
    # single letters of other scripts stand in its English vocabulary too, and make all texts of a script alike
    pieces = Counter(encoded.word_ids)
    letters = known = 0
    for token, word, (start, end) in zip(encoded.tokens, encoded.word_ids, encoded.offsets, strict=True):
        count = sum(map(str.isalpha, part := text[start:end]))
        letters += count
        if token != UNKNOWN and (end - start >= LEAST_PIECE or pieces[word] == 1) and not is_unspaced(part):
            known += count
    return known / letters if letters else math.nan


def blindness(embedder: Embedder, text: str) -> str:
    """Why an embedder cannot see a text; empty where it can, or where that is not known."""
    share, name = known_share(embedder, text), embedder.name
    if share < LEAST_KNOWN:
        return f"the embedder {name} knows {share:.0%} of its letters ({main_script(text)}): it was made for English"
    return ""


def half_blindness(embedder: Embedder, text: str) -> str:
    """A warning for a text that an embedder sees in part; empty where it sees nearly all, or that is not known."""
    if not LEAST_KNOWN <= (share := known_share(embedder, text)) < WELL_KNOWN:
        return ""
    return (
        f"Warning: the embedder {embedder.name} was made for English and knows {share:.0%} of this text's letters. "
        "Texts in other languages look more alike to it than they are."
    )


def static_token_count(text: str) -> int:
    return _remembered_count(text) if len(text) < LONG else _count(text)


def _count(text: str) -> int:
    return len(_static_model().tokenizer.encode(text, add_special_tokens=False).ids)


# an estimate counts the same documents and instructions again and again, and a document meets the same answers
_remembered_count, _remembered_share = lru_cache(maxsize=4096)(_count), lru_cache(maxsize=4096)(_share)


def static_words() -> list[str]:
    """The words of at least five letters that the static embedder has a vector for, in the alphabet's order."""
    vocabulary = _static_model().tokenizer.get_vocab()
    return sorted(word for word in vocabulary if len(word) >= 5 and word.isascii() and word.isalpha())


@lru_cache(maxsize=1)
def _static_identity() -> str:
    contents = ((STATIC_FOLDER / file).read_bytes().decode("latin-1") for file in STATIC_FILES)
    return identified(StaticEmbedder.name, *map(digest, contents))


@lru_cache(maxsize=1)
def _static_model() -> "StaticModel":
    from model2vec import StaticModel

    return StaticModel.from_pretrained(STATIC_FOLDER)


FILE = "embeddings.sqlite"
# by the embedder's identity and the digest of the text; whether a vector is whole is known by its embedder's width
VECTORS: KeyTable[bytes] = KeyTable(
    "embeddings", ("embedder",), "text", {"vector": "blob not null"}, lambda vector: vector
)
# the most frequent length, because a damaged row must not set the width for all others
USUAL_SIZE = (
    "select length(vector) from embeddings where embedder = ? and typeof(vector) = 'blob' "
    "and length(vector) > 0 and length(vector) % 4 = 0 group by 1 order by count(*) desc limit 1"
)


class KeptVectors(Store):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder / FILE, [VECTORS])

    def size(self, embedder: str) -> int:
        """Bytes of an embedder's vectors; 0 where no number is on record."""
        row = self.run(lambda connection: connection.execute(USUAL_SIZE, (embedder,)).fetchone())
        return int(row[0]) if row else 0


class CachedEmbedder:
    """An embedder that embeds no text twice, in this run or the next; a cache that cannot be used is a warning."""

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self.embedder, self.name, self.identity = embedder, embedder.name, embedder.identity
        self._store = KeptVectors(folder)
        self._lock = threading.Lock()
        self._size = 0  # bytes of a vector; 0 until one is on record

    def embed(self, texts: Sequence[str]) -> "Vectors":
        import numpy as np

        keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for text in texts]
        with self._lock:
            size = self._size = self._size or self._store.size(self.identity)
            found = self._store.found(VECTORS, [self.identity], dict.fromkeys(keys))
        # any other than finite numbers of the embedder's width and of some length is embedded again
        wide = {key: vector for key, vector in found.items() if isinstance(vector, bytes) and 0 < len(vector) == size}
        numbers = np.frombuffer(b"".join(wide.values()), dtype=np.float32).reshape(len(wide), size // 4)
        recorded = dict(compress(wide.items(), np.logical_and(np.isfinite(numbers).all(axis=1), numbers.any(axis=1))))
        # by key: a text that occurs twice in one call is embedded once
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in recorded}
        if missing:
            # none of them is kept if one is not what it should be
            vectors = checked_vectors(self.embedder.embed(list(missing.values())), len(missing), self.name)
            single = vectors.astype(np.float32)
            # a server may change its model under one name: the width of the first vector holds for all
            self._size = self._size or single[0].nbytes
            check_width(vectors, self._size // single.itemsize, self.name)
            fresh = {key: row.tobytes() for key, row in zip(missing, single, strict=True)}
            with self._lock:
                self._store.keep(VECTORS, [self.identity], fresh)
            recorded |= fresh
        # a vector just made is rounded to single precision too, so that a second run gives the same scores
        rows = np.frombuffer(b"".join(map(recorded.__getitem__, keys)), dtype=np.float32)
        return rows.reshape(len(keys), -1).astype(np.float64) if keys else np.zeros((0, 0))


def cosine_distances(target: "ArrayLike", population: "ArrayLike") -> "Vectors":
    """One minus the cosine with each document, 0 (same direction) to 2 (opposite), shape (P,).

    Source: Genie (arXiv 2606.12790), section 6.1.
    """
    import numpy as np

    vector, rows = np.asarray(target), np.asarray(population)
    if rows.size == 0:
        return np.zeros(0)
    if vector.ndim != 1 or rows.ndim != 2 or rows.shape[1] != len(vector):
        raise ValueError(f"target has shape {vector.shape}, population {rows.shape}, expected (D,) and (P, D)")
    lengths = np.sqrt(np.einsum("pd,pd->p", rows, rows))
    length = np.linalg.norm(vector)
    if length == 0 or not lengths.all():
        which = "target" if length == 0 else f"population row {int(lengths.argmin())}"
        raise ValueError(f"{which} is a zero vector, expected a direction")
    cosines = np.asarray(rows @ vector, dtype=np.float64) / (lengths * length)
    # rounding can carry the cosine of equal vectors above 1
    return np.asarray(np.clip(1 - cosines, 0, 2))
