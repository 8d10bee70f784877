"""What a run over logs or a population would still ask, found by the run's own steps with nobody to answer."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from io import BufferedReader
from itertools import islice
from pathlib import Path
from posixpath import basename, join
from typing import Any, Literal, NamedTuple

from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem
from inspect_ai.model import Model

from genie_inspect.batch.shards import JUDGE, READ, REQUESTS, Collecting, Plan, ScaleError, shards
from genie_inspect.building.interviewing import Progress
from genie_inspect.engines.identity import redacted
from genie_inspect.errors import GenieError, MissingExtraError, PopulationError, RefusalError
from genie_inspect.files.values import json_text, one_line
from genie_inspect.files.writing import private_name, unwritable, write_bytes
from genie_inspect.graders.cache import FILE, TABLES, Cache
from genie_inspect.graders.instrument import Instrument, mode_of
from genie_inspect.inspect_private import unlogged
from genie_inspect.logs.files import log_files, log_header, samples
from genie_inspect.populations.population import BUNDLED, MANIFEST, open_population
from genie_inspect.prompting.texts import shortened
from genie_inspect.samples import document_of, is_original, made_of, prompt_of, unusable
from genie_inspect.scorers.assessor import Assessor, sampler_of
from genie_inspect.signature import digest

UNKNOWN_PROMPT = "the population has no questions for its prompt"


@dataclass(slots=True)
class Found:
    documents: int = 0
    requests: int = 0
    skipped: Counter[str] = field(default_factory=Counter)  # documents of which nothing is asked, by reason
    unread: int = 0  # documents, the population's among them, not wholly read, where judging was looked at


def request_id(signature: str, step: str, body: str) -> str:
    """The id of a request: two digests, since twelve digits alone would meet again among some millions."""
    return f"{step}-{digest(signature, body)}{digest(body)}"


class Study:
    """Logs that are measured against a population, or a population whose own documents are; how, and by whom."""

    def __init__(self, paths: Sequence[str], population: str, instrument: Instrument, model: Model, plan: Plan) -> None:
        own = [path for path in paths if path in BUNDLED or (Path(path) / MANIFEST).is_file()]
        if own and len(paths) > 1:
            raise PopulationError(f"{own[0]} is a population, expected it alone, or logs")
        self.population = open_population(own[0] if own else population)
        self.population.require_questions("measure genie")
        self.logs = [] if own else log_files(paths)
        self.instrument, self.model, self.plan = instrument, model, plan
        mode = mode_of(plan.judge)
        if mode.asks_pairs and mode.said is None:
            raise ScaleError(f"judge is {plan.judge!r}, whose replies cannot be taken from files, expected another")

    async def write(
        self, step: str, first: Path, progress: Progress, most: int = REQUESTS, new: bool = False
    ) -> tuple[Found, list[Path]]:
        """Write what a step would ask; no file where nothing is left to ask."""
        with shards(first, self.plan, most, new=new) as files:
            found, signature = await self._walk(step, files.write, progress)
            files.plan = self.plan.model_copy(update={"step": step, "signature": signature})
        return found, files.files

    async def left(self, step: str, progress: Progress) -> Found:
        return (await self._walk(step, lambda name, body: None, progress))[0]

    async def _walk(self, step: str, write: Callable[[str, str], None], progress: Progress) -> tuple[Found, str]:
        """What one step would ask, and the signature under which its replies will be kept."""
        found, ids, unread, prompts = Found(), set[str](), set[str](), set[str]()

        def note(body: Mapping[str, Any]) -> None:
            text = json_text(body)
            name = request_id(signature, step, text)
            if name not in ids:
                ids.add(name)
                write(name, text)

        def lacks(body: Mapping[str, Any]) -> None:
            unread.add(digest(json_text(body)))

        # a reader and a judge who note what they ask
        notes = (note, lacks) if step == READ else (lacks, note)
        (reader, _), (_, judge) = (
            self.instrument.reader_and_judge(Collecting(self.model, each), self.population.features) for each in notes
        )
        for asking in (reader, judge):
            vars(asking)["repeats"] = 0  # nobody answers: to ask again is no other request
        signature = reader.signature if step == READ else judge.signature
        # in place of a lost rating another is asked for when the log is scored
        sampler = sampler_of(self.instrument, seconds=False)
        assessor = Assessor(self.population, reader, judge, self.instrument.min_coverage, sampler)
        total = self._count()
        with unlogged():
            for text, prompt, original, reason, anew in self._texts():
                found.documents += 1
                if reason or not self.population.questions(prompt):
                    found.skipped[reason or UNKNOWN_PROMPT] += 1
                elif step == READ:
                    await assessor.reading(text, prompt, anew=anew)
                    if prompt not in prompts:
                        await assessor.read_population(prompt)
                    prompts.add(prompt)
                else:
                    with suppress(RefusalError):  # the reader's word that it is no attempt
                        await assessor.assess(text, prompt, original, anew=anew)
                progress(step, found.documents, max(total, found.documents))
        found.requests, found.unread = len(ids), len(unread) if step == JUDGE else 0
        return found, signature

    def _count(self) -> int:
        if not self.logs:
            return sum(len(self.population.documents(prompt)) for prompt in self.population.prompts)
        headers = (log_header(file).eval for file in self.logs)
        return sum(len(header.dataset.sample_ids or []) * (header.config.epochs or 1) for header in headers)

    def _texts(self) -> Iterator[tuple[str, str, str, str, bool]]:
        """Each with its prompt, what it was made of, why it is unusable, and whether it is read even where it was."""
        for file in self.logs:
            log_header(file)  # which refuses one that is not finished
            for one in samples(file):
                yield document_of(one), prompt_of(one), made_of(one), unusable(one), is_original(one)
        for prompt in () if self.logs else self.population.prompts:
            yield from ((document.text, prompt, "", "", False) for document in self.population.documents(prompt))


JSONL, PARQUET = "jsonl", "parquet"
FORMS, ENDINGS = (JSONL, PARQUET), (".jsonl", ".parquet")
NESTED = ("body", "response", "error")  # what stands in a column of Parquet as JSON


class Line(NamedTuple):
    """A line of replies: an id, and JSON, of which one is null."""

    custom_id: str
    response: str
    error: str


@dataclass(frozen=True, slots=True)
class Part:
    files: Any
    path: str

    def __str__(self) -> str:
        local = isinstance(self.files, LocalFileSystem)
        return self.path if local else redacted(str(self.files.unstrip_protocol(self.path)))

    @contextmanager
    def open(self, mode: Literal["rb"], /) -> Iterator[Iterable[bytes]]:
        """Its lines as JSON, one at a time; see `json_lines.Lines`."""
        with _one_line(str(self)):
            if self.path.endswith(f".{PARQUET}"):
                with self.files.open(self.path, mode) as file:
                    yield _rows(file, str(self))
            elif isinstance(self.files, LocalFileSystem):
                with Path(self.path).open(mode, 2**16) as lines:  # of a pipe, too
                    yield lines
            else:
                with self.files.open(self.path, mode) as lines:
                    yield BufferedReader(lines)


def parts(address: str) -> list[Part]:
    """The files of lines that an address stands for; none where it is new."""
    files, path = _reached(address)
    with _one_line(address):
        if "*" in path:
            inside = files.glob(path)
        elif not files.isdir(path):
            inside = [path] if files.exists(path) else []
        else:
            inside = [one for one in files.ls(path, detail=False) if one.endswith(ENDINGS) and basename(one)[0] != "."]
            if isinstance(files, LocalFileSystem):  # a pipe or a device in a folder would never end
                inside = [one for one in inside if Path(one).is_file()]
    # by number where names end with one: read.jsonl, read-2.jsonl, read-10.jsonl
    return [Part(files, one) for one in sorted(inside, key=lambda one: (len(one), one))]


def existing(address: str, what: str) -> list[Part]:
    if found := parts(address):
        return found
    raise ScaleError(
        f"{redacted(address)} has no {what}, expected a file or a folder of files that end with .jsonl or .parquet"
    )


def write_part(folder: str, name: str, form: str, lines: Sequence[Line]) -> None:
    """Write lines to a new file, which appears whole or not at all."""
    files, path = _reached(folder)
    if form == PARQUET:
        pyarrow, parquet = _pyarrow("output as Parquet")
        schema = pyarrow.schema([(name, "string") for name in Line._fields])
        sink = pyarrow.BufferOutputStream()
        parquet.write_table(pyarrow.Table.from_pylist([line._asdict() for line in lines], schema), sink)
        content = bytes(sink.getvalue())
    else:
        content = "".join(map(line_text, lines)).encode()
    target = join(path, f"{name}.{form}")
    with _one_line(target, "written"), unwritable(Path(target)):
        files.makedirs(path, exist_ok=True)
        if isinstance(files, LocalFileSystem):
            write_bytes(Path(target), content)
            return
        part = join(path, private_name())
        files.pipe_file(part, content)
        files.mv(part, target)


def line_text(line: Line) -> str:
    return f'{{"custom_id": {json.dumps(line.custom_id)}, "response": {line.response}, "error": {line.error}}}\n'


# others that fsspec knows run commands, start servers or open archives
SCHEMES = ("file", "local", "s3", "gs", "gcs", "az", "abfs", "http", "https")


def _reached(address: str) -> tuple[Any, str]:
    """The file system and the path in it, once the address is one that may be reached."""
    scheme = "data" if address.startswith("data:") else address.partition("://")[0] if "://" in address else SCHEMES[0]
    if not address.strip() or "::" in address or scheme not in SCHEMES:
        shown = shortened(redacted(address))
        raise ScaleError(f"{shown} is not an address of files, expected a path or {'://, '.join(SCHEMES[2:])}://")
    with _one_line(address):
        files, path = url_to_fs(address)
        return files, str(path)


@contextmanager
def _one_line(address: str, what: str = "read") -> Iterator[None]:
    """Raises whatever a file system's library raises as one line that names the address."""
    try:
        yield
    except GenieError:
        raise
    except Exception as error:  # each of these libraries has errors of its own
        reason = error.strerror if isinstance(error, OSError) and error.strerror else f"{type(error).__name__}: {error}"
        raise ScaleError(f"{redacted(address)} cannot be {what}: {redacted(one_line(reason))[:300]}") from error


