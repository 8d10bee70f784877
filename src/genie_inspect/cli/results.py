"""The commands that put logs into tables and pages: summary, report, frame, and the demo that shows them."""

import math
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.console import Console  # noqa: TID251  # a type, whose object comes from the door
from rich.table import Table

from genie_inspect.cli.options import FILE, LOGS, SIGNATURE, Answer, answering, as_json_option, output_option
from genie_inspect.cli.tables import (
    figure,
    legend,
    length_notes,
    summary_notes,
    summary_tables,
    text_table,
    without_yardstick,
)
from genie_inspect.cli.terminal import Unbroken, console, echo, echo_json, print_parts, replacing
from genie_inspect.errors import MissingExtraError, UnknownChoiceError
from genie_inspect.files.printable import json_text
from genie_inspect.files.tables import csv_lines, plain
from genie_inspect.files.writing import check_writable, is_stream, unwritable, write_bytes, write_lines, written
from genie_inspect.logs.measures import shown_key
from genie_inspect.reports.frame import COLUMNS, columns_of, parquet, rows, wide_rows
from genie_inspect.reports.summary import Column, Summary, summaries, summarise
from genie_inspect.statistics.descriptive import NO_INTERVAL

JURY = (
    "Means over prompts by grader, each over the documents that it measured; the jury's mean is over those that every"
    " grader measured. Alpha: Krippendorff's, over the novelties of all questions; 1 the same, 0 as by chance."
)


@click.command()
@LOGS
@click.option("--scorer", help="Whose scores; default: all that every log has.")
@click.option("--nearest", is_flag=True, help="Below each mean: how near the population's nearest answers come.")
@SIGNATURE
@answering(json="Print JSON for a script, a list of tables, instead of tables.")
def summary(logs: tuple[str, ...], scorer: str | None, nearest: bool, signature: str) -> Answer:
    """Means over prompts with 95% intervals, feature by feature: a table a measure, a column a log.

    LOGS are log files or folders; unfinished logs of a folder are left out. Logs whose signatures differ do not
    compare: each signature has a table of its own. "documents scored" counts each epoch of a sample; Inspect's own
    scored_samples counts a sample once.

    \b
    Example: genie summary logs/demo
    """
    tables = summaries(logs, scorer, signature)

    def value(table: Summary) -> dict[str, Any]:
        columns = [
            {
                **{"label": column.label, "log": column.log},
                **{"unlike_length": column.unlike_length or None, "cut": column.cut or None},
                **plain(column.results),
            }
            for column in table.columns
        ]
        parts = ("scorer", "signature", "keys", "warnings")
        return {**{name: getattr(table, name) for name in parts}, "columns": columns}

    return Answer(lambda: [value(table) for table in tables], partial(_parts, tables, nearest))


def _parts(tables: Sequence[Summary], nearest: bool, screen: Console) -> Iterator[Table | str]:
    for table in tables:
        yield from summary_tables(table, screen, nearest=nearest)
        yield from (_jury_table(table, column) for column in table.columns if column.results.graders)
        yield from summary_notes(table)
    yield from (*length_notes(tables), *legend(tables, nearest=nearest), *without_yardstick(tables))


def _jury_table(summary: Summary, column: Column) -> Table:
    """Features down, graders across, and their agreement."""
    results = column.results
    graders = results.graders.values()
    rows: list[list[str] | None] = []
    for key in summary.keys:
        means = [own.cells.get(key, NO_INTERVAL).mean for own in graders]
        shown = [figure(value, none="not measured") for value in (*means, results.agreement.get(key, math.nan))]
        rows.append([shown_key(summary.signature, key), *shown])
    scored = (f"{own.documents} of {results.documents}" for own in graders)
    rows += [None, ["documents measured", *scored, ""]]
    title = f"{summary.scorer}, the jury of {column.label}"
    return text_table(title, ["feature", *results.graders, "alpha"], rows, caption=JURY, fold=True)


@click.command()
@LOGS
@click.option(
    "-o", "--output", default="report.html", show_default=True, help="The page; what stands there is replaced."
)
@click.option("--pictures", metavar="FOLDER", type=FILE, help="Write each chart into this folder too, as SVG and PNG.")
@click.option(
    "--examples",
    default=2,
    show_default=True,
    type=click.IntRange(min=0),
    help="Documents at either end of a feature.",
)
@SIGNATURE
@click.option(
    "--baseline", default="", help="Compare the others with this run: by label, strategy, task, model or file."
)
@as_json_option("Print the numbers for a script and write no page.")
def report(logs: tuple[str, ...], output: str, pictures: Path | None, as_json: bool, **options: Any) -> None:
    """One self-contained page: means, distributions, what stood out, agreement between measures, methods.

    LOGS are log files or folders; unfinished logs of a folder are left out. Logs whose signatures differ are refused:
    their scores do not compare. --signature chooses those of one.

    With --baseline it begins with what `genie compare` finds: verdict, differences with intervals, prompts needed.

    \b
    Example: genie report logs/demo -o report.html
    """
    from genie_inspect.reports.report import build_report, numbers

    if as_json:
        echo_json(numbers(build_report(logs, **options)))
    else:
        write_report(logs, Path(output), pictures, **options)
        if not is_stream(Path(output)):
            echo(output)


