"""A group of verbs, each of them imported when it is called."""

import errno
import importlib
import os
import sqlite3
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import click

from genie_inspect.cli.terminal import echo, printable_warnings, show_error
from genie_inspect.errors import GenieError

# what writing to a full, closed or failing output ends with
NOT_WRITTEN = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF})


class VerbGroup(click.Group):
    """A group that imports a verb when it is called, so that `--help` is quick."""

    def __init__(self, *args: Any, verbs: Mapping[str, tuple[str, str]], **options: Any) -> None:
        super().__init__(*args, **options)
        self.verbs = verbs

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs, in the order of the mapping."""
        return list(self.verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The verb of that name."""
        if cmd_name not in self.verbs:
            return None
        module, _, name = self.verbs[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The verbs with their one line each, without importing them."""
        # click's own list would import all verbs for their help texts
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self.verbs.items()])

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run a verb: whatever ends it early is one line and an exit code other than 0, for all verbs alike."""
        with printable_warnings():
            sys.exit(self._code(args, extra))

    def _code(self, args: tuple[Any, ...], extra: dict[str, Any]) -> int:
        try:
            # standalone, click would print and exit by itself, past our door
            code = super().main(*args, **extra | {"standalone_mode": False})
        except click.Abort:
            echo("Aborted!", err=True)
            return 1
        except click.ClickException as error:
            line = error
        except (GenieError, OSError, sqlite3.Error) as error:
            line = click.ClickException(_line(error))
        else:
            return code if isinstance(code, int) else 0
        show_error(line)
        return line.exit_code


def _line(error: Exception) -> str:
    """The error in one line, with the file that it is about."""
    if not isinstance(error, OSError):
        return str(error)
    # whoever writes a file of ours names it: what names none is the output, of click's help too
    if error.filename is None and error.errno in NOT_WRITTEN:
        # what is left to print would fail once more when the process ends
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return f"standard output cannot be written: {error.strerror}"
    return ": ".join(str(part) for part in (error.filename, error.strerror or error) if part)
