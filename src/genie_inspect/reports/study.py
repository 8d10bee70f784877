"""What a metric study shows of each measure: effects by intervention, the matrix of features, agreement, answers."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from genie_inspect.logs.evidence import mapping
from genie_inspect.logs.files import LogError, each_log, samples
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
from genie_inspect.samples import InterventionFacts
from genie_inspect.signature import Signature
from genie_inspect.statistics.effect import ROUNDING
from genie_inspect.statistics.ranking import kendall


@dataclass(frozen=True, slots=True)
class StudiedMeasure:
    """One measure: a number of the text as a whole, or a scorer that gives each feature its own."""

    name: str  # the scorer where it scores by feature, else the key; with what tells it apart from another of that name
    scorer: str
    signature: Signature
    keys: tuple[str, ...]  # the one, or one a feature
    is_by_feature: bool
    effects: tuple[Effect, ...]  # of each intervention on each key
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
        return self.signature.measure or self.scorer if self.is_by_feature else self.keys[0]

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
    effects: Sequence[Effect], signatures: Mapping[str, Signature], *, has_originals: bool = True
) -> Iterator[StudiedMeasure]:
    """The tested keys as measures: those of features by scorer, others one by one."""
    groups: dict[tuple[str, str], list[Effect]] = {}
    for effect in effects:
        if effect.key.tested:
            groups.setdefault((effect.key.scorer, "" if effect.key.feature else effect.key.name), []).append(effect)
    judges = [signatures.get(scorer, NONE).judge for scorer, _ in groups]
    measures = [key or signatures[scorer].measure or scorer for scorer, key in groups]
    for ((scorer, key), own), judge, measure in zip(groups.items(), judges, measures, strict=True):
        # no two names are alike: of scorer, key and judge as much as tells it from the others
        if scorer == LENGTH:
            name = "length in words"
        elif measures.count(measure) == 1:
            name = key or scorer
        # Inspect numbers scorers of one name: which of them is which, the judge says
        elif judge and list(zip(measures, judges, strict=True)).count((measure, judge)) == 1:
            name = f"{measure} ({judge})"
        else:
            name = f"{scorer}: {key}" if key and key != scorer else scorer
        keys = tuple(dict.fromkeys(effect.key.name for effect in own))
        signature, shares = signatures.get(scorer, NONE), _shares(own)
        yield StudiedMeasure(name, scorer, signature, keys, not key, tuple(own), shares, has_originals)


def _shares(effects: Sequence[Effect]) -> dict[Intervention, float]:
    # by original, so that a measure of which one text went far does not look moved by all
    by_intervention: dict[Intervention, list[float]] = {}
    for effect in effects:
        if effect.is_judged:
            by_intervention.setdefault(effect.intervention, []).extend(effect.pairs.sizes.values())
    sizes = [size for own in by_intervention.values() for size in own]
    if not sizes or max(sizes) == min(sizes):
        return {}
    low, high = min(sizes), max(sizes)
    return {one: (mean(own) - low) / (high - low) for one, own in by_intervention.items() if own}


CUT = "…"  # how an answer ends that the score's metadata had no room for
Answers = Mapping[str, tuple[str, str]]  # by question its feature and answer


@dataclass(frozen=True, slots=True)
class AnswerChanges:
    """Of the answers to one feature's questions, how many an intervention changed."""

    scorer: str
    intervention: Intervention
    feature: str
    changed: int
    compared: int  # answers that stand in the log for the original too


def answer_changes(file: str, scorers: Collection[str]) -> Iterator[AnswerChanges]:
    """How many answers each intervention changed, by feature; nothing of a scorer that keeps none."""
    originals: dict[tuple[str, str, int], Answers] = {}
    changed: list[tuple[str, InterventionFacts, int, Answers]] = []
    for sample in samples(file):
        facts = InterventionFacts.of(sample.metadata)
        for scorer, score in (sample.scores or {}).items() if facts else ():
            table = (score.metadata or {}).get("questions")
            # what has another form, or no room was for, is no answer
            answers: Answers = {
                row["id"]: (row["feature"], row["answer"])
                for row in (map(mapping, table) if isinstance(table, list) else ())
                if all(isinstance(row.get(name), str) for name in ("id", "feature", "answer"))
            }
            if facts and scorer in scorers and answers:
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
    tau: float  # Kendall's tau-b between their differences; NaN where one of them puts nothing in order
    originals: int


