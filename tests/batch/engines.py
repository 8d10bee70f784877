"""Engines that take files of requests, and write files of replies: scripted."""

import asyncio
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import aiohttp
import pytest
from inspect_ai import score
from inspect_ai._cli.util import parse_model_role_cli_args
from inspect_ai.log import EvalLog
from tests.cli.called import genie
from tests.served import Served

from genie_inspect.scorers.genie import genie as scorer

Line = dict[str, Any]


def refused(*arguments: object) -> str:
    done = genie(*arguments)
    assert done.exit_code, done.output
    assert "Traceback" not in done.stderr
    return done.stderr


def lines(path: Path) -> list[Line]:
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


ENGINES = {"openai": openai_batch, "vllm": vllm_run_batch}


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


def scored(log: EvalLog, folder: Path, grader: str, judge: str) -> list[Any]:
    roles = parse_model_role_cli_args((f"grader={grader}",))
    again = score(log, scorer(str(folder), judge), model_roles=roles, display="none", action="overwrite")
    return [(sample.scores or {})["genie"] for sample in again.samples or []]


Row = dict[str, Any]
RETRIED = (408, 429, 502, 503, 504)


class RayError(Exception):
    pass


@dataclass
class Ray:
    configs: list[SimpleNamespace] = field(default_factory=list)
    resources: list[Row] = field(default_factory=list)  # what the steps around a processor are given
    inits: list[Row] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)  # how many rows were asked together
    break_after: int | None = None  # after how many rows a job fails
    generated: Callable[[Row], Row] = lambda row: row  # what an engine makes of a row


def standing_in(monkeypatch: pytest.MonkeyPatch) -> Ray:
    said = Ray()
    context = SimpleNamespace()
    llm = module("ray.data.llm")
    vars(llm).update(
        HttpRequestProcessorConfig=lambda **fields: SimpleNamespace(kind="http", **fields),
        vLLMEngineProcessorConfig=lambda **fields: SimpleNamespace(kind="vllm", **fields),
        build_processor=lambda config, **functions: _processor(said, config, **functions),
    )
    data = module(
        "ray.data", llm=llm, from_arrow_refs=lambda tables: [row for one in tables for row in one.to_pylist()]
    )
    vars(data)["DataContext"] = SimpleNamespace(get_current=lambda: context)
    ray = module("ray", data=data, exceptions=module("ray.exceptions", RayError=RayError), put=lambda block: block)
    vars(ray).update(is_initialized=lambda: False, init=lambda **how: said.inits.append(how), shutdown=lambda: None)
    for one in (ray, data, llm, ray.exceptions):
        monkeypatch.setitem(sys.modules, one.__name__, one)
    return said


def module(name: str, **contents: Any) -> ModuleType:
    made = ModuleType(name)
    vars(made).update(contents)
    return made


def _processor(
    said: Ray, config: SimpleNamespace, preprocess: Any = lambda row: {}, postprocess: Any = None, **resources: Row
) -> Callable[[list[Row]], Any]:
    said.resources.append(resources)
    said.configs.append(config)

    def rows(dataset: list[Row]) -> Iterator[Row]:
        for begin in range(0, len(dataset), config.batch_size):
            batch = [row | preprocess(row) for row in dataset[begin : begin + config.batch_size]]
            said.batches.append(len(batch))
            done = (
                asyncio.run(_asked(config, batch)) if config.kind == "http" else [said.generated(row) for row in batch]
            )
            for number, row in enumerate(done, start=begin):
                if said.break_after is not None and number >= said.break_after:
                    raise RayError("Traceback of a worker\n  ...\nRuntimeError: it broke\n")
                yield row if row.get("__inference_error__") else postprocess(row)

    return lambda dataset: SimpleNamespace(iter_rows=lambda: rows(dataset))


async def _asked(config: SimpleNamespace, batch: list[Row]) -> list[Row]:
    """The rows with what was said to them; as in Ray all begin, and each is then awaited and tried again by itself."""
    headers = {"Content-Type": "application/json", **config.headers}
    async with config.session_factory() as session:
        begun = [session.post(config.url, headers=headers, data=json.dumps(row["payload"])) for row in batch]
        said = [await _tried(session, config, row, headers, first) for row, first in zip(batch, begun, strict=True)]
        await session._client.close()  # whose loop ends here
        config.session_factory._client = None
    return [row | {"http_response": one} for row, one in zip(batch, said, strict=True)]


async def _tried(session: Any, config: SimpleNamespace, row: Row, headers: Row, first: Any) -> Any:
    for number in range(config.max_retries + 1):
        request = session.post(config.url, headers=headers, data=json.dumps(row["payload"])) if number else first
        try:
            async with await request as response:
                if response.status not in RETRIED:
                    return await response.json()
        except (TimeoutError, aiohttp.ClientConnectionError, aiohttp.ClientPayloadError):
            pass
        await asyncio.sleep(config.base_retry_wait_time_in_s * 2**number)
    raise RayError("Reached maximum retries")
