"""The one writer of files that users name: whole or not at all, and never through a name that others can foresee."""

import errno
import io
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import IO, Any

from genie_inspect.errors import UnwritableError

NEW_FILE = 0o666  # of which the user's umask takes away what it takes away
_STREAM = re.compile(r"/dev/(stdout|stderr)|/(?:dev|proc/self)/fd/(\d+)")


@contextmanager
def written(path: Path, *, new: bool = False) -> Iterator[IO[bytes]]:
    """A file to write to, which takes its place in one step when all is written, and leaves nothing when it is not.

    Until then it stands under a random name in the same folder. What it replaces keeps its permissions. Of a link the
    file that it points at is replaced and the link stays, as with every program that writes; a link to nothing is
    refused. A device, a pipe or `/dev/stdout` is written to directly.
    """
    with unwritable(path):
        descriptor, mode = _opened(path)
    if descriptor is not None:
        with io.BufferedWriter(_Named(descriptor, "w", path=path)) as file:
            yield file
        return
    if new and mode is not None:
        raise _taken(path)
    target = Path(os.path.realpath(path))
    part = target.with_name(private_name())
    with unwritable(path):
        # "x": made by this call or not at all, and through no link
        raw = _Named(part, "x", path=path, opener=partial(os.open, mode=NEW_FILE if mode is None else mode))
    try:
        with io.BufferedWriter(raw) as file:
            yield file
            file.flush()
            with unwritable(path):
                os.fsync(file.fileno())
                if mode is not None:
                    part.chmod(mode)
        with unwritable(path):
            _put(part, target, new=new)
    finally:
        part.unlink(missing_ok=True)


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file; see `written`."""
    with written(path) as file:
        file.write(content)


def write_lines(path: Path, lines: Iterable[str], *, new: bool = False) -> None:
    """Write the lines, which bring their line ends, as UTF-8; see `written`.

    Half of a surrogate pair, which UTF-8 cannot hold, becomes the escape that JSON has for it.
    """
    with written(path, new=new) as file:
        for line in lines:
            file.write(line.encode("utf-8", "backslashreplace"))


def check_absent(path: Path, instead: str = "expected a new file") -> None:
    """Refuse to write over a file, before anything costly starts; devices and pipes are no files."""
    with unwritable(path):
        if os.path.lexists(path) and not is_stream(path):
            raise _taken(path, instead)


def check_writable(path: Path) -> None:
    """Refuse what cannot be written, before anything costly starts."""
    with unwritable(path):
        if is_stream(path):
            return
        _opened(path)
        part = Path(os.path.realpath(path)).with_name(private_name())
        part.open("xb").close()
        part.unlink()


def is_stream(path: Path) -> bool:
    """Whether what is written there goes elsewhere: into a device, a pipe, or a stream of this process."""
    return bool(_STREAM.fullmatch(str(path))) or (path.exists() and not path.is_file() and not path.is_dir())


@contextmanager
def unwritable(path: Path) -> Iterator[None]:
    """Raises what the operating system refuses as an error that names the path; a broken pipe stays one."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UnwritableError(f"{path} cannot be written: {error.strerror or error}") from error


def private_name() -> str:
    """A hidden name that nobody can foresee."""
    return f".genie-{token_hex(8)}.part"


class _Named(io.FileIO):
    """A file whose errors name the path that the user gave."""

    def __init__(self, *arguments: Any, path: Path, **options: Any) -> None:
        self._path = path
        super().__init__(*arguments, **options)

    def write(self, data: Any, /) -> Any:
        with unwritable(self._path):
            return super().write(data)


def _opened(path: Path) -> tuple[int | None, int | None]:
    """A descriptor of a stream or device; else the permissions of the file that stands there; else neither."""
    if stream := _STREAM.fullmatch(str(path)):
        # its own descriptor: opened anew, a file to which the shell sends it would be written from its beginning
        return os.dup(int(stream[2]) if stream[2] else {"stdout": 1, "stderr": 2}[stream[1]]), None
    try:
        descriptor = os.open(path, os.O_WRONLY)
    except FileNotFoundError:
        if path.is_symlink():
            raise FileNotFoundError(errno.ENOENT, "it is a link to nothing") from None
        return None, None
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        return descriptor, None
    os.close(descriptor)
    return None, stat.S_IMODE(mode)


def _put(part: Path, target: Path, *, new: bool) -> None:
    if not new:
        part.replace(target)
        return
    try:
        os.link(part, target)  # unlike a rename it fails where something stands
    except FileExistsError:
        raise _taken(target) from None
    except OSError:  # a file system without links
        if os.path.lexists(target):
            raise _taken(target) from None
        part.replace(target)


def _taken(path: Path, instead: str = "expected a new file") -> UnwritableError:
    return UnwritableError(f"output {path} exists, {instead}: nothing was written")
