"""Embedders: texts in, one vector a text out, in order."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from genie_inspect.engines.embedders.vectors import checked_vectors, unit
from genie_inspect.engines.failures import engine_failures
from genie_inspect.engines.identity import identified
from genie_inspect.engines.texts import embeddable
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.files.shipped import DATA
from genie_inspect.signature import digest

if TYPE_CHECKING:
    import numpy as np
    from model2vec import StaticModel
    from numpy.typing import NDArray

    Vectors = NDArray[np.float64]

STATIC_FOLDER = DATA / "static_embedder"
STATIC_FILES = ("config.json", "model.safetensors", "tokenizer.json")
LONG = 10_000  # characters; the count of a shorter text is kept, which for whole books would fill the memory
ACCEPTED = "static, openai/<model>[#<tokens that it reads>] or sentence-transformers/<hub id or folder>"


class Embedder(Protocol):
    """Whatever turns texts into vectors."""

    @property
    def name(self) -> str:
        """How it is chosen and spoken of; several models may share it."""
        ...

    @property
    def identity(self) -> str:
        """How it stands in signatures and in caches: equal identities give a text one vector. It never changes."""
        ...

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """Unit vectors, one row a text in the given order, shape (N, D); (0, 0) for no texts.

        The whole of a text counts, however long it is. A text that holds nothing the embedder knows is a row of zeros.

        Raises:
            ValueError: If a text is empty or only space; the message says which.
            EngineFailedError: If a model cannot be loaded, a server cannot be reached or refuses, or what comes back
                is not one row of numbers a text.
        """
        ...


def embedder(name: str = "static", base_url: str | None = None) -> Embedder:
    """The embedder of that name; loads nothing heavy before the first text.

    Args:
        name: `static` (ships with the package), `openai/<model>` for any server that speaks OpenAI's embeddings
            (vLLM, Ollama and text-embedding servers do), or `sentence-transformers/<hub id or folder>`. A model behind
            `openai/` is taken to read 8,191 tokens of a text; `openai/<model>#512` says that it reads 512.
        base_url: Where an `openai/` model is served; OPENAI_BASE_URL, else OpenAI itself.

    Raises:
        UnknownChoiceError: If the name is none of these.
        MissingExtraError: If sentence-transformers is asked for and not installed.
        AddressError: If the server's address cannot be read.
    """
    from genie_inspect.engines.embedders.sentences import SentenceTransformersEmbedder
    from genie_inspect.engines.embedders.served import WINDOW, OpenAIEmbedder

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
        """`static` with a digest of the table and of how it is read."""
        return _static_identity()

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """Unit vectors, shape (N, 128): of each text the weighted mean over all its word pieces."""
        usable = embeddable(texts)
        with engine_failures(f"embedder {self.name}"):
            # without this, what follows the first 512 word pieces would not count
            rows: object = _static_model().encode(usable, max_length=None) if usable else []
        return unit(checked_vectors(rows, len(usable), self.name), self.name)


def static_token_count(text: str) -> int:
    """How many word pieces the static embedder's tokenizer makes of a text."""
    return _remembered_count(text) if len(text) < LONG else _count(text)


def _count(text: str) -> int:
    return len(_static_model().tokenizer.encode(text, add_special_tokens=False).ids)


# an estimate counts the same documents and instructions again and again
_remembered_count = lru_cache(maxsize=4096)(_count)


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
