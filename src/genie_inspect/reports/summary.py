"""Logs in, one table a measure out: features down, models across, means with intervals by prompt."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations
from operator import add
from pathlib import Path

from inspect_ai.log import EvalStats
from inspect_ai.model import ModelUsage

from genie_inspect.graders.protocols import caution
from genie_inspect.logs.files import LogError
from genie_inspect.logs.measures import shown_key
from genie_inspect.logs.reading import labelled, read_logs
from genie_inspect.logs.results import Results, results_of, yardstick_command
from genie_inspect.logs.scored_log import ScoredLog, by_signature, cut_warning, length_warning, one_signature
from genie_inspect.prompting.texts import shortened
from genie_inspect.signature import Signature

SHOWN = 5  # ids in an error
JOINED = " + "


def read_runs(paths: Iterable[str | Path], *, brief: bool = False, signature: str = "") -> list[ScoredLog]:
    """As `read_logs`, with parts of one run together."""
    return labelled(pooled(read_logs(paths, signature=signature)), brief=brief)


def pooled(logs: Sequence[ScoredLog]) -> list[ScoredLog]:
    """The logs, those that are parts of one run as one, where the first of them stood.

    Parts have one model, task, strategy, settings and signatures, and samples of their own: halves by `--limit`, a job
    array's. Logs with the very same samples are runs that were repeated, and stay apart.
    """
    groups: dict[tuple[str, ...], list[ScoredLog]] = {}
    for place, log in enumerate(logs):
        spec = log.header.eval
        settings = (spec.model_generate_config.model_dump_json(), spec.model_args, spec.task_args, log.options)
        signatures = sorted((scorer, *sorted(signed)) for scorer, signed in log.signatures.items())
        whose = (log.model, spec.task, spec.dataset.name, log.strategy, log.is_population, spec.config.epochs)
        # nothing tells of a log without documents what it is a part of
        run = tuple(map(repr, (*whose, *settings, signatures))) if log.documents else (str(place),)
        groups.setdefault(run, []).append(log)
    return [run for group in groups.values() for run in _runs(group)]


def _runs(group: Sequence[ScoredLog]) -> list[ScoredLog]:
    """The runs that logs of one set-up are."""
    samples = [{str(document.sample) for document in (*log.documents, *log.changed)} for log in group]
    if all(own == samples[0] for own in samples):
        return list(group)
    for (one, here), (other, there) in combinations(zip(group, samples, strict=True), 2):
        if both := sorted(here & there):
            listed = ", ".join(map(shortened, both[:SHOWN])) + (", ..." if len(both) > SHOWN else "")
            raise LogError(
                f"{one.file} and {other.file} have one model, task, strategy, settings and signature, as parts of a "
                f"run have, and share {len(both)} samples ({listed}), expected parts without a sample in common, or "
                "one of the two"
            )
    # the first header, with the samples, the tokens and the time of all
    headers = [log.header for log in group]
    stats = [header.stats for header in headers]
    usage: dict[str, list[ModelUsage]] = {}
    for model, used in (pair for own in stats for pair in own.model_usage.items()):
        usage.setdefault(model, []).append(used)
    whole = EvalStats(
        started_at=min(own.started_at for own in stats),
        completed_at=max(own.completed_at for own in stats),
        model_usage={model: reduce(add, used) for model, used in usage.items()},
    )
    spec = headers[0].eval
    ids = [name for header in headers for name in header.eval.dataset.sample_ids or []]
    dataset = spec.dataset.model_copy(update={"sample_ids": ids, "samples": len(ids)})
    run = replace(
        group[0],
        file=JOINED.join(log.file for log in group),
        header=headers[0].model_copy(update={"stats": whole, "eval": spec.model_copy(update={"dataset": dataset})}),
        documents=tuple(document for log in group for document in log.documents),
        changed=tuple(document for log in group for document in log.changed),
        parts=tuple(Path(log.file).name for log in group),
    )
    return [run]


FEW_SHARED = 0.5  # of the prompts of two logs
UNLIKE = 0.1  # share of questions from which two means are of other questions


@dataclass(frozen=True, slots=True)
class Column:
    """One log: what was evaluated and what it got."""

    label: str
    log: str
    results: Results
    unlike_length: str = ""
    """The warning that its documents are of another length than the population's; empty where there is no cause."""
    cut: str = ""  # the warning that documents end at the limit of their tokens; empty where none does


