"""Whatever goes wrong with an embedder is one kind of error that names it, and nothing of it is kept."""

import json
import math
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.engines.embedding_server import EmbeddingServer, Items, direction, serving
from tests.engines.sentence_models import SentenceTransformer, install, model_folder
from tests.scripted import Asked

from genie_inspect.engines import requests
from genie_inspect.engines.embedders import CachedEmbedder, KeptVectors, checked_vectors, embedder, unit
from genie_inspect.errors import EngineFailedError
from genie_inspect.graders.embedded_judge import EmbeddedJudge, EmbeddedReader
from genie_inspect.populations.population import open_population
from genie_inspect.scorers.assessor import Assessor

TEXTS = [f"text {number}" for number in range(3)]
Change = Callable[[Items], Items]


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request is tried again at once."""
    monkeypatch.setattr("genie_inspect.engines.requests.FIRST_WAIT", 0.001)


def refused(served: EmbeddingServer, folder: Path) -> str:
    """The message of the one error that the embedder ends in; a kept vector would be a wrong one."""
    cached = CachedEmbedder(embedder("openai/tiny", served.url), folder)
    with serving(served), pytest.raises(EngineFailedError, match="openai/tiny") as caught:
        cached.embed(TEXTS)
    assert KeptVectors(folder).counts() == {}
    return str(caught.value)


def second(value: object) -> Change:
    """The second text's vector is something else."""
    return lambda items: [items[0], items[1] | {"embedding": value}, *items[2:]]


@pytest.mark.parametrize(
    ("bend", "message"),
    [
        (lambda items: items[:-1], "gave 2 vectors, 2 of them different, for 3 texts, expected one a text"),
        (lambda items: [*items, items[0]], "gave 4 vectors, 3 of them different, for 3 texts"),
        (lambda items: [items[0], *items[:-1]], "gave 3 vectors, 2 of them different"),
        (lambda items: [item | {"index": item["index"] + 1} for item in items], "gave 3 vectors, 3 of them different"),
        (lambda items: [item | {"index": str(item["index"])} for item in items], "gave 3 vectors, 0 of them different"),
        (lambda items: [item | {"index": bool(item["index"])} for item in items], "gave 3 vectors, 0 of them"),
        (lambda items: [{"index": index} for index in range(3)], "vector of text 0 is not all numbers but None"),
        (lambda items: [item["embedding"] for item in items], "gave no list of vectors but '{"),
        (second([math.nan, 1.0]), "vector of text 1 is not all numbers but [nan, 1.0]"),
        (second([math.inf, 1.0]), "vector of text 1 is not all numbers"),
        (second([True, 1.0]), "vector of text 1 is not all numbers but [True, 1.0]"),
        (second(["0.5", 1.0]), "vector of text 1 is not all numbers but ['0.5', 1.0]"),
        (second([None, 1.0]), "vector of text 1 is not all numbers"),
        (second([[0.5, 1.0]]), "vector of text 1 is not all numbers but [[0.5, 1.0]]"),
        (second([10**400, 1.0]), "vector of text 1 is not all numbers"),
        (second("0.5 1.0"), "vector of text 1 is not all numbers but '0.5 1.0'"),
        (second({}), "vector of text 1 is not all numbers but {}"),
        (second([]), "vector of text 1 is not all numbers but []"),
        (second([1.0]), "gave vectors of 1 and 2 numbers, expected one width"),
        (second([1e200, 1e200]), "numbers too large"),
    ],
)
def test_a_reply_that_is_not_one_row_of_numbers_a_text_is_refused(bend: Change, message: str, tmp_path: Path) -> None:
    assert message in refused(EmbeddingServer(bend), tmp_path)


JSON, HTML = "application/json", "text/html"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ((200, JSON, b"null"), "gave no list of vectors but 'null'"),
        ((200, JSON, b"[]"), "gave no list of vectors but '[]'"),
        ((200, JSON, b"{}"), "gave no list of vectors but '{}'"),
        ((200, JSON, b'{"data": null}'), "gave no list of vectors"),
        ((200, JSON, b'{"data": []}'), "gave 0 vectors, 0 of them different, for 3 texts"),
        ((200, JSON, b'{"data": [1, 2, 3]}'), "gave no list of vectors"),
        ((200, JSON, b'{"error": "no such model"}'), 'gave no list of vectors but \'{"error": "no such model"}\''),
        ((200, JSON, b"{"), "JSONDecodeError"),
        ((200, HTML, b"<html>Sign in</html>"), "JSONDecodeError"),
        ((200, HTML, b""), "JSONDecodeError"),
        ((200, JSON, b"\xff\xfe"), "JSONDecodeError"),
        ((400, JSON, b'{"error": {"message": "8192 tokens"}}'), "BadRequestError: Error code: 400"),
        ((401, JSON, b'{"error": {"message": "no key"}}'), "AuthenticationError: Error code: 401"),
        ((404, HTML, b"<html>nothing here</html>"), "NotFoundError"),
        ((500, JSON, b"{}"), "InternalServerError: Error code: 500"),
        ((503, HTML, b"busy"), "InternalServerError"),
        ((429, JSON, b"{}"), "RateLimitError: Error code: 429"),
        ((200, JSON, b"[" * 200_000), "RecursionError"),
        ((200, JSON, b" " * 3_000), "a reply of more than 2,000 bytes"),
    ],
)
def test_a_reply_that_is_none_is_refused(
    raw: tuple[int, str, bytes], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "MOST_BYTES", 250_000 if "Recursion" in message else 2_000)
    served = EmbeddingServer()
    served.raw = raw
    assert message in refused(served, tmp_path)


