"""Folders that appear whole or not at all, made under a name that no other process knows."""

import errno
import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs

from genie_inspect.errors import GenieError, UnwritableError
from genie_inspect.files.writing import private_name, unwritable


@contextmanager
def new_folder(output: Path, within: Path | None = None) -> Iterator[Path]:
    """A folder to write in, which becomes the output in one step when all is done, and only then."""
    check_unused(output)
    place = Path(os.path.abspath(output))  # a path such as "." has no name and no parent
    with giving_way(output), private_folder(within or place.parent, output) as private:
        making = private / "new"
        making.mkdir()
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
    """A folder that no other process knows of, gone at the end with all that is still in it."""
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
        raise OSError(errno.EINVAL, "it is no file", str(path))
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
