"""Parts of one run, each in a log of its own, as the one log that they would be."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from itertools import combinations
from operator import add
from pathlib import Path

from inspect_ai.log import EvalLog, EvalStats
from inspect_ai.model import ModelUsage

from genie_inspect.logs.files import LogError
from genie_inspect.logs.labels import labelled
from genie_inspect.logs.reading import read_logs
from genie_inspect.logs.scored_log import ScoredLog
from genie_inspect.prompting.texts import shortened

SHOWN = 5  # ids in an error
JOINED = " + "


def read_runs(paths: Iterable[str | Path], *, brief: bool = False, signature: str = "") -> list[ScoredLog]:
    """The runs that logs are of: as `read_logs`, with parts of one run together.

    Args:
        paths: Log files or folders.
        brief: As for `labels`.
        signature: Only logs with a score under a signature that holds these words.

    Raises:
        LogError: As `read_logs` and `pooled` do.
    """
    return labelled(pooled(read_logs(paths, signature=signature)), brief=brief)


def pooled(logs: Sequence[ScoredLog]) -> list[ScoredLog]:
    """The logs, those that are parts of one run as one, where the first of them stood.

    Parts have one model, task, strategy, settings and signatures, and samples of their own: halves by `--limit`, a job
    array's. Logs with the very same samples are runs that were repeated, and stay apart.

    Args:
        logs: What is shown together.

    Raises:
        LogError: If some samples of such logs are the same and some are not; it names the logs and the samples.
    """
    groups: dict[tuple[str, ...], list[ScoredLog]] = {}
    for place, log in enumerate(logs):
        # nothing tells of a log without documents what it is a part of
        own = _run_of(log) if log.documents else (str(place),)
        groups.setdefault(own, []).append(log)
    return [run for group in groups.values() for run in _runs(group)]


def _runs(group: Sequence[ScoredLog]) -> list[ScoredLog]:
    """The runs that logs of one set-up are."""
    if len(group) == 1:
        return list(group)
    samples = [_samples(log) for log in group]
    if all(own == samples[0] for own in samples):
        return list(group)
    for (one, here), (other, there) in combinations(zip(group, samples, strict=True), 2):
        if both := here & there:
            named = sorted(both)
            listed = ", ".join(shortened(name) for name in named[:SHOWN]) + (", ..." if len(named) > SHOWN else "")
            raise LogError(
                f"{one.file} and {other.file} have one model, task, strategy, settings and signature, as parts of a "
                f"run have, and share {len(named)} samples ({listed}), expected parts without a sample in common, or "
                "one of the two"
            )
    return [_joined(group)]


def _run_of(log: ScoredLog) -> tuple[str, ...]:
    """What all parts of a run have in common."""
    spec = log.header.eval
    settings = (spec.model_generate_config.model_dump_json(), spec.model_args, spec.task_args, log.options)
    signatures = sorted((scorer, *sorted(signed)) for scorer, signed in log.signatures.items())
    whose = (log.model, spec.task, spec.dataset.name, log.strategy, log.is_population, spec.config.epochs)
    return tuple(map(repr, (*whose, *settings, signatures)))


def _samples(log: ScoredLog) -> set[str]:
    return {str(document.sample) for document in (*log.documents, *log.changed)}


def _joined(parts: Sequence[ScoredLog]) -> ScoredLog:
    first = parts[0]
    return replace(
        first,
        file=JOINED.join(log.file for log in parts),
        header=_header([log.header for log in parts]),
        documents=tuple(document for log in parts for document in log.documents),
        changed=tuple(document for log in parts for document in log.changed),
        parts=tuple(Path(log.file).name for log in parts),
    )


def _header(headers: Sequence[EvalLog]) -> EvalLog:
    """The first header, with the samples, the tokens and the time of all."""
    stats = [header.stats for header in headers]
    usage: dict[str, list[ModelUsage]] = {}
    for own in stats:
        for model, used in own.model_usage.items():
            usage.setdefault(model, []).append(used)
    whole = EvalStats(
        started_at=min(own.started_at for own in stats),
        completed_at=max(own.completed_at for own in stats),
        model_usage={model: reduce(add, used) for model, used in usage.items()},
    )
    spec = headers[0].eval
    ids = [name for header in headers for name in header.eval.dataset.sample_ids or []]
    dataset = spec.dataset.model_copy(update={"sample_ids": ids, "samples": len(ids)})
    return headers[0].model_copy(update={"stats": whole, "eval": spec.model_copy(update={"dataset": dataset})})
