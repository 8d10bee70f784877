"""Logs as a comparison sees them: who wrote what, how long, how it was scored."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from inspect_ai.log import EvalSample, read_eval_log
from inspect_ai.scorer import Score

from genie_inspect.measures.length import word_count
from genie_inspect.reports.ranges import known_range
from genie_inspect.reports.summary import ReportError
from genie_inspect.samples.prompt import prompt_of
from genie_inspect.samples.store import EARLIER
from genie_inspect.signature import digest

COHERENCE = "coherence"
LEFT_OUT = "left out"
SET_UP = "require_"  # how the solvers begin that only check what a run needs
UNREAD = {"events", "messages", "attachments"}


@dataclass(frozen=True, slots=True)
class Scored:
    """What one scorer says of one document."""

    values: dict[str, float]
    matched: dict[str, float]
    """Against population documents of the usual length alone; empty where the scorer has no such figures."""
    population_words: float
    """Median length of the population's documents; NaN where the scorer does not say."""
    coverage: dict[str, tuple[int, int]]
    """By key: questions that could be used, questions asked."""
    signature: str
    reason: str

    def silenced(self) -> "Scored":
        """The same without any value, because a comparison leaves the document out."""
        reason = self.reason if self.is_unscored else LEFT_OUT
        return replace(self, values=dict.fromkeys(self.values, math.nan), coverage={}, reason=reason)

    @property
    def is_unscored(self) -> bool:
        """Whether no key has a value."""
        return all(math.isnan(value) for value in self.values.values())


@dataclass(frozen=True, slots=True)
class Written:
    """One sample: a document, or none."""

    prompt: str
    text: str
    """Digest of the document."""
    words: int
    refused: bool
    earlier: str
    """Digest of the first document that the strategy wrote before this one; empty when there is none."""
    scores: dict[str, Scored]

    @property
    def population_words(self) -> float:
        """Median length of the population's documents for the prompt; NaN where no score says it."""
        known = (scored.population_words for scored in self.scores.values())
        return next((words for words in known if not math.isnan(words)), math.nan)

    @property
    def coherence(self) -> float:
        """As rated; NaN where it was not."""
        scored = self.scores.get(COHERENCE)
        return next(iter(scored.values.values()), math.nan) if scored else math.nan


@dataclass(frozen=True, slots=True)
class Run:
    """One log."""

    file: str
    model: str
    task: str
    strategy: str
    options: dict[str, Any]
    """Of the strategy's solvers, and the model's own arguments."""
    documents: tuple[Written, ...]
    spans: dict[str, float]
    """By key: from the lowest to the highest value that there can be, where the task says so."""


def read_run(file: str) -> Run:
    """A finished log.

    Raises:
        ReportError: If it cannot be read, or is not finished.
    """
    try:
        log = read_eval_log(file, exclude_fields=UNREAD)
    except (OSError, ValueError) as error:
        raise ReportError(f"{file} cannot be read as a log: {error}") from error
    if log.status != "success":
        raise ReportError(f"{file} is not finished: its status is {log.status!r}, expected 'success'")
    steps = [(step.solver.split("/")[-1], step.params) for step in log.plan.steps]
    strategy = [(name, options) for name, options in steps if not name.startswith(SET_UP)]
    documents = tuple(_written(sample) for sample in log.samples or [])
    keys = dict.fromkeys(key for document in documents for one in document.scores.values() for key in one.values)
    return Run(
        file=file.removeprefix("file://"),
        model=log.eval.model,
        task=log.eval.task.split("/")[-1],
        strategy="+".join(name for name, _ in strategy),
        options={name: value for _, options in strategy for name, value in options.items()} | dict(log.eval.model_args),
        documents=documents,
        spans={key: ends[1] - ends[0] for key in keys if (ends := known_range(log, key))},
    )


def labels(runs: Iterable[Run]) -> list[str]:
    """A name for each run, of what tells it from the others: model, strategy, task, options, at last the file."""
    runs = list(runs)
    parts = [[run.model, run.strategy, run.task, _told_apart(run, runs), run.file] for run in runs]
    shown: list[int] = []
    for place in range(5):
        names = {tuple(own[p] for p in [*shown, place]) for own in parts}
        if len(names) > len({tuple(own[p] for p in shown) for own in parts}):
            shown.append(place)
    return [" ".join(own[place] for place in shown if own[place]) for own in parts]


def _told_apart(run: Run, runs: Iterable[Run]) -> str:
    """The options in which runs of one strategy differ."""
    alike = [other.options for other in runs if other.strategy == run.strategy and other.model == run.model]
    names = [name for name in run.options if any(other.get(name) != run.options[name] for other in alike)]
    return ",".join(f"{name}={run.options[name]}" for name in names)


def _written(sample: EvalSample) -> Written:
    text = sample.output.completion.strip()
    earlier = sample.store.get(EARLIER) or [""]
    return Written(
        prompt=prompt_of(sample),
        text=digest(text),
        words=word_count(text),
        refused=sample.output.stop_reason == "content_filter",
        earlier=digest(str(earlier[0]).strip()) if earlier[0] else "",
        scores={name: _scored(name, score) for name, score in (sample.scores or {}).items()},
    )


def _scored(name: str, score: Score) -> Scored:
    facts = score.metadata or {}
    length = facts.get("length") or {}
    shares = {key: str(share).split("/") for key, share in (facts.get("coverage") or {}).items()}
    return Scored(
        values={key: _number(value) for key, value in _by_key(name, score).items()},
        matched={key: _number(value) for key, value in (length.get("matched") or {}).items()},
        population_words=_number(length.get("population")),
        coverage={key: (int(used), int(asked)) for key, (used, asked) in shares.items()},
        signature=str(facts.get("signature", "none")),
        reason=str(score.reason or "not said"),
    )


def _by_key(name: str, score: Score) -> Mapping[str, object]:
    """The values by key; a score of one value is its own key, and NaN alone may stand for any keys."""
    if isinstance(score.value, dict):
        return score.value
    return {} if math.isnan(_number(score.value)) else {name: score.value}


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else math.nan
