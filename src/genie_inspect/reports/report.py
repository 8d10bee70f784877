"""Everything that the report's page and its JSON show, as numbers and words."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import quantiles
from typing import Any

from genie_inspect.reports.concordance import Concordance, concordance
from genie_inspect.reports.ranges import known_range
from genie_inspect.reports.scored_logs import ScoredLog, read_logs
from genie_inspect.reports.stand_outs import StandOut, stand_outs
from genie_inspect.statistics.intervals import Interval, clustered_interval

NO_SCORE = "the sample failed before it was scored"
EXAMPLES = 2


@dataclass(frozen=True, slots=True)
class Range:
    """From where to where the values of a key go."""

    low: float
    high: float
    known: bool
    """Whether the task's view says so; else these are the lowest and the highest value seen, NaN without any."""

    @property
    def is_unit(self) -> bool:
        """Whether all values lie from 0 to 1, by what they are."""
        return self.known and (self.low, self.high) == (0, 1)


@dataclass(frozen=True, slots=True)
class Spread:
    """Median and quartiles; NaN where there is nothing."""

    low: float
    median: float
    high: float


@dataclass(frozen=True, slots=True)
class Cell:
    """One key of one run."""

    interval: Interval
    """Mean with its 95% interval, clustered by prompt."""
    spread: Spread
    used: int
    asked: int
    """Questions (tests) that could be used, of all, over the scored documents; 0 of 0 where the scorer does not say."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One scorer: a row a run, a column a key."""

    scorer: str
    signature: str
    keys: tuple[str, ...]
    ranges: dict[str, Range]
    """By key."""
    rows: tuple[dict[str, Cell], ...]
    """In the order of the runs; empty for a run that it did not score."""
    unscored: tuple[dict[str, int], ...]
    """In the order of the runs: documents without any value, by reason."""

    def values(self, run: ScoredLog, key: str) -> list[float]:
        """What the documents of a run got, without those that could not be measured."""
        return [value for value in _values(run, self.scorer, key) if not math.isnan(value)]


@dataclass(frozen=True, slots=True)
class Report:
    """Runs that may be compared, and what is to be said of them."""

    runs: tuple[ScoredLog, ...]
    measures: tuple[Measure, ...]
    lengths: tuple[Spread, ...]
    """Words a document, in the order of the runs."""
    concordance: Concordance
    stand_outs: tuple[StandOut, ...]

    @property
    def yardstick(self) -> ScoredLog | None:
        """The population's own documents, each compared with the others; None when no log has them."""
        return next((run for run in self.runs if run.is_population), None)


def build_report(paths: Iterable[str | Path], examples: int = EXAMPLES) -> Report:
    """The report on finished logs.

    Args:
        paths: Log files or folders.
        examples: How many documents stand out at either end of each feature.

    Raises:
        ReportError: If a log cannot be read, is not finished, has no scores of ours, or scores do not compare.
    """
    runs = read_logs(paths)
    scorers = list(dict.fromkeys(scorer for run in runs for scorer in run.signatures))
    measures = tuple(_measure(scorer, runs) for scorer in sorted(scorers, key=lambda name: name != "genie"))
    return Report(
        runs=runs,
        measures=measures,
        lengths=tuple(spread([document.words for document in run.documents]) for run in runs),
        concordance=concordance(runs, [(measure.scorer, key) for measure in measures for key in measure.keys]),
        stand_outs=tuple(stand_outs(runs, [(m.scorer, m.keys) for m in measures], examples)),
    )


def spread(values: Sequence[float]) -> Spread:
    """Median and quartiles, of the values themselves and those halfway between two (inclusive method)."""
    if len(values) < 2:
        return Spread(*(list(values) * 3 or [math.nan] * 3))
    return Spread(*quantiles(values, method="inclusive"))


def numbers(found: Report) -> dict[str, Any]:
    """The numbers as JSON values: what is not a number is null."""
    plain: dict[str, Any] = {
        "runs": [
            {
                "label": run.label,
                "log": run.file,
                "task": run.header.eval.task,
                "model": run.header.eval.model,
                "created": str(run.header.eval.created),
                "is_population": run.is_population,
                "documents": len(run.documents),
                "words": asdict(words),
                "tokens": {name: usage.total_tokens for name, usage in run.header.stats.model_usage.items()},
            }
            for run, words in zip(found.runs, found.lengths, strict=True)
        ],
        "measures": [asdict(measure) for measure in found.measures],
        "concordance": asdict(found.concordance),
        "stand_outs": [asdict(replace(one, text="")) for one in found.stand_outs],
    }
    return _without_nan(plain)  # type: ignore[no-any-return]  # a dict stays a dict


def _measure(scorer: str, runs: Sequence[ScoredLog]) -> Measure:
    keys = _keys(scorer, runs)
    return Measure(
        scorer=scorer,
        signature=next(run.signatures[scorer] for run in runs if scorer in run.signatures),
        keys=keys,
        ranges={key: _range(scorer, key, runs) for key in keys},
        rows=tuple({key: _cell(run, scorer, key) for key in keys if scorer in run.signatures} for run in runs),
        unscored=tuple(_unscored(run, scorer) for run in runs),
    )


def _keys(scorer: str, runs: Iterable[ScoredLog]) -> tuple[str, ...]:
    found = (document.scores[scorer].values for run in runs for document in run.documents if scorer in document.scores)
    return tuple(dict.fromkeys(key for values in found for key in values))


def _cell(run: ScoredLog, scorer: str, key: str) -> Cell:
    values = _values(run, scorer, key)
    shares = [scores.coverage.get(key, (0, 0)) for d in run.documents if (scores := d.scores.get(scorer))]
    interval = clustered_interval(values, [document.prompt for document in run.documents])
    ends = known_range(run.header, key)
    return Cell(
        interval=interval.within(*ends) if ends else interval,
        spread=spread([value for value in values if not math.isnan(value)]),
        used=sum(used for used, _ in shares),
        asked=sum(asked for _, asked in shares),
    )


def _values(run: ScoredLog, scorer: str, key: str) -> list[float]:
    """One value a document, NaN where there is none."""
    scores = (document.scores.get(scorer) for document in run.documents)
    return [found.values.get(key, math.nan) if found else math.nan for found in scores]


def _unscored(run: ScoredLog, scorer: str) -> dict[str, int]:
    if scorer not in run.signatures:
        return {}
    scores = (document.scores.get(scorer) for document in run.documents)
    reasons = Counter(found.reason if found else NO_SCORE for found in scores)
    return {reason: count for reason, count in reasons.most_common() if reason}


def _range(scorer: str, key: str, runs: Iterable[ScoredLog]) -> Range:
    seen: list[float] = []
    for run in runs:
        if ends := known_range(run.header, key):
            return Range(*ends, known=True)
        seen += [value for value in _values(run, scorer, key) if not math.isnan(value)]
    return Range(min(seen, default=math.nan), max(seen, default=math.nan), known=False)


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
