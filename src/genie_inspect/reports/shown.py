"""One document of a log: its scores, what set it apart, its text."""

import math
from dataclasses import dataclass
from pathlib import Path

from inspect_ai.log import read_eval_log, read_eval_log_sample
from inspect_ai.scorer import Score

from genie_inspect.reports.scored_logs import DAMAGED, UNUSED, own_scores, scored, signature_of
from genie_inspect.reports.stand_outs import QuestionRow, questions, telling
from genie_inspect.reports.summary import ReportError, label
from genie_inspect.samples.prompt import prompt_of


@dataclass(frozen=True, slots=True)
class ShownScores:
    """One scorer's scores."""

    scorer: str
    signature: str
    rows: list[tuple[str, float, QuestionRow | None]]
    """Key, value, and the question that set the document apart; highest value first, what has none last."""
    coverage: dict[str, tuple[int, int]]
    reason: str
    explanation: str
    """The scorer's own words, in Markdown; empty where the rows have the questions."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a person wants to know of one document."""

    label: str
    sample: str
    epoch: int
    prompt: str
    text: str
    scores: list[ShownScores]


def shown(file: str, sample_id: str, epoch: int = 1) -> Shown:
    """One document of a log, finished or not.

    Raises:
        ReportError: If the log cannot be read, or has no such sample, or no scores of ours for it.
    """
    if not Path(file).is_file():
        what = "is a folder" if Path(file).is_dir() else "does not exist"
        raise ReportError(f"{file} {what}, expected a log file")
    try:
        log = read_eval_log(file, header_only=True)
    except (OSError, ValueError) as error:
        raise ReportError(f"{file} cannot be read as a log: {error}") from error
    known = {str(name): name for name in log.eval.dataset.sample_ids or []}
    try:
        sample = read_eval_log_sample(file, known.get(sample_id, sample_id), epoch, exclude_fields=UNUSED)
    except DAMAGED as error:
        raise ReportError(f"{file} cannot be read as a log: {error}") from error
    except (IndexError, KeyError) as error:
        listed = ", ".join(list(known)[:5]) + (", ..." if len(known) > 5 else "")
        epochs = log.eval.config.epochs or 1
        raise ReportError(
            f"{file} has no sample {sample_id!r} of epoch {epoch}, expected one of {listed}; epoch 1 to {epochs}"
        ) from error
    ours = own_scores(sample)
    if not ours:
        raise ReportError(f"{file} has no scores of ours for sample {sample_id!r}")
    return Shown(
        label=label(log),
        sample=str(sample.id),
        epoch=sample.epoch,
        prompt=prompt_of(sample),
        text=sample.output.completion,
        scores=[_shown(scorer, score) for scorer, score in ours.items()],
    )


def _shown(scorer: str, score: Score) -> ShownScores:
    found, asked = scored(scorer, score), questions(score)
    rows = [(key, value, telling(asked, key, "most")) for key, value in found.values.items()]
    rows.sort(key=lambda row: math.inf if math.isnan(row[1]) else -row[1])
    explanation = "" if any(question for _, _, question in rows) else score.explanation or ""
    return ShownScores(scorer, signature_of(score), rows, found.coverage, found.reason, explanation)
