"""Several runs, feature by feature: which is surely above which, by a user's weights, and which scores go together."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from genie_inspect.errors import UnknownChoiceError
from genie_inspect.files.tables import plain
from genie_inspect.logs.measures import GENIE, keys_to_test
from genie_inspect.logs.reading import ScoredLog
from genie_inspect.reports.charts import in_words
from genie_inspect.reports.study_verdict import listed
from genie_inspect.statistics.descriptive import prompt_means
from genie_inspect.statistics.differences import LEVEL, PairDifference, pairwise_differences
from genie_inspect.statistics.ranking import kendall

if TYPE_CHECKING:
    from genie_inspect.reports.report import Measure

FEWEST = 3  # runs; of two there is `genie compare`


@dataclass(frozen=True, slots=True)
class RankedRun:
    run: str
    mean: float
    prompts: int
    above: tuple[str, ...]  # runs that it is surely above


@dataclass(frozen=True, slots=True)
class Ranking:
    scorer: str
    key: str
    rows: tuple[RankedRun, ...]  # the highest mean first
    pairs: tuple[PairDifference, ...]  # by place in `runs`
    runs: tuple[str, ...]

    @property
    def has_claims(self) -> bool:
        return any(row.above for row in self.rows)

    @property
    def leader(self) -> str:
        """The run that is surely above every other; empty where none is."""
        return next((row.run for row in self.rows if len(row.above) == len(self.rows) - 1), "")


def rankings(runs: Sequence[ScoredLog], measures: Sequence["Measure"]) -> Iterator[Ranking]:
    """For each key that a comparison tests, of the runs that have it; none with fewer than three."""
    for measure in measures:
        told = [(run, row) for run, row in zip(runs, measure.rows, strict=True) if row and not run.is_population]
        if len(told) < FEWEST:
            continue
        for key in keys_to_test(told[0][0].declared(measure.scorer), measure.keys):
            ranked = {run.label: run for run, row in told if not math.isnan(row[key].interval.mean)}
            if len(ranked) < FEWEST:
                continue
            columns = {
                label: prompt_means(run.values(measure.scorer, key), [one.prompt for one in run.documents])
                for label, run in ranked.items()
            }
            prompts = dict.fromkeys(prompt for column in columns.values() for prompt in column)
            table = [[column.get(prompt, math.nan) for column in columns.values()] for prompt in prompts]
            labels, pairs = tuple(columns), tuple(pairwise_differences(table))
            sure = [pair for pair in pairs if pair.p_value < LEVEL]
            below = {(labels[pair.first], labels[pair.second]) for pair in sure if pair.delta > 0}
            below |= {(labels[pair.second], labels[pair.first]) for pair in sure if not pair.delta > 0}
            means = {label: math.fsum(column.values()) / len(column) for label, column in columns.items()}
            order = sorted(labels, key=means.__getitem__, reverse=True)
            rows = (
                RankedRun(one, means[one], len(columns[one]), tuple(two for two in order if (one, two) in below))
                for one in order
            )
            yield Ranking(measure.scorer, key, tuple(rows), pairs, labels)


def leaders(found: Sequence[Ranking]) -> list[str]:
    """Which run is surely above every other in which features, in plain sentences, by scorer."""
    lines = []
    for scorer in dict.fromkeys(ranking.scorer for ranking in found):
        by_leader: dict[str, list[str]] = {}
        for ranking in (one for one in found if one.scorer == scorer):
            by_leader.setdefault(ranking.leader, []).append(in_words(ranking.key))
        undecided = by_leader.pop("", [])
        what = "surely more novel" if scorer == "genie" else f"by {in_words(scorer)} surely higher"
        lines += [f"{run} is {what} than every other run in {listed(keys)}." for run, keys in by_leader.items()]
        if undecided:
            lines.append(f"No run is {what} than every other in {listed(undecided)}.")
    return lines


def as_values(ranking: Ranking) -> dict[str, Any]:
    pairs = [
        {
            **{"run": ranking.runs[pair.first], "other": ranking.runs[pair.second], "prompts": pair.units},
            **{name: plain(getattr(pair, name)) for name in ("delta", "low", "high", "p_value")},
        }
        for pair in ranking.pairs
    ]
    return {"scorer": ranking.scorer, "key": ranking.key, "level": LEVEL, "runs": plain(ranking.rows), "pairs": pairs}


def weighted(run: ScoredLog, weights: Mapping[str, float]) -> ScoredLog:
    """The run with one more key of `genie`: the mean of its features by weights that somebody names.

    It is NaN where a feature was not measured.

    Raises:
        UnknownChoiceError: If the run has no feature of that name.
    """
    if not weights or GENIE not in run.ours:
        return run
    features, total = run.keys(GENIE), sum(weights.values())
    if unknown := [key for key in weights if key not in features]:
        raise UnknownChoiceError("weights", unknown[0], f"features of {run.label}: {', '.join(features)}")
    name = f"weighted by you ({', '.join(f'{in_words(key)} {weight:g}' for key, weight in weights.items())})"
    documents = []
    for document in run.documents:
        if own := document.scores.get(GENIE):
            parts = [own.values.get(key, math.nan) * weight for key, weight in weights.items()]
            values = {**own.values, name: sum(parts) / total} if own.values else own.values
            document = replace(document, scores={**document.scores, GENIE: replace(own, values=values)})
        documents.append(document)
    return replace(run, documents=tuple(documents))


MOST = 40  # rows that a table of pairs can have and still be read


def concordance(runs: Iterable[ScoredLog], keys: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Kendall's tau-b of each two keys over all documents but the population's own that have a value under both.

    `names`, `tau` (a table; NaN where one side puts nothing in order), `documents` (how many have both values),
    `left_out` (the number of keys beyond the first forty) and `unordered` (keys that put no two documents in order).
    """
    import numpy as np

    documents = [document for run in runs if not run.is_population for document in run.documents]
    columns = {(scorer, key): np.array([document.value(scorer, key) for document in documents]) for scorer, key in keys}
    # a key of one value has no rank correlation with anything
    ordering = [column for column in keys if len(np.unique(columns[column][~np.isnan(columns[column])])) > 1]
    rows = [columns[column] for column in ordering[:MOST]]
    tau, counts = [[1.0] * len(rows) for _ in rows], [[0] * len(rows) for _ in rows]
    # tau is symmetric: half of the pairs are computed; shown twice
    for i, first in enumerate(rows):
        for j, second in enumerate(rows[: i + 1]):
            tau[i][j] = tau[j][i] = kendall(first, second)
            counts[i][j] = counts[j][i] = int((~np.isnan(first) & ~np.isnan(second)).sum())
    # with the scorer where two scorers share a key
    shared = Counter(key for _, key in dict.fromkeys(keys))
    names = {(scorer, key): in_words(key) + f" ({scorer})" * (shared[key] > 1) for scorer, key in keys}
    return {
        "names": [names[column] for column in ordering[:MOST]],
        "tau": tau,
        "documents": counts,
        "left_out": len(ordering) - len(rows),
        "unordered": [names[column] for column in keys if column not in ordering],
    }
