"""The `genie` command: each verb is imported when it is called."""

import errno
import importlib
import os
import sqlite3
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import click

from genie_inspect.cli.terminal import echo, printable_streams, show_error
from genie_inspect.errors import GenieError

VERBS = {
    "demo": (".cli.results:demo", "Evaluate the two bundled storytellers, offline."),
    "summary": (".cli.results:summary", "Put logs into one table."),
    "cost": (".cli.cost:cost", "Say what judging will cost before it is asked for."),
    "calibrate": (".cli.calibrate:calibrate", "Measure how far judges and people rate alike."),
    "readings": (".cli.calibrate:readings", "Hold a reader's answers against those on record."),
    "cache": (".cli.cache:cache", "Look at, export or clear what models have said."),
    "requests": (".cli.batch:requests", "Write what judging would ask as batch files, and say what is left."),
    "ray": (".cli.batch:ray", "Ask what judging needs as one job on a Ray cluster, and import the replies."),
    "compare": (".cli.compare:compare", "Say what a strategy changes against a baseline."),
    "study": (".cli.study:study", "Say what a measure is sensitive to, and whether it is robust."),
    "lengths": (".cli.lengths:lengths", "Hold scores by long answers against those by concise ones."),
    "report": (".cli.results:report", "Put logs into one page: tables, charts, what stood out, methods."),
    "frame": (".cli.results:frame", "Write scores as a table for pandas, R or a spreadsheet."),
    "show": (".cli.results:show", "Show one document of a log, and why it got its numbers."),
    "agreement": (".cli.agreement:agreement", "Hold a machine's scores against people's votes."),
    "ttcw": (
        ".studies.ttcw.commands:ttcw",
        "Count verdicts on stories anew: cutoffs, ways of asking, totals and words by writer.",
    ),
    "plots": (".studies.ttcw.commands:plots", "Draw one-sentence plots from stories of your own, for the task ttcw."),
    "rater": (".studies.personal.commands:rater", "Fit a judge of one's own to votes, and say what it is worth."),
    "close-reading": (
        ".studies.close_reading.commands:close_reading",
        "Hold close readings against n-gram novelty, and against people.",
    ),
    "index": (".cli.population:index", "Build an infini-gram index of a folder of texts."),
    "population": (".cli.population:population", "Build, import, check, merge, sample, measure and show populations."),
    "prompts": (
        ".cli.questions:prompts",
        "Make files of prompts: pairs of concepts of any domain, or samples of what people wrote.",
    ),
    "questions": (".cli.questions:questions", "Write the questions of a population, and let people correct them."),
    "interventions": (
        ".studies.metric_study.commands:interventions",
        "Write edits and paraphrases by which a measure is tested, and check them.",
    ),
    "features": (".cli.questions:features", "Find the features along which texts of a kind can differ."),
}

# what writing to a full, closed or failing output ends with
NOT_WRITTEN = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF})


class VerbGroup(click.Group):
    """A group that imports each of its `verbs` when it is called, so that `--help` is quick; or one of any commands."""

    def __init__(self, *args: Any, verbs: Mapping[str, tuple[str, str]] | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self.verbs = verbs or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.verbs) or super().list_commands(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.verbs:
            return super().get_command(ctx, cmd_name)
        module, _, name = self.verbs[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module, "genie_inspect"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if not self.verbs:
            super().format_commands(ctx, formatter)
            return
        # click's own list would import all verbs for their help texts
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self.verbs.items()])

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


def verbs_of(module: str, lines: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """The verbs of a module's own group: functions of their names, each with its line."""
    return {name: (f"{module}:{name}", line) for name, line in lines.items()}


@click.group(cls=VerbGroup, verbs=VERBS)
@click.version_option(package_name="genie-inspect")
def main() -> None:
    """How novel is a model's writing, and where?

    \b
    genie demo                          the whole instrument on recorded stories, offline
    genie summary logs/                 the table of logs that you have
    genie compare logs/ --baseline X    what differs, and what of it holds
    genie study LOG                     whether a measure deserves trust: edits and paraphrases
    genie report logs/ -o report.html   the page of them
    genie frame logs/ -o scores.csv     their scores as a table for data analysis
    genie show LOG SAMPLE               one document of them
    genie agreement logs/ --votes FILE  how far the scores agree with people
    genie rater fit VOTES --scores LOG  a judge of your own, from your votes
    genie close-reading logs/           what a close reader finds where n-grams are new
    """
