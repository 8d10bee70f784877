"""Requests in files as one job on Ray, and their replies in files of a folder, where a job that was killed goes on."""

import json
import logging
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from secrets import token_hex
from typing import Any

import anyio

from genie_inspect.batch.importing import FOREIGN, Importer, Reply, count_fault, replies, reply_in
from genie_inspect.batch.ray_server import Engine, Server
from genie_inspect.batch.shards import STEPS, ScaleError, places
from genie_inspect.batch.walk import JSONL, Found, Line, Part, Study, existing, line_text, parts, write_part
from genie_inspect.building.interviewing import Progress
from genie_inspect.errors import MissingExtraError
from genie_inspect.files.json_lines import json_object, placed_lines
from genie_inspect.graders.cache import Cache


@contextmanager
def cluster() -> Iterator[Any]:
    """Ray, connected to the cluster that RAY_ADDRESS names, or else to one of its own until the end."""
    # whoever uses Ray through us has not been asked whether it may report so
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
        import ray.data.llm
    except ImportError as error:
        raise MissingExtraError(f"a job on Ray ({error})", "ray") from None
    own = not ray.is_initialized()
    try:
        if own:
            ray.init(log_to_driver=False, logging_level=logging.ERROR)
        # we show a bar of our own, on standard error
        ray.data.DataContext.get_current().enable_progress_bars = False
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        yield ray
    except (ConnectionError, ray.exceptions.RayError) as error:
        # Ray puts the traces of all its processes before the line that says something
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise ScaleError(f"the job on Ray has failed: {lines[-1] if lines else type(error).__name__}") from error
    finally:
        if own:
            ray.shutdown()


LINES, SECONDS = 5_000, 10.0  # how many lines, or how long the first, wait for others before they go to a file
FAILED = "__inference_error__"  # where Ray Data LLM says why an engine could not take a request
Job = Server | Engine  # who answers


@dataclass(slots=True)
class Outcome:
    requests: int = 0
    on_path: int = 0  # those whose reply was there, which were not asked again
    asked: int = 0
    answered: int = 0
    faults: Counter[str] = field(default_factory=Counter)  # lines that are no reply, by reason
    files: int = 0


def ask(
    requests: Sequence[str], output: str, job: Job, progress: Progress, form: str = JSONL, step: str = "ask"
) -> Outcome:
    """Ask what has no reply yet: this process reads and writes, on its own disk or in a bucket; the cluster asks."""
    there = parts(output)
    answered = {said.name for part in there for said in replies(part) if isinstance(said, Reply) and not said.fault}
    files = [part for address in requests for part in existing(address, "requests")]
    outcome, ids = Outcome(), set[str]()
    for _, body in _left(files, answered, ids):  # read twice: a million bodies are not kept here
        if not outcome.asked:
            job.check(body)
        outcome.asked += 1
    outcome.requests, outcome.on_path = len(ids), len(ids) - outcome.asked
    if not outcome.asked:
        return outcome
    with cluster() as ray, closing(_Parts(output, form, len(there), outcome)) as written:
        from pyarrow import Table

        blocks = []
        rows = ({"custom_id": name, "payload": body} for name, body in _left(files, answered, set()))
        while block := list(islice(rows, job.together)):
            blocks.append(ray.put(Table.from_pylist(block)))
        asked = job.processor()(ray.data.from_arrow_refs(blocks))
        for done, row in enumerate(asked.iter_rows(), start=1):
            if reason := row.get(FAILED):
                written.add(Line(str(row["custom_id"]), "null", json.dumps({"message": str(reason)})))
            else:
                written.add(Line(*(str(row[name]) for name in Line._fields)))
            progress(step, done, outcome.asked)
    return outcome


def _left(files: Sequence[Part], answered: set[str], ids: set[str]) -> Iterator[tuple[str, str]]:
    """Ids and bodies of the requests without a reply, each once; the ids of all requests are added to `ids`."""
    for file in files:
        for number, _, line in placed_lines(file):
            where = f"{file}, line {number}"
            fields = json_object(line, where, ScaleError)
            name, body = fields.get("custom_id"), fields.get("body")
            if not isinstance(name, str) or not isinstance(body, dict):
                raise ScaleError(
                    f"{where} has no custom_id or no body, expected a line that `genie batch requests` wrote"
                )
            if name not in ids and name not in answered:
                yield name, json.dumps(body)
            ids.add(name)


class _Parts:
    """Lines on their way into files; however it ends, what has come is in them."""

    def __init__(self, folder: str, form: str, number: int, outcome: Outcome) -> None:
        self.folder, self.form, self.number, self.outcome = folder, form, number, outcome
        self._lines: list[Line] = []
        self._since = 0.0

    def add(self, line: Line) -> None:
        if not self._lines:
            self._since = time.monotonic()
        self._lines.append(line)
        said = reply_in(line_text(line).encode())
        if isinstance(said, Reply) and said.fault:
            count_fault(self.outcome.faults, said.fault)
        elif isinstance(said, Reply):
            self.outcome.answered += 1
        if len(self._lines) >= LINES or time.monotonic() - self._since >= SECONDS:
            self.close()

    def close(self) -> None:
        if self._lines:
            self.outcome.files += 1
            # numbered for the eye; two jobs on one folder do not meet in a name
            name = f"part-{self.number + self.outcome.files:06}-{token_hex(4)}"
            write_part(self.folder, name, self.form, self._lines)
        self._lines = []


def rounds(
    study: Study, output: str, job: Job, cache: Cache, progress: Progress, form: str = JSONL
) -> tuple[dict[str, dict[str, Any]], dict[str, Found]]:
    """Read, then judge what was read: what came of both, and what each step would still ask.

    A job that was killed goes on where it was: the requests are found anew, and those whose replies stand in the output
    are not asked again.
    """

    def named(name: str) -> Progress:
        return lambda _, done, total: progress(name, done, total)

    came = {}
    for step in STEPS:
        asking, importer, path = Outcome(), Importer(cache, {}), f"{output.rstrip('/')}/{step}"
        with tempfile.TemporaryDirectory() as folder:
            first = Path(folder) / f"{step}.jsonl"
            _, files = anyio.run(study.write, step, first, named(f"find what to {step}"))
            if files:
                asking = ask([str(file) for file in files], path, job, progress, form, step)
                importer = Importer(cache, places(first))
                for part in parts(path):
                    anyio.run(importer.take, part)
        # replies to what an earlier job asked and took into the cache stand there too
        del importer.result.faults[FOREIGN]
        came[step] = {"asking": asking, "imported": importer.result}
    return came, {step: anyio.run(study.left, step, named(f"left to {step}")) for step in STEPS}
