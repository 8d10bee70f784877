"""infini-gram's HTTP service, played by a real local server with its faults."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from genie_inspect.engines import infini_gram_service
from genie_inspect.engines.corpora import DocumentsCorpus
from genie_inspect.engines.identity import AddressError
from genie_inspect.engines.infini_gram_service import InfiniGramService
from genie_inspect.errors import EngineFailedError
from genie_inspect.measures.ngrams import creativity_index_of

CORPUS = "The old owl sat on the station clock and counted every train that did not stop at the little station."
Answer = Callable[[dict[str, Any]], tuple[int, bytes]]


def counting(request: dict[str, Any]) -> tuple[int, bytes]:
    """A service that counts as it should."""
    return 200, json.dumps({"count": CORPUS.count(request["query"]), "approx": False, "latency": 1.0}).encode()


class Service:
    """A server on a port of its own, and what it was asked."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.answer: Answer = counting
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:  # the library's own name
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                service.requests.append(request)
                status, body = service.answer(request)
                if status == 0:
                    self.connection.close()
                    return
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the library's own name
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.setattr(infini_gram_service, "FIRST_WAIT", 0.001)
    running = Service()
    yield running
    running.close()


def test_a_count_is_asked_as_the_protocol_says(service: Service) -> None:
    assert InfiniGramService(service.url, "v4_test").count("the") == 2
    assert service.requests == [{"index": "v4_test", "query_type": "count", "query": "the"}]


def test_runs_through_the_service_give_the_index_of_a_plain_corpus(service: Service) -> None:
    text = "Once the old owl sat on the station clock, and counted every train. It did not stop at the little station."
    found = InfiniGramService(service.url, "v4_test").copies(text)
    plain = DocumentsCorpus("x", [("one", CORPUS)]).copies(text)
    assert creativity_index_of(found.lengths) == creativity_index_of(plain.lengths)
    assert {run.where for run in found.runs} == {"v4_test"}
    assert len(service.requests) <= 2 * len(found.lengths)


def test_faults_that_pass_are_asked_again(service: Service) -> None:
    faults = iter([(429, b"slow down"), (503, b""), (0, b""), (200, b"<html>")])
    service.answer = lambda request: next(faults, None) or counting(request)
    assert InfiniGramService(service.url, "v4_test").count("owl") == 1
    assert len(service.requests) == 5


@pytest.mark.parametrize(
    ("answer", "message", "asked"),
    [
        ((500, b"broken"), "HTTP status 500: broken", infini_gram_service.TRIES),
        ((404, b"no such page"), "HTTP status 404: no such page", 1),
        ((200, b'{"error": "Invalid index"}'), "no count but .*Invalid index", 1),
        ((200, b'{"count": null}'), "no count but", infini_gram_service.TRIES),
        ((200, b"[]"), "no count but", infini_gram_service.TRIES),
    ],
)
def test_a_failed_look_up_is_an_error_and_never_novelty(
    service: Service, answer: tuple[int, bytes], message: str, asked: int
) -> None:
    service.answer = lambda request: answer
    with pytest.raises(EngineFailedError, match=rf"infini-gram\(127.0.0.1:\d+#v4_test\): look-up failed: {message}"):
        InfiniGramService(service.url, "v4_test").copies(CORPUS)
    assert len(service.requests) == asked


def test_a_service_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(infini_gram_service, "FIRST_WAIT", 0.001)
    with pytest.raises(EngineFailedError, match="ConnectError"):
        InfiniGramService("http://127.0.0.1:9/", "v4_test").check()
    with pytest.raises(AddressError, match="address cannot be read"):
        InfiniGramService("http://", "v4_test")


def test_the_name_holds_no_password_and_no_key(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    host = service.url.removeprefix("http://").rstrip("/")
    asked = InfiniGramService(f"http://user:PW@{host}/?key=PW", "v4_test")
    assert asked.name == f"infini-gram({host}#v4_test)"
    service.answer = lambda request: (404, b"no such page")
    with pytest.raises(EngineFailedError) as caught:
        asked.check()
    assert "PW" not in str(caught.value)


def test_an_address_that_the_client_refuses_is_not_repeated() -> None:
    with pytest.raises(EngineFailedError, match="look-up failed: InvalidURL") as caught:
        InfiniGramService("http://user:PW@host\x00/", "v4_test").check()
    assert "PW" not in str(caught.value)
