"""Log files in, scored logs out: sample by sample, so that only what is kept of a sample stays in memory."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from inspect_ai.log import EvalSample

from genie_inspect.errors import GenieWarning
from genie_inspect.logs.files import LogError, each_log, log_header, samples
from genie_inspect.logs.measures import ranges_of
from genie_inspect.logs.scored_log import ScoredDocument, ScoredLog, signed_with
from genie_inspect.logs.scores import Ranges, scores_of
from genie_inspect.measures.tokens import word_count
from genie_inspect.samples import (
    EARLIER,
    REFUSAL,
    RESPONSES_ASKED,
    RESPONSES_PARSED,
    InterventionFacts,
    document_of,
    is_cut,
    prompt_of,
    unusable,
)
from genie_inspect.signature import Signature, digest

POPULATION = "population, leave-one-out"


def labelled(logs: Sequence[ScoredLog], *, brief: bool = False) -> list[ScoredLog]:
    """The logs, each under its name among these."""
    return [replace(log, label=label) for log, label in zip(logs, labels(logs, brief=brief), strict=True)]


def labels(logs: Sequence[ScoredLog], *, brief: bool = False) -> list[str]:
    """A name for each log, no two alike: of model, strategy, task, options and time those that tell them apart.

    Logs that share all of these are numbered.
    """
    rows = [_parts(log, logs) for log in logs]
    shown: list[int] = [] if brief else [0]
    # a run with a strategy of its own names it, even where no other log stands beside it
    if not brief and any(log.header.eval.solver not in (None, "generate") for log in logs):
        shown.append(1)
    for place in range(len(rows[0]) if rows else 0):
        # a part is shown only where it tells apart what the parts before it do not
        if len({_name(row, [*shown, place]) for row in rows}) > len({_name(row, shown) for row in rows}):
            shown.append(place)
    names = [_name(row, shown) or row[0] for row in rows]
    return [
        f"{name} #{names[:place].count(name) + 1}" if names.count(name) > 1 else name
        for place, name in enumerate(names)
    ]


def _parts(log: ScoredLog, logs: Sequence[ScoredLog]) -> list[str]:
    """Model, strategy, task, the options in which logs of this model and strategy differ, and time."""
    time = str(log.header.eval.created)[:16].replace("T", " ")
    if log.is_population:
        return [POPULATION, "", "", "", time]
    alike = [other.options for other in logs if (other.strategy, other.model) == (log.strategy, log.model)]
    options = [
        f"{name}={value}" for name, value in log.options.items() if any(other.get(name) != value for other in alike)
    ]
    return [log.model, log.strategy, log.task, ",".join(options), time]


def _name(parts: Sequence[str], shown: Sequence[int]) -> str:
    return " ".join(parts[place] for place in sorted(shown) if parts[place])


def read_logs(paths: Iterable[str | Path], *, brief: bool = False, signature: str = "") -> list[ScoredLog]:
    """The finished logs that the paths stand for, in their order, each under a name of its own.

    Those of a folder that cannot be read or are not finished are left out, with a warning. Of a metric study the
    originals are the documents; a warning says that its edits and paraphrases are not among them.

    Args:
        paths: Log files or folders.
        brief: As for `labels`.
        signature: Only logs with a score under a signature that holds these words.

    Raises:
        LogError: If a log that is named itself, or every log, cannot be read, is not finished or has no documents but
            edits and paraphrases, or no log has such a signature.
    """
    return labelled(signed_with(signature, each_log(paths, _read_documents)), brief=brief)


def _read_documents(file: str) -> ScoredLog:
    log = read_scored_log(file)
    if log.changed and not log.documents:
        raise LogError(f"{file} is a metric study of which no original was scored, expected originals")
    if log.changed:
        said = (
            f"{file} is a metric study: its originals count here ({len(log.documents)}), the texts that were made of "
            f"them do not ({len(log.changed)}); what these show: genie study {file}"
        )
        warnings.warn(said, GenieWarning, stacklevel=2)
    return log


def read_scored_log(file: str) -> ScoredLog:
    """One finished log."""
    header = log_header(file)
    ranges = ranges_of(header)
    valued: dict[str, dict[Signature, None]] = {}
    silent: dict[str, dict[Signature, None]] = {}
    documents: list[ScoredDocument] = []
    left_out: list[bool] = []  # whether the population had the same document, of each score that says it
    for sample in samples(file):
        document = _document(sample, file, ranges)
        documents.append(document)
        for scorer, scores in document.scores.items():
            # samples without a value cannot disagree with the others: theirs count where none has a value
            signatures = silent if scores.is_unscored else valued
            signatures.setdefault(scorer, {}).setdefault(scores.signature)
            facts = (sample.scores or {})[scorer].metadata or {}
            if scores.signature.is_ours and "left_out" in facts:
                left_out.append(bool(facts["left_out"]))
    beyond = [
        (document.sample, scorer, key, value)
        for document in documents
        for scorer, scores in document.scores.items()
        for key, value in scores.out_of_range.items()
    ]
    if beyond:
        name, scorer, key, number = beyond[0]
        first = f"the first is {number!s:.20} for {key} by {scorer} in sample {name}"
        said = f"{file}: {len(beyond)} values are out of their range and do not count, {first}"
        warnings.warn(said, GenieWarning, stacklevel=2)
    # Inspect writes samples as they finish
    order = {name: place for place, name in enumerate(header.eval.dataset.sample_ids or [])}
    documents.sort(key=lambda document: (order.get(document.sample, len(order)), document.epoch))
    scorers = dict.fromkeys(scorer for document in documents for scorer in document.scores)
    changed = tuple(document for document in documents if document.is_changed)
    return ScoredLog(
        file=file,
        header=header,
        documents=tuple(document for document in documents if not document.is_changed),
        signatures={scorer: tuple(valued.get(scorer) or silent[scorer]) for scorer in scorers},
        # texts of a study may all stand in the population, or be made of one that does: it is no yardstick for that
        is_population=bool(left_out) and all(left_out) and not changed,
        changed=changed,
    )


def _document(sample: EvalSample, file: str, ranges: Ranges) -> ScoredDocument:
    text, facts, metadata = document_of(sample), InterventionFacts.of(sample.metadata), sample.metadata
    scores = {name: scores_of(name, score, ranges) for name, score in (sample.scores or {}).items()}
    reasons = {(sample.scores or {})[name].reason for name, own in scores.items() if own.signature.is_ours}
    earlier = sample.store.get(EARLIER)
    requested, parsed = metadata.get(RESPONSES_ASKED), metadata.get(RESPONSES_PARSED)
    return ScoredDocument(
        sample=sample.id,
        epoch=sample.epoch,
        prompt=prompt_of(sample),
        # the digest alone: the texts of many logs would fill the memory
        text=digest(text.strip()),
        words=word_count(text),
        scores=scores,
        sample_id=sample.uuid or "",
        # a provider says so in the stop reason; a reader of ours can find out only while it scores
        refused=REFUSAL in {unusable(sample), *reasons},
        is_cut=is_cut(sample),
        earlier=digest(str(earlier[0]).strip()) if isinstance(earlier, list) and earlier and earlier[0] else "",
        responses=(parsed, requested) if isinstance(requested, int) and isinstance(parsed, int) else None,
        # without the text that it was made of, for the same reason
        intervention=facts and replace(facts, original_text=""),
        file=file,
    )
