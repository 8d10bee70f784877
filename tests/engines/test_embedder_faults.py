"""What goes wrong with an embedder: one kind of error that names it, and no vector of it is kept."""

import json
import math
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.engines.sentence_models import SentenceTransformer, install, model_folder
from tests.engines.servers import EmbeddingServer, Items, direction, serving
from tests.scripted import Asked

from genie_inspect.engines import requests
from genie_inspect.engines.embedders import VECTORS, CachedEmbedder, KeptVectors, embedder
from genie_inspect.engines.identity import AddressError
from genie_inspect.engines.served_embedders import OPENAI, checked_vectors
from genie_inspect.errors import EngineFailedError
from genie_inspect.graders.offline_judge import OfflineJudge, OfflineReader
from genie_inspect.populations.population import open_population
from genie_inspect.scorers.assessor import Assessor

TEXTS = [f"text {number}" for number in range(3)]
Change = Callable[[Items], Items]


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "FIRST_WAIT", 0.001)


def refused(served: EmbeddingServer, folder: Path) -> str:
    """The message of the one error that the embedder ends in; a kept vector would be a wrong one."""
    cached = CachedEmbedder(embedder("openai/tiny", served.url), folder)
    with serving(served), pytest.raises(EngineFailedError, match="openai/tiny") as caught:
        cached.embed(TEXTS)
    assert KeptVectors(folder).count(VECTORS) == {}
    return str(caught.value)


def second(value: object) -> Change:
    """The second text's vector is something else."""
    return lambda items: [items[0], items[1] | {"embedding": value}, *items[2:]]


@pytest.mark.parametrize(
    ("bend", "message"),
    [
        (lambda items: items[:-1], "gave 2 vectors, 2 of them different, for 3 texts, expected one a text"),
        (lambda items: [*items, items[0]], "gave 4 vectors, 3 of them different, for 3 texts"),
        (lambda items: [item | {"index": item["index"] + 1} for item in items], "gave 3 vectors, 3 of them different"),
        (lambda items: [item | {"index": bool(item["index"])} for item in items], "gave 3 vectors, 0 of them"),
        (lambda items: [{"index": index} for index in range(3)], "vector of text 0 is not all numbers but None"),
        (lambda items: [item["embedding"] for item in items], "gave no list of vectors but '{"),
        (second([math.nan, 1.0]), "vector of text 1 is not all numbers but [nan, 1.0]"),
        (second([math.inf, 1.0]), "vector of text 1 is not all numbers"),
        (second([True, 1.0]), "vector of text 1 is not all numbers but [True, 1.0]"),
        (second(["0.5", 1.0]), "vector of text 1 is not all numbers but ['0.5', 1.0]"),
        (second([[0.5, 1.0]]), "vector of text 1 is not all numbers but [[0.5, 1.0]]"),
        (second([10**400, 1.0]), "vector of text 1 is not all numbers"),
        (second([]), "vector of text 1 is not all numbers but []"),
        (second([1.0]), "gave vectors of 1 and 2 numbers, expected one width"),
        (second([1e200, 1e200]), "numbers too large"),
        (second([0.0, -0.0]), "vector of text 1 is of length 0, expected a direction"),
        (second([1e-300, 1e-300]), "vector of text 1 is of length 0"),
        (lambda items: [item | {"embedding": [0, 0]} for item in items], "vector of text 0 is of length 0"),
    ],
)
def test_a_reply_that_is_not_one_row_of_numbers_a_text_is_refused(bend: Change, message: str, tmp_path: Path) -> None:
    assert message in refused(EmbeddingServer(bend), tmp_path)


@pytest.mark.parametrize(
    ("raw", "tries", "message"),
    [
        ((200, b"[]"), 1, "gave no list of vectors but '[]'"),
        ((200, b"{}"), 1, "gave no list of vectors but '{}'"),
        ((200, b'{"data": [1, 2, 3]}'), 1, "gave no list of vectors"),
        ((200, b'{"error": "no such model"}'), 1, 'gave no list of vectors but \'{"error": "no such model"}\''),
        ((200, json.dumps({"error": "x" * 1_900}).encode()), 1, "xxx'"),
        ((200, b"{"), 1, "JSONDecodeError"),
        ((200, b"\xff\xfe"), 1, "JSONDecodeError"),
        ((400, b'{"error": {"message": "8192 tokens"}}'), 1, "BadRequestError: Error code: 400"),
        ((404, b"<html>nothing here</html>"), 1, "NotFoundError"),
        ((408, b"{}"), 6, "APIStatusError"),
        ((500, b"{}"), 6, "InternalServerError: Error code: 500"),
        ((429, b"{}"), 6, "RateLimitError: Error code: 429"),
        ((200, b"[" * 200_000), 1, "RecursionError"),
        ((200, b" " * 3_000), 1, "a reply of more than 2,000 bytes"),
        ((200, b"no chunk"), 6, "ProtocolError"),  # a connection that breaks in a reply
        ((429, b"{}"), 1, "it asks to wait 400 s"),  # more time than there is
    ],
)
def test_a_reply_that_is_none_is_refused_and_asked_for_again_only_where_that_may_help(
    raw: tuple[int, bytes], tries: int, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "MOST_BYTES", 250_000 if "Recursion" in message else 2_000)
    served = EmbeddingServer()
    headers = {"ProtocolError": {"Transfer-Encoding": "chunked"}, "it asks to wait 400 s": {"Retry-After": "400"}}
    served.raw, served.headers = raw, headers.get(message, {})
    said = refused(served, tmp_path)
    assert message in said
    assert len(said) < 300, "a reply's text is cut"
    assert len(served.requests) == tries


