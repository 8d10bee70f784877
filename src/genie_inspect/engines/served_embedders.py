"""Embedders that are served or loaded: any server with OpenAI's embeddings, and sentence-transformers."""

import json
import math
import os
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from genie_inspect.engines.embedders import check_width, checked_vectors, unit
from genie_inspect.engines.identity import (
    address,
    at_revision,
    check_folder,
    check_unchanged,
    embeddable,
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
    check_place,
    engine_failures,
    passes,
    retry_after,
    shown,
)
from genie_inspect.errors import EngineFailedError, MissingExtraError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from openai import OpenAI

    Vectors = NDArray[np.float64]
    from sentence_transformers import SentenceTransformer


POOLING = "windows by halves, mean by tokens"
"""What vectors of long texts depend on beside the model; part of an embedder's identity."""
_SPACE = re.compile(r"\s")


class Window(NamedTuple):
    text: str
    tokens: int


def windows(text: str, limit: int, count: Callable[[str], int]) -> list[Window]:
    """A text's pieces in order, each of at most `limit` tokens; a text that fits is one piece, as it is.

    A piece that does not fit is halved at the space nearest its middle, so that no small rest is left over.

    >>> [window.text for window in windows("one two three four five", 2, lambda text: len(text.split()))]
    ['one two', 'three', 'four five']
    """
    tokens = count(text)
    if tokens <= limit or len(text) == 1:
        return [Window(text, tokens)]
    halves = _halves(text.strip())
    return [window for half in halves for window in windows(half, limit, count)]


def _halves(text: str) -> tuple[str, ...]:
    """Two parts that hold more than space; a text of one character is one part."""
    if len(text) == 1:
        return (text,)
    middle = len(text) // 2
    spaces = (match.start() for match in _SPACE.finditer(text))
    # at a space, so that no word is cut; a text without any is cut in its middle
    place = min(spaces, key=lambda start: abs(start - middle), default=middle)
    return text[:place].rstrip(), text[place:].lstrip()


def pooled(vectors: "Vectors", texts: Sequence[Sequence[Window]]) -> "Vectors":
    """One vector a text: the mean of its windows' vectors weighted by their tokens; of one window the vector itself."""
    import numpy as np

    rows, start = [], 0
    for windows in texts:
        part = vectors[start : start + len(windows)]
        # a window of unknown characters only has no tokens, and weights that sum to 0 have no mean
        weights = [max(window.tokens, 1) for window in windows]
        rows.append(part[0] if len(part) == 1 else np.average(part, axis=0, weights=weights))
        start += len(windows)
    return np.stack(rows) if rows else np.zeros((0, 0))


def whole_vectors(rows: object, parts: Sequence[Sequence[Window]], embedder: str) -> "Vectors":
    """The unit vector of each text, of what an embedder gave for all its windows."""
    pieces = [window.text for windows in parts for window in windows]
    vectors = checked_vectors(rows, len(pieces), embedder)
    unit(vectors, embedder, pieces)  # no window that has words is without a direction
    return unit(pooled(vectors, parts), embedder, ["".join(window.text for window in windows) for windows in parts])


OPENAI = "https://api.openai.com/v1"
WINDOW = 8_191
"""Tokens that OpenAI's embedding models read of a text."""
BATCH = 256  # texts a request
MOST_TOKENS = 250_000  # a request; OpenAI takes 300,000
CHARACTERS_A_TOKEN = 3
"""Of ASCII text: prose has four and more, so that a window by this estimate is short of the model's."""


