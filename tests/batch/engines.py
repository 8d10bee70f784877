"""Engines that take files of requests, and write files of replies: scripted."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from tests.served import Served

from genie_inspect.cli import main

Line = dict[str, Any]


def called(*arguments: object) -> Line:
    """What a verb of `genie` says as JSON."""
    done = CliRunner().invoke(main, [*map(str, arguments), "--json"])
    assert done.exit_code == 0, done.output + repr(done.exception)
    said: Line = json.loads(done.stdout)
    return said


def refused(*arguments: object) -> str:
    """How a verb of `genie` refuses."""
    done = CliRunner().invoke(main, [*map(str, arguments)])
    assert done.exit_code, done.output
    return done.stderr


def lines(path: Path) -> list[Line]:
    """The lines of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def openai_batch(name: str, body: Line) -> Line:
    """A line as OpenAI's batch endpoint writes it."""
    response = {"status_code": 200, "request_id": "req-1", "body": body}
    return {"id": "batch_req_1", "custom_id": name, "response": response, "error": None}


def vllm_run_batch(name: str, body: Line) -> Line:
    """A line as `vllm run-batch` writes it."""
    message = body["choices"][0]["message"] | {"refusal": None, "reasoning": None, "tool_calls": []}
    choice = body["choices"][0] | {"message": message, "stop_reason": None, "token_ids": None}
    response = {"status_code": 200, "request_id": f"vllm-{name}", "body": body | {"choices": [choice]}}
    return {"id": f"vllm-{name}", "custom_id": name, "response": response, "error": None}


FORMS = {"openai": openai_batch, "vllm": vllm_run_batch}


def replied(served: Served, requests: Iterable[Path], form: Callable[[str, Line], Line]) -> Iterator[Line]:
    """The lines of replies that an engine writes, by what the server says."""
    for path in requests:
        for line in lines(path):
            assert line["method"] == "POST"
            assert line["url"] == "/v1/chat/completions"
            body = line["body"]
            choice = served.choice(0, body["messages"], body, "")
            completion = {"id": "c", "object": "chat.completion", "created": 0, "model": body["model"]}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            yield form(line["custom_id"], completion | {"choices": [choice], "usage": usage})


def write(path: Path, rows: Iterable[Line]) -> Path:
    """A JSON Lines file."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
