"""Log files: their headers, and their samples one by one."""

import mmap
import re
import struct
import sys
import warnings
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from os import SEEK_END
from pathlib import Path
from typing import TypeVar
from zipfile import BadZipFile, ZipFile, is_zipfile

from inspect_ai.log import EvalLog, EvalSample, list_eval_logs, read_eval_log, read_eval_log_sample
from pydantic import ValidationError

from genie_inspect.errors import GenieError, GenieWarning
from genie_inspect.files.json_lines import first_fault, json_object
from genie_inspect.files.values import count
from genie_inspect.inspect_private import sample_member, sample_members
from genie_inspect.logs.scores import last_of_each, measured

if sys.version_info >= (3, 14):
    from compression.zstd import ZstdError
else:
    from zstandard import ZstdError  # comes with Inspect, which packs its logs with it

# what a log that is no whole one raises; the second line where an archive or a JSON file lacks a part, or it is another
DAMAGED = (
    *(OSError, EOFError, ValueError, NotImplementedError, BadZipFile, ZstdError, RecursionError, MemoryError),
    struct.error,
    *(KeyError, IndexError, AssertionError, TypeError, AttributeError, ArithmeticError, RuntimeError, zlib.error),
)
DEEPEST = 500  # brackets within brackets; Inspect's reader of JSON takes 20 GB for 100,000 of them
LARGEST = 2**30  # bytes of an archive's member when it is unpacked; as JSON it takes ten times that in memory
_TELLING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{]+|[\]}]+|[0-9]{1000,}', re.DOTALL)
CUT_OFF = "is cut off: {size:,} bytes are there and its end is missing"
MOST_SAID = 300  # characters of what another library says of a log
UNREAD = {"events", "events_data", "messages", "attachments"}  # no report looks at these, which are most of a log


class LogError(GenieError):
    """Logs cannot be read, or not be put side by side; the message says which and why."""


def log_header(file: str, *, finished: bool = True) -> EvalLog:
    """A log without its samples."""
    with readable(file):
        _check_form(file)
        header = read_eval_log(file, header_only=True)
    if finished and header.status != "success":
        raise LogError(f"{file} is not finished: its status is {header.status!r}, expected 'success'")
    return header


def samples(file: str, unread: Collection[str] = UNREAD) -> Iterator[EvalSample]:
    """The samples of a log, in no order; of an archive one at a time and without what no report looks at.

    Scores that measure nothing are left out. Of those that a scorer gave more than once the last counts, with a
    warning. Where a log is no archive, or one of another kind, Inspect reads it, whole.
    """
    repeated: dict[str, None] = {}
    for sample in _samples(file, unread):
        before = measured(sample.scores or {})
        _keep_last(sample)
        repeated |= dict.fromkeys(name for name in before if name not in (sample.scores or {}))
        yield sample
    if repeated:
        listed = ", ".join(repeated)
        warnings.warn(f"{file} was scored again in the same way ({listed}): the last scores count", GenieWarning, 2)


def _samples(file: str, unread: Collection[str]) -> Iterator[EvalSample]:
    with readable(file):
        if is_zipfile(file):
            with ZipFile(file) as archive:
                if members := sample_members(archive):
                    # one sample at a time: the stories of a large run do not fit in memory together
                    yield from (_sample(archive, member, file, unread) for member in members)
                    return
        for sample in read_eval_log(file).samples or []:
            yield _placed(sample, file)


def sample_of(file: str, sample: str | int, epoch: int) -> EvalSample:
    """One sample of a log, without what no report looks at."""
    with readable(file, but=LookupError):
        if is_zipfile(file):
            with ZipFile(file) as archive:
                if sample_members(archive):
                    return _keep_last(_sample(archive, sample_member(sample, epoch), file, UNREAD))
        return _keep_last(read_eval_log_sample(file, sample, epoch, exclude_fields=UNREAD))


def _keep_last(sample: EvalSample) -> EvalSample:
    sample.scores = sample.scores and last_of_each(measured(sample.scores))
    return sample


@contextmanager
def readable(file: str, but: type[Exception] = LogError) -> Iterator[None]:
    """Raises any error that a damaged log causes while it is read, `but` one kind, as one line that names the log."""
    try:
        yield
    except (LogError, but):
        raise
    except DAMAGED as error:
        # in one line: pydantic's and the JSON parser's messages have many
        reason = _broken(file) or " ".join(str(error).split())[:MOST_SAID] or type(error).__name__
        raise LogError(f"{file} cannot be read as a log: {reason}") from error


