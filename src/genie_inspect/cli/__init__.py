"""The `genie` command: each verb is imported when it is called."""

import errno
import importlib
import os
import sqlite3
import sys
from collections.abc import Mapping
from contextlib import suppress
from difflib import get_close_matches
from typing import Any

import click

from genie_inspect.cli.terminal import echo, printable_streams, show_error
from genie_inspect.errors import GenieError

# by section of `genie --help`: each verb's home, and its one line
SECTIONS = {
    "Start": {"demo": (".cli.results:demo", "Try it: score two bundled storytellers, offline.")},
    "Results": {
        "summary": (".cli.results:summary", "Show the mean scores of logs in a table."),
        "compare": (".cli.compare:compare", "Compare models or prompting methods with a baseline."),
        "report": (".cli.results:report", "Write one HTML page about logs: tables, charts, methods."),
        "repeats": (".cli.repeats:repeats", "Show what a model always writes, and what sets two apart."),
        "show": (".cli.results:show", "Show one document, its scores and their reasons."),
        "export": (".cli.results:export", "Write scores as a table for pandas, R or a spreadsheet."),
    },
    "Grader": {
        "cost": (".cli.cost:cost", "Estimate the calls, tokens and money that scoring will take."),
        "calibrate": (".cli.calibrate:calibrate", "Measure how well graders and people agree."),
        "check-reader": (".cli.calibrate:check_reader", "Check whether a grader reads documents well enough."),
        "cache": (".cli.batch:cache", "Show, export, import or clear what models have replied."),
    },
    "Data": {
        "population": (".cli.population:population", "Build, import, check and measure populations."),
        "prompts": (".cli.data:prompts", "Make a file of prompts."),
        "questions": (".cli.data:questions", "Write and correct the questions of a population."),
        "features": (".cli.data:features", "Find the features along which documents can differ."),
    },
    "Batch": {"batch": (".cli.batch:batch", "Score with batch files or a Ray cluster.")},
    "Research": {
        "validate": (".cli.validate:validate", "Test a metric with edits and paraphrases."),
        "edits": (".studies.metric_study.checking:edits", "Write and check the edits and paraphrases for that test."),
        "agreement": (".cli.agreement:agreement", "Compare a grader's scores with people's votes."),
        "ttcw": (".studies.ttcw.verdicts:ttcw", "Analyse the Torrance Test of Creative Writing."),
        "rater": (".studies.personal.fitting:rater", "Fit a judge of your own to people's votes."),
        "close-reading": (
            ".studies.close_reading.meeting:close_reading",
            "Compare close readings with n-gram novelty and with people.",
        ),
        "answer-lengths": (".cli.agreement:answer_lengths", "Compare scores by long and by concise answers."),
        "build-index": (".cli.data:build_index", "Build an n-gram index of a folder of texts."),
    },
}

SHORT = 200  # characters of a command's first sentence, which no window cuts
WIDEST = 14  # columns of a verb's name
# what writing to a full, closed or failing output ends with
NOT_WRITTEN = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF})


class VerbGroup(click.Group):
    """A group that imports each verb of its `sections` when it is called, so that `--help` is quick."""

    def __init__(self, *args: Any, sections: Mapping[str, Mapping[str, tuple[str, str]]] | None = None, **options: Any):
        super().__init__(*args, **options)
        self.sections = sections or {}
        self.verbs = {name: verb for section in self.sections.values() for name, verb in section.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.verbs or self.commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.verbs:
            module, _, name = self.verbs[cmd_name][0].partition(":")
            command: click.Command | None = getattr(importlib.import_module(module, "genie_inspect"), name)
        else:
            command = super().get_command(ctx, cmd_name)
        # whoever reads the help of a verb knows --help
        if command and (shown := command.get_help_option(ctx)):
            shown.hidden = True
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            # newer versions of click suggest by themselves, but know no verb that is not imported yet
            if close := get_close_matches(args[0], self.list_commands(ctx), n=1):
                raise click.UsageError(f"No such command {args[0]!r}. Did you mean {close[0]}?", ctx) from None
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        own = {name: ("", command.get_short_help_str(SHORT)) for name, command in self.commands.items()}
        for section, verbs in (self.sections or {"Commands": own}).items():
            with formatter.section(section):
                # as wide in every section
                formatter.write_dl([(f"{name:<{WIDEST}}", line) for name, (_, line) in verbs.items()])

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run a verb: whatever ends it early is one line and an exit code other than 0, for all verbs alike."""
        with printable_streams():
            try:
                # standalone, click would print and exit by itself, past our door
                code = super().main(*args, **extra | {"standalone_mode": False})
            except click.Abort:
                echo("Aborted!", err=True)
                sys.exit(1)
            except Exception as error:
                shown = error if isinstance(error, click.ClickException) else _shown(error)
                if shown is None:
                    raise
                show_error(shown)
                sys.exit(shown.exit_code)
            sys.exit(code if isinstance(code, int) else 0)


def _shown(error: Exception) -> click.ClickException | None:
    """An error of ours, of a file, a store or Inspect in one line; any other is a fault of ours."""
    if isinstance(error, OSError):
        line = ": ".join(str(part) for part in (error.filename, error.strerror or error) if part)
        # whoever writes a file of ours names it: what names none is the output, of click's help too
        if error.filename is None and error.errno in NOT_WRITTEN:
            # what is left to print would fail once more when the process ends
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            line = f"standard output cannot be written: {error.strerror}"
        return click.ClickException(line)
    if isinstance(error, GenieError | sqlite3.Error):
        return click.ClickException(str(error))
    # imported here, so that `genie --help` is quick: Inspect takes seconds
    from rich.text import Text

    from genie_inspect.inspect_private import PrerequisiteError

    return click.ClickException(Text.from_markup(str(error)).plain) if isinstance(error, PrerequisiteError) else None


@click.group(cls=VerbGroup, sections=SECTIONS, epilog="`genie COMMAND --help` shows options and examples.")
@click.version_option(package_name="genie-inspect", help="Show the version and exit.")
def main() -> None:
    """Measure how novel a model's writing is, and where.

    \b
    genie demo                          try it: the whole measurement on recorded stories
    genie cost                          what a grader will cost
    inspect eval genie_inspect/synthetic_prompts --model ... --model-role grader=...
    genie summary logs/                 the scores
    genie report logs/ -o report.html   the scores as a page with charts
    """
