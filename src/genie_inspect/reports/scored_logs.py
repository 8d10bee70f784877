"""Logs as the columns of a report: what was evaluated, and what our scorers said of each document."""

import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile, is_zipfile

from inspect_ai.log import EvalLog, EvalSample, read_eval_log
from inspect_ai.scorer import Score

from genie_inspect.reports.summary import ReportError, finished_log, label, log_files, told_apart
from genie_inspect.samples.prompt import prompt_of
from genie_inspect.signature import facts_of

if sys.version_info >= (3, 14):
    from compression.zstd import ZstdError
else:
    from zstandard import ZstdError  # comes with Inspect, which packs its logs with it

DAMAGED = (OSError, ValueError, NotImplementedError, BadZipFile, ZstdError)  # what a log that is no whole one raises
# what no report looks at, and most of a log's bytes
UNUSED = {"events", "events_data", "messages", "store", "attachments"}
OURS = "measure:"  # how a signature of ours begins
POPULATION = "population, leave-one-out"


@dataclass(frozen=True, slots=True)
class Scores:
    """One document's scores by one scorer."""

    values: dict[str, float]
    """By key; NaN where it could not be measured."""
    reason: str
    """Why there is no value at all; empty when there is one."""
    coverage: dict[str, tuple[int, int]]
    """By key: questions (tests) that could be used, and all of them; empty where the scorer does not say."""


@dataclass(frozen=True, slots=True)
class ScoredDocument:
    """A document without its text."""

    sample: str | int
    epoch: int
    prompt: str
    words: int
    scores: dict[str, Scores]
    """By scorer."""


@dataclass(frozen=True, slots=True)
class ScoredLog:
    """One log."""

    label: str
    """The model, with the solver where there is one, and what else tells two logs apart that would share a name."""
    file: str
    header: EvalLog
    documents: tuple[ScoredDocument, ...]
    signatures: dict[str, str]
    """By scorer."""
    is_population: bool
    """Whether every document stands in the population that it was compared with, and was left out of it there."""


def read_logs(paths: Iterable[str | Path]) -> tuple[ScoredLog, ...]:
    """The logs that the paths stand for, in their order and a population's own last, each under a name of its own.

    Raises:
        ReportError: If a log cannot be read, is not finished, has no scores of ours, or scores do not compare.
    """
    runs = sorted((read_scored_log(file) for file in log_files(paths)), key=lambda run: run.is_population)
    check_signatures(runs)
    labels = told_apart([run.label for run in runs], [run.header.eval.task.split("/")[-1] for run in runs])
    runs = [replace(run, label=label) for run, label in zip(runs, labels, strict=True)]
    return tuple(replace(run, label=_own_label(run, runs)) if labels.count(run.label) > 1 else run for run in runs)


def read_scored_log(file: str) -> ScoredLog:
    """One log, sample by sample, so that only what is kept of a sample stays in memory.

    Raises:
        ReportError: If it cannot be read, is not finished, or has no scores of ours, or of two kinds by one scorer.
    """
    header = finished_log(file, header_only=True)
    signatures: dict[str, str] = {}
    documents: list[ScoredDocument] = []
    left_out: list[bool] = []
    for sample in samples(file):
        ours = own_scores(sample)
        for scorer, score in ours.items():
            own = signature_of(score)
            if signatures.setdefault(scorer, own) != own:
                raise ReportError(do_not_compare(scorer, (signatures[scorer], file), (own, file)))
            left_out += [bool((score.metadata or {}).get("left_out"))] if "left_out" in (score.metadata or {}) else []
        documents.append(_document(sample, ours))
    if not signatures:
        raise ReportError(
            f"{file} has no scores of ours, score it with: inspect score {file} --scorer genie_inspect/..."
        )
    order = {name: place for place, name in enumerate(header.eval.dataset.sample_ids or [])}
    documents.sort(key=lambda document: (order.get(document.sample, len(order)), document.epoch))
    is_population = bool(left_out) and all(left_out)
    name = POPULATION if is_population else label(header)
    return ScoredLog(name, file, header, tuple(documents), signatures, is_population)


