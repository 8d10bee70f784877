"""Lines of a file of replies: OpenAI's batch output, that of `vllm run-batch`, and what `genie cache export` writes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from genie_inspect.asking.first_tokens import Logprobs, first_tokens
from genie_inspect.files.json_lines import Lines, json_object, placed_lines
from genie_inspect.judges.cache import TABLES
from genie_inspect.judges.modes import Candidates
from genie_inspect.prompting.texts import shortened, whole_text
from genie_inspect.scale.shards import ScaleError

TRUNCATED, NO_ID, NO_REPLY, NO_COMPLETION = "no whole JSON", "no custom_id", "no reply", "no chat completion"
OKAY = range(200, 300)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said to one request."""

    name: str
    """The request's id."""
    text: str
    candidates: Candidates = ()


@dataclass(frozen=True, slots=True)
class Row:
    """A row of an exported cache."""

    table: str
    values: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Fault:
    """A line of which nothing can be used."""

    reason: str
    name: str = ""
    """The request's id where the line has one."""


class _Message(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    message: _Message
    logprobs: Logprobs | None = None


class _Completion(BaseModel):
    choices: list[_Choice]


def replies(source: Lines) -> Iterator[Reply | Row | Fault]:
    """What each line of a file of replies holds, one at a time.

    Raises:
        ScaleError: If the file cannot be read.
    """
    try:
        for _, _, line in placed_lines(source):
            yield reply_in(line)
    except OSError as refused:
        raise ScaleError(f"{source} cannot be read: {refused.strerror or refused}") from refused


def reply_in(line: bytes) -> Reply | Row | Fault:
    """What one line of a file of replies holds."""
    try:
        fields = json_object(line, "", ScaleError)
    except ScaleError:
        return Fault(TRUNCATED)
    table = fields.get("table")
    if isinstance(table, str) and table in TABLES:
        return Row(table, {name: value for name, value in fields.items() if name != "table"})
    name = fields.get("custom_id")
    if not isinstance(name, str):
        return Fault(NO_ID)
    response = fields.get("response")
    body = response.get("body") if isinstance(response, dict) else None
    if (reason := _error(fields.get("error"), response, body)) is not None:
        return Fault(reason, name)
    try:
        completion = _Completion.model_validate(body)
    except ValidationError:
        return Fault(NO_COMPLETION, name)
    if not completion.choices:
        return Fault(NO_REPLY, name)
    choice = completion.choices[0]
    return Reply(name, whole_text(choice.message.content or ""), first_tokens(choice.logprobs))


def _error(error: object, response: object, body: object) -> str | None:
    """Why there is no reply; None where there is one."""
    status = response.get("status_code") if isinstance(response, dict) else None
    failed = isinstance(status, int) and status not in OKAY
    if not error and not failed and isinstance(body, dict):
        return None
    nested = body.get("error") if isinstance(body, dict) else None
    said = next((one for one in (error, nested) if one), None)
    if isinstance(said, dict):
        said = said.get("code") or said.get("type") or said.get("message")
    if said:
        return f"error: {shortened(str(said))}"
    return f"error: status {status}" if failed else NO_REPLY
