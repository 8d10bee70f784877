"""One log as every report sees it: the model, the documents, and the scores of each scorer."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalLog

from genie_inspect.logs.files import LogError
from genie_inspect.logs.measures import Bounds, Declaration, declared, declared_range, viewed_range
from genie_inspect.logs.scores import NONE, Scores, known_mean
from genie_inspect.measures.tokens import LIKE, is_like_length
from genie_inspect.populations.interventions import ORIGINAL
from genie_inspect.samples import InterventionFacts
from genie_inspect.signature import Signature

SET_UP = ("announce_", "require_")  # how the solvers begin that say or check what a run needs, and write nothing
NO_SCORE = "the sample failed before it was scored"
NOT_BY_IT = "it has other scores, none by this scorer"


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

    @property
    def is_changed(self) -> bool:
        """Whether it is an edit or a paraphrase of another text."""
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
    """One log."""

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
    def model(self) -> str:
        """The model under evaluation."""
        return self.header.eval.model

    @property
    def task(self) -> str:
        """The task's name without its package."""
        return self.header.eval.task.split("/")[-1]

    @cached_property
    def _steps(self) -> list[tuple[str, dict[str, Any]]]:
        """The solvers that wrote, with their options."""
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
        """Whether it is of a metric study."""
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
            scores = [document.scores[scorer] for document in self.documents if scorer in document.scores]
            asked = [own.evidence.coverage[key][1] for own in scores if key in own.evidence.coverage]
            return ends[0], float(max(asked, default=math.inf))
        return ends

    def _signature(self, scorer: str) -> Signature:
        return self.signatures.get(scorer, (NONE,))[0]


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
    'of mine 3 of 4 documents end at the limit of their tokens, not where a writer ends: allow more by --max-tokens'
    """
    if not cut:
        return ""
    return (
        f"of {who_writes} {cut} of {documents} documents end at the limit of their tokens, not where a writer ends: "
        "allow more by --max-tokens"
    )


def cut_warning(log: ScoredLog) -> str:
    """The same of a log."""
    return cut_at_limit(log.label, sum(document.is_cut for document in log.documents), len(log.documents))


def length_warning(log: ScoredLog) -> str:
    """The warning that a log's documents are of another length than the population's; empty where there is no cause.

    Those count that any scorer gave a value.
    """
    lengths = lengths_of([d for d in log.documents if any(not scores.is_unscored for scores in d.scores.values())])
    return unlike_lengths(f"{log.label} writes", *lengths) if are_unlike(*lengths) else ""


MISSING = "-"


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
        line += f"; choose with --signature and a part of one, such as --signature '{name}:{fact}'"
    raise LogError(line)


def by_signature(logs: Iterable[ScoredLog], scorer: str) -> list[list[ScoredLog]]:
    """The logs that a scorer scored, those of one signature together, in the order of the first of each."""
    groups: dict[tuple[Signature, ...], list[ScoredLog]] = {}
    for log in logs:
        if scorer in log.signatures:
            groups.setdefault(log.signatures[scorer], []).append(log)
    return list(groups.values())


def signed_with(part: str, logs: Sequence[ScoredLog]) -> list[ScoredLog]:
    """The logs with a score under a signature that holds these words; all of them without words."""
    signatures = [{signature for signed in log.signatures.values() for signature in signed} for log in logs]
    kept = [log for log, own in zip(logs, signatures, strict=True) if not part or any(part in one for one in own)]
    if not kept:
        listed = sorted(set().union(*signatures) - {NONE})
        raise LogError(f"signature is {part!r}, expected a part of one of: {'; '.join(listed) or NONE}")
    return kept


def differing(first: str, second: str) -> list[tuple[str, str, str]]:
    """The facts in which two signatures differ: the name, and what either says; "-" where it says nothing.

    >>> differing("measure:ttcw|judge:a|cutoff:-2", "measure:ttcw|judge:b|cutoff:-2")
    [('judge', 'a', 'b')]
    """
    here, there = Signature(first).facts, Signature(second).facts
    names = [name for name in {**here, **there} if here.get(name) != there.get(name)]
    return [(name, here.get(name, MISSING), there.get(name, MISSING)) for name in names]
