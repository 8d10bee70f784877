"""The one door to the terminal: whatever the command prints goes through here, and nothing from outside steers it."""

import codecs
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import StringIO, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from genie_inspect.errors import GenieWarning
from genie_inspect.files.values import json_text, one_line, printable

if TYPE_CHECKING:
    from rich.console import Console


def echo(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Print text on standard output, or with `err` on standard error."""
    click.echo(printable(text), err=err, nl=nl)


def echo_json(value: Any) -> None:
    """Print a value as JSON for a script; what is not a finite number is null."""
    from genie_inspect.files.tables import plain

    echo(json_text(plain(value), indent=1))


def confirm(question: str) -> None:
    """Ask on standard error, and go on with yes alone."""
    click.confirm(printable(question), abort=True, err=True)


def show_error(error: click.ClickException) -> None:
    """Print an error, which is one line, with the usage above it where the command was called wrongly."""
    text = StringIO(f"Error: {one_line(error.format_message())}\n")
    # click's own usage text, some of which is the whole help, quotes arguments: it goes through the door as well
    if isinstance(error, click.UsageError):
        error.show(text := StringIO())
    echo(text.getvalue(), err=True, nl=False)


def console(*, stderr: bool = False) -> "Console":
    """A console for tables and progress bars, on standard output or with `stderr` on standard error."""
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    class Filtered(Console):
        """A console whose styles are its own: of texts, only what can be printed is left."""

        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
            for text, style, control in super().render(renderable, options):
                # control segments are rich's own escapes; texts may hold anybody's
                yield Segment(text if control else printable(text), style, control)

    return Filtered(stderr=stderr)


class Unbroken(str):
    """A line that is longer than the window rather than broken: one that is copied."""

    __slots__ = ()


@contextmanager
def replacing(*outputs: Path | None) -> Iterator[None]:
    """Say on standard error which files were replaced, once it is done."""
    before = {output: _numbers(output) for output in outputs if output is not None}
    yield
    for output, numbers in before.items():
        # a file that takes another's place is another file, whatever its name
        after = _numbers(output)
        replaced = [file for file in numbers.keys() & after.keys() if numbers[file] != after[file]]
        if replaced:
            echo(f"replaced {len(replaced)} files in {output}" if output.is_dir() else f"replaced {output}", err=True)


def _numbers(output: Path) -> dict[Path, int]:
    files = list(output.iterdir()) if output.is_dir() else [output]
    # the inode: writing is atomic here, so that a replaced file has another one
    return {file: file.stat().st_ino for file in files if file.is_file()}


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """What an encoding lacks, as JSON writes it in ASCII: a JSON text stays one."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4)), error.end


codecs.register_error("genie-escaped", _escaped)


@contextmanager
def printable_streams() -> Iterator[None]:
    """What the locale's encoding lacks (LC_ALL=C) is escaped; Python's warnings, which name files, go through the door.

    Ours are a notice of one line.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and codecs.lookup(stream.encoding).name != "utf-8":
            stream.reconfigure(errors="genie-escaped")
    formatted = warnings.formatwarning

    def filtered(message: Warning | str, category: type[Warning], *arguments: Any, **options: Any) -> str:
        if issubclass(category, GenieWarning):
            return f"Notice: {one_line(str(message))}.\n"
        return printable(formatted(message, category, *arguments, **options))

    warnings.formatwarning = filtered
    try:
        yield
    finally:
        warnings.formatwarning = formatted
