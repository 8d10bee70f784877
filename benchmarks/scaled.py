"""What benchmarks/scale.py scores, who stands in for a grader, and how a step is measured: no script of its own."""

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anyio
from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalResults, EvalSample, EvalSpec, write_eval_log
from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, ModelUsage, modelapi
from inspect_ai.tool import ToolChoice, ToolInfo

from genie_inspect.batch import shards as bodies
from genie_inspect.populations.schema import Document, Question, question_id
from genie_inspect.populations.writing import write_population
from genie_inspect.prompting.templates import unfenced
from genie_inspect.providers.replay import starter_record

PROMPT, WORDS, LATENCY, CONNECTIONS = "Write a story.", 200, "STANDIN_LATENCY", "STANDIN_CONNECTIONS"
PARTS = ("owl lamp river tower", "door field captain letter", "winter garden bridge mirror")
CALLS = [0]
REPLY = 10  # ratings in a reply that is imported
bodies.PROVIDERS += ("standin",)  # its requests are chat completions as well


@dataclass(frozen=True, slots=True)
class Size:
    """How much is scored."""

    documents: int = 500
    population: int = 50
    questions: int = 17

    @property
    def pairs(self) -> int:
        """Answers of documents against those of the population."""
        return self.documents * self.population * self.questions


@modelapi(name="standin")
class StandIn(ModelAPI):
    """A grader that replies at once, or after as many seconds as a variable says; it counts its calls."""

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002  # Inspect's own name
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        """A reply in the form that is asked for."""
        CALLS[0] += 1
        if seconds := float(os.environ.get(LATENCY, "0")):
            await anyio.sleep(seconds)
        request = input[-1].text
        output = ModelOutput.from_content(self.model_name, reply := replied(request))
        tokens_in, tokens_out = len(request) // 4, len(reply) // 4
        output.usage = ModelUsage(input_tokens=tokens_in, output_tokens=tokens_out, total_tokens=tokens_in + tokens_out)
        return output

    def max_connections(self) -> int:
        """As many as are to be measured."""
        return int(os.environ.get(CONNECTIONS, "64"))


def replied(request: str) -> str:
    """Answers that no two documents have in common, and ratings that depend on what is rated."""
    data = unfenced(request)
    if "questions" in data:
        number = data["document"].split(" ", 2)[1]
        answers = {key: f"the {_word(number + key)} of {number}" for key in data["questions"]}
        return json.dumps({"attempt": "yes", **answers})
    return " ".join(f"{key}:{1 + len(other) % 4}" for key, other in data["others"].items())


def _word(seed: str) -> str:
    drawn = hashlib.sha256(seed.encode()).digest()
    return " ".join(part.split()[byte % 4] for part, byte in zip(PARTS, drawn, strict=False))


def told(number: int) -> str:
    """A document, known by its number."""
    return f"Story {number} " + " ".join(_word(f"{number} {place}") for place in range(WORDS // 3))


def write_setting(folder: Path, size: Size) -> None:
    """A population that nobody has read, and a log of documents that nobody has judged."""
    starter = starter_record().population
    features = [feature.name for feature in starter.features]
    texts = [f"What does the story tell of matter {number}, and in which words?" for number in range(size.questions)]
    write_population(
        folder / "population",
        name="large",
        version="1",
        licence="MIT",
        features=starter.features,
        documents=[
            Document(id=f"d-{number}", prompt=PROMPT, text=told(-number)) for number in range(1, size.population + 1)
        ],
        questions=[
            Question(id=question_id(PROMPT, text), prompt=PROMPT, feature=features[number % len(features)], text=text)
            for number, text in enumerate(texts)
        ],
        answers=[],
    )
    spec = EvalSpec(
        created="2026-01-01T00:00:00+00:00",
        task="stories",
        dataset=EvalDataset(samples=size.documents, sample_ids=list(range(1, size.documents + 1))),
        model="standin/writer",
        config=EvalConfig(epochs=1),
    )
    results = EvalResults(total_samples=size.documents, completed_samples=size.documents)
    write_eval_log(
        EvalLog(eval=spec, status="success", results=results, samples=list(_samples(size))), str(folder / "told.eval")
    )


def _samples(size: Size) -> Iterator[EvalSample]:
    for number in range(1, size.documents + 1):
        output = ModelOutput.from_content("standin/writer", told(number))
        yield EvalSample(id=number, epoch=1, input=PROMPT, target="", output=output, metadata={"prompt": PROMPT})


def answer_file(requests: Path, replies: Path) -> None:
    """What an engine of files does: a line of reply for each line of requests, as OpenAI's batch endpoint writes it."""
    with requests.open(encoding="utf-8") as lines, replies.open("w", encoding="utf-8") as out:
        for line in lines:
            asked = json.loads(line)
            message = {"role": "assistant", "content": replied(asked["body"]["messages"][-1]["content"])}
            body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
            response = {"status_code": 200, "request_id": "r", "body": body}
            row = {"id": "b", "custom_id": asked["custom_id"], "response": response, "error": None}
            out.write(json.dumps(row) + "\n")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = {"role": "assistant", "content": replied(body["messages"][-1]["content"])}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        reply = json.dumps(
            {"id": "c", "object": "chat.completion", "model": body["model"], "choices": [choice]}
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class's name
        pass


@contextmanager
def serving() -> Iterator[str]:
    """The stand-in behind a server of chat completions in a process of its own; its address."""
    code = "from scaled import serve; serve()"
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=Path(__file__).parent, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


def serve() -> None:
    """Serve until killed; prints the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    server.serve_forever()


@dataclass(frozen=True, slots=True)
class Measured:
    """What a step took, in a process of its own."""

    said: dict[str, Any]
    wall: float
    processor: float
    """Seconds of processor time."""
    peak: float
    """Megabytes."""


def measured(step: str, folder: Path, cache: str, **options: Any) -> Measured:
    """Run a step of benchmarks/scale_steps.py in a process of its own.

    Args:
        step: Its name.
        folder: Where it works.
        cache: The folder in it that is the cache.
        options: What it is told.
    """
    environment = os.environ | {"GENIE_CACHE_DIR": str(folder / cache)}
    environment |= {
        name: str(options[key]) for name, key in ((LATENCY, "latency"), (CONNECTIONS, "connections")) if key in options
    }
    script = str(Path(__file__).with_name("scale_steps.py"))
    command = [sys.executable, script, step, str(folder), json.dumps(options)]
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE)
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    if status:
        raise SystemExit(f"failed: {step}")
    last = said.decode().strip().splitlines()[-1]
    return Measured(json.loads(last), wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def bytes_of(*paths: Path) -> int:
    """What files and folders take on disk."""
    return sum(
        file.stat().st_size
        for path in paths
        for file in ([path] if path.is_file() else path.rglob("*"))
        if file.is_file()
    )