@pytest.mark.parametrize(("status", "tries"), [(500, 6), (503, 6), (429, 6), (408, 6), (400, 1), (401, 1), (404, 1)])
def test_only_what_may_pass_is_asked_again_and_in_one_place_alone(status: int, tries: int, tmp_path: Path) -> None:
    served = EmbeddingServer()
    served.raw = (status, JSON, b"{}")
    refused(served, tmp_path)
    assert len(served.requests) == tries == (requests.TRIES if tries > 1 else 1)


def test_a_connection_that_breaks_in_a_reply_is_tried_again(tmp_path: Path) -> None:
    served = EmbeddingServer()
    served.raw = (200, JSON, b"no chunk")
    served.headers = {"Transfer-Encoding": "chunked"}
    assert "ProtocolError" in refused(served, tmp_path)
    assert len(served.requests) == requests.TRIES


def test_a_server_that_says_nothing_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("genie_inspect.engines.served_embedders.SILENCE", 0.1)
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(EngineFailedError, match="embedder openai/tiny failed: APITimeoutError"),
    ):
        embedder("openai/tiny", f"http://127.0.0.1:{silent.getsockname()[1]}/v1").embed(TEXTS)


def test_a_server_that_asks_for_more_time_than_there_is_is_not_waited_for(tmp_path: Path) -> None:
    served = EmbeddingServer()
    served.raw = (429, JSON, b"{}")
    served.headers = {"Retry-After": "400"}
    assert "it asks to wait 400 s" in refused(served, tmp_path)
    assert len(served.requests) == 1


def test_a_server_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineFailedError, match=r"embedder openai/tiny failed: APIConnectionError: Connection error"):
        CachedEmbedder(embedder("openai/tiny", "http://127.0.0.1:9/v1"), tmp_path).embed(TEXTS)


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
    assert KeptVectors(tmp_path).counts() == {model.identity: 3}


async def test_the_reader_and_the_assessment_end_in_that_error_and_in_no_group_of_errors() -> None:
    model = embedder("openai/tiny", "http://127.0.0.1:9/v1")
    reader = EmbeddedReader(model, {})
    with pytest.raises(EngineFailedError, match="openai/tiny"):
        await reader.read("An owl.", [Asked("Who?", "agent")])
    starter = open_population("starter")
    with pytest.raises(EngineFailedError, match="openai/tiny"):
        await Assessor(starter, reader, EmbeddedJudge(model)).assess("An owl.", starter.prompts[0])


async def test_an_assessment_ends_in_that_error_when_the_server_dies_among_the_populations_documents() -> None:
    starter = open_population("starter")
    served = EmbeddingServer(vector=lambda text: (float(len(text)), 1.0))

    def dying(items: Items) -> Items:
        return items if len(served.requests) < 20 else second([math.nan])(items)

    served.bend = dying
    with serving(served):
        model = embedder("openai/tiny", served.url)
        assessor = Assessor(starter, EmbeddedReader(model, {}), EmbeddedJudge(model))
        with pytest.raises(EngineFailedError, match="openai/tiny"):
            await assessor.assess("An owl. A fox. A sea.", starter.prompts[0])


@pytest.mark.parametrize("folder", ["/tmp/genie-nowhere/model", "./genie-nowhere"])
def test_a_folder_that_is_not_there_is_refused_before_anything_is_embedded(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch)
    with pytest.raises(EngineFailedError, match=rf"embedder sentence-transformers/{folder}: folder .* does not exist"):
        embedder(f"sentence-transformers/{folder}")


def test_a_folder_that_cannot_be_loaded_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch)
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
        np.zeros((2, 4)),
        np.ones((4, 4)),
        np.zeros(3),
        np.zeros((3, 0)),
        np.zeros((3, 2, 2)),
        np.array([[True]] * 3),
        np.array([["1"]] * 3),
        np.array([[1j]] * 3),
        np.array([[np.nan]] * 3),
        None,
        "abc",
        {0: [1.0], 1: [1.0], 2: [1.0]},
    ],
)
def test_what_is_not_one_row_of_numbers_a_text_is_refused_wherever_it_comes_from(rows: object) -> None:
    with pytest.raises(EngineFailedError, match="embedder mine"):
        checked_vectors(rows, 3, "mine")


def test_rows_of_numbers_of_any_kind_are_taken_as_they_are() -> None:
    whole = checked_vectors(np.array([[1, 2], [3, 4]], dtype=np.int8), 2, "mine")
    assert whole.dtype == np.float64
    assert whole.tolist() == checked_vectors([[1, 2.0], [3, 4]], 2, "mine").tolist() == [[1, 2], [3, 4]]
    assert checked_vectors([], 0, "mine").shape == (0, 0)


def test_unit_rows_keep_their_direction_and_a_row_of_zeros_stays() -> None:
    assert unit(np.array([[3.0, 4.0], [0.0, 0.0]]), "mine").tolist() == [[0.6, 0.8], [0.0, 0.0]]


def test_the_replys_text_is_cut_in_the_message(tmp_path: Path) -> None:
    served = EmbeddingServer()
    served.raw = (200, JSON, json.dumps({"error": "x" * 5_000}).encode())
    assert len(refused(served, tmp_path)) < 300
