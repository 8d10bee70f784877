"""Logs as every report sees them: log files in, the model, its documents and each scorer's scores out.

They are read sample by sample, so that only what is kept of a sample stays in memory.
"""

import math
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from textwrap import shorten
from typing import Any

from inspect_ai.log import EvalLog, EvalSample

from genie_inspect.errors import GenieWarning
from genie_inspect.logs.files import LogError, each_log, log_header, samples
from genie_inspect.logs.measures import Bounds, Declaration, declared, declared_range, ranges_of, viewed_range
from genie_inspect.logs.scores import NONE, Ranges, Scores, known_mean, scores_of
from genie_inspect.measures.tokens import LIKE, is_like_length, word_count
from genie_inspect.populations.interventions import ORIGINAL
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
from genie_inspect.signature import MISSING, Signature, differing, digest

POPULATION = "population, leave-one-out"
SET_UP = ("announce_", "require_")  # how the solvers begin that say or check what a run needs, and write nothing
NO_SCORE = "the sample failed before it was scored"
NOT_BY_IT = "it has other scores, none by this scorer"
LONGEST_VALUE = 30  # characters of a setting in a label
LONGEST_FACT = 100  # characters of a text in the metadata of which not only the digest is kept


@dataclass(frozen=True, slots=True)
class ScoredDocument:
    """One sample without its text."""

    sample: str | int
    epoch: int
    prompt: str
    text: str  # digest of the document
    words: float  # NaN where the text is not known
    scores: Mapping[str, Scores]  # by scorer; empty where the sample failed
    sample_id: str = ""  # Inspect's name for it among all samples of all logs; empty in logs of before it had one
    refused: bool = False  # whether the model refused, as its provider or one of our scorers says
    is_cut: bool = False  # whether it ends at the limit of its tokens
    earlier: str = ""  # digest of the first document that the strategy wrote before this one; empty when there is none
    responses: tuple[int, int] | None = None  # read, of those asked for; None where no number was asked for
    intervention: InterventionFacts | None = None  # what was done to its text; None where it is of no metric study
    file: str = field(default="", repr=False, compare=False)  # the log in which its sample stands
    metadata: Mapping[str, str] = field(default_factory=dict)  # what the dataset says of it in one word, number or text

    @property
    def is_changed(self) -> bool:  # whether it is an edit or a paraphrase of another text
        return self.intervention is not None and self.intervention.kind != ORIGINAL

    @property
    def population_words(self) -> float:
        """Median length of the population's documents for the prompt; NaN where no score says it."""
        lengths = (scores.population_words for scores in self.scores.values())
        return next((words for words in lengths if not math.isnan(words)), math.nan)

    def value(self, scorer: str, key: str) -> float:
        """The document's value under a key of a scorer; NaN where it has none."""
        scores = self.scores.get(scorer)
        return scores.values.get(key, math.nan) if scores else math.nan

    def why_unscored(self, scorer: str) -> str:
        """Why a scorer gives no value at all; empty where it gives one."""
        if scores := self.scores.get(scorer):
            return scores.reason
        return NOT_BY_IT if self.scores else NO_SCORE


