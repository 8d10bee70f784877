"""Log files: which ones paths stand for, their headers, and their samples one by one."""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from zipfile import BadZipFile, ZipFile, is_zipfile

from inspect_ai.log import EvalLog, EvalSample, list_eval_logs, read_eval_log, read_eval_log_sample

from genie_inspect.errors import GenieError

if sys.version_info >= (3, 14):
    from compression.zstd import ZstdError
else:
    from zstandard import ZstdError  # comes with Inspect, which packs its logs with it

# what a log that is no whole one raises; JSON that is nested too deep the last
DAMAGED = (OSError, ValueError, NotImplementedError, BadZipFile, ZstdError, RecursionError)
MOST_SAID = 300  # characters of what another library says of a log
UNREAD = {"events", "events_data", "messages", "attachments"}  # no report looks at these, which are most of a log


class LogError(GenieError):
    """Logs cannot be read, or not be put side by side; the message says which and why."""


def log_files(paths: Iterable[str | Path]) -> list[str]:
    """Every log file that the paths stand for, each once: files as they are, folders searched, oldest first.

    Raises:
        LogError: If a path does not exist or holds no log.
    """
    files: dict[str, None] = {}
    for path in map(str, paths):
        if not Path(path).exists():
            raise LogError(f"{path} does not exist, expected a log file or a folder of logs")
        logs = [path] if Path(path).is_file() else [info.name for info in list_eval_logs(path, descending=False)]
        if not logs:
            raise LogError(f"{path} holds no log")
        files |= dict.fromkeys(log.removeprefix("file://") for log in logs)
    return list(files)


def log_header(file: str, *, finished: bool = True) -> EvalLog:
    """A log without its samples.

    Args:
        file: The log.
        finished: Whether it must be.

    Raises:
        LogError: If it cannot be read, or is not finished and must be.
    """
    try:
        header = read_eval_log(file, header_only=True)
    except (*DAMAGED, KeyError, AssertionError) as error:  # the last two where an archive or a JSON file lacks a part
        raise _unreadable(file, error) from error
    if finished and header.status != "success":
        raise LogError(f"{file} is not finished: its status is {header.status!r}, expected 'success'")
    return header


def samples(file: str) -> Iterator[EvalSample]:
    """The samples of a log, in no order; of an archive one at a time and without what no report looks at.

    Inspect's reader walks through every event even where none is asked for; opening the archive ourselves takes a fifth
    of the time. Where a log is no such archive, Inspect reads it, whole.

    Raises:
        LogError: If one cannot be read.
    """
    try:
        if not is_zipfile(file):
            yield from read_eval_log(file).samples or []
            return
        with ZipFile(file) as archive:
            # a sample that was written twice stands there twice; reading by name gives the later one
            for member in dict.fromkeys(name for name in archive.namelist() if name.startswith("samples/")):
                fields = json.loads(archive.read(member))
                if isinstance(fields, dict):
                    fields = {name: value for name, value in fields.items() if name not in UNREAD}
                yield EvalSample.model_validate(fields)
    except DAMAGED as error:
        raise _unreadable(file, error) from error


def sample_of(file: str, sample: str | int, epoch: int) -> EvalSample:
    """One sample of a log, without what no report looks at.

    Raises:
        LogError: If the log cannot be read.
        LookupError: If it has no such sample.
    """
    try:
        return read_eval_log_sample(file, sample, epoch, exclude_fields=UNREAD)
    except DAMAGED as error:
        raise _unreadable(file, error) from error


def _unreadable(file: str, error: Exception) -> LogError:
    return LogError(f"{file} cannot be read as a log: {' '.join(str(error).split())[:MOST_SAID]}")
