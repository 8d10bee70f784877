"""Real servers on this machine that answer JSON requests, as they should or as badly as they are told to."""

import json
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar

Items = list[dict[str, Any]]
Bend = Callable[[Items], Items]
USAGE = {"prompt_tokens": 1, "total_tokens": 1}


class Server:
    """What it answers to a request, as a status (0 closes the connection) and a body, and what it was asked."""

    def __init__(self, answer: Callable[[dict[str, Any]], tuple[int, bytes]]) -> None:
        self.answer = answer
        self.headers: dict[str, str] = {}  # of every reply
        self.requests: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.logins: list[str | None] = []
        served = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:  # the library's own name
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                served.requests.append(request)
                served.paths.append(self.path)
                served.logins.append(self.headers["Authorization"])
                status, body = served.answer(request)
                if status == 0:
                    self.connection.close()
                    return
                self.send_response(status)
                headers = {"Content-Type": "application/json", "Content-Length": str(len(body))} | served.headers
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the library's own name
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self.server.server_port}"
        self.url = f"http://{self.host}/v1"


def direction(text: str) -> tuple[float, float]:
    """The vector of a text that ends in a number has that angle, in hundredths."""
    angle = int(text.split()[-1]) / 100
    return math.cos(angle), math.sin(angle)


class EmbeddingServer(Server):
    """One that speaks OpenAI's embeddings protocol: a right reply, bent, or in its place what is `raw`.

    A vector is sent at twice its length.
    """

    def __init__(
        self, bend: Bend = lambda items: items, vector: Callable[[str], tuple[float, ...]] = direction
    ) -> None:
        super().__init__(lambda request: self.raw or (200, self.reply(request)))
        self.bend, self.vector = bend, vector
        self.raw: tuple[int, bytes] | None = None

    @property
    def texts(self) -> list[str]:
        return [text for request in self.requests for text in request["input"]]

    def reply(self, request: dict[str, Any]) -> bytes:
        items = [
            {"object": "embedding", "index": index, "embedding": [2 * part for part in self.vector(text)]}
            for index, text in enumerate(request["input"])
        ]
        return json.dumps({"object": "list", "model": "m", "data": self.bend(items), "usage": USAGE}).encode()


ServerT = TypeVar("ServerT", bound=Server)


@contextmanager
def running(server: ThreadingHTTPServer) -> Iterator[None]:
    server.socket.listen(128)  # of more than five that come at once the rest would come again in a second
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def serving(served: ServerT) -> Iterator[ServerT]:
    with running(served.server):
        yield served