@dataclass(frozen=True)
class ScoredLog:
    file: str
    header: EvalLog  # the log without its samples
    documents: tuple[ScoredDocument, ...]  # in the dataset's order, by epoch; of a metric study the originals alone
    # by scorer: of its scores that have a value, else of all; more than one do not compare
    signatures: Mapping[str, tuple[Signature, ...]]
    is_population: bool = False  # whether all stand in the population that they were compared with, and were left out
    label: str = ""  # its name among the logs that it is read with
    # of a metric study the edits and paraphrases: nobody's documents, and no mean is over them
    changed: tuple[ScoredDocument, ...] = ()
    parts: tuple[str, ...] = ()  # names of the files of which it was put together; empty where it is one

    @property
    def model(self) -> str:  # under evaluation
        return self.header.eval.model

    @property
    def task(self) -> str:  # without its package
        return self.header.eval.task.split("/")[-1]

    @cached_property
    def _steps(self) -> list[tuple[str, dict[str, Any]]]:  # the solvers that wrote, with their options
        steps = [(step.solver.split("/")[-1], step.params) for step in self.header.plan.steps]
        # a task may check its grader, or say what it will be asked, in a solver that writes nothing
        return [(name, options) for name, options in steps if not name.startswith(SET_UP)]

    @property
    def strategy(self) -> str:
        """The solvers that wrote, joined by a plus; empty where the log has no plan."""
        return "+".join(name for name, _ in self._steps)

    @cached_property
    def options(self) -> dict[str, Any]:
        """Of the strategy's solvers, and the model's own arguments."""
        of_solvers = {name: value for _, options in self._steps for name, value in options.items()}
        return of_solvers | dict(self.header.eval.model_args)

    @property
    def is_study(self) -> bool:
        return bool(self.changed) or any(document.intervention for document in self.documents)

    @property
    def ours(self) -> list[str]:
        """The scorers of this package that scored it, in the order of the scores."""
        return [scorer for scorer, signatures in self.signatures.items() if signatures[0].is_ours]

    def keys(self, scorer: str) -> tuple[str, ...]:
        """Every key of a scorer, in the order of the scores; none where it did not score."""
        values = (document.scores[scorer].values for document in self.documents if scorer in document.scores)
        return tuple(dict.fromkeys(key for row in values for key in row))

    def values(self, scorer: str, key: str) -> list[float]:
        """The value of each document under a key, NaN where it has none; in the order of the documents."""
        return [document.value(scorer, key) for document in self.documents]

    def declared(self, scorer: str) -> Collection[Declaration]:
        """What the measures behind a scorer's scores say of themselves."""
        return declared(self.header, scorer, self._signature(scorer)).values()

    def meanings(self, scorer: str) -> list[str]:
        """What a scorer's numbers mean, and which way is up, a line a measure; none of one that does not say it."""
        signature = self._signature(scorer)
        meant = {name: own.meaning for name, own in declared(self.header, scorer, signature).items() if own.meaning}
        alone = (signature.measure, scorer)
        return [m if name in alone else f"{name.replace('_', ' ').capitalize()}. {m}" for name, m in meant.items()]

    def known_range(self, scorer: str, key: str) -> Bounds | None:
        """Lowest and highest value by the task's own view, else by what the measure says; None where neither does."""
        ends = viewed_range(self.header, key) or declared_range(self.header, scorer, self._signature(scorer), key)
        if ends and ends[1] == math.inf:
            # what counts tests counts at most those that there are
            evidence = [document.scores[scorer].evidence for document in self.documents if scorer in document.scores]
            return ends[0], float(
                max((own.coverage[key][1] for own in evidence if key in own.coverage), default=math.inf)
            )
        return ends

    def _signature(self, scorer: str) -> Signature:
        return self.signatures.get(scorer, (NONE,))[0]


def read_logs(paths: Iterable[str | Path], *, brief: bool = False, signature: str = "") -> list[ScoredLog]:
    """The finished logs of these files and folders, in their order, each under a name of its own.

    Those of a folder that cannot be read or are not finished are left out, with a warning. Of a metric study the
    originals are the documents, which a warning says. `signature` leaves those with such words in one of theirs.
    """

    def read(file: str) -> ScoredLog:
        log = read_scored_log(file)
        if log.changed and not log.documents:
            raise LogError(f"{file} is a metric study of which no original was scored, expected originals")
        if log.changed:
            said = (
                f"{file} is a metric study: its originals count here ({len(log.documents)}), the texts that were made "
                f"of them do not ({len(log.changed)}); what these show: genie validate {file}"
            )
            warnings.warn(said, GenieWarning, stacklevel=2)
        return log

    logs = each_log(paths, read)
    signatures = [{one for signed in log.signatures.values() for one in signed} for log in logs]
    kept = [log for log, own in zip(logs, signatures, strict=True) if not signature or any(signature in s for s in own)]
    if not kept:
        listed = "; ".join(sorted(set().union(*signatures) - {NONE})) or NONE
        raise LogError(f"signature is {signature!r}, expected a part of one of: {listed}")
    return labelled(kept, brief=brief)


def read_scored_log(file: str) -> ScoredLog:
    """One finished log."""
    header = log_header(file)
    ranges = ranges_of(header)
    valued: dict[str, list[Signature]] = {}
    silent: dict[str, list[Signature]] = {}
    documents: list[ScoredDocument] = []
    left_out: list[bool] = []  # whether the population had the same document, of each score that says it
    for sample in samples(file):
        document = _document(sample, file, ranges)
        documents.append(document)
        for scorer, scores in document.scores.items():
            # samples without a value cannot disagree with the others: theirs count where none has a value
            signatures = silent if scores.is_unscored else valued
            signatures.setdefault(scorer, []).append(scores.signature)
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
        signatures={scorer: tuple(dict.fromkeys(valued.get(scorer) or silent[scorer])) for scorer in scorers},
        # texts of a study may all stand in the population, or be made of one that does: it is no reference for that
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
        metadata={
            key: text if len(text := str(value)) <= LONGEST_FACT else digest(text)
            for key, value in metadata.items()
            if isinstance(value, str | int | float)
        },
    )


def labelled(logs: Sequence[ScoredLog], *, brief: bool = False) -> list[ScoredLog]:
    """The logs, each under its name among these."""
    return [replace(log, label=label) for log, label in zip(logs, labels(logs, brief=brief), strict=True)]


