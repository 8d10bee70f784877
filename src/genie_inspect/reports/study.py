"""What a metric study shows of each measure: effects by intervention, the matrix of features, agreement, answers."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from genie_inspect.logs.evidence import mapping
from genie_inspect.logs.files import LogError, each_log, samples
from genie_inspect.logs.measures import measure_of
from genie_inspect.logs.reading import read_scored_log
from genie_inspect.logs.scored_log import ScoredLog, one_signature
from genie_inspect.logs.scores import NONE
from genie_inspect.populations.interventions import EDIT, ORIGINAL
from genie_inspect.reports.effects import (
    LENGTH,
    RESAMPLES,
    WORDS,
    Effect,
    Intervention,
    StudyKey,
    StudyTexts,
    effects_of,
    keys_of,
    mean,
    texts_of,
)
from genie_inspect.reports.study_scores import ENDINGS, read_study_scores
from genie_inspect.samples import InterventionFacts, intervention_of
from genie_inspect.signature import judge_of
from genie_inspect.statistics.effect import ROUNDING
from genie_inspect.statistics.ranking import kendall


@dataclass(frozen=True, slots=True)
class StudiedMeasure:
    """One measure: a number of the text as a whole, or a scorer that gives each feature its own."""

    name: str
    """The scorer where it scores by feature, else the key; with what tells it apart from another of that name."""
    scorer: str
    signature: str
    keys: tuple[str, ...]
    """The one, or one a feature."""
    is_by_feature: bool
    effects: tuple[Effect, ...]
    """Of each intervention on each key."""
    shares: Mapping[Intervention, float]
    """How far each intervention moves it, whichever way, between the nearest (0) and the farthest (1) that any text
    went; of edits by the edited feature's own key, of paraphrases over all keys."""
    has_originals: bool = True
    """Else its texts are compared with edits of other features, which may have moved the others' scores."""

    @property
    def is_length(self) -> bool:
        return self.scorer == LENGTH

    @property
    def printed_as(self) -> str:
        """Under which name the study behind Genie would have printed it: `genie`, or the key of a measure of texts."""
        return measure_of(self.signature) or self.scorer if self.is_by_feature else self.keys[0]

    @property
    def own(self) -> list[Effect]:
        """The effects by which it is judged: of each edit on the key that should move."""
        return [effect for effect in self.effects if effect.is_own]

    @property
    def paraphrases(self) -> list[Effect]:
        return [effect for effect in self.effects if effect.is_paraphrase]

    @property
    def is_constant(self) -> bool:
        originals = [before for effect in self.effects for before, _ in effect.pairs.rows.values()]
        first = originals[0] if originals else math.nan
        alike = all(math.isclose(value, first, rel_tol=ROUNDING) for value in originals)
        return bool(originals) and alike and all(effect.is_constant for effect in self.effects if effect.pairs.rows)

    @property
    def decimals(self) -> int:
        """With how many its differences show: three, or more where texts differ by little."""
        if self.is_length:
            return 1
        spreads = [effect.difference.spread for effect in self.effects if effect.difference.spread > 0]
        return min(6, max(3, 1 - math.floor(math.log10(max(spreads, default=1.0)))))

    def row(self, intervention: Intervention) -> list[Effect]:
        return [effect for effect in self.effects if effect.intervention == intervention]

    def deltas(self, intervention: Intervention) -> Mapping[str, float]:
        """By original the difference that an intervention makes; none where no one key of it should move."""
        effects = [effect for effect in self.row(intervention) if effect.is_own or len(self.keys) == 1]
        return {name: after - before for effect in effects[:1] for name, (before, after) in effect.pairs.rows.items()}