class OpenAIEmbedder:
    """A model behind OpenAI's embeddings protocol, wherever it is served.

    A text of more tokens than the window, by a high estimate, is sent in pieces, whose mean vector is the text's; a
    shorter one is sent as it is.
    """

    def __init__(self, model: str, base_url: str | None = None, window: int = WINDOW) -> None:
        self.model = model
        self.base_url = base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI
        self.window = window
        self._address = address(self.base_url)
        self._width: int | None = None

    @property
    def name(self) -> str:
        return f"openai/{self.model}"

    @cached_property
    def identity(self) -> str:
        """The name with a digest of the server's address and of how long texts are pooled."""
        return identified(self.name, self._address, str(self.window), POOLING)

    def embed(self, texts: Sequence[str]) -> "Vectors":
        parts = [windows(text, self.window, most_tokens) for text in embeddable(texts)]
        whole = [window for part in parts for window in part]
        rows = [row for batch in _batches(whole) for row in self._rows([window.text for window in batch])]
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
        items = data if isinstance(data, list) and all(isinstance(item, dict) for item in data) else None
        if items is None:
            raise EngineFailedError(f"embedder {self.name} gave no list of vectors but {shown(content)[:100]!r}")
        # servers may answer in any order; the index says which text a vector is of
        vectors = {item["index"]: item.get("embedding") for item in items if type(item.get("index")) is int}
        if sorted(vectors) != list(range(len(batch))) or len(items) != len(batch):
            raise EngineFailedError(
                f"embedder {self.name} gave {len(items)} vectors, {len(vectors)} of them different, "
                f"for {len(batch)} texts, expected one a text"
            )
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
            # a wrong key or model name stays wrong: such a request is not sent again
            if not passes(error.status_code):
                check_place(error.status_code, error.response.headers)
                raise
            wait = retry_after(error.response.headers.get("Retry-After", ""))
            raise PassingFaultError(f"{type(error).__name__}: {error}", wait) from error


def most_tokens(text: str) -> int:
    """A high estimate of a text's tokens: one for three ASCII characters, and one a byte of all others.

    >>> most_tokens("An owl."), most_tokens("é")
    (3, 2)
    """
    plain = len(text.encode("ascii", "ignore"))
    return -(-plain // CHARACTERS_A_TOKEN) + len(text.encode()) - plain


def _batches(whole: Sequence[Window]) -> Iterator[list[Window]]:
    """The windows in order, as many in one request as it may have."""
    batch: list[Window] = []
    for window in whole:
        if batch and (len(batch) == BATCH or sum(other.tokens for other in batch) + window.tokens > MOST_TOKENS):
            yield batch
            batch = []
        batch.append(window)
    if batch:
        yield batch


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
    """A sentence-transformers model by hub id or folder; runs no code from the model's repository.

    A text longer than what the model reads is embedded in pieces, whose mean vector is the text's.
    """

    def __init__(self, model: str) -> None:
        from importlib.util import find_spec

        if find_spec("sentence_transformers") is None:
            raise MissingExtraError(f"embedder sentence-transformers/{model}", "embeddings")
        check_folder(model, f"embedder sentence-transformers/{model}")
        self.model = model

    @property
    def name(self) -> str:
        """`sentence-transformers/<model>`, a folder by its last part."""
        return f"sentence-transformers/{model_name(self.model)}"

    @cached_property
    def identity(self) -> str:
        """The name with a digest of the folder, as it was when it was first asked for, and of the pooling."""
        return identified(self.name, *self._facts, POOLING)

    @cached_property
    def _facts(self) -> tuple[str, ...]:
        return folder_facts(self.model)

    def embed(self, texts: Sequence[str]) -> "Vectors":
        usable = embeddable(texts)
        if not usable:
            return unit(checked_vectors([], 0, self.name), self.name)
        with _running, engine_failures(f"embedder {self.name}"):
            model = _sentence_transformer(self.model, self._facts)
            limit, count = _reading(model)
            parts = [windows(text, limit, count) for text in usable]
            whole = [window.text for part in parts for window in part]
            # all windows of all texts in one call, which the library sorts by length and batches
            rows = model.encode(whole, show_progress_bar=False)
        return whole_vectors(rows, parts, self.name)


def _reading(model: "SentenceTransformer") -> tuple[int, Callable[[str], int]]:
    """How many tokens a model reads of a text, and how it counts them, with what it puts before each text."""
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
