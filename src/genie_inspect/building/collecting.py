"""Documents out of Inspect logs: trimmed, without what is no document, counted by reason."""

import warnings
from array import array
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from inspect_ai.log import EvalLog, EvalSample, resolve_sample_attachments

from genie_inspect.building.work import Progress, no_progress
from genie_inspect.errors import GenieWarning, PopulationError
from genie_inspect.files.printable import one_line
from genie_inspect.logs.files import MOST_SAID, log_header, samples
from genie_inspect.populations.files import placed_rows, rows_at, write_rows
from genie_inspect.populations.intake.trimming import is_degenerate, trimmed
from genie_inspect.populations.schema import Document, document_id
from genie_inspect.samples.document import NO_RESPONSE, document_of, unusable
from genie_inspect.samples.prompt import prompt_of

# what a generation does not need; attachments are where long texts stand
UNREAD = {"events", "events_data", "store", "messages", "scores"}


@dataclass(slots=True)
class Collected:
    """Documents in a file, with an index by prompt."""

    path: Path
    generations: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    """Generations that became no document, by reason."""
    models: Counter[str] = field(default_factory=Counter)
    """Documents by model."""
    begins: dict[str, "array[int]"] = field(default_factory=dict)
    """By prompt, the byte at which each of its documents begins in the file, in order."""

    def documents(self, prompt: str) -> list[Document]:
        """The documents of a prompt."""
        return list(rows_at(self.path, self.begins.get(prompt, ()), Document))


def collect_documents(
    logs: Sequence[str], path: Path, prompts: Container[str] | None, progress: Progress = no_progress
) -> Collected:
    """Write the documents of all logs to a file.

    Args:
        logs: Log files.
        path: The file, written whole or not at all.
        prompts: The task's prompts; None takes those of the first log as the task's, and all others beside them.
        progress: Told after each log.

    Raises:
        LogError: If a log cannot be read.
        PopulationError: If one has none of the task's prompts.
    """
    collected = Collected(path)
    write_rows(path, _documents(logs, prompts, collected, progress))
    # places alone are kept, so that logs may hold more text than memory
    for _, begin, row in placed_rows(path, Document):
        collected.begins.setdefault(row.prompt, array("Q")).append(begin)
        collected.models[row.model] += 1
    if not collected.begins:
        raise PopulationError(
            f"no document in {len(logs)} logs: {_counted(collected.dropped) or 'they hold no samples'}"
        )
    return collected


def _documents(
    logs: Sequence[str], prompts: Container[str] | None, collected: Collected, progress: Progress
) -> Iterator[Document]:
    seen: set[str] = set()
    prompts_of_task = prompts
    for number, log in enumerate(logs, start=1):
        prompts_of_log: dict[str, None] = {}
        # a log that was cut short has documents too
        header, errors, before = log_header(log, finished=False), Counter[str](), collected.generations
        for sample in samples(log, UNREAD):
            collected.generations += 1
            prompt = prompt_of(sample)
            prompts_of_log.setdefault(prompt)
            if sample.error is not None:
                errors[sample.error.message] += 1
            sample = resolve_sample_attachments(sample, "full")
            reason = _unusable(sample) or ("another prompt" if prompts is not None and prompt not in prompts else "")
            text = "" if reason else trimmed(document_of(sample))
            # models that repeat a document word for word count once, whichever log has it
            identity = document_id(prompt, text)
            reason = reason or ("" if text else NO_RESPONSE) or ("duplicate" if identity in seen else "")
            if reason:
                collected.dropped[reason] += 1
                continue
            seen.add(identity)
            yield Document(id=identity, prompt=prompt, text=text, model=header.eval.model)
        _warn(log, header, collected.generations - before, errors)
        # the first log says what the task is
        prompts_of_task = prompts_of_log if prompts_of_task is None else prompts_of_task
        if not any(prompt in prompts_of_task for prompt in prompts_of_log):
            whose = "the questions' prompts" if prompts is not None else f"the prompts of {logs[0]}"
            first = f", its first is {next(iter(prompts_of_log))[:80]!r}" if prompts_of_log else ": it holds no samples"
            raise PopulationError(f"{log} has none of {whose}{first}")
        progress("reading logs", number, len(logs))


def _warn(log: str, header: EvalLog, generations: int, errors: Counter[str]) -> None:
    """Say what a log lacks: it may be the documents of its hardest prompts."""
    planned = len(header.eval.dataset.sample_ids or ()) * (header.eval.config.epochs or 1)
    lacks = []
    if errors:
        mostly = one_line(errors.most_common(1)[0][0])[:MOST_SAID]
        lacks.append(f"{errors.total()} of {generations} generations failed, mostly with {mostly!r}")
    if header.status != "success":
        lacks.append(f"the run did not finish ({header.status}): {generations} of {planned} generations are there")
    if lacks:
        warnings.warn(f"{log}: {'; '.join(lacks)}. The population is made of the rest", GenieWarning, 2)


def _unusable(sample: EvalSample) -> str:
    reason = unusable(sample)
    return reason or ("degenerate" if is_degenerate(document_of(sample)) else "")


def _counted(reasons: Counter[str]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in reasons.most_common())
