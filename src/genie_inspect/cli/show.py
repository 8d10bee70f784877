"""`genie show`: one document in the terminal."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import click
from inspect_ai.log import EvalLog
from inspect_ai.scorer import Score
from rich.console import RenderableType
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from genie_inspect.cli.tables import in_parts, text_table
from genie_inspect.cli.terminal import console
from genie_inspect.files.printable import printable
from genie_inspect.logs.evidence import NO_SHARE, Evidence
from genie_inspect.logs.files import LogError, each_log, log_header, sample_of
from genie_inspect.logs.measures import ranges_of, shown_key
from genie_inspect.logs.reading import labels
from genie_inspect.logs.scored_log import ScoredLog
from genie_inspect.logs.scores import Scores, is_signed, scores_of, signature_of
from genie_inspect.reports.stand_outs import QuestionRow, questions, telling
from genie_inspect.samples import document_of, prompt_of


@dataclass(frozen=True, slots=True)
class ShownScores:
    scorer: str
    signature: str
    rows: list[tuple[str, float, QuestionRow | None]]
    """Key, value, and the question that set the document apart; highest value first, what has none last."""
    evidence: Evidence
    reason: str
    explanation: str
    """The scorer's own words, in Markdown; empty where the rows have the questions."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One document of a log with the scores of every scorer of ours."""

    label: str
    sample: str
    epoch: int
    prompt: str
    text: str
    scores: list[ShownScores]


def shown(path: str, part: str, epoch: int = 1) -> list[Shown]:
    """One document of a log, finished or not; of a folder, one of each log that has it."""
    headers = dict(each_log([path], lambda file: (file, log_header(file, finished=False))))
    ids = dict.fromkeys(str(name) for header in headers.values() for name in header.eval.dataset.sample_ids or [])
    matches = [name for name in ids if name == part] or [name for name in ids if part and part in name]
    if len(matches) != 1:
        listed = ", ".join((matches or list(ids))[:5]) + (", ..." if len(matches or ids) > 5 else "")
        count = f"{len(matches)} samples" if matches else "no sample"
        raise LogError(f"{path} has {count} {part!r}, expected one of {listed}; a part that tells is enough")
    return [
        _document(file, header, name, epoch)
        for file, header in headers.items()
        # ids in a log may be numbers; on the command line all of them are text
        for name in header.eval.dataset.sample_ids or []
        if str(name) == matches[0]
    ]


def _document(file: str, header: EvalLog, name: str | int, epoch: int) -> Shown:
    try:
        sample = sample_of(file, name, epoch)
    except LookupError as error:
        epochs = header.eval.config.epochs or 1
        raise LogError(f"{file} has no sample {str(name)!r} of epoch {epoch}, expected epoch 1 to {epochs}") from error
    scores = {name: score for name, score in (sample.scores or {}).items() if is_signed(signature_of(score))}
    if not scores:
        raise LogError(f"{file} has no scores of ours for sample {str(name)!r}")
    # the header alone has the facts of a label, no other document need be read
    (label,) = labels([ScoredLog(file, header, (), {})])
    return Shown(
        label=label,
        sample=str(sample.id),
        epoch=sample.epoch,
        prompt=prompt_of(sample),
        text=document_of(sample),
        scores=[_shown(name, score, scores_of(name, score, ranges_of(header))) for name, score in scores.items()],
    )


def _shown(scorer: str, score: Score, scores: Scores) -> ShownScores:
    table = questions(score)
    rows = [(key, value, telling(table, key, "most")) for key, value in scores.values.items()]
    # a NaN compares with nothing and would leave the order to chance
    rows.sort(key=lambda row: math.inf if math.isnan(row[1]) else -row[1])
    explanation = "" if any(question for _, _, question in rows) else score.explanation or ""
    return ShownScores(scorer, signature_of(score), rows, scores.evidence, scores.reason, explanation)


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
    documents = shown(log, sample, epoch)
    screen = console()
    for document in documents:
        for part in _parts(document, screen.width):
            screen.print(part)
        screen.print()


def _parts(document: Shown, width: int) -> Iterator[RenderableType]:
    yield _text(f"{document.label}, {document.sample}, epoch {document.epoch}", "bold")
    yield _text(document.prompt, "italic")
    for scores in document.scores:
        yield ""
        yield _scores(scores)
        yield _text(in_parts(scores.signature, width), "dim")
        if scores.reason:
            yield _text(f"Not scored: {scores.reason}")
        # without hyperlinks: a story's text could name any address
        yield Markdown(printable(scores.explanation), hyperlinks=False) if scores.explanation else _apart(scores)
    yield ""
    yield _text(document.text)


def _scores(scores: ShownScores) -> Table:
    # only scorers that ask questions have shares
    shares = {"used": scores.evidence.coverage, "rated": scores.evidence.pairs}
    counted = {name: share for name, share in shares.items() if share}
    rows = []
    for key, value, _ in scores.rows:
        rests_on = ("{} of {}".format(*share.get(key, NO_SHARE)) for share in counted.values())
        shown_value = "not measured" if math.isnan(value) else f"{value:.2f}"
        rows.append([shown_key(scores.signature, key), shown_value, *rests_on])
    return text_table(scores.scorer, ["measure", "value", *counted], rows)


def _apart(scores: ShownScores) -> Table:
    columns = ("feature", "question", "its answer", "nearest in the population (documents that gave it)")
    rows = []
    for key, _, question in scores.rows:
        if question:
            near = "\n".join(f"{other.answer} ({other.given} of {question.ratings})" for other in question.nearest)
            rows.append([key.replace("_", " "), question.question, question.answer, near])
    return text_table("What set it apart", columns, rows, words=len(columns), show_lines=True)


def _text(text: str, style: str = "") -> Text:
    return Text(printable(text), style=style)
