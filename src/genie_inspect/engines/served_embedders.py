"""Embedders that are served or loaded, and the vectors that any embedder gives: checked, pooled, at unit length."""

import json
import math
import os
import re
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from genie_inspect.engines.identity import (
    address,
    at_revision,
    check_folder,
    check_unchanged,
    folder_facts,
    identified,
    model_name,
)
from genie_inspect.engines.requests import (
    CONNECTING,
    SILENCE,
    PassingFaultError,
    answered,
    body,
    engine_failures,
    first_line,
    refused,
    shown,
)
from genie_inspect.errors import EngineFailedError, MissingExtraError
from genie_inspect.prompting.texts import has_word

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from openai import OpenAI
    from sentence_transformers import SentenceTransformer

    Vectors = NDArray[np.float64]


def checked_vectors(rows: object, count: int, embedder: str) -> "Vectors":
    """What an embedder gave, as one row a text, shape (count, D)."""
    import numpy as np

    listed = list(rows) if isinstance(rows, list | tuple | np.ndarray) else None
    if listed is None or len(listed) != count:
        sent = "no list of vectors" if listed is None else f"{len(listed)} vectors"
        raise EngineFailedError(f"embedder {embedder} gave {sent} for {count} texts, expected one a text")
    vectors = []
    for index, row in enumerate(listed):
        vector = np.zeros(0)
        if isinstance(row, np.ndarray) and row.ndim == 1 and row.dtype.kind in "fiu":
            vector = row.astype(np.float64)
        elif isinstance(row, list) and {type(number) for number in row} <= {int, float}:  # no bool, an int's subclass
            with suppress(OverflowError):
                vector = np.array(row, dtype=np.float64)
        if not len(vector) or not np.isfinite(vector).all():
            fault = f"the vector of text {index} is not all numbers but {row!r:.60}, expected a list of them"
            raise EngineFailedError(f"embedder {embedder}: {fault}")
        vectors.append(vector)
    if len(widths := sorted({len(vector) for vector in vectors})) > 1:
        sent = " and ".join(map(str, widths))
        raise EngineFailedError(f"embedder {embedder} gave vectors of {sent} numbers, expected one width")
    return np.stack(vectors) if vectors else np.zeros((0, 0))


def check_width(vectors: "Vectors", width: int, embedder: str) -> None:
    if vectors.shape[1] != width:
        raise EngineFailedError(
            f"embedder {embedder} gives vectors of {vectors.shape[1]} numbers and gave {width} before: another model "
            "goes by its name now. Start again; what was kept of it is forgotten by: genie cache clear"
        )


def unit(vectors: "Vectors", embedder: str, texts: Sequence[str] = ()) -> "Vectors":
    """The rows at length 1; a row of zeros stays as it is, but where it is of a text, of these, that has a word."""
    import numpy as np

    if not len(vectors):
        return vectors.reshape(0, 0)
    # the squares of large numbers overflow to infinity, which is refused below
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(lengths).all():
        raise EngineFailedError(f"embedder {embedder} gave numbers too large for a vector's length to be measured")
    for index, text in enumerate(texts):
        if not lengths[index] and has_word(text):
            fault = f"the vector of text {index} is of length 0, expected a direction: the text has words"
            raise EngineFailedError(f"embedder {embedder}: {fault}")
    # a text of nothing but unknown characters has no vector: it is like nothing, itself included
    rows: Vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return rows


def embeddable(texts: Sequence[str]) -> list[str]:
    """The texts as they may go to an embedder; half characters, which no encoding has, become question marks."""
    for index, text in enumerate(texts):
        if not text.strip():
            raise ValueError(f"text {index} of {len(texts)} is empty, expected words: an empty text has no direction")
    return [text.encode("utf-8", "replace").decode() for text in texts]


# what vectors of long texts depend on beside the model; part of an embedder's identity
POOLING = "windows by halves, mean by tokens"
Window = tuple[str, int]  # a piece of a text, and its tokens


def windows(text: str, limit: int, count: Callable[[str], int]) -> list[Window]:
    """A text's pieces in order, each of at most `limit` tokens; a text that fits is one piece, as it is."""
    tokens = count(text)
    if tokens <= limit or len(text.strip()) == 1:
        return [(text, tokens)]
    text = text.strip()
    middle = len(text) // 2
    spaces = (match.start() for match in re.finditer(r"\s", text))
    # halved, so that no small rest is left over; at a space, so that no word is cut, where there is one
    place = min(spaces, key=lambda start: abs(start - middle), default=middle)
    return [window for half in (text[:place].rstrip(), text[place:].lstrip()) for window in windows(half, limit, count)]


def whole_vectors(rows: object, parts: Sequence[Sequence[Window]], embedder: str) -> "Vectors":
    """The unit vector of each text, of what an embedder gave for all windows: their mean, weighted by their tokens."""
    import numpy as np

    pieces = [text for part in parts for text, _ in part]
    vectors = checked_vectors(rows, len(pieces), embedder)
    unit(vectors, embedder, pieces)  # no window that has words is without a direction
    pooled, rest = [], iter(vectors)
    for part in parts:
        own = [next(rest) for _ in part]
        # a window of unknown characters only has no tokens, and weights that sum to 0 have no mean
        weights = [max(tokens, 1) for _, tokens in part]
        pooled.append(own[0] if len(own) == 1 else np.average(own, axis=0, weights=weights))
    whole = np.stack(pooled) if pooled else np.zeros((0, 0))
    return unit(whole, embedder, ["".join(text for text, _ in part) for part in parts])


OPENAI = "https://api.openai.com/v1"
WINDOW = 8_191  # tokens that OpenAI's embedding models read of a text
BATCH = 256  # texts a request
MOST_TOKENS = 250_000  # a request; OpenAI takes 300,000
# of ASCII text: prose has four and more, so that a window by this estimate is short of the model's
CHARACTERS_A_TOKEN = 3