@dataclass(frozen=True, slots=True)
class Summary:
    """Columns that may be compared: they share one signature."""

    scorer: str
    signature: Signature
    keys: tuple[str, ...]
    names: tuple[str, ...]  # of the keys, as they are shown
    caution: str  # what to know of the judge; empty where there is nothing
    columns: tuple[Column, ...]
    warnings: tuple[str, ...] = ()  # what to beware of where columns are compared, a line each
    yardstick_command: str = ""  # what makes the population's yardstick; empty where the scores have one, or need none


def summarise(paths: Iterable[str | Path], scorer: str = "genie") -> Summary:
    """The summary of finished logs that one scorer scored with one signature."""
    return _summary(_scored_by(scorer, read_runs(paths)), scorer)


def summaries(paths: Iterable[str | Path], scorer: str | None = None, signature: str = "") -> list[Summary]:
    """One summary for each measure of ours that every log has scores by, and for each of its signatures."""
    logs = read_runs(paths, signature=signature)
    names = [scorer] if scorer else [name for name in logs[0].ours if all(name in log.ours for log in logs)]
    if not names:
        by_log = ", ".join(f"{log.file}: {', '.join(log.ours) or 'none'}" for log in logs)
        raise LogError(f"no measure of this package scored every log, expected one that did ({by_log})")
    groups = [(name, group) for name in names for group in by_signature(_scored_by(name, logs), name)]
    # what tells the logs of one table apart need not be what tells all of them apart
    return [_summary(labelled(group), name) for name, group in groups]


def _scored_by(scorer: str, logs: Sequence[ScoredLog]) -> Sequence[ScoredLog]:
    for log in logs:
        if scorer not in log.signatures:
            raise LogError(
                f"{log.file} has no scores by {scorer!r}, score it with: inspect score {log.file} --scorer ..."
            )
    return logs


def _summary(logs: Sequence[ScoredLog], scorer: str) -> Summary:
    # a table of scores that do not compare is refused here, before a mean is taken
    signature = one_signature(logs, scorer)
    columns = tuple(
        Column(log.label, log.file, results_of(log, scorer), length_warning(log), cut_warning(log)) for log in logs
    )
    # a run may lack a key, so that the rows are the keys of all columns, each once
    keys = dict.fromkeys(key for column in columns for key in column.results.cells)
    # of one instrument, as the signature is: where one log has it, the others need only be scored again
    lacking = not any(column.results.standing for column in columns)
    command = yardstick_command(logs[0], scorer) if lacking else ""
    names = tuple(shown_key(signature, key) for key in keys)
    beware = caution(signature.facts.get("judge", ""))
    warned = tuple(filter(None, (_few_shared(logs), _unlike_questions(logs, scorer, keys))))
    return Summary(scorer, signature, tuple(keys), names, beware, columns, warned, command)


def _few_shared(logs: Sequence[ScoredLog]) -> str:
    """The warning of the two logs that share least prompts."""
    given = [(log.label, {document.prompt for document in log.documents}) for log in logs if log.documents]
    shares = [
        (len(one & other) / len(one | other), len(one & other), len(one | other), here, there)
        for (here, one), (there, other) in combinations(given, 2)
    ]
    least, shared, whole, *names = min(shares, default=(1.0, 0, 0, "", ""))
    if least >= FEW_SHARED:
        return ""
    return f"{' and '.join(names)} share {shared} of {whole} prompts: their means are of other prompts"


def _unlike_questions(logs: Sequence[ScoredLog], scorer: str, keys: Iterable[str]) -> str:
    """The warning that the means of two logs rest on other questions, of each key for the two that differ most."""
    named = []
    for key in keys:
        apart = [(0.0, "", "")]
        for one, other in combinations(logs, 2):
            here, there = _used(one, scorer, key), _used(other, scorer, key)
            # a mean over the questions of their common prompts
            if both := [asked for asked in here if asked in there]:
                mean = math.fsum(abs(here[asked] - there[asked]) for asked in both) / len(both)
                apart.append((mean, one.label, other.label))
        if (most := max(apart))[0] > UNLIKE:
            named.append(f"{key.replace('_', ' ')} {most[0]:.0%} ({most[1]} and {most[2]})")
    if not named:
        return ""
    return (
        f"the questions used differ: {', '.join(named)}: the means of these are of other questions; genie compare "
        "takes the questions that both answered"
    )


def _used(log: ScoredLog, scorer: str, key: str) -> dict[tuple[str, str], float]:
    """By prompt and question, as far as the log says it, the share of the prompt's documents that used it."""
    shares: dict[tuple[str, str], list[bool]] = {}
    for document in log.documents:
        table = document.scores[scorer].questions.get(key, {}) if scorer in document.scores else {}
        for question, novelty in table.items():
            shares.setdefault((document.prompt, question), []).append(not math.isnan(novelty))
    return {asked: sum(used) / len(used) for asked, used in shares.items()}
