"""Files of requests, in shards that a batch endpoint takes, and beside them the plan by which replies are placed."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelName, ModelOutput
from pydantic import BaseModel, ConfigDict

from genie_inspect.errors import GenieError, UnknownChoiceError, UnreadableReplyError
from genie_inspect.files.json_lines import json_object, json_row, placed_lines
from genie_inspect.files.values import json_text
from genie_inspect.files.writing import check_absent, write_lines, written
from genie_inspect.graders.merging import SHEET
from genie_inspect.graders.reader import CONCISE
from genie_inspect.graders.stand_ins import StandIn, last_text
from genie_inspect.inspect_private import resolved_settings
from genie_inspect.prompting.templates import unfenced
from genie_inspect.prompting.texts import shortened

URL = "/v1/chat/completions"
# those whose requests are chat completions of OpenAI's form
PROVIDERS: tuple[str, ...] = ("azureai", "openai", "openai-api", "openrouter", "sglang", "together", "vllm")
# under the names that they have in both places
_SAMPLING = {"temperature", "top_p", "logprobs", "top_logprobs"}
_SAME = {"frequency_penalty", "logit_bias", "max_tokens", "presence_penalty", "reasoning_effort", "seed"} | _SAMPLING


def chat_body(model: Model, request: str, config: GenerateConfig) -> dict[str, Any]:
    """The body of a request, as Inspect's provider would send it."""
    settings, api, name = resolved_settings(model).merge(config), ModelName(model).api, ModelName(model).name
    head = [{"role": "system", "content": settings.system_message}] if settings.system_message else []
    body: dict[str, Any] = {
        "messages": [*head, {"role": "user", "content": request}],
        # as its server knows it, without the service through which Inspect reaches it
        "model": name.partition("/")[2] if api == "openai-api" else name,
        **settings.model_dump(include=_SAME, exclude_none=True),
    }
    if settings.stop_seqs is not None:
        body["stop"] = settings.stop_seqs
    if form := settings.response_schema:
        schema = form.json_schema.model_dump(exclude_none=True)
        named = {"name": form.name, "schema": schema, "description": form.description, "strict": form.strict}
        body["response_format"] = {"type": "json_schema", "json_schema": named}
    # OpenAI's models that think refuse to be told how to sample
    if api == "openai" and re.match(r"o\d|gpt-5", body["model"]):
        body["max_completion_tokens"] = body.pop("max_tokens", None)
        body = {name: value for name, value in body.items() if name not in _SAMPLING}
    return {**body, **(settings.extra_body or {})}


READ, JUDGE = "read", "judge"
STEPS = (READ, JUDGE)
FORMAT = 1
REQUESTS, BYTES = 50_000, 190_000_000  # most in a file: OpenAI's batch endpoint takes 200 MB


class ScaleError(GenieError):
    """Requests or replies in files cannot be used."""


