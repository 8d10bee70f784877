"""The one writer of files and folders: whole or not at all, and never through a name that others can foresee."""

import errno
import io
import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import IO, Any

import platformdirs

from genie_inspect.errors import GenieError, UnwritableError

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
            if new:
                _put_anew(part, target)
            else:
                part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def write_bytes(path: Path, content: bytes) -> None:
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


def _put_anew(part: Path, target: Path) -> None:
    try:
        os.link(part, target)  # unlike a rename it fails where something stands
    except OSError as error:
        if isinstance(error, FileExistsError) or os.path.lexists(target):
            raise _taken(target) from None
        part.replace(target)  # a file system without links


def _taken(path: Path, instead: str = "expected a new file") -> UnwritableError:
    return UnwritableError(f"output {path} exists, {instead}: nothing was written")


@contextmanager
def new_folder(output: Path, within: Path | None = None) -> Iterator[Path]:
    """A folder to write in, which becomes the output in one step when all is done, and only then."""
    check_unused(output)
    place = Path(os.path.abspath(output))  # a path such as "." has no name and no parent
    with giving_way(output), private_folder(within or place.parent, output) as making:
        yield making
        with unwritable(output):
            making.rename(place)  # in one step, and only onto an empty folder or nothing


@contextmanager
def giving_way(output: Path) -> Iterator[None]:
    """Raises that the output exists, in place of an error that comes of another process having made it meanwhile.

    The first of several that make one output clears away what the others have in the same work folder.
    """
    try:
        yield
    except (OSError, GenieError):
        check_unused(output)
        raise


@contextmanager
def private_folder(parent: Path, output: Path) -> Iterator[Path]:
    """A folder that no other process knows of; what still stands under its name at the end is gone."""
    folder = parent / private_name()
    with unwritable(output):
        parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def clear_left(folder: Path) -> None:
    """Remove what runs that were killed have left in a folder."""
    for left in folder.glob(".genie-*.part"):
        shutil.rmtree(left, ignore_errors=True)


LARGEST = 2**28  # bytes of a file that is read whole


def check_file(path: Path, largest: int | None = None) -> None:
    """Refuse what is no file where one belongs: a pipe or a device in somebody's folder may have no end."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not a file", str(path))
    if largest is not None and status.st_size > largest:
        raise OSError(errno.EFBIG, f"it has {status.st_size:,} bytes, expected at most {largest:,}", str(path))


def check_unused(output: Path) -> None:
    """Refuse to write where something stands."""
    with unwritable(output):
        if not os.path.lexists(output):
            return
        if output.is_symlink():
            kind = "a link"
        elif output.is_dir():
            if not any(output.iterdir()):
                return
            kind = "a folder that is not empty"
        else:
            kind = "a file"
    raise UnwritableError(f"output {output} is {kind}, expected a new or empty folder: nothing was written")


DATA = Path(__file__).parents[1] / "data"


def own_folder(folder: Path) -> Path | None:
    """Where this user's results about a shipped folder stand; None for a folder that does not ship."""
    place, shipped = folder.resolve(), DATA.resolve()
    if not place.is_relative_to(shipped):
        return None
    own = os.environ.get("GENIE_DATA_DIR") or platformdirs.user_data_dir("genie-inspect")
    return Path(own) / place.relative_to(shipped)


MOUNTS = Path("/proc/mounts")
NETWORKED = frozenset(
    {"9p", "afs", "beegfs", "ceph", "cifs", "fhgfs", "gfs2", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4"}
    | {"ocfs2", "orangefs", "panfs", "pvfs2", "smb3", "smbfs", "wekafs"}
    | {"fuse.glusterfs", "fuse.juicefs", "fuse.s3fs", "fuse.sshfs"}
)
_OCTAL = re.compile(r"\\([0-7]{3})")


def network_file_system(path: Path) -> str:
    """The kind of network file system that a path stands on; empty where it is none, or nobody says."""
    try:
        lines = MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # another system than Linux
        return ""
    real, kind, longest = os.path.realpath(path), "", 0
    for fields in map(str.split, lines):
        # a space in a path stands there as \040
        place = _OCTAL.sub(lambda match: chr(int(match[1], 8)), fields[1]) if len(fields) > 2 else ""
        within = place and (real == place or real.startswith(place.rstrip("/") + "/"))
        # of two mounts on one place the later one covers the earlier
        if within and len(place) >= longest:
            kind, longest = fields[2], len(place)
    return kind if kind in NETWORKED else ""
