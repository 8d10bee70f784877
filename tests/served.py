"""A real server of chat models on this machine, which fails as it is told to."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

import pytest
from inspect_ai.model import GenerateConfig, Model, get_model
from tests.engines.servers import running

OK, BUSY, BROKEN, HANGING, CUT, SHORT, BABBLE = "", "429", "500", "hanging", "cut", "short", "babble"
NO_BATCHES = "404"
HANGS = 1.2  # seconds; longer than the clients of the tests wait
NAMES = count()


@dataclass
class Served:
    """What the server says to a request, and what goes wrong."""

    reply: Callable[[str], str]
    fault: Callable[[int, str], str] = lambda number, request: OK
    """What goes wrong with the reply to the request with that number, from 0, and that (first) message."""
    logprobs: Callable[[str], dict[str, float]] = lambda request: {"1": 0.0}
    """Natural log probabilities of the first token."""
    requests: list[str] = field(default_factory=list)
    """The messages of every request, a batch's one by one."""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    """Every request as it was sent."""
    paths: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    """What went wrong, a request."""
    url: str = ""

    def model(self, provider: str = "openai", **config: Any) -> Model:
        """The server as a model of Inspect; on vLLM with a name of its own, as its provider keeps one server a name."""
        own: dict[str, Any] = {"responses_api": False, "max_retries": 0} if provider == "openai" else {}
        settings = GenerateConfig(**({"max_retries": 2, "max_connections": 8} | config))
        name = "openai/gpt-4o" if provider == "openai" else f"{provider}/m-{next(NAMES)}"
        return get_model(name, base_url=self.url, api_key="none", memoize=False, config=settings, **own)

    def choice(
        self, index: int, conversation: list[dict[str, Any]], body: dict[str, Any], fault: str
    ) -> dict[str, Any]:
        content = conversation[-1]["content"]
        request = content if isinstance(content, str) else "".join(part["text"] for part in content)
        self.requests.append(request)
        text = "Well, it is hard to say." if fault == BABBLE else self.reply(request)
        if fault == SHORT:
            text = text[: len(text) // 2]
        message = {"role": "assistant", "content": text}
        choice: dict[str, Any] = {"index": index, "message": message, "text": text, "logprobs": None}
        if body.get("logprobs"):
            spread = {"Well": -0.01, "1": -8.0} if fault == BABBLE else self.logprobs(request)
            tops = [{"token": token, "logprob": value, "bytes": None} for token, value in spread.items()]
            choice["logprobs"] = {"content": [tops[0] | {"top_logprobs": tops}], "refusal": None}
        return choice | {"finish_reason": "length" if fault == SHORT else "stop"}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    served: Served
    lock: threading.Lock

    def do_GET(self) -> None:
        self._send(200, {"object": "list", "data": []})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.endswith("/embeddings"):
            self._send(200, {"object": "list", "model": body["model"], "data": vectors(body["input"])})
            return
        if "prompt" in body:  # a plain text is sent, and no chat
            body["messages"] = [{"role": "user", "content": body["prompt"]}]
        conversations = body["messages"] if self.path.endswith("/batch") else [body["messages"]]
        messages = [conversation[-1]["content"] for conversation in conversations]
        with self.lock:
            number = len(self.served.paths)
            self.served.paths.append(self.path)
            self.served.bodies.append(body)
            fault = self.served.fault(number, messages[0])
            self.served.faults.append(fault)
        if fault == HANGING:
            time.sleep(HANGS)
        if fault in (BUSY, BROKEN, NO_BATCHES):
            self._send(int(fault), {"error": {"message": f"told to fail with {fault}", "type": "server_error"}})
            return
        choices = [self.served.choice(index, said, body, fault) for index, said in enumerate(conversations)]
        usage = {
            "prompt_tokens": 10 * len(choices),
            "completion_tokens": len(choices),
            "total_tokens": 11 * len(choices),
        }
        reply = {"id": "1", "object": "chat.completion", "created": 0, "model": body["model"], "choices": choices}
        self._send(200, reply | {"usage": usage}, cut=fault == CUT)

    def _send(self, status: int, reply: object, cut: bool = False) -> None:
        body = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body[: len(body) // 2] if cut else body)
        except OSError:
            cut = True  # the client has gone
        self.close_connection = cut

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class's name
        pass


def vectors(texts: list[str]) -> list[dict[str, Any]]:
    """A vector a text, as OpenAI's embeddings come: how often it has each of the commonest letters."""
    counts = [[1.0 + text.count(letter) for letter in "etaoinshrdlu"] for text in texts]
    return [{"object": "embedding", "index": index, "embedding": count} for index, count in enumerate(counts)]


@contextmanager
def serving(served: Served) -> Iterator[Served]:
    handler = type("Handler", (_Handler,), {"served": served, "lock": threading.Lock()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    served.url = f"http://127.0.0.1:{server.server_port}/v1"
    with running(server):
        yield served


def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make Inspect and the client of OpenAI try again at once, where they would wait for seconds and more."""

    async def no_pause(seconds: float) -> None:
        pass

    monkeypatch.setattr("inspect_ai.model._retry._sleep", no_pause)
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.001)