class Plan(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    format: int = FORMAT
    step: Literal["", "read", "judge"]
    judge: str
    answer_length: str = CONCISE
    grader: str
    signature: str  # of the reader, or of the judge: under which the replies are kept
    requests: int = 0
    files: tuple[str, ...] = ()


def plan_file(requests: Path) -> Path:
    return requests.with_name(f"{requests.stem}.plan.json")


class Shards:
    """Requests on their way into files; all of them appear when the last is written, then their plan, or none."""

    def __init__(self, first: Path, plan: Plan, most: int, stack: ExitStack, *, new: bool) -> None:
        self.first, self.plan, self.most = first, plan, most
        self.files: list[Path] = []
        self.count = 0
        self._stack, self._new = stack, new
        self._file: IO[bytes] | None = None
        self._bytes = 0

    def write(self, identity: str, body: str) -> None:
        line = f'{{"custom_id":"{identity}","method":"POST","url":"{URL}","body":{body}}}\n'.encode()
        if self._file is None or self.count % self.most == 0 or self._bytes + len(line) > BYTES:
            number = len(self.files) + 1
            name = self.first.name if number == 1 else f"{self.first.stem}-{number}{self.first.suffix}"
            self.files.append(self.first.with_name(name))
            self._file = self._stack.enter_context(written(self.files[-1], new=self._new))
            self._bytes = 0
        self._file.write(line)
        self._bytes += len(line)
        self.count += 1


@contextmanager
def shards(first: Path, plan: Plan, most: int = REQUESTS, *, new: bool = False) -> Iterator[Shards]:
    for path in (first, plan_file(first)) if new else ():
        check_absent(path, "give --force to replace it")
    with ExitStack() as stack:
        requests = Shards(first, plan, most, stack, new=new)
        yield requests
    if requests.files:
        names = tuple(file.name for file in requests.files)
        plan = requests.plan.model_copy(update={"requests": requests.count, "files": names})
        write_lines(plan_file(first), [json_text(plan.model_dump(), indent=1) + "\n"])


@dataclass(frozen=True, slots=True)
class Place:
    """Where a request stands in the files of a plan."""

    plan: Plan
    file: Path
    begin: int

    def asked(self) -> tuple[str, dict[str, Any]]:
        """The request's last message, and the data in it: what its step needs, and of others, which may be missing."""
        where = f"byte {self.begin}"
        with self.file.open("rb") as file:
            file.seek(self.begin)
            body = json_object(file.readline(), f"{self.file}, {where}", ScaleError).get("body")
        if not isinstance(body, dict):
            raise ScaleError(f"{self.file} has no request at {where}: it has changed since it was read")
        messages = body.get("messages")
        last = messages[-1] if isinstance(messages, list) and messages else None
        request = last.get("content") if isinstance(last, dict) else None
        if not isinstance(request, str):
            raise ScaleError(f"{self.file} has a request without a message at {where}: it has changed")
        where = f"{self.file}, {where}"
        try:
            data = unfenced(request)
        except UnreadableReplyError as error:
            raise ScaleError(f"{where}: {error}") from error
        if self.plan.step == READ:
            _check(data, {"document": str, "questions": dict}, where)
            return request, data
        if SHEET not in data:
            _check(data, {"question": str, "answer": str}, where)
            return request, data
        _check(data, {SHEET: dict}, where)
        for number, part in data[SHEET].items():
            match part:
                case [str(), str(), list(others)] if all(isinstance(other, str) for other in others):
                    pass
                case _:
                    expected = "a list of a question, an answer and a list of others"
                    raise ScaleError(f"{where}: question {number} is {shortened(str(part))}, expected {expected}")
        return request, data


def _check(data: Mapping[str, Any], needed: Mapping[str, type], where: str) -> None:
    if lacking := [name for name in needed if name not in data]:
        raise ScaleError(f"{where}: the request lacks {', '.join(lacking)}")
    for name, form in {**needed, "others": dict}.items():
        if name in data and not isinstance(data[name], form):
            expected = "an object" if form is dict else "text"
            raise ScaleError(f"{where}: {name} is {shortened(str(data[name]))}, expected {expected}")


def places(requests: Path) -> dict[str, Place]:
    """Where each request of a plan stands, by its id."""
    path = plan_file(requests)
    if not path.is_file():
        raise ScaleError(
            f"{requests} has no plan beside it ({path}), expected a file that `genie batch requests` wrote"
        )
    plan = json_row(path.read_bytes(), Plan, str(path), ScaleError)
    if plan.format != FORMAT:
        raise ScaleError(f"{path}, field format: {plan.format}, expected {FORMAT}")
    by_id: dict[str, Place] = {}
    for file in (path.with_name(Path(name).name) for name in plan.files):
        if not file.is_file():
            raise ScaleError(f"{file} is missing, expected the requests that {path} names")
        for number, begin, line in placed_lines(file):
            where = f"{file}, line {number}"
            before, _, rest = line.partition(b'{"custom_id":"')
            name, end, _ = rest.partition(b'"')
            # others may have written it anew, with spaces
            identity = json_object(line, where, ScaleError).get("custom_id") if before or not end else name.decode()
            if not isinstance(identity, str):
                raise ScaleError(f"{where} has no custom_id, expected a line that `genie batch requests` wrote")
            by_id[identity] = Place(plan, file, begin)
    return by_id


class Collecting(StandIn):
    def __init__(self, model: Model, note: Callable[[dict[str, Any]], None]) -> None:
        if ModelName(model).api not in PROVIDERS:
            accepted = f"a provider that takes OpenAI's chat completions: {', '.join(PROVIDERS)}"
            raise UnknownChoiceError("--grader", str(model), accepted)
        super().__init__(model)
        self._note = note
        self._nothing = ModelOutput.from_content(str(model), "")

    async def reply(self, messages: str | list[ChatMessage], config: GenerateConfig) -> ModelOutput:
        self._note(chat_body(self.model, last_text(messages), config))
        return self._nothing
