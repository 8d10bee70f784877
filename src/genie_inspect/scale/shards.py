"""Files of requests, in shards that a batch endpoint takes, and beside them the plan by which replies are placed."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from pydantic import BaseModel, ConfigDict

from genie_inspect.errors import GenieError
from genie_inspect.files.json_lines import json_object, json_row, placed_lines
from genie_inspect.files.printable import json_text
from genie_inspect.files.writing import check_absent, write_lines, written
from genie_inspect.judges.grader_reader import CONCISE
from genie_inspect.scale.bodies import URL

FORMAT = 1
REQUESTS, BYTES = 50_000, 190_000_000
"""Most in a file: what OpenAI's batch endpoint takes (200 MB)."""


class ScaleError(GenieError):
    """Requests or replies in files cannot be used; the message names the file and what would work."""


class Plan(BaseModel):
    """What files of requests are for."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: int = FORMAT
    step: str
    judge: str
    """The judge's mode."""
    answer_length: str = CONCISE
    """Of the reader's answers."""
    grader: str
    signature: str
    """Of the reader, or of the judge: under which the replies are kept."""
    requests: int = 0
    files: tuple[str, ...] = ()
    """Names beside the plan's."""


def plan_file(requests: Path) -> Path:
    """Where the plan of requests stands: beside them."""
    return requests.with_name(f"{requests.stem}.plan.json")


class Shards:
    """Requests on their way into files; all of them appear when the last is written, or none.

    Args:
        first: The first file; the others have a number before the ending.
        most: Most requests in a file.
        new: Refuse to replace files.
    """

    def __init__(self, first: Path, most: int, stack: ExitStack, *, new: bool) -> None:
        self.first, self.most = first, most
        self.files: list[Path] = []
        self.count = 0
        self._stack, self._new = stack, new
        self._file: IO[bytes] | None = None
        self._lines = self._bytes = 0

    def write(self, name: str, body: str) -> None:
        """Add a request.

        Args:
            name: Its id.
            body: Its body as JSON.
        """
        line = f'{{"custom_id":"{name}","method":"POST","url":"{URL}","body":{body}}}\n'.encode()
        if self._file is None or self._lines >= self.most or self._bytes + len(line) > BYTES:
            self._file, self._lines, self._bytes = self._next(), 0, 0
        self._file.write(line)
        self._lines += 1
        self._bytes += len(line)
        self.count += 1

    def _next(self) -> IO[bytes]:
        number = len(self.files) + 1
        name = self.first.name if number == 1 else f"{self.first.stem}-{number}{self.first.suffix}"
        self.files.append(self.first.with_name(name))
        return self._stack.enter_context(written(self.files[-1], new=self._new))


@contextmanager
def shards(first: Path, most: int, *, new: bool) -> Iterator[Shards]:
    """Files to write requests to.

    Args:
        first: The first file.
        most: Most requests in a file.
        new: Refuse to replace files.

    Raises:
        UnwritableError: If one cannot be written, or `new` and one stands there.
    """
    if new:
        for path in (first, plan_file(first)):
            check_absent(path, "give --force to replace it")
    with ExitStack() as stack:
        yield Shards(first, most, stack, new=new)


def write_plan(first: Path, plan: Plan) -> None:
    """Write the plan beside its requests, after them: whoever finds it finds them whole."""
    write_lines(plan_file(first), [json_text(plan.model_dump(), indent=1) + "\n"])


@dataclass(frozen=True, slots=True)
class Place:
    """Where a request stands."""

    plan: Plan
    file: Path
    begin: int
    """Its first byte."""

    def body(self) -> dict[str, Any]:
        """The body of the request.

        Raises:
            ScaleError: If the file has changed.
        """
        with self.file.open("rb") as file:
            file.seek(self.begin)
            body = json_object(file.readline(), f"{self.file}, byte {self.begin}", ScaleError).get("body")
        if not isinstance(body, dict):
            raise ScaleError(f"{self.file} has no request at byte {self.begin}: it has changed since it was read")
        return body


def places(requests: Path) -> dict[str, Place]:
    """Where each request of a plan stands, by its id.

    Args:
        requests: The first file of requests, as it was named when they were written.

    Raises:
        ScaleError: If a file is missing or holds something else.
    """
    path = plan_file(requests)
    if not path.is_file():
        raise ScaleError(f"{requests} has no plan beside it ({path}), expected a file that `genie requests` wrote")
    plan = json_row(path.read_bytes(), Plan, str(path), ScaleError)
    if plan.format != FORMAT:
        raise ScaleError(f"{path}, field format: {plan.format}, expected {FORMAT}")
    by_id: dict[str, Place] = {}
    for file in (path.with_name(Path(name).name) for name in plan.files):
        if not file.is_file():
            raise ScaleError(f"{file} is missing, expected the requests that {path} names")
        for number, begin, line in placed_lines(file):
            by_id[_name(line, f"{file}, line {number}")] = Place(plan, file, begin)
    return by_id


def _name(line: bytes, where: str) -> str:
    begin, _, rest = line.partition(b'{"custom_id":"')
    name, end, _ = rest.partition(b'"')
    if begin or not end:  # others may have written it anew, with spaces
        found = json_object(line, where, ScaleError).get("custom_id")
        if not isinstance(found, str):
            raise ScaleError(f"{where} has no custom_id, expected a line that `genie requests` wrote")
        return found
    return name.decode()
