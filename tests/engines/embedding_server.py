"""A real server on this machine that speaks OpenAI's embeddings protocol, or as badly as it is told to."""

import json
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

Items = list[dict[str, Any]]
Bend = Callable[[Items], Items]
USAGE = {"prompt_tokens": 1, "total_tokens": 1}


def direction(text: str) -> tuple[float, float]:
    """The vector of a text that ends in a number has that angle, in hundredths."""
    angle = int(text.split()[-1]) / 100
    return math.cos(angle), math.sin(angle)


def unbent(items: Items) -> Items:
    """The items as they are."""
    return items


class EmbeddingServer:
    """What it answers, and what it was asked.

    Args:
        bend: What becomes of the items of a right reply.
        vector: The vector of a text, which is sent at twice its length.
    """

    def __init__(self, bend: Bend = unbent, vector: Callable[[str], tuple[float, ...]] = direction) -> None:
        self.bend = bend
        self.vector = vector
        self.raw: tuple[int, str, bytes] | None = None
        """Status, content type and body instead of a right reply."""
        self.headers: dict[str, str] = {}
        """Of every reply."""
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        served = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:  # the name that http.server calls
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                served.requests.append(request | {"path": self.path})
                served.keys.append(self.headers["Authorization"])
                status, kind, body = served.raw or (200, "application/json", served.reply(request))
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                for name, value in served.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # http.server's name
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    @property
    def texts(self) -> list[str]:
        """Every text that was sent."""
        return [text for request in self.requests for text in request["input"]]

    def reply(self, request: dict[str, Any]) -> bytes:
        """A right reply, bent."""
        items = [
            {"object": "embedding", "index": index, "embedding": [2 * part for part in self.vector(text)]}
            for index, text in enumerate(request["input"])
        ]
        return json.dumps({"object": "list", "model": "m", "data": self.bend(items), "usage": USAGE}).encode()


@contextmanager
def serving(served: EmbeddingServer) -> Iterator[EmbeddingServer]:
    """The server while it runs."""
    thread = threading.Thread(target=served.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        served.server.shutdown()
        served.server.server_close()
        thread.join()
