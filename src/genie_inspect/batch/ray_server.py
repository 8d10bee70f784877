"""Requests to a server, through Ray Data LLM's HTTP processor with its rate and its retries."""

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, NamedTuple

PATH = "/chat/completions"
OKAY = 200


@dataclass(frozen=True)
class Server:
    url: str  # where the endpoints begin: `http://.../v1`
    key: str = ""
    connections: int = 64  # requests in flight at a time, from each worker
    workers: int = 1
    per_second: int | None = None
    retries: int = 5
    pause: float = 1.0  # seconds before the first retry; each further one waits twice as long
    timeout: float = 600.0

    @property
    def together(self) -> int:
        """Some rounds of requests: a worker's next batch begins when the last request of this one is answered."""
        return 4 * self.connections

    def check(self, body: str) -> None:
        """Refuse a server that is not there before a million requests fail on it."""
        import httpx

        from genie_inspect.batch.shards import ScaleError  # here: a worker needs nothing of Inspect

        try:
            httpx.get(f"{self.url.rstrip('/')}/models", headers=self.headers, timeout=30)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise ScaleError(f"--url {self.url} does not answer: {error}") from error

    def processor(self) -> Any:
        from ray.data.llm import HttpRequestProcessorConfig, build_processor

        config = HttpRequestProcessorConfig(
            url=f"{self.url.rstrip('/')}{PATH}",
            headers=self.headers,
            batch_size=self.together,
            concurrency=self.workers,
            qps=self.per_second,
            max_retries=self.retries,
            base_retry_wait_time_in_s=self.pause,
            session_factory=Sessions(self.connections, self.retries + 1, self.timeout),
            http_request_stage={"num_cpus": 0.5},  # it waits for the server, most of the time
        )
        # the steps around it need next to nothing, and shall not wait for each other's cores
        light = {"num_cpus": 0.1, "concurrency": self.workers}
        return build_processor(config, postprocess=line_of, preprocess_map_kwargs=light, postprocess_map_kwargs=light)

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}


def line_of(row: Mapping[str, Any]) -> dict[str, str]:
    said = row["http_response"]
    try:
        body = json.loads(said["text"])
    except ValueError:  # a page of a proxy's, or nothing where the connection broke
        body = None
    error = said["error"] or ("" if body is not None or said["status"] != OKAY else "no JSON")
    response = None if error else {"status_code": said["status"], "body": body}
    fault = {"message": error} if error else None
    return {"custom_id": row["custom_id"], "response": json.dumps(response), "error": json.dumps(fault)}


@dataclass
class Sessions:
    """Opens what the processor asks for a session; it goes to the workers by pickle, before it holds a connection.

    The processor's own way asks one request of a batch after the other, and ends the whole job where one fails for
    good. Here those of a batch are in flight together, and the last try of a request always brings a reply.
    """

    connections: int
    tries: int
    timeout: float
    _client: Any = field(default=None, init=False, repr=False)

    def __call__(self) -> "nullcontext[Session]":
        import aiohttp

        if self._client is None:
            connector = aiohttp.TCPConnector(limit=self.connections)
            # a request waits for a connection as long as it must
            waiting = aiohttp.ClientTimeout(total=None, sock_connect=self.timeout, sock_read=self.timeout)
            self._client = aiohttp.ClientSession(connector=connector, timeout=waiting)
        return nullcontext(Session(self._client, self.tries))


class Session:
    def __init__(self, client: Any, tries: int) -> None:
        self._client, self._tries = client, tries
        self._tried: Counter[str] = Counter()

    def post(self, url: str, *, headers: Mapping[str, str], data: str) -> "asyncio.Task[nullcontext[Answered]]":
        self._tried[data] += 1
        return asyncio.ensure_future(self._answer(url, headers, data, self._tried[data] >= self._tries))

    async def _answer(self, url: str, headers: Mapping[str, str], data: str, is_last: bool) -> "nullcontext[Answered]":
        import aiohttp

        try:
            body = json.loads(data)
            # texts and keys go where the user says, and nowhere else
            async with self._client.post(url, headers=headers, data=body, allow_redirects=False) as response:
                text = await response.text(errors="replace")
        except (TimeoutError, aiohttp.ClientConnectionError, aiohttp.ClientPayloadError) as error:
            if not is_last:
                raise
            return nullcontext(Answered(OKAY, {"status": 0, "text": "", "error": type(error).__name__}))
        said = {"status": response.status, "text": text, "error": ""}
        return nullcontext(Answered(OKAY if is_last else response.status, said, str(response.reason)))


