"""The commands that put logs into tables and pages: summary, report, export, show, and the demo that shows them."""

import math
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
from inspect_ai.log import EvalSample
from inspect_ai.scorer import Score
from rich.markdown import Markdown
from rich.text import Text

from genie_inspect.cli import options as cli
from genie_inspect.cli.repeats import similarity_value, similarity_within
from genie_inspect.cli.tables import Part, figure, in_parts, print_parts, summary_parts
from genie_inspect.cli.terminal import Unbroken, console, echo, echo_json, replacing
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.files.tables import Table, plain
from genie_inspect.files.values import json_text, printable
from genie_inspect.files.writing import check_writable, is_stream, unwritable, write_bytes, write_lines, written
from genie_inspect.logs.evidence import NO_SHARE
from genie_inspect.logs.files import LogError, each_log, log_header, sample_of
from genie_inspect.logs.measures import ranges_of, shown_key
from genie_inspect.logs.reading import ScoredLog, labels
from genie_inspect.logs.scores import scores_of, signature_of
from genie_inspect.prompting.answers import normalised
from genie_inspect.reports.first_figure import COLUMN, write_first_figure
from genie_inspect.reports.report import build_report, numbers, questions, telling
from genie_inspect.reports.summary import COLUMNS, columns_of, parquet, rows, summaries, summarise, wide_rows
from genie_inspect.samples import document_of, prompt_of


@click.command()
@cli.LOGS
@cli.option("--scorer", help="Scorer to show. Default: every scorer that all logs have.")
@cli.flag("--nearest", help="Also show how near the population's nearest answers are.")
@cli.flag("--variety", help="Also show how alike a run's documents for a prompt are.")
@cli.embedder_option(help="Embedder of --variety.")
@cli.SIGNATURE
@cli.answering(json="Print JSON instead of tables.")
def summary(
    logs: tuple[str, ...], scorer: str | None, nearest: bool, variety: bool, embedder: str, signature: str
) -> cli.Answer:
    """Show the mean scores of logs, by feature, with 95% intervals.

    LOGS are log files or folders; unfinished logs in a folder are left out. There is one table per metric and
    signature, and one column per log. "documents scored" counts each epoch of a sample.

    \b
    Example: genie summary logs/demo
    """
    tables = summaries(logs, scorer, signature)
    within = similarity_within(logs, tables, signature, embedder) if variety else {}
    values = []
    for table in tables:
        columns = []
        for column in table.columns:
            warned = {"unlike_length": column.unlike_length or None, "cut": column.cut or None}
            facts = {"label": column.label, "log": column.log, **warned, **plain(column.results)}
            if own := within.get((table.scorer, column.log)):
                facts["similarity_within"] = similarity_value(*own, table.keys)
            columns.append(facts)
        facts = {name: getattr(table, name) for name in ("scorer", "signature", "keys", "warnings")}
        values.append({**facts, "columns": columns})
    return cli.Answer(values, summary_parts(tables, within, nearest=nearest))


def named_weights(_context: click.Context, _option: click.Parameter, text: str) -> dict[str, float]:
    weights = {}
    for part in filter(None, text.split(",")):
        key, _, number = part.partition("=")
        try:
            weights[key.strip()] = float(number)
        except ValueError:
            weights[key.strip()] = math.nan
    if not all(0 < weight < math.inf for weight in weights.values()):
        raise click.BadParameter(f"{text[:100]!r} names no features with weights above 0: write plot=2,style=1")
    return weights


