"""Embeddings kept by text and embedder, in memory and on disk."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from genie_inspect.engines.embedders.choices import Embedder
from genie_inspect.engines.embedders.kept_vectors import KeptVectors
from genie_inspect.engines.embedders.vectors import check_width, checked_vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float64]

IN_MEMORY = 20_000  # vectors; 60 MB at 768 dimensions


class CachedEmbedder:
    """An embedder that embeds no text twice, in this run or the next.

    Vectors are kept in single precision and come back so the first time too. A cache that cannot be used is a warning.

    Args:
        embedder: Embeds the texts that are not on record.
        folder: Where the cache file stands; it is made when missing.
    """

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self.embedder = embedder
        self._store = KeptVectors(folder)
        self._lock = threading.Lock()
        self._memory: OrderedDict[str, bytes] = OrderedDict()
        self._size = 0  # bytes of a vector; 0 until one is on record

    @property
    def name(self) -> str:
        """That of the embedder: caching changes no vector."""
        return self.embedder.name

    @property
    def identity(self) -> str:
        """That of the embedder."""
        return self.embedder.identity

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """Unit vectors, one row a text in the given order, shape (N, D)."""
        import numpy as np

        keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for text in texts]
        with self._lock:
            recorded = self._recorded(dict.fromkeys(keys))
        # by key: a text that occurs twice in one call is embedded once
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in recorded}
        if missing:
            fresh = self._embedded(missing)
            with self._lock:
                self._remember(fresh)
                self._store.keep(self.identity, fresh)
            recorded |= fresh
        # a vector just made is rounded to single precision too, so that a second run gives the same scores
        rows = [np.frombuffer(recorded[key], dtype=np.float32) for key in keys]
        return np.stack(rows).astype(np.float64) if rows else np.zeros((0, 0))

    def _embedded(self, texts: Mapping[str, str]) -> dict[str, bytes]:
        """Vectors of what is not on record; none of them if one is not what it should be."""
        import numpy as np

        vectors = checked_vectors(self.embedder.embed(list(texts.values())), len(texts), self.name)
        single = vectors.astype(np.float32)
        # a server may change its model under one name: the width of the first vector holds for all
        self._size = self._size or single[0].nbytes
        check_width(vectors, self._size // single.itemsize, self.name)
        return {key: row.tobytes() for key, row in zip(texts, single, strict=True)}

    def _recorded(self, keys: Iterable[str]) -> dict[str, bytes]:
        vectors = {key: self._memory[key] for key in keys if key in self._memory}
        self._size = self._size or self._store.size(self.identity)
        stored = self._store.vectors(self.identity, [key for key in keys if key not in vectors])
        vectors |= {key: vector for key, vector in stored.items() if self._is_whole(vector)}
        self._remember(vectors)
        return vectors

    def _is_whole(self, vector: object) -> bool:
        """Whether a vector on record has the embedder's width and only finite numbers; any other is embedded again."""
        import numpy as np

        if not isinstance(vector, bytes) or not self._size or len(vector) != self._size:
            return False
        return bool(np.isfinite(np.frombuffer(vector, dtype=np.float32)).all())

    def _remember(self, vectors: Mapping[str, bytes]) -> None:
        self._memory |= vectors
        # never fewer than this call asks for, or the call would not find its own vectors
        while len(self._memory) > max(IN_MEMORY, len(vectors)):
            self._memory.popitem(last=False)
