"""Requests in files as one job on Ray, and their replies in files of a folder, where a job that was killed goes on."""

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from secrets import token_hex
from types import TracebackType
from typing import Any, NamedTuple, Protocol

from genie_inspect.building.work import Progress
from genie_inspect.files.json_lines import json_object, placed_lines
from genie_inspect.scale.parts import JSONL, Line, Part, existing, line_text, parts, write_part
from genie_inspect.scale.ray.cluster import cluster
from genie_inspect.scale.replies import Fault, Reply, replies, reply_in
from genie_inspect.scale.shards import ScaleError

LINES, SECONDS = 5_000, 10.0
"""How many lines, or how long the first of them, wait for others before they go to a file."""
FAILED = "__inference_error__"
"""Where Ray Data LLM says why an engine could not take a request."""


class Job(Protocol):
    """Who answers: a server, or engines on the cluster."""

    @property
    def together(self) -> int:
        """Requests whose replies come back at once."""
        ...

    def check(self, body: str) -> None:
        """Refuse what cannot work before the cluster is asked for anything; given the first request."""
        ...

    def processor(self) -> Any:
        """Ray Data LLM's: takes rows of `custom_id` and `payload`, gives rows of the fields of a `Line`."""
        ...


class Request(NamedTuple):
    """What is asked."""

    custom_id: str
    payload: str
    """The body as JSON."""


@dataclass(slots=True)
class Outcome:
    """What became of requests."""

    requests: int = 0
    on_path: int = 0
    """Those whose reply was there, which were not asked again."""
    asked: int = 0
    answered: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    """Lines of this job that are no reply, by reason; the next job asks for them again."""
    files: int = 0
    """How many were written."""


def ask(
    requests: Sequence[str], output: str, job: Job, progress: Progress, form: str = JSONL, step: str = "ask"
) -> Outcome:
    """Ask what has no reply yet.

    This process reads and writes, wherever fsspec reaches from here, its own disk too; the cluster asks.

    Args:
        requests: Files of `genie requests`, folders of them, or Parquet with the columns `custom_id` and `body`.
        output: A folder of files of replies; what it holds is not asked for again.
        job: Who answers.
        progress: Told how many replies there are.
        form: `jsonl` or `parquet`.
        step: Under which name the progress is told.

    Raises:
        MissingExtraError: If Ray is not installed.
        ScaleError: If files cannot be read, or the job fails; what was answered until then is on the path.
    """
    there = parts(output)
    answered = {said.name for part in there for said in replies(part) if isinstance(said, Reply)}
    left = _Left([part for address in requests for part in existing(address, "requests")], answered)
    outcome = Outcome()
    for request in left:  # read twice: a million bodies are not kept here
        if not outcome.asked:
            job.check(request.payload)
        outcome.asked += 1
    outcome.requests, outcome.on_path = len(left.ids), len(left.ids) - outcome.asked
    if not outcome.asked:
        return outcome
    with cluster() as ray, _Parts(output, form, len(there), outcome) as files:
        dataset = ray.data.from_arrow_refs([ray.put(block) for block in _blocks(left, job.together)])
        for done, row in enumerate(job.processor()(dataset).iter_rows(), start=1):
            files.add(_line(row))
            progress(step, done, outcome.asked)
    return outcome


class _Left:
    """The requests without a reply, each once."""

    def __init__(self, files: Sequence[Part], answered: set[str]) -> None:
        self.files, self.answered = files, answered
        self.ids = set[str]()

    def __iter__(self) -> Iterator[Request]:
        self.ids = set()
        for file in self.files:
            for number, _, line in placed_lines(file):
                request = _request(line, f"{file}, line {number}")
                if request.custom_id not in self.ids and request.custom_id not in self.answered:
                    yield request
                self.ids.add(request.custom_id)


class _Parts:
    """Lines on their way into files; however it ends, what has come is in them."""

    def __init__(self, folder: str, form: str, number: int, outcome: Outcome) -> None:
        self.folder, self.form, self.number, self.outcome = folder, form, number, outcome
        self._lines: list[Line] = []
        self._since = 0.0

    def __enter__(self) -> "_Parts":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._write()

    def add(self, line: Line) -> None:
        """Add a line."""
        if not self._lines:
            self._since = time.monotonic()
        self._lines.append(line)
        said = reply_in(line_text(line).encode())
        self.outcome.answered += isinstance(said, Reply)
        if isinstance(said, Fault):
            self.outcome.faults[said.reason] += 1
        if len(self._lines) >= LINES or time.monotonic() - self._since >= SECONDS:
            self._write()

    def _write(self) -> None:
        if self._lines:
            self.outcome.files += 1
            # numbered for the eye; two jobs on one folder do not meet in a name
            name = f"part-{self.number + self.outcome.files:06}-{token_hex(4)}"
            write_part(self.folder, name, self.form, self._lines)
        self._lines = []


def _request(line: bytes, where: str) -> Request:
    fields = json_object(line, where, ScaleError)
    name, body = fields.get("custom_id"), fields.get("body")
    if not isinstance(name, str) or not isinstance(body, dict):
        raise ScaleError(f"{where} has no custom_id or no body, expected a line that `genie requests` wrote")
    return Request(name, json.dumps(body))


def _blocks(left: Iterable[Request], size: int) -> Iterator[Any]:
    import pyarrow

    requests = iter(left)
    while block := list(islice(requests, size)):
        yield pyarrow.Table.from_pylist([request._asdict() for request in block])


def _line(row: Mapping[str, Any]) -> Line:
    if reason := row.get(FAILED):
        return Line(str(row["custom_id"]), "null", json.dumps({"message": str(reason)}))
    return Line(str(row["custom_id"]), str(row["response"]), str(row["error"]))