def measures_of(
    effects: Sequence[Effect], signatures: Mapping[str, str], *, has_originals: bool = True
) -> Iterator[StudiedMeasure]:
    """The tested keys as measures: those of features by scorer, others one by one."""
    groups: dict[tuple[str, str], list[Effect]] = {}
    for effect in effects:
        if effect.key.tested:
            groups.setdefault((effect.key.scorer, "" if effect.key.feature else effect.key.name), []).append(effect)
    for name, ((scorer, key), own) in zip(_names(list(groups), signatures), groups.items(), strict=True):
        keys = tuple(dict.fromkeys(effect.key.name for effect in own))
        signature, shares = signatures.get(scorer, ""), _shares(own)
        yield StudiedMeasure(name, scorer, signature, keys, not key, tuple(own), shares, has_originals)


def _names(groups: Sequence[tuple[str, str]], signatures: Mapping[str, str]) -> Iterator[str]:
    """A name for each measure, no two alike, of scorer, key and judge as much as tells it from the others."""
    judges = [judge_of(signatures.get(scorer, "")) for scorer, _ in groups]
    measures = [key or measure_of(signatures[scorer]) or scorer for scorer, key in groups]
    for (scorer, key), judge, measure in zip(groups, judges, measures, strict=True):
        if scorer == LENGTH:
            yield "length in words"
        elif measures.count(measure) == 1:
            yield key or scorer
        # Inspect numbers scorers of one name: which of them is which, the judge says
        elif judge and list(zip(measures, judges, strict=True)).count((measure, judge)) == 1:
            yield f"{measure} ({judge})"
        else:
            yield f"{scorer}: {key}" if key and key != scorer else scorer


def _shares(effects: Sequence[Effect]) -> dict[Intervention, float]:
    judged = [effect for effect in effects if effect.is_own or effect.is_paraphrase]
    sizes = [size for effect in judged for size in effect.pairs.sizes.values()]
    if not sizes or max(sizes) == min(sizes):
        return {}
    # by original, so that a measure of which one text went far does not look moved by all
    low, high = min(sizes), max(sizes)
    by_intervention: dict[Intervention, list[float]] = {}
    for effect in judged:
        by_intervention.setdefault(effect.intervention, []).extend(effect.pairs.sizes.values())
    return {one: (mean(own) - low) / (high - low) for one, own in by_intervention.items() if own}


CUT = "…"
"""How an answer ends that the score's metadata had no room for."""
Answers = Mapping[str, tuple[str, str]]
"""By question its feature and answer."""


@dataclass(frozen=True, slots=True)
class AnswerChanges:
    """Of the answers to one feature's questions, how many an intervention changed."""

    scorer: str
    intervention: Intervention
    feature: str
    changed: int
    compared: int
    """Answers that stand in the log for the original too."""


def answer_changes(file: str, scorers: Collection[str]) -> Iterator[AnswerChanges]:
    """How many answers each intervention changed, by feature; nothing of a scorer that keeps none."""
    originals: dict[tuple[str, str, int], Answers] = {}
    changed: list[tuple[str, InterventionFacts, int, Answers]] = []
    for sample in samples(file):
        facts = intervention_of(sample)
        for scorer, score in (sample.scores or {}).items() if facts else ():
            if facts and scorer in scorers and (answers := _answers((score.metadata or {}).get("questions"))):
                if facts.kind == ORIGINAL:
                    originals[scorer, facts.original, sample.epoch] = answers
                else:
                    changed.append((scorer, facts, sample.epoch, answers))
    counts: dict[tuple[str, Intervention, str], list[bool]] = {}
    for scorer, facts, epoch, answers in changed:
        before = originals.get((scorer, facts.original, epoch), {})
        intervention = Intervention(facts.kind, facts.feature if facts.kind == EDIT else "")
        for question, (feature, answer) in answers.items():
            if question in before:
                differs = _differs(before[question][1], answer)
                counts.setdefault((scorer, intervention, feature), []).append(differs)
    for (scorer, intervention, feature), differing in counts.items():
        yield AnswerChanges(scorer, intervention, feature, sum(differing), len(differing))


