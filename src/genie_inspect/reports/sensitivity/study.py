"""What a metric study shows of each measure: effects by intervention, the matrix of features, agreement, answers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from genie_inspect.interventions.schema import EDIT
from genie_inspect.logs.files import LogError
from genie_inspect.logs.folders import each_log
from genie_inspect.logs.reading import read_scored_log
from genie_inspect.logs.scored_log import ScoredLog
from genie_inspect.logs.signatures import one_signature
from genie_inspect.reports.sensitivity.answers import AnswerChanges, answer_changes
from genie_inspect.reports.sensitivity.effects import RESAMPLES, Effect, effects_of
from genie_inspect.reports.sensitivity.keys import WORDS, keys_of
from genie_inspect.reports.sensitivity.measures import StudiedMeasure, measures_of
from genie_inspect.reports.sensitivity.pairs import Intervention, StudyTexts, texts_of
from genie_inspect.statistics.ranking import kendall


@dataclass(frozen=True, slots=True)
class DeltaAgreement:
    """Whether two measures are moved by the same texts."""

    first: str
    second: str
    intervention: Intervention
    tau: float
    """Kendall's tau-b between their differences; NaN where one of them puts nothing in order."""
    originals: int


@dataclass(frozen=True, slots=True)
class Study:
    """Everything that a log of a metric study shows."""

    log: ScoredLog
    texts: StudyTexts
    signatures: Mapping[str, str]
    """By scorer."""
    effects: tuple[Effect, ...]
    """Of every key, also of those that are not tested."""
    measures: tuple[StudiedMeasure, ...]
    """Those that are tested; by feature first."""
    agreements: tuple[DeltaAgreement, ...]
    answers: tuple[AnswerChanges, ...]

    @property
    def interventions(self) -> list[Intervention]:
        """Edits in the log's order, then paraphrases."""
        return list(self.texts.changed)


def study(path: str | Path, scorers: Sequence[str] = (), resamples: int = RESAMPLES, seed: int = 0) -> Study:
    """The study that a log holds.

    Args:
        path: The log, or a folder that holds one of a study.
        scorers: Whose scores; without any those of every scorer.
        resamples: Of every test that draws.
        seed: Of the draws.

    Raises:
        LogError: If there is no such log, or several, it is not finished or of no study, or it lacks a scorer.
    """
    logs = each_log([path], read_scored_log)
    studies = [log for log in logs if log.is_study]
    if not studies:
        raise LogError(
            f"{path} is no metric study: none of its samples says what was done to its text, expected a log of "
            "genie_inspect/metric_study"
        )
    if len(studies) > 1:
        raise LogError(
            f"{path} holds {len(studies)} metric studies, expected one: {', '.join(log.file for log in studies)}"
        )
    return study_of(studies[0], scorers, resamples, seed)


def study_of(log: ScoredLog, scorers: Sequence[str] = (), resamples: int = RESAMPLES, seed: int = 0) -> Study:
    """As `study`, of a log that is read.

    Raises:
        LogError: If it lacks originals, what was made of them, or a scorer.
    """
    texts = texts_of(log)
    _check(log, texts, scorers)
    edited = {one.feature for one in texts.changed if one.kind == EDIT}
    chosen = scorers or list(log.signatures)
    keys = [key for scorer in chosen for key in keys_of(log, scorer, edited)]
    effects = effects_of(texts, [*keys, WORDS], resamples, seed)
    signatures = {scorer: one_signature([log], scorer) for scorer in chosen}
    measures = tuple(sorted(measures_of(effects, signatures), key=lambda measure: not measure.is_by_feature))
    return Study(
        log=log,
        texts=texts,
        signatures=signatures,
        effects=effects,
        measures=measures,
        agreements=tuple(_agreements(measures, texts.changed)),
        answers=tuple(answer_changes(log.file, chosen)),
    )


def _check(log: ScoredLog, texts: StudyTexts, scorers: Sequence[str]) -> None:
    if not texts.originals:
        raise LogError(f"{log.file} is a metric study without originals, expected those that its texts were made of")
    if not any(texts.changed.values()):
        raise LogError(f"{log.file} is a metric study without any edit or paraphrase of its originals")
    if not log.signatures:
        raise LogError(f"{log.file} has no scores by any scorer, score it with: inspect score {log.file} --scorer ...")
    for scorer in scorers:
        if scorer not in log.signatures:
            raise LogError(f"{log.file} has no scores by {scorer!r}, its scorers: {', '.join(log.signatures)}")


def _agreements(measures: Sequence[StudiedMeasure], interventions: Iterable[Intervention]) -> Iterator[DeltaAgreement]:
    for first, second in combinations(measures, 2):
        for intervention in interventions:
            one, other = first.deltas(intervention), second.deltas(intervention)
            if both := [name for name in one if name in other]:
                tau = kendall([one[name] for name in both], [other[name] for name in both])
                yield DeltaAgreement(first.name, second.name, intervention, tau, len(both))