@dataclass(frozen=True, slots=True)
class Study:
    """What the scores of a metric study show."""

    file: str
    label: str  # its name among the logs that it is read with
    model: str  # that of the log; empty where the scores are from a file
    texts: StudyTexts
    signatures: Mapping[str, Signature]  # by scorer
    effects: tuple[Effect, ...]  # of every key, also of those that are not tested
    measures: tuple[StudiedMeasure, ...]  # those that are tested; by feature first
    agreements: tuple[DeltaAgreement, ...]
    answers: tuple[AnswerChanges, ...]
    names_prompts: bool = True  # else each original is a prompt of its own
    unstudied: tuple[str, ...] = ()  # keys that need originals, where there are none

    @property
    def interventions(self) -> list[Intervention]:
        """Edits in the log's order, then paraphrases."""
        return list(self.texts.changed)


def study(path: str | Path, scorers: Sequence[str] = (), resamples: int = RESAMPLES, seed: int = 0) -> Study:
    """The study that a log holds, or a file of scores (.csv, .jsonl)."""
    if Path(path).suffix in ENDINGS:
        texts, keys, names_prompts, left_out = read_study_scores(Path(path))
        chosen = _chosen(path, scorers, dict.fromkeys(key.scorer for key in keys))
        keys = [key for key in keys if key.scorer in chosen]
        signatures = dict.fromkeys(chosen, NONE)
        shown = _shown(texts, keys, signatures, resamples, seed)
        return Study(str(path), Path(path).name, "", texts, signatures, *shown, (), names_prompts, left_out)
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
    if not texts.originals:
        raise LogError(f"{log.file} is a metric study without originals, expected those that its texts were made of")
    if not any(texts.changed.values()):
        raise LogError(f"{log.file} is a metric study without any edit or paraphrase of its originals")
    if not log.signatures:
        raise LogError(f"{log.file} has no scores by any scorer, score it with: inspect score {log.file} --scorer ...")
    chosen = _chosen(log.file, scorers, log.signatures)
    edited = {one.feature for one in texts.changed if one.kind == EDIT}
    keys = [key for scorer in chosen for key in keys_of(log, scorer, edited)]
    signatures = {scorer: one_signature([log], scorer) for scorer in chosen}
    shown = _shown(texts, [*keys, WORDS], signatures, resamples, seed)
    answers = tuple(answer_changes(log.file, chosen))
    return Study(log.file, log.label, log.model, texts, signatures, *shown, answers)


def _chosen(file: str | Path, scorers: Sequence[str], known: Iterable[str]) -> list[str]:
    known = list(known)
    for scorer in scorers:
        if scorer not in known:
            raise LogError(f"{file} has no scores by {scorer!r}, its scorers: {', '.join(known)}")
    return list(scorers) or known


def _shown(
    texts: StudyTexts, keys: Sequence[StudyKey], signatures: Mapping[str, Signature], resamples: int, seed: int
) -> tuple[tuple[Effect, ...], tuple[StudiedMeasure, ...], tuple[DeltaAgreement, ...]]:
    """Effects, measures and agreements of a study."""
    effects = effects_of(texts, keys, resamples, seed)
    every = measures_of(effects, signatures, has_originals=bool(texts.originals))
    measures = tuple(sorted(every, key=lambda measure: not measure.is_by_feature))
    agreements = []
    for first, second in combinations(measures, 2):
        for intervention in texts.changed:
            one, other = first.deltas(intervention), second.deltas(intervention)
            if both := [name for name in one if name in other]:
                tau = kendall([one[name] for name in both], [other[name] for name in both])
                agreements.append(DeltaAgreement(first.name, second.name, intervention, tau, len(both)))
    return effects, measures, tuple(agreements)