def write_report(logs: Sequence[str], output: Path, pictures: Path | None = None, **options: Any) -> None:
    from genie_inspect.reports.charts import check_pictures
    from genie_inspect.reports.page import as_bytes, page, write_pictures
    from genie_inspect.reports.report import build_report

    # the step on standard error while it lasts, where that is a terminal
    told = console(stderr=True).status
    check_pictures()
    with replacing(output, pictures):
        with written(output) as file:  # that it can be written shows before anything is read
            with told("reading the logs"):
                contents = build_report(logs, **options)
            with told("drawing the charts"):
                file.write(as_bytes(page(contents)))
        if pictures:
            with unwritable(pictures), told("drawing the pictures"):
                write_pictures(contents, pictures)


STORYTELLERS = ("bundled/ordinary", "bundled/inventive")
EPOCHS = 2  # the stories that each storyteller has for a prompt
NEXT = """\
Look at every story and why it got its numbers:
  {inspect} view --log-dir {folder}
Both storytellers on one page{missing}:
  {page}
The same with a model and a grader of your choice, once their provider's package is installed (here openai):
  {inspect} eval genie_inspect/synthetic_prompts --model openai/gpt-4o-mini --model-role grader=openai/gpt-4o"""


@click.command()
@click.option(
    "--log-dir", default="logs/demo", show_default=True, help="Where the logs go; a new folder in it each time."
)
def demo(log_dir: str) -> None:
    """Evaluate two bundled storytellers against the starter population, feature by feature, with no network.

    \b
    Example: genie demo --log-dir logs/demo
    """
    import time

    from inspect_ai import eval as evaluate

    folder = Path(log_dir) / time.strftime("%Y-%m-%dT%H-%M-%S")
    logs = evaluate(
        "genie_inspect/synthetic_prompts",
        model=list(STORYTELLERS),
        model_roles={"grader": "bundled/grader"},
        epochs=EPOCHS,
        log_dir=str(folder),
        display="plain" if not sys.stdout.isatty() else None,
        ctl_server=False,  # of no use to a demo, and its traceback would follow a Ctrl-C
    )
    if len(logs) < len(STORYTELLERS):  # what Inspect gives back when it was interrupted before a task had a log
        raise click.Abort
    for log in logs:
        if log.status != "success":
            raise click.ClickException(f"the evaluation of {log.eval.model} ended as {log.status}: {log.location}")
    screen = console()
    summary = summarise([log.location for log in logs])
    notes = [*summary_notes(summary), *length_notes([summary]), *legend([summary])]
    print_parts(screen, [*summary_tables(summary, screen), *notes, Unbroken(_next_steps(folder))])


def _next_steps(folder: Path) -> str:
    """Where the page is, which is written where its charts can be drawn, and hints that can be pasted."""
    scripts = Path(sys.executable).parent
    # with the folder of the environment where that is not on the path
    beside = scripts.relative_to(Path.cwd()) if scripts.is_relative_to(Path.cwd()) else Path()
    page, missing = str(folder / "report.html"), ""
    try:
        write_report([str(folder)], Path(page))
    except MissingExtraError as error:
        page, missing = f"{beside / 'genie'} report {folder}", f" ({error})"
    return NEXT.format(inspect=beside / "inspect", genie=beside / "genie", folder=folder, page=page, missing=missing)


@click.command()
@LOGS
@output_option("A .csv or .parquet file, instead of printing.", required=False)
@click.option("--wide", is_flag=True, help="A row a log, with its means in columns score_<scorer>_<key>.")
@as_json_option("Print JSON for a script, an object a line, instead of CSV.")
def frame(logs: tuple[str, ...], output: Path | None, wide: bool, as_json: bool) -> None:
    """A table for pandas, R or a spreadsheet: a row for each document, scorer and key of LOGS.

    LOGS are log files or folders. A row has score, coverage, words and reason, its signature, and the ids under which
    Inspect's own tables have the sample. Parquet needs the extra `frames`, CSV does not.

    \b
    Example: genie frame logs/demo -o scores.parquet
    """
    if output:
        # before the logs are read, which may take minutes
        if output.suffix not in (".csv", ".parquet") or as_json:
            raise UnknownChoiceError("output", str(output), "a file that ends in .csv or .parquet, without --json")
        check_writable(output)
    table = wide_rows(logs) if wide else rows(logs)
    if as_json:
        for row in table:
            echo(json_text(row))
        return
    if output and output.suffix != ".csv":
        with replacing(output):
            write_bytes(output, parquet(list(table)))
        return
    columns = columns_of(table) if isinstance(table, list) else COLUMNS
    lines = csv_lines(columns, ([row[name] for name in columns] for row in table))
    if output:
        with replacing(output):
            write_lines(output, lines)
    else:
        for line in lines:
            echo(line, nl=False)
