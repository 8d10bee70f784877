"""The results of one scorer in one log: the numbers that summary, report and comparison show, all made here."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields

from genie_inspect.logs.evidence import NO_SHARE, Share, together
from genie_inspect.logs.graders.juries import GraderResults, agreement, jury_warnings, results_by_grader
from genie_inspect.logs.graders.self_preference import self_preference
from genie_inspect.logs.measures import UNIT, Bounds
from genie_inspect.logs.scored_log import ScoredLog
from genie_inspect.logs.warnings import warnings
from genie_inspect.statistics.descriptive.standing import Standing
from genie_inspect.statistics.intervals import Interval, prompt_interval


@dataclass(frozen=True, slots=True)
class Results:
    """One scorer's results in one log."""

    cells: Mapping[str, Interval]
    """By key: the mean over prompts with its 95% interval, which ends where the values can end."""
    coverage: Mapping[str, Share]
    """By key: questions (tests) that could be used, and all that were asked; 0 of 0 where the scorer does not say."""
    pairs: Mapping[str, Share]
    """By key: ratings that count, and those that were due, likewise."""
    documents: int
    """All of the log, each epoch of a sample by itself (Inspect's `scored_samples` counts a sample once), those that
    failed before they were scored among them."""
    unscored: Mapping[str, int]
    """Documents without any value, by reason, the most frequent one first."""
    faults: Mapping[str, int]
    """Answers, ratings or verdicts that are missing, by reason, the most frequent one first."""
    refusals: int
    """Documents that the model refused to write."""
    position_bias: float
    """Mean points that a judge of pairs gives a document for standing first; NaN where none judged pairs."""
    warnings: Sequence[str]
    """What to beware of, a line each."""
    nearest: Mapping[str, Interval] = field(default_factory=dict)
    """By key, where the scorer says how near the nearest comes: its mean over prompts likewise."""
    standing: Mapping[str, Standing] = field(default_factory=dict)
    """By key, where the population has a yardstick: each document's standing among its own, as means over prompts."""

    graders: Mapping[str, GraderResults] = field(default_factory=dict)
    """Of a jury each grader's own results; empty where one grader measured."""
    agreement: Mapping[str, float] = field(default_factory=dict)
    """Of a jury by key: Krippendorff's alpha over its graders' novelties of all questions; NaN where undefined."""

    @property
    def scored(self) -> int:
        """Documents with a value under some key."""
        return self.documents - sum(self.unscored.values())

    def mean(self, key: str) -> float:
        """The mean of a key; NaN where it has none."""
        return self.cells[key].mean if key in self.cells else math.nan


def results_of(log: ScoredLog, scorer: str) -> Results:
    """A scorer's results in a log, under every key that any of its documents has."""
    keys = log.keys(scorer)
    evidence = together([scores.evidence for document in log.documents if (scores := document.scores.get(scorer))])
    parts = [scores.graders if (scores := document.scores.get(scorer)) else {} for document in log.documents]
    graders = results_by_grader(parts, [document.prompt for document in log.documents], keys)
    alphas = agreement(parts, keys)
    reasons = Counter(reason for document in log.documents if (reason := document.why_unscored(scorer)))
    return Results(
        cells={key: _interval(log, log.values(scorer, key), log.known_range(scorer, key)) for key in keys},
        coverage={key: evidence.coverage.get(key, NO_SHARE) for key in keys},
        pairs={key: evidence.pairs.get(key, NO_SHARE) for key in keys},
        documents=len(log.documents),
        unscored=dict(reasons.most_common()),
        faults=evidence.faults,
        refusals=sum(document.refused for document in log.documents),
        position_bias=evidence.position_bias,
        warnings=[*warnings(evidence), *jury_warnings(parts, graders, alphas), *self_preference(log, scorer)],
        nearest=_nearest(log, scorer),
        standing={key: found for key in keys if (found := standing_of([log], scorer, key))},
        graders=graders,
        agreement=alphas if graders else {},
    )


def standing_of(logs: Iterable[ScoredLog], scorer: str, key: str) -> Standing | None:
    """Where the values under a key fall among the population's own documents: means over prompts, of each part.

    None where it is not known of every value: a part of them would have another mean than that beside which it stands.
    """
    documents = [document for log in logs for document in log.documents if not math.isnan(document.value(scorer, key))]
    standings = [document.scores[scorer].standing.get(key) for document in documents]
    known = [standing for standing in standings if standing]
    if not known or len(known) < len(documents):
        return None
    prompts = [document.prompt for document in documents]
    values = ([getattr(standing, part.name) for standing in known] for part in fields(Standing))
    return Standing(*(prompt_interval(own, prompts).mean for own in values))


def _nearest(log: ScoredLog, scorer: str) -> dict[str, Interval]:
    by_document = [scores.nearest if (scores := document.scores.get(scorer)) else {} for document in log.documents]
    keys = dict.fromkeys(key for nearest in by_document for key in nearest)
    return {key: _interval(log, [nearest.get(key, math.nan) for nearest in by_document], UNIT) for key in keys}


def _interval(log: ScoredLog, values: Sequence[float], ends: Bounds | None) -> Interval:
    prompts = [document.prompt for document in log.documents]
    return prompt_interval(values, prompts, bounds=ends) if ends else prompt_interval(values, prompts)
