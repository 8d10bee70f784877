"""A command that is a group of verbs, each a module of one room, imported when it is called."""

import importlib
from collections.abc import Mapping
from typing import Any

import click


class VerbGroup(click.Group):
    """A group whose verbs are imported when they are needed, so that its `--help` is quick.

    Args:
        room: The package in which each verb is a module of its name, with the command of that name in it.
        verbs: What each does, in one line.
        **options: As for `click.Group`.
    """

    def __init__(self, *args: Any, room: str, verbs: Mapping[str, str], **options: Any) -> None:
        super().__init__(*args, **options)
        self.room = room
        self.verbs = verbs

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs."""
        return list(self.verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The verb of that name."""
        if cmd_name not in self.verbs:
            return None
        command: click.Command = getattr(importlib.import_module(f"{self.room}.{cmd_name}"), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The verbs with their one line each, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.verbs.items()))