def labels(logs: Sequence[ScoredLog], *, brief: bool = False) -> list[str]:
    """A name for each log, no two alike: of model, strategy, task, options and time those that tell them apart."""
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
    told = [f"{n} #{names[:place].count(n) + 1}" if names.count(n) > 1 else n for place, n in enumerate(names)]
    # a model may be called as what a number makes of another's name
    return told if len({*told}) == len(told) else [f"{name} #{place}" for place, name in enumerate(told, start=1)]


def _parts(log: ScoredLog, logs: Sequence[ScoredLog]) -> list[str]:
    """Model, strategy, task, the options and settings in which logs of this model and strategy differ, and time."""
    time = str(log.header.eval.created)[:16].replace("T", " ")
    alike = [_settings(other) for other in logs if (other.strategy, other.model) == (log.strategy, log.model)]
    options = [
        f"{name}={shorten(str(value), LONGEST_VALUE, placeholder='...')}"
        for name, value in _settings(log).items()
        if any(other.get(name) != value for other in alike)
    ]
    named = [POPULATION, "", ""] if log.is_population else [log.model, log.strategy, log.task]
    return [*named, ",".join(options), time]


def _settings(log: ScoredLog) -> dict[str, Any]:
    """Options of its solvers and model, and what was set for generation, such as temperature or system message."""
    return log.options | log.header.plan.config.model_dump(exclude_none=True)


def _name(parts: Sequence[str], shown: Sequence[int]) -> str:
    return " ".join(parts[place] for place in sorted(shown) if parts[place])


def lengths_of(documents: Sequence[ScoredDocument]) -> tuple[float, float]:
    """Mean words of some documents, and of the population's for the same prompts; NaN where nobody knows."""
    return known_mean(d.words for d in documents), known_mean(d.population_words for d in documents)


def are_unlike(words: float, others: float) -> bool:
    """Whether two lengths are too far apart to compare; a length that nobody knows is not taken for another."""
    return not (math.isnan(words) or math.isnan(others)) and not is_like_length(words, others)


def unlike_lengths(who_writes: str, words: float, others: float, who_else: str = "the population has") -> str:
    """The warning that all who show numbers give.

    >>> unlike_lengths("mine writes", 34, 209)
    'mine writes 34 words where the population has 209: beyond 1.5x lengths do not compare'
    """
    return f"{who_writes} {words:.0f} words where {who_else} {others:.0f}: beyond {LIKE}x lengths do not compare"


def cut_at_limit(who_writes: str, cut: int, documents: int) -> str:
    """The warning that documents have no end, which all who show numbers give; empty where none was cut.

    >>> cut_at_limit("mine", 3, 4)
    '3 of 4 documents of mine end at the limit of their tokens, not where a writer ends: allow more by --max-tokens'
    """
    said = f"{cut} of {documents} documents of {who_writes} end at the limit of their tokens, not where a writer ends: "
    return f"{said}allow more by --max-tokens" if cut else ""


def cut_warning(log: ScoredLog) -> str:
    return cut_at_limit(log.label, sum(document.is_cut for document in log.documents), len(log.documents))


def length_warning(log: ScoredLog) -> str:
    """The warning that a log's documents are of another length than the population's; empty where there is no cause."""
    lengths = lengths_of([d for d in log.documents if any(not scores.is_unscored for scores in d.scores.values())])
    return unlike_lengths(f"{log.label} writes", *lengths) if are_unlike(*lengths) else ""


def one_signature(logs: Iterable[ScoredLog], scorer: str) -> Signature:
    """The signature that all scores by a scorer share; "none" where there are none.

    Raises:
        LogError: What two signatures differ in, and how to choose one of the two.
    """
    signed = [(signature, log.file) for log in logs for signature in log.signatures.get(scorer, ())]
    first, file = signed[0] if signed else (NONE, "")
    second, other = next((one for one in signed if one[0] != first), (first, file))
    if second == first:
        return first
    apart = differing(first, second)
    shown = ", ".join(f"{name} is {here} and {there}" for name, here, there in apart)
    files = " and ".join(dict.fromkeys(Path(name).name for name in (file, other)))
    line = f"scores by {scorer!r} do not compare, their signatures differ: {shown} ({files})"
    # within one log there is nothing to choose
    if other != file:
        name, fact = next((name, fact) for name, *sides in apart for fact in sides if fact != MISSING)
        brief, whole = f"{name}:{fact.partition('(')[0]}", f"{name}:{fact}"
        part = brief if (brief in first) != (brief in second) else whole
        line += f"; choose with --signature and a part of one, such as --signature '{part}'"
    raise LogError(line)


def by_signature(logs: Iterable[ScoredLog], scorer: str) -> list[list[ScoredLog]]:
    """The logs that a scorer scored, those of one signature together, in the order of the first of each."""
    signed = [log for log in logs if scorer in log.signatures]
    groups = dict.fromkeys(log.signatures[scorer] for log in signed)
    return [[log for log in signed if log.signatures[scorer] == group] for group in groups]
