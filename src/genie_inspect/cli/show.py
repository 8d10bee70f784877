"""`genie show`: one document in the terminal."""

import math
from collections.abc import Iterator, Sequence

import click
from inspect_ai.log import EvalSample
from inspect_ai.scorer import Score
from rich.console import RenderableType
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from genie_inspect.cli.tables import figure, in_parts, text_table
from genie_inspect.cli.terminal import console
from genie_inspect.files.printable import printable
from genie_inspect.logs.evidence import NO_SHARE, Evidence
from genie_inspect.logs.files import LogError, each_log, log_header, sample_of
from genie_inspect.logs.measures import ranges_of, shown_key
from genie_inspect.logs.reading import labels
from genie_inspect.logs.scored_log import ScoredLog
from genie_inspect.logs.scores import scores_of, signature_of
from genie_inspect.reports.stand_outs import QuestionRow, questions, telling
from genie_inspect.samples import document_of, prompt_of
from genie_inspect.signature import Signature


@click.command()
@click.argument("log")
@click.argument("sample")
@click.option("--epoch", default=1, show_default=True, help="Which epoch of the sample.")
def show(log: str, sample: str, epoch: int) -> None:
    """One document: its scores, the question of each feature that set it apart, and its text.

    LOG is a log file, or a folder: the document of each log in it. SAMPLE is a sample's id, or a part that tells.

    \b
    Example: genie show logs/demo owl --epoch 2
    """
    # all are found before the first is shown
    documents = list(_documents(log, sample, epoch))
    screen = console()
    for header, found in documents:
        for part in _parts(header, found, screen.width):
            screen.print(part)
        screen.print()


def _documents(path: str, part: str, epoch: int) -> Iterator[tuple[ScoredLog, EvalSample]]:
    """One document of a log, finished or not; of a folder, one of each log that has it."""
    headers = dict(each_log([path], lambda file: (file, log_header(file, finished=False))))
    ids = dict.fromkeys(str(name) for header in headers.values() for name in header.eval.dataset.sample_ids or [])
    matches = [name for name in ids if name == part] or [name for name in ids if part and part in name]
    if len(matches) != 1:
        listed = ", ".join((matches or list(ids))[:5]) + (", ..." if len(matches or ids) > 5 else "")
        count = f"{len(matches)} samples" if matches else "no sample"
        raise LogError(f"{path} has {count} {part!r}, expected one of {listed}; a part that tells is enough")
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
                raise LogError(f"{file} has no scores of ours for sample {matches[0]!r}")
            yield ScoredLog(file, header, (), {}), sample


def _signed(sample: EvalSample) -> dict[str, Score]:
    return {name: score for name, score in (sample.scores or {}).items() if signature_of(score).is_ours}


Rows = Sequence[tuple[str, float, QuestionRow | None]]
"""Key, value, and the question that set the document apart; highest value first, what has none last."""


def _parts(log: ScoredLog, sample: EvalSample, width: int) -> Iterator[RenderableType]:
    # the header alone has the facts of a label, no other document need be read
    (label,) = labels([log])
    yield _text(f"{label}, {sample.id}, epoch {sample.epoch}", "bold")
    yield _text(prompt_of(sample), "italic")
    for scorer, score in _signed(sample).items():
        scores = scores_of(scorer, score, ranges_of(log.header))
        table, signature = questions(score), signature_of(score)
        rows = [(key, value, telling(table, key, "most")) for key, value in scores.values.items()]
        # a NaN compares with nothing and would leave the order to chance
        rows.sort(key=lambda row: math.inf if math.isnan(row[1]) else -row[1])
        yield ""
        yield _scores(scorer, signature, rows, scores.evidence)
        yield _text(in_parts(signature, width), "dim")
        if scores.reason:
            yield _text(f"Not scored: {scores.reason}")
        # the scorer's own words, where no row has a question that says what set the document apart
        if score.explanation and not any(question for _, _, question in rows):
            # without hyperlinks: a story's text could name any address
            yield Markdown(printable(score.explanation), hyperlinks=False)
        else:
            yield _apart(rows)
    yield ""
    yield _text(document_of(sample))


def _scores(scorer: str, signature: Signature, rows: Rows, evidence: Evidence) -> Table:
    # only scorers that ask questions have shares
    shares = {"used": evidence.coverage, "rated": evidence.pairs}
    counted = {name: share for name, share in shares.items() if share}
    cells = []
    for key, value, _ in rows:
        rests_on = ("{} of {}".format(*share.get(key, NO_SHARE)) for share in counted.values())
        cells.append([shown_key(signature, key), figure(value, none="not measured"), *rests_on])
    return text_table(scorer, ["measure", "value", *counted], cells)


def _apart(rows: Rows) -> Table:
    columns = ("feature", "question", "its answer", "nearest in the population (documents that gave it)")
    cells = []
    for key, _, question in rows:
        if question:
            near = "\n".join(f"{other.answer} ({other.given} of {question.ratings})" for other in question.nearest)
            cells.append([key.replace("_", " "), question.question, question.answer, near])
    return text_table("What set it apart", columns, cells, words=len(columns), show_lines=True)


def _text(text: str, style: str = "") -> Text:
    return Text(printable(text), style=style)
