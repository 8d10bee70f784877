"""Folders that appear whole or not at all, made under a name that no other process knows."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from genie_inspect.errors import GenieError, UnwritableError
from genie_inspect.files.writing import private_name, unwritable

LEFT = ".genie-*.part"
"""What runs that were killed leave behind."""


def private_file(path: Path) -> None:
    """Make a file, and the folder that it stands in, which only this user may read; what is there stays as it is.

    SQLite gives the files that it puts beside a database the same permissions.

    Raises:
        OSError: If it cannot be made.
    """
    with suppress(FileExistsError):
        path.parent.mkdir(0o700, parents=True)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))


@contextmanager
def new_folder(output: Path, within: Path | None = None) -> Iterator[Path]:
    """A folder to write in, which becomes the output in one step when all is done, and only then.

    Args:
        output: What shall come into being.
        within: Where the folder is made, on the same file system; beside the output unless given.

    Raises:
        UnwritableError: If something stands at the output, before the body runs or by the time that it is done.
    """
    check_unused(output)
    place = Path(os.path.abspath(output))  # a path such as "." has no name and no parent of its own
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

    Raises:
        UnwritableError: If something failed and something stands at the output.
    """
    try:
        yield
    except (OSError, GenieError):
        check_unused(output)
        raise


@contextmanager
def private_folder(parent: Path, output: Path) -> Iterator[Path]:
    """A folder that no other process knows of, gone at the end with all that is still in it.

    Args:
        parent: Where; it is made when missing.
        output: What errors shall name.

    Raises:
        UnwritableError: If it cannot be made.
    """
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
    for left in folder.glob(LEFT):
        shutil.rmtree(left, ignore_errors=True)


def check_unused(output: Path) -> None:
    """Refuse to write where something stands.

    Raises:
        UnwritableError: If the path is anything but nothing or an empty folder.
    """
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