def _broken(file: str) -> str:
    """What is wrong with a file as a whole; empty where only its readers know it."""
    try:
        with Path(file).open("rb") as opened:
            begin, size = opened.read(64).lstrip(), opened.seek(0, SEEK_END)
    except OSError:
        return ""
    if not begin:
        return "it is empty"
    if begin.startswith(b"PK"):
        return "" if is_zipfile(file) else f"it {CUT_OFF.format(size=size)}; copy it again"
    return "" if begin.startswith(b"{") else "it is neither an archive nor JSON, as Inspect's logs are"


def _check_form(file: str) -> None:
    """Refuse what would fill the memory before anything of it could be checked."""
    if is_zipfile(file):
        with ZipFile(file) as archive:
            large = [info for info in archive.infolist() if info.file_size > LARGEST]
        if large:
            size, name = large[0].file_size, large[0].filename
            raise LogError(f"{file}, {name} has {size:,} bytes, expected at most {LARGEST:,}")
    elif file.endswith(".json") and Path(file).stat().st_size:
        with Path(file).open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
            if reason := _unsafe(content):
                raise LogError(f"{file} {reason}, expected a log")


def _unsafe(content: mmap.mmap | bytes) -> str:
    """Why JSON must not be given to Inspect's reader; empty where it may."""
    depth = 0
    for part in _TELLING.finditer(content):
        match part[0][0]:
            case 0x22:  # a string, in which brackets and digits are none
                continue
            case 0x5B | 0x7B:
                depth += len(part[0])
                if depth > DEEPEST:
                    return f"has more than {DEEPEST} brackets within each other"
            case 0x5D | 0x7D:
                depth -= len(part[0])
            case _:  # beyond 4,300 digits the parser in C that Inspect uses ends the whole process
                return f"has a number of {len(part[0]):,} digits"
    return CUT_OFF.format(size=len(content)) if depth > 0 else ""


def _sample(archive: ZipFile, member: str, file: str, unread: Collection[str]) -> EvalSample:
    where = f"{file} cannot be read as a log: {member}"
    fields = json_object(archive.read(member), where, LogError)
    try:
        sample = EvalSample.model_validate({name: value for name, value in fields.items() if name not in unread})
    except ValidationError as invalid:
        raise LogError(first_fault(invalid, where)) from invalid
    if member != sample_member(sample.id, sample.epoch):
        raise LogError(f"{where} has sample {sample.id!r:.60} of epoch {sample.epoch!r:.60}")
    return _placed(sample, where)


def _placed(sample: EvalSample, where: str) -> EvalSample:
    """The sample, of an epoch that a run can have: they count from 1."""
    if not count(sample.epoch):
        raise LogError(f"{where}, field epoch: {sample.epoch!r:.60}, expected a whole number from 1")
    return sample


ReadT = TypeVar("ReadT")


def each_log(paths: Iterable[str | Path], read: Callable[[str], ReadT]) -> list[ReadT]:
    """What is read of each log; one of a folder that cannot be read is left out, with a warning."""
    named = list(map(str, paths))
    logs: list[ReadT] = []
    left_out: list[LogError] = []
    for file in log_files(named):
        try:
            logs.append(read(file))
        except LogError as error:
            if file in named:
                raise
            left_out.append(error)
    if left_out and not logs:
        raise LogError(f"none of {len(left_out)} logs can be used; the last: {left_out[-1]}") from left_out[-1]
    for reason in left_out:
        warnings.warn(f"left out: {reason}", GenieWarning, stacklevel=2)
    return logs


def log_files(paths: Iterable[str | Path]) -> list[str]:
    """Every log file that the paths stand for, each once: files as they are, folders searched, oldest first."""
    files: dict[str, None] = {}
    for path in map(str, paths):
        if not Path(path).exists():
            raise LogError(f"{path} does not exist, expected a log file or a folder of logs")
        logs = [path] if Path(path).is_file() else [info.name for info in list_eval_logs(path, descending=False)]
        if not logs:
            raise LogError(f"{path} has no log")
        files |= dict.fromkeys(name.removeprefix("file://") for name in logs)
    return list(files)
