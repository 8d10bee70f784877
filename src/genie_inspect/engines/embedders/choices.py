"""Embedders: texts in, one vector a text out, in order."""

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from genie_inspect.engines.embedders.vectors import checked_vectors, unit
from genie_inspect.engines.failures import engine_failures
from genie_inspect.engines.identity import identified
from genie_inspect.engines.texts import embeddable
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.files.shipped import DATA
from genie_inspect.scripts import is_unspaced, main_script
from genie_inspect.signature import digest

if TYPE_CHECKING:
    import numpy as np
    from model2vec import StaticModel
    from numpy.typing import NDArray

    Vectors = NDArray[np.float64]

UNKNOWN, LEAST_PIECE = "[UNK]", 3  # letters of a piece of a word that tell something
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


LEAST_KNOWN, WELL_KNOWN = 0.5, 0.9
"""Shares of a text's letters. On record every English story has .96 or more; German, French and Spanish have .7 to .8,
where unlike texts are .2 apart and English ones .6; Polish has .4, and other scripts have 0 to .03."""


def known_share(embedder: Embedder, text: str) -> float:
    """Share of a text's letters in words or pieces of words that the embedder has learnt, 0 to 1.

    NaN where that is not known: for every embedder but the static one, and for a text without letters. Its vocabulary
    is English; single letters of other scripts stand in it too and make all texts of a script alike.
    """
    if embedder.identity != _static_identity():
        return math.nan
    encoded = _static_model().tokenizer.encode(text, add_special_tokens=False)
    pieces = Counter(encoded.word_ids)
    letters = known = 0
    for token, word, (start, end) in zip(encoded.tokens, encoded.word_ids, encoded.offsets, strict=True):
        part = text[start:end]
        count = sum(map(str.isalpha, part))
        letters += count
        if token != UNKNOWN and (end - start >= LEAST_PIECE or pieces[word] == 1) and not is_unspaced(part):
            known += count
    return known / letters if letters else math.nan


def blindness(embedder: Embedder, text: str) -> str:
    """Why an embedder cannot see a text; empty where it can, or where that is not known."""
    share = known_share(embedder, text)
    if not share < LEAST_KNOWN:
        return ""
    return (
        f"the embedder {embedder.name} knows {share:.0%} of its letters ({main_script(text)}): it was made for English"
    )


def half_blindness(embedder: Embedder, text: str) -> str:
    """A warning for a text that an embedder sees in part; empty where it sees nearly all, or that is not known."""
    share = known_share(embedder, text)
    if not LEAST_KNOWN <= share < WELL_KNOWN:
        return ""
    return (
        f"Warning: the embedder {embedder.name} was made for English and knows {share:.0%} of this text's letters. "
        "Texts in other languages look more alike to it than they are."
    )


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
