"""What every verb that writes files says of files that it replaced."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from genie_inspect.cli.terminal import echo


@contextmanager
def replacing(*outputs: Path | None) -> Iterator[None]:
    """Say on standard error which files were replaced, once it is done.

    Args:
        outputs: Files, or folders of files; None is passed over.
    """
    before = {output: _numbers(output) for output in outputs if output is not None}
    yield
    for output, numbers in before.items():
        # a file that takes another's place is another file, whatever its name
        after = _numbers(output)
        replaced = [file for file in numbers.keys() & after.keys() if numbers[file] != after[file]]
        if replaced:
            echo(f"replaced {len(replaced)} files in {output}" if output.is_dir() else f"replaced {output}", err=True)


def _numbers(output: Path) -> dict[Path, int]:
    """The inode number of the output, or of each file in it."""
    files = list(output.iterdir()) if output.is_dir() else [output]
    # the inode: writing is atomic here, so that a replaced file has another one
    return {file: file.stat().st_ino for file in files if file.is_file()}