def samples(file: str) -> Iterator[EvalSample]:
    """The samples of a log, in no order, without what no report looks at.

    Inspect's reader walks through every event even where none is asked for; opening the archive ourselves takes a fifth
    of the time. Where a log is no such archive, Inspect reads it.

    Raises:
        ReportError: If one cannot be read.
    """
    path = Path(file.removeprefix("file://"))
    try:
        if not is_zipfile(path):
            yield from read_eval_log(file).samples or []
            return
        with ZipFile(path) as archive:
            for member in dict.fromkeys(name for name in archive.namelist() if name.startswith("samples/")):
                told = json.loads(archive.read(member))
                yield EvalSample.model_validate({name: told[name] for name in told if name not in UNUSED})
    except DAMAGED as error:
        raise ReportError(f"{file} cannot be read as a log: {error}") from error


def own_scores(sample: EvalSample) -> dict[str, Score]:
    """The scores that carry a signature of ours, by scorer."""
    return {name: score for name, score in (sample.scores or {}).items() if signature_of(score).startswith(OURS)}


def signature_of(score: Score) -> str:
    """The signature in a score's metadata; empty when it has none."""
    return str((score.metadata or {}).get("signature", ""))


def check_signatures(runs: Iterable[ScoredLog]) -> None:
    """Refuse runs whose scores by one scorer do not compare.

    Raises:
        ReportError: It names the scorer, what differs and two of the logs.
    """
    first: dict[str, tuple[str, str]] = {}
    for run in runs:
        for scorer, signature in run.signatures.items():
            known = first.setdefault(scorer, (signature, run.file))
            if known[0] != signature:
                raise ReportError(do_not_compare(scorer, known, (signature, run.file)))


def do_not_compare(scorer: str, one: tuple[str, str], other: tuple[str, str]) -> str:
    """What two signatures differ in, each given with the log that it stands in."""
    here, there = facts_of(one[0]), facts_of(other[0])
    differing = [name for name in here | there if here.get(name) != there.get(name)]
    shown = ", ".join(f"{name} is {here.get(name, '-')} and {there.get(name, '-')}" for name in differing)
    files = " and ".join(dict.fromkeys(Path(file).name for _, file in (one, other)))
    return f"scores by {scorer!r} do not compare, their signatures differ: {shown} ({files})"


def _document(sample: EvalSample, ours: Mapping[str, Score]) -> ScoredDocument:
    return ScoredDocument(
        sample=sample.id,
        epoch=sample.epoch,
        prompt=prompt_of(sample),
        words=len(sample.output.completion.split()),
        scores={scorer: scored(scorer, score) for scorer, score in ours.items()},
    )


def scored(scorer: str, score: Score) -> Scores:
    """What a score says, key by key; a score of one value has its scorer's name for a key."""
    given = score.value if isinstance(score.value, dict) else {scorer: score.value}
    values = {key: float(value) if isinstance(value, int | float) else math.nan for key, value in given.items()}
    if not isinstance(score.value, dict) and math.isnan(values[scorer]):
        values = {}  # nothing is known of its keys
    nothing = all(map(math.isnan, values.values()))
    reason = str(score.reason or "not said") if nothing else ""
    return Scores(values, reason, _coverage((score.metadata or {}).get("coverage")))


def _coverage(given: Any) -> dict[str, tuple[int, int]]:
    """Shares such as "3/4" by key; what is none is left out."""
    found = {}
    for key, share in given.items() if isinstance(given, dict) else ():
        used, _, asked = str(share).partition("/")
        if used.isdigit() and asked.isdigit():
            found[str(key)] = (int(used), int(asked))
    return found


def _own_label(run: ScoredLog, runs: Iterable[ScoredLog]) -> str:
    """The label with the time of the run, and a number where that is shared too."""
    created = str(run.header.eval.created)
    alike = [other.file for other in runs if (other.label, str(other.header.eval.created)) == (run.label, created)]
    number = f" #{alike.index(run.file) + 1}" if len(alike) > 1 else ""
    return f"{run.label} ({created[:16].replace('T', ' ')}{number})"