LARGEST, ROWS = 2**28, 1_000  # most bytes of a column of Parquet, and most rows, that are unpacked at once
SMALL, TIMES = 2**24, 1_000  # a larger column that is packed into less than a thousandth is no replies of a model


def _rows(file: Any, name: str) -> Iterator[bytes]:
    pyarrow, parquet = _pyarrow(f"Parquet file {name}")
    try:
        table = parquet.ParquetFile(file)
        groups = [table.metadata.row_group(number) for number in range(table.metadata.num_row_groups)]
        largest = 1
        for column in (group.column(number) for group in groups for number in range(group.num_columns)):
            size, packed = column.total_uncompressed_size, column.total_compressed_size
            largest = max(largest, size)
            if size > LARGEST or size > max(SMALL, TIMES * packed):
                raise ScaleError(
                    f"{name} has a column of {size:,} bytes packed into {packed:,}, expected at most {LARGEST:,} bytes "
                    f"and {TIMES:,} times what they are packed into"
                )
        # a cell that stands in the file once may stand in every row, and is no larger than its column
        for batch in table.iter_batches(batch_size=max(1, min(ROWS, LARGEST // largest))):
            for row in batch.to_pylist():
                # what is nested stands in its cell as JSON
                texts = {
                    key: cell if key in NESTED and isinstance(cell, str) else json.dumps(cell, default=str)
                    for key, cell in row.items()
                }
                yield f"{{{', '.join(f'{json.dumps(key)}: {text}' for key, text in texts.items())}}}".encode()
    except pyarrow.ArrowException as error:
        raise ScaleError(f"{name} cannot be read as Parquet: {error}") from error


def _pyarrow(capability: str) -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError(capability, "ray") from None
    return pyarrow, parquet


TOGETHER = 10_000  # rows that are written at once


def merged(cache: Cache, folders: Sequence[Path], progress: Progress) -> dict[str, Any]:
    """Add the rows of other caches to one, and count what became of them; to do it again changes nothing."""
    for folder in folders:
        if not (folder / FILE).is_file():
            raise ScaleError(f"{folder} has no {FILE}, expected the folder of a cache")
        if (folder / FILE).samefile(cache.path):
            raise ScaleError(f"{folder} is the cache that others are added to, expected another")
    kept = Counter[str]()
    counts: dict[str, Any] = {"rows": 0, "kept": kept, "conflicts": 0, "refused": 0}
    for number, folder in enumerate(folders, start=1):
        other = Cache(folder)
        for name, table in TABLES.items():
            left = other.rows(table)
            while some := list(islice(left, TOGETHER)):
                added = cache.add(table, some)
                kept[name] += added.new
                counts["rows"] += len(some)
                counts["conflicts"] += added.conflicts
                counts["refused"] += added.refused
        other.close()
        progress("merge", number, len(folders))
    return {**counts, "kept": dict(kept)}