@click.command()
@cli.LOGS
@cli.option("-o", "--output", default="report.html", help="HTML file to write or replace.")
@cli.option("--pictures", metavar="FOLDER", type=cli.FILE, help="Also write each chart here, as SVG and PNG.")
@cli.option("--picture", type=cli.FILE, help="Also write the means as a figure to this .svg or .png file.")
@cli.option(
    "--width",
    default=COLUMN,
    type=click.FloatRange(min=60, max=1000),
    help="Width of --picture in millimetres; two columns have 183.",
)
@cli.option("--examples", default=2, type=click.IntRange(min=0), help="Examples at either end of a feature.")
@cli.SIGNATURE
@cli.option("--baseline", default="", show_default=False, help="Run to compare with on the page. Default: none.")
@cli.option(
    "--weights",
    default="",
    show_default=False,
    metavar="plot=2,style=1",
    callback=named_weights,
    help="Also show the mean of these features by your weights. Default: none.",
)
@cli.flag("--open", "opened", help="Open the page in the browser.")
@cli.as_json_option(help="Print the numbers as JSON and write no page.")
def report(
    logs: tuple[str, ...],
    output: str,
    pictures: Path | None,
    picture: Path | None,
    width: float,
    opened: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Write one HTML page about logs: tables, charts, methods.

    LOGS are log files or folders. Scores with different signatures are refused: choose one with --signature.
    Pictures in files need the extra: pip install 'genie-inspect[charts]'.

    \b
    Example: genie report logs/demo -o report.html
             genie report logs/demo --picture means.svg --width 183
    """
    page = Path(output)
    if picture and as_json:
        raise click.UsageError("--json writes no picture: leave out --picture")
    if opened and (as_json or is_stream(page)):
        raise click.UsageError("--open needs a page in a file: leave out --json, and name a file with -o")
    if as_json:
        echo_json(numbers(build_report(logs, **options)))
        return
    write_report(logs, page, pictures, picture, width, **options)
    if not is_stream(page):
        echo(output)
    # whole, because a name that begins with a dash would be an option of what opens it
    if opened and click.launch(str(page.resolve())):
        echo(f"No program here opens {output}: open it in a browser yourself.", err=True)


def write_report(
    logs: Sequence[str],
    output: Path,
    pictures: Path | None = None,
    picture: Path | None = None,
    width: float = COLUMN,
    **options: Any,
) -> None:
    from genie_inspect.reports.charts import check_picture, check_pictures
    from genie_inspect.reports.page import page, write_pictures

    # the step on standard error while it lasts, where that is a terminal
    told = console(stderr=True).status
    if pictures:
        check_pictures()
    if picture:
        check_picture(picture)
    with replacing(output, picture, pictures):
        with written(output) as file:  # that it can be written shows before anything is read
            with told("reading the logs"):
                contents = build_report(logs, **options)
            with told("writing the page"):
                # what is no character, half of a surrogate pair, becomes a question mark
                file.write(page(contents).encode("utf-8", "replace"))
        if picture:
            write_first_figure(contents, picture, width)
        if pictures:
            with unwritable(pictures), told("drawing the pictures"):
                write_pictures(contents, pictures)


STORYTELLERS = ("bundled/ordinary", "bundled/inventive")
EPOCHS = 2  # the stories that each storyteller has for a prompt
NEXT = """\
Look at every story and why it got its numbers:
  {inspect} view --log-dir {folder}
Both storytellers on one page:
  {page}
The same with a model and a grader of your choice (these need the variable OPENAI_API_KEY):
  {inspect} eval genie_inspect/synthetic_prompts --model openai/gpt-4o-mini --model-role grader=openai/gpt-4o"""


@click.command()
@cli.option("--log-dir", default="logs/demo", help="Folder; each run makes a new one in it.")
def demo(log_dir: str) -> None:
    """Evaluate two bundled storytellers: no key, no network, 20 seconds.

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
    page, scripts = folder / "report.html", Path(sys.executable).parent
    write_report([str(folder)], page, baseline=STORYTELLERS[0])
    # with the folder of the environment where that is not on the path: a hint that can be pasted
    beside = scripts.relative_to(Path.cwd()) if scripts.is_relative_to(Path.cwd()) else Path()
    following = NEXT.format(inspect=beside / "inspect", folder=folder, page=page)
    print_parts([*summary_parts([summarise([log.location for log in logs])]), Unbroken(following)])


@click.command()
@cli.LOGS
@cli.output_option(help="A .csv or .parquet file to write. Default: print CSV.", required=False)
@cli.flag("--wide", help="Write one row per log, with the means of each key.")
@cli.as_json_option(help="Print JSON, one object per line, instead of CSV.")
def export(logs: tuple[str, ...], output: Path | None, wide: bool, as_json: bool) -> None:
    """Write scores as a table for pandas, R or a spreadsheet.

    LOGS are log files or folders. There is one row per document, scorer and key. Parquet needs the extra: pip install
    'genie-inspect[frames]'.

    \b
    Example: genie export logs/demo -o scores.parquet
    """
    if output:
        # before the logs are read, which may take minutes
        if output.suffix not in (".csv", ".parquet") or as_json:
            raise UnknownChoiceError("output", str(output), "a file that ends in .csv or .parquet, without --json")
        check_writable(output)
    found = wide_rows(logs) if wide else rows(logs)
    if as_json:
        for row in found:
            echo(json_text(row))
        return
    with replacing(output):
        if output and output.suffix != ".csv":
            write_bytes(output, parquet(list(found)))
            return
        columns = columns_of(found) if isinstance(found, list) else COLUMNS
        lines = Table("", columns, ([row[name] for name in columns] for row in found)).csv()
        if output:
            write_lines(output, lines)
            return
    for line in lines:
        echo(line, nl=False)


APART = ("feature", "question", "its answer{epochs}", "nearest in the population (documents that gave it)")


@click.command()
@click.argument("log")
@click.argument("sample")
@cli.option("--epoch", default=1, help="Number of the sample's epoch.")
def show(log: str, sample: str, epoch: int) -> None:
    """Show one document, its scores and their reasons.

    LOG is a log file or a folder with logs. SAMPLE is a sample's id, or a part of it that no other sample has.

    \b
    Example: genie show logs/demo owl --epoch 2
    """
    # all are found before the first is shown
    documents = list(_documents(log, sample, epoch))
    print_parts(part for header, found in documents for part in (*_parts(header, found), ""))


def _documents(path: str, part: str, epoch: int) -> Iterator[tuple[ScoredLog, EvalSample]]:
    """One document of a log, finished or not; of a folder, one of each log that has it."""
    headers = dict(each_log([path], lambda file: (file, log_header(file, finished=False))))
    ids = dict.fromkeys(str(name) for header in headers.values() for name in header.eval.dataset.sample_ids or [])
    matches = [name for name in ids if name == part] or [name for name in ids if part and part in name]
    if len(matches) != 1:
        listed = ", ".join((matches or list(ids))[:5]) + (", ..." if len(matches or ids) > 5 else "")
        count = f"{len(matches)} samples" if matches else "no sample"
        raise LogError(f"{path} has {count} {part!r}. Give one of: {listed or 'none'}")
    for file, header in headers.items():
        # ids in a log may be numbers; on the command line all of them are text
        for name in header.eval.dataset.sample_ids or []:
            if str(name) != matches[0]:
                continue
            try:
                sample = sample_of(file, name, epoch)
            except LookupError as error:
                expected = f"expected epoch 1 to {header.eval.config.epochs or 1}"
                raise LogError(f"{file} has no sample {matches[0]!r} of epoch {epoch}, {expected}") from error
            if not _signed(sample):
                raise LogError(f"{file} has no scores by genie-inspect for sample {matches[0]!r}")
            yield ScoredLog(file, header, (), {}), sample


def _signed(sample: EvalSample) -> dict[str, Score]:
    return {name: score for name, score in (sample.scores or {}).items() if signature_of(score).is_ours}


def _parts(log: ScoredLog, sample: EvalSample) -> Iterator[Part]:
    # the header alone has the facts of a label, no other document need be read
    (label,) = labels([log])
    yield _text(f"{label}, {sample.id}, epoch {sample.epoch}", "bold")
    yield _text(prompt_of(sample), "italic")
    for scorer, score in _signed(sample).items():
        scores, signature = scores_of(scorer, score, ranges_of(log.header)), signature_of(score)
        table = questions(score)
        # what set the document apart; a NaN compares with nothing and would leave the order to chance
        rows = [(key, value, telling(table, key, "most")) for key, value in scores.values.items()]
        rows.sort(key=lambda row: math.inf if math.isnan(row[1]) else -row[1])
        # only scorers that ask questions have shares
        shares = {"used": scores.evidence.coverage, "rated": scores.evidence.pairs}
        counted = {name: share for name, share in shares.items() if share}
        cells = []
        for key, value, _ in rows:
            rests_on = ("{} of {}".format(*share.get(key, NO_SHARE)) for share in counted.values())
            cells.append([shown_key(signature, key), figure(value, none="not measured"), *rests_on])
        yield ""
        yield Table(scorer, ["measure", "value", *counted], cells)
        yield _text(in_parts(signature, console().width), "dim")
        if scores.reason:
            yield _text(f"Not scored: {scores.reason}")
        apart = []
        given = _given(log, sample, scorer)
        for key, _, question in rows:
            if question:
                near = (f"{other.answer} ({other.given} of {question.ratings})" for other in question.nearest)
                said = given[question.question]
                own = f"{question.answer} ({said[normalised(question.answer)]} of {said.total()})"
                answer = own if said.total() > 1 else question.answer
                apart.append([key.replace("_", " "), question.question, answer, "\n".join(near)])
        has_epochs = any(said.total() > 1 for said in given.values())
        columns = [name.format(epochs=" (epochs that gave it)" * has_epochs) for name in APART]
        # the scorer's own words, where no row has a question that says what set the document apart
        if score.explanation and not apart:
            # without hyperlinks: a story's text could name any address
            yield Markdown(printable(score.explanation), hyperlinks=False)
        else:
            yield Table("What set it apart", columns, apart, words=len(columns), look="lined")
    yield ""
    yield _text(document_of(sample))


def _given(log: ScoredLog, sample: EvalSample, scorer: str) -> dict[str, Counter[str]]:
    """How many documents of the sample, one per epoch, give each answer to each question."""
    given: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for epoch in range(1, (log.header.eval.config.epochs or 1) + 1):
        with suppress(LookupError):  # of an unfinished run
            score = (sample_of(log.file, sample.id, epoch).scores or {}).get(scorer)
            answers = {row.question: row.answer for row in questions(score) if row.answer} if score else {}
            for question, answer in answers.items():
                given[question][normalised(answer)] += 1
    return given


def _text(text: str, style: str = "") -> Text:
    return Text(printable(text), style=style)