class Answered(NamedTuple):
    """What the processor takes for a response."""

    status: int  # the server's; that of success at the last try, after which the processor would end the job
    said: dict[str, Any]  # status, text and error of the connection: the same fields whatever the server said
    reason: str = ""

    async def json(self) -> dict[str, Any]:
        return self.said


# under the names that they have in a request and in vLLM's sampling parameters
SAME = frozenset(
    {"frequency_penalty", "logit_bias", "max_tokens", "min_p", "min_tokens", "presence_penalty", "repetition_penalty"}
    | {"seed", "stop", "temperature", "top_k", "top_p"}
)
# what is said in other words there
OTHERWISE = frozenset({"logprobs", "max_completion_tokens", "response_format", "structured_outputs", "top_logprobs"})
NOT_PASSED = frozenset({"messages", "model"})


@dataclass(frozen=True)
class Engine:
    """An engine, as many times as there are workers."""

    model: str
    workers: int = 1
    together: int = 64  # requests in a batch; eight of them are at work in an engine at a time
    arguments: Mapping[str, Any] = field(default_factory=dict)  # `tensor_parallel_size` and so on

    def check(self, body: str) -> None:
        """Refuse requests that ask for what is not passed to the engine, before it is loaded."""
        sampling(json.loads(body))

    def processor(self) -> Any:
        from ray.data.llm import build_processor, vLLMEngineProcessorConfig

        config = vLLMEngineProcessorConfig(
            model_source=self.model,
            engine_kwargs=dict(self.arguments),
            batch_size=self.together,
            concurrency=self.workers,
            should_continue_on_error=True,
            # its own stages would put a second token of beginning before what a chat template has begun
            chat_template_stage=False,
            tokenize_stage=False,
            detokenize_stage=False,
        )
        return build_processor(config, preprocess=partial(asked_of, self.model), postprocess=engine_line_of)


def asked_of(model: str, row: Mapping[str, Any]) -> dict[str, Any]:
    body = json.loads(row["payload"])
    tokens = _tokenizer(model).apply_chat_template(body["messages"], add_generation_prompt=True, return_dict=False)
    return {"tokenized_prompt": list(tokens), "sampling_params": sampling(body)}


def sampling(body: Mapping[str, Any]) -> dict[str, Any]:
    if unknown := sorted(body.keys() - SAME - OTHERWISE - NOT_PASSED):
        from genie_inspect.batch.shards import ScaleError  # here: a worker needs nothing of Inspect

        raise ScaleError(f"a request sets {', '.join(unknown)}, which an engine does not support. Use a server: --url")
    said = {name: value for name, value in body.items() if name in SAME}
    said.setdefault("max_tokens", body.get("max_completion_tokens"))
    if body.get("logprobs"):
        said["logprobs"] = body.get("top_logprobs") or 0
    form = body.get("response_format") or {}
    # as text: rows are columns, in which schemas would fill each other's gaps
    schema = {"json": json.dumps(form["json_schema"]["schema"])} if form.get("type") == "json_schema" else {}
    if held := body.get("structured_outputs") or schema:
        said["structured_outputs"] = held
    return said


def engine_line_of(row: Mapping[str, Any]) -> dict[str, str]:
    choice: dict[str, Any] = {"index": 0, "message": {"role": "assistant", "content": str(row["generated_text"])}}
    tokens = row.get("logprobs")
    if tokens is not None and len(tokens):
        # the likeliest first tokens: a mapping in Python, a list of pairs as Arrow gives it back
        first = tokens[0].values() if isinstance(tokens[0], Mapping) else [pair[1] for pair in tokens[0]]
        tops = [{"token": top["decoded_token"], "logprob": float(top["logprob"])} for top in first if top is not None]
        choice["logprobs"] = {"content": [{"top_logprobs": tops}]}
    response = {"status_code": OKAY, "body": {"choices": [choice]}}
    return {"custom_id": str(row["custom_id"]), "response": json.dumps(response), "error": "null"}


@lru_cache(maxsize=1)
def _tokenizer(model: str) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(model)