class OpenAIEmbedder:
    """A model behind OpenAI's embeddings protocol, which gets a text longer than its window in pieces."""

    def __init__(self, model: str, base_url: str | None = None, window: int = WINDOW) -> None:
        self.model, self.window = model, window
        self.base_url = base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI
        self.name = f"openai/{model}"
        # the server's address, and how long texts are pooled
        self.identity = identified(self.name, address(self.base_url), str(window), POOLING)
        self._width: int | None = None

    def embed(self, texts: Sequence[str]) -> "Vectors":
        parts = [windows(text, self.window, most_tokens) for text in embeddable(texts)]
        rows = [row for batch in _batches([window for part in parts for window in part]) for row in self._rows(batch)]
        vectors = whole_vectors(rows, parts, self.name)
        if len(vectors):
            self._width = self._width or vectors.shape[1]
            check_width(vectors, self._width, self.name)
        return vectors

    def _rows(self, batch: list[str]) -> list[object]:
        what = f"embedder {self.name}"
        with engine_failures(what):
            content = answered(what, lambda: self._reply(batch))
            # read by ourselves: the client hands on what is no reply of this protocol as if it were one
            reply = json.loads(content)
        data = reply.get("data") if isinstance(reply, dict) else None
        if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
            raise EngineFailedError(f"{what} gave no list of vectors but {shown(content)[:100]!r}")
        # servers may answer in any order; the index says which text a vector is of
        vectors = {item["index"]: item.get("embedding") for item in data if type(item.get("index")) is int}
        if sorted(vectors) != list(range(len(batch))) or len(data) != len(batch):
            sent = f"{len(data)} vectors, {len(vectors)} of them different"
            raise EngineFailedError(f"{what} gave {sent}, for {len(batch)} texts, expected one a text")
        return [vectors[index] for index in range(len(batch))]

    def _reply(self, batch: list[str]) -> bytes:
        import openai

        request = _client(self.base_url, os.environ.get("OPENAI_API_KEY")).embeddings.with_streaming_response
        try:
            # as floats: the client's own default, base64, is not spoken by every server
            with request.create(model=self.model, input=batch, encoding_format="float") as reply:
                return body(reply.http_response)
        except openai.APIConnectionError as error:
            raise PassingFaultError(f"{type(error).__name__}: {error}") from error
        except openai.APIStatusError as error:
            raise refused(error.status_code, error.response.headers, first_line(error)) from error


def most_tokens(text: str) -> int:
    """A high estimate of a text's tokens: one for three ASCII characters, and one a byte of all others."""
    plain = len(text.encode("ascii", "ignore"))
    return -(-plain // CHARACTERS_A_TOKEN) + len(text.encode()) - plain


def _batches(whole: Sequence[Window]) -> list[list[str]]:
    batches: list[list[str]] = []
    total = 0
    for text, tokens in whole:
        if not batches or len(batches[-1]) == BATCH or total + tokens > MOST_TOKENS:
            batches.append([])
            total = 0
        batches[-1].append(text)
        total += tokens
    return batches


@lru_cache(maxsize=4)
def _client(base_url: str, key: str | None) -> "OpenAI":
    from openai import DefaultHttpxClient, OpenAI, Timeout

    # the client insists on a key, which local servers do not ask for
    key = key or (None if address(base_url) == address(OPENAI) else "none")
    patience = Timeout(SILENCE, connect=CONNECTING)
    client = DefaultHttpxClient(timeout=patience, follow_redirects=False)
    return OpenAI(base_url=base_url, api_key=key, timeout=patience, max_retries=0, http_client=client)


_running = threading.Lock()  # a tokenizer that two threads use at a time fails with "Already borrowed"


class SentenceTransformersEmbedder:
    """A sentence-transformers model by hub id or folder; runs no code from the model's repository."""

    def __init__(self, model: str) -> None:
        if find_spec("sentence_transformers") is None:
            raise MissingExtraError(f"embedder sentence-transformers/{model}", "embeddings")
        check_folder(model, f"embedder sentence-transformers/{model}")
        self.model = model
        self.name = f"sentence-transformers/{model_name(model)}"
        self._facts = folder_facts(model)
        self.identity = identified(self.name, *self._facts, POOLING)

    def embed(self, texts: Sequence[str]) -> "Vectors":
        parts: list[list[Window]] = []
        rows: object = []
        if usable := embeddable(texts):
            with _running, engine_failures(f"embedder {self.name}"):
                model = _sentence_transformer(self.model, self._facts)
                limit, count = _reading(model)
                parts = [windows(text, limit, count) for text in usable]
                # all windows of all texts in one call, which the library sorts by length and batches
                rows = model.encode([text for part in parts for text, _ in part], show_progress_bar=False)
        return whole_vectors(rows, parts, self.name)


def _reading(model: "SentenceTransformer") -> tuple[int, Callable[[str], int]]:
    """How many tokens a model reads of a text, and how it counts them."""
    limit = model.max_seq_length
    if limit is None or not math.isfinite(limit):
        return 1, lambda text: 1  # it reads all of any text
    before = (model.prompts or {}).get(model.default_prompt_name) or ""
    return int(limit), lambda text: len(model.tokenizer.encode(before + text, truncation=False, verbose=False))


@lru_cache(maxsize=2)
def _sentence_transformer(model: str, facts: tuple[str, ...]) -> "SentenceTransformer":
    from sentence_transformers import SentenceTransformer

    name, pinned = at_revision(model)
    loaded = SentenceTransformer(name, **pinned)
    check_unchanged(model, facts)
    return loaded