def _answers(table: object) -> Answers:
    """The answers of a score's question table; what has another form, or no room was for, is not among them."""
    rows: list[Mapping[str, Any]] = [mapping(row) for row in table] if isinstance(table, list) else []
    return {
        row["id"]: (row["feature"], row["answer"])
        for row in rows
        if all(isinstance(row.get(name), str) for name in ("id", "feature", "answer"))
    }


def _differs(before: str, after: str) -> bool:
    """Whether two answers are other words; case, space and the last point make none.

    >>> _differs("In rain.", "in  rain"), _differs("in a long, long ra…", "in a long, long rainy night")
    (False, False)
    """
    sides = [" ".join(side.casefold().split()).rstrip(".") for side in (before, after)]
    # of an answer that was cut only the beginning is known
    known = min((len(side) - 1 for side in sides if side.endswith(CUT)), default=None)
    return sides[0][:known] != sides[1][:known]


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
    """What the scores of a metric study show."""

    file: str
    label: str
    """Its name among the logs that it is read with."""
    model: str
    """That of the log; empty where the scores are from a file."""
    texts: StudyTexts
    signatures: Mapping[str, str]
    """By scorer."""
    effects: tuple[Effect, ...]
    """Of every key, also of those that are not tested."""
    measures: tuple[StudiedMeasure, ...]
    """Those that are tested; by feature first."""
    agreements: tuple[DeltaAgreement, ...]
    answers: tuple[AnswerChanges, ...]
    names_prompts: bool = True
    """Else each original is a prompt of its own."""
    unstudied: tuple[str, ...] = ()
    """Keys that need originals, where there are none."""

    @property
    def interventions(self) -> list[Intervention]:
        """Edits in the log's order, then paraphrases."""
        return list(self.texts.changed)


def study(path: str | Path, scorers: Sequence[str] = (), resamples: int = RESAMPLES, seed: int = 0) -> Study:
    """The study that a log holds, or a file of scores (.csv, .jsonl)."""
    if Path(path).suffix in ENDINGS:
        return _of_scores(Path(path), scorers, resamples, seed)
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
    """As `study`, of a log that is read."""
    texts = texts_of((*log.documents, *log.changed))
    _check(log, texts, scorers)
    edited = {one.feature for one in texts.changed if one.kind == EDIT}
    chosen = scorers or list(log.signatures)
    keys = [key for scorer in chosen for key in keys_of(log, scorer, edited)]
    signatures = {scorer: one_signature([log], scorer) for scorer in chosen}
    answers = tuple(answer_changes(log.file, chosen))
    found = _found(texts, [*keys, WORDS], signatures, resamples, seed)
    return Study(log.file, log.label, log.model, texts, signatures, *found, answers)


def _of_scores(file: Path, scorers: Sequence[str], resamples: int, seed: int) -> Study:
    scores = read_study_scores(file)
    signatures = dict.fromkeys((key.scorer for key in scores.keys), NONE)
    for scorer in scorers:
        if scorer not in signatures:
            raise LogError(f"{file} has no scores by {scorer!r}, its scorers: {', '.join(signatures)}")
    signatures = dict.fromkeys(scorers or signatures, NONE)
    keys = [key for key in scores.keys if key.scorer in signatures]
    found = _found(scores.texts, keys, signatures, resamples, seed)
    named, left_out = scores.names_prompts, scores.left_out
    return Study(str(file), file.name, "", scores.texts, signatures, *found, (), named, left_out)


def _found(
    texts: StudyTexts, keys: Sequence[StudyKey], signatures: Mapping[str, str], resamples: int, seed: int
) -> tuple[tuple[Effect, ...], tuple[StudiedMeasure, ...], tuple[DeltaAgreement, ...]]:
    effects = effects_of(texts, keys, resamples, seed)
    every = measures_of(effects, signatures, has_originals=bool(texts.originals))
    measures = tuple(sorted(every, key=lambda measure: not measure.is_by_feature))
    return effects, measures, tuple(_agreements(measures, texts.changed))


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