def test_a_server_that_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("genie_inspect.engines.served_embedders.SILENCE", 0.02)
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(EngineFailedError, match="embedder openai/tiny failed: APITimeoutError"),
    ):
        embedder("openai/tiny", f"http://127.0.0.1:{silent.getsockname()[1]}/v1").embed(TEXTS)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_server_that_sends_on_to_another_place_is_not_followed(status: int, tmp_path: Path) -> None:
    with serving(EmbeddingServer()) as elsewhere:
        served = EmbeddingServer()
        served.raw = (status, b"")
        served.headers = {"Location": elsewhere.url.replace("//", "//me:secret@") + "/embeddings?key=secret"}
        said = refused(served, tmp_path)
    assert f"HTTP status {status}: it sends on to {elsewhere.url}/embeddings, expected the address that answers" in said
    assert (len(served.requests), elsewhere.requests) == (1, [])


def test_windows_whose_vectors_add_up_to_nothing_are_refused() -> None:
    opposite = EmbeddingServer(vector=lambda text: (1.0, 0.0) if "owl" in text else (-1.0, 0.0))
    with serving(opposite), pytest.raises(EngineFailedError, match="vector of text 0 is of length 0"):
        embedder("openai/tiny#2", opposite.url).embed(["an owl a fox"])


def test_a_server_that_cannot_be_asked_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(EngineFailedError, match=r"embedder openai/tiny failed: OpenAIError: .*OPENAI_API_KEY"):
        embedder("openai/tiny", OPENAI).embed(["An owl."])
    with pytest.raises(AddressError, match="address cannot be read"):
        embedder("openai/tiny", "http://me:PW/x@host/v1")


def test_a_server_whose_vectors_change_their_width_is_refused(tmp_path: Path) -> None:
    with serving(EmbeddingServer()) as served:
        model = embedder("openai/tiny", served.url)
        CachedEmbedder(model, tmp_path).embed(TEXTS)
        served.vector = lambda text: (*direction(text), 1.0)
        with pytest.raises(EngineFailedError, match=r"gives vectors of 3 numbers and gave 2 before: another model"):
            model.embed(TEXTS)
        # the next run's embedder has seen nothing yet, but the record has
        later = CachedEmbedder(embedder("openai/tiny", served.url), tmp_path)
        with pytest.raises(EngineFailedError, match=r"gives vectors of 3 numbers and gave 2 before.*genie cache clear"):
            later.embed(["text 9"])
    assert KeptVectors(tmp_path).count(VECTORS) == {model.identity: 3}


async def test_the_reader_and_the_assessment_end_in_that_error_and_in_no_group_of_errors() -> None:
    starter, model = open_population("starter"), embedder("openai/tiny", "http://127.0.0.1:9/v1")
    with pytest.raises(EngineFailedError, match=r"embedder openai/tiny failed: APIConnectionError: Connection error"):
        await OfflineReader(model, {}).read("An owl.", [Asked("Who?", "agent")])
    served = EmbeddingServer(vector=lambda text: (float(len(text)), 1.0))
    # it dies among the population's documents
    served.bend = lambda items: items if len(served.requests) < 20 else second([math.nan])(items)
    with serving(served):
        model = embedder("openai/tiny", served.url)
        assessor = Assessor(starter, OfflineReader(model, {}), OfflineJudge(model))
        with pytest.raises(EngineFailedError, match="openai/tiny"):
            await assessor.assess("An owl. A fox. A sea.", starter.prompts[0])


def test_a_folder_that_cannot_be_loaded_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch)
    for folder in ("/tmp/genie-nowhere/model", "./genie-nowhere"):
        with pytest.raises(EngineFailedError, match=rf"sentence-transformers/{folder}: folder .* does not exist"):
            embedder(f"sentence-transformers/{folder}")
    (tmp_path / "empty").mkdir()
    with pytest.raises(EngineFailedError, match=r"embedder sentence-transformers/empty failed: FileNotFoundError"):
        embedder(f"sentence-transformers/{tmp_path / 'empty'}").embed(TEXTS)


@pytest.mark.parametrize("error", [RuntimeError("out of memory"), Exception("bare"), IndexError("position 513")])
def test_a_model_that_breaks_off_is_refused(error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Breaking(SentenceTransformer):
        def encode(self, *arguments: Any, **options: Any) -> Any:
            raise error

    install(monkeypatch, Breaking)
    model = embedder(f"sentence-transformers/{model_folder(tmp_path / 'tiny')}")
    with pytest.raises(EngineFailedError, match=rf"embedder sentence-transformers/tiny failed: \w+: {error}"):
        model.embed(TEXTS)


@pytest.mark.parametrize(
    "rows",
    [
        *(np.zeros((2, 4)), np.ones((4, 4)), np.zeros(3), np.zeros((3, 0)), np.zeros((3, 2, 2))),
        *(np.array([[cell]] * 3) for cell in (True, "1", 1j, np.nan)),
        *(None, "abc", {0: [1.0], 1: [1.0], 2: [1.0]}),
    ],
)
def test_what_is_not_one_row_of_numbers_a_text_is_refused_wherever_it_comes_from(rows: object) -> None:
    with pytest.raises(EngineFailedError, match="embedder mine"):
        checked_vectors(rows, 3, "mine")
