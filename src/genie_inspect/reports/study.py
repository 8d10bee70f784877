"""What a metric study shows of each measure: effects by intervention, the matrix of features, agreement, answers."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from genie_inspect.logs.files import LogError, each_log
from genie_inspect.logs.measures import measure_of
from genie_inspect.logs.reading import read_scored_log
from genie_inspect.logs.scored_log import ScoredLog, one_signature
from genie_inspect.populations.interventions import EDIT
from genie_inspect.reports.effects import (
    LENGTH,
    RESAMPLES,
    WORDS,
    AnswerChanges,
    Effect,
    Intervention,
    StudyTexts,
    answer_changes,
    effects_of,
    keys_of,
    texts_of,
)
from genie_inspect.signature import judge_of
from genie_inspect.statistics.differences import LEVEL
from genie_inspect.statistics.effect import ROUNDING
from genie_inspect.statistics.equivalence import MARGIN_IN_STANDARD_DEVIATIONS
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

    @property
    def is_length(self) -> bool:
        """Whether it is how long texts are, which stands beside the measures for reference."""
        return self.scorer == LENGTH

    @property
    def printed_as(self) -> str:
        """Under which name the study behind Genie would have printed it: `genie`, or the key of a measure of texts."""
        return measure_of(self.signature) if self.is_by_feature else self.keys[0]

    @property
    def own(self) -> list[Effect]:
        """The effects by which it is judged: of each edit on the key that should move."""
        return [effect for effect in self.effects if effect.is_own]

    @property
    def paraphrases(self) -> list[Effect]:
        """The effects of paraphrases, on each key."""
        return [effect for effect in self.effects if effect.is_paraphrase]

    @property
    def is_constant(self) -> bool:
        """Whether it gives every text the same number."""
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
        """The effects of one intervention on each key."""
        return [effect for effect in self.effects if effect.intervention == intervention]

    def deltas(self, intervention: Intervention) -> Mapping[str, float]:
        """By original the difference that an intervention makes; none where no one key of it should move."""
        effects = [effect for effect in self.row(intervention) if effect.is_own or len(self.keys) == 1]
        return {name: after - before for effect in effects[:1] for name, (before, after) in effect.pairs.rows.items()}


def measures_of(effects: Sequence[Effect], signatures: Mapping[str, str]) -> Iterator[StudiedMeasure]:
    """The tested keys as measures: those of features by scorer, others one by one."""
    groups: dict[tuple[str, str], list[Effect]] = {}
    for effect in effects:
        if effect.key.tested:
            groups.setdefault((effect.key.scorer, "" if effect.key.feature else effect.key.name), []).append(effect)
    names = _names(list(groups), signatures)
    for name, ((scorer, key), own) in zip(names, groups.items(), strict=True):
        keys = tuple(dict.fromkeys(effect.key.name for effect in own))
        yield StudiedMeasure(name, scorer, signatures.get(scorer, ""), keys, not key, tuple(own), _shares(own))


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
    return {one: (_mean(own) - low) / (high - low) for one, own in by_intervention.items() if own}


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


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
    """The study that a log holds."""
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


MOST_NAMED = 3  # confounded features that one sentence can name and still be read
EQUIVALENT, MOVED, CANNOT_TELL, NOT_MEASURED = "equivalent", "moved", "cannot tell", "not measured"


def robustness(measure: StudiedMeasure) -> str:
    """Whether paraphrases leave a measure where it is: `equivalent`, `moved`, `cannot tell` or `not measured`.

    Equivalent is what is equivalent or the same in every key, also where a small difference holds; moved, what is moved
    in one.
    """
    measured = [effect for effect in measure.paraphrases if effect.difference.pairs]
    if not measured or measure.is_constant:
        return NOT_MEASURED
    # a key without any spread among originals has no margin, but what no paraphrase changes needs none
    if all(effect.is_equivalent or effect.is_constant for effect in measured):
        return EQUIVALENT
    return MOVED if _moved_by_paraphrases(measure) else CANNOT_TELL


def confounds(measure: StudiedMeasure) -> list[tuple[Effect, Effect]]:
    """The effects of edits on a feature that is not the edited one, and moves as much or more, each after its own.

    By d. Only those that hold: what does not move at all confounds nothing.
    """
    return [
        (own, other)
        for own in measure.own
        if own.key.feature
        for other in measure.row(own.intervention)
        if other.moved and not other.is_own and other.magnitude >= own.magnitude
    ]


def moves_most(measure: StudiedMeasure) -> list[Effect]:
    """Of a measure by feature the effects on the edited feature that hold and are the largest d of their row.

    Equals are none.
    """
    return [effect for effect in measure.own if effect.key.feature and effect.moved and is_largest(effect, measure)]


def is_largest(effect: Effect, measure: StudiedMeasure) -> bool:
    """Whether no other feature has so large a d for the same intervention."""
    others = [other.magnitude for other in measure.row(effect.intervention) if other is not effect]
    # a comparison with NaN is false: what could not be measured is not larger
    return effect.magnitude > max((size for size in others if not math.isnan(size)), default=0.0)


def sentence(measure: StudiedMeasure) -> str:
    """What the study shows of a measure: what it is sensitive to, whether it is robust, what it confounds."""
    name = measure.name.replace("_", " ")
    if not any(effect.difference.pairs for effect in measure.effects):
        return f"{name}: no text and its original both have a value, so that nothing is known of it."
    if measure.is_constant:
        return f"{name} is constant: it gives every text the same value, so that there is no effect and no test."
    parts = [_on_edits(measure), *_on_rows(measure), _on_paraphrases(measure), *_on_confounds(measure)]
    told = "; ".join([*parts, *_on_length(measure)])
    return f"For reference, {name} {told}." if measure.is_length else f"{name} {told}."


def _on_edits(measure: StudiedMeasure) -> str:
    judged = [effect for effect in measure.own if effect.difference.pairs]
    if not judged:
        return "was tried on no edit of a feature that it scores" if measure.is_by_feature else "was tried on no edit"
    holding, still = ([effect for effect in judged if effect.moved is side] for side in (True, False))
    if not holding:
        return "is not shown to be moved by any edit"
    told = listed([f"{effect.intervention.name} ({_size(effect)})" for effect in holding])
    rest = f", not shown for {listed([effect.intervention.name for effect in still])}" if still else ""
    return f"is sensitive to edits of {told}{rest}"


def _on_rows(measure: StudiedMeasure) -> Iterator[str]:
    holding = [effect for effect in measure.own if effect.key.feature and effect.moved]
    if holding and len(measure.keys) > 1:
        yield f"by d the edited feature moves most in {len(moves_most(measure))} of these {len(holding)}"


def _on_paraphrases(measure: StudiedMeasure) -> str:
    match robustness(measure):
        case "equivalent" if all(effect.is_constant for effect in measure.paraphrases if effect.difference.pairs):
            return "no paraphrase changes it"
        case "equivalent":
            where = " in every feature" if len(measure.keys) > 1 else ""
            return f"paraphrases leave it equivalent{where}, within {MARGIN_IN_STANDARD_DEVIATIONS} sd of the originals"
        case "moved":
            moved = _moved_by_paraphrases(measure)
            if measure.is_by_feature:
                return f"paraphrases move it in {listed([f'{one.key.name} ({_size(one)})' for one in moved])}"
            return f"paraphrases move it ({_size(moved[0])}){_as_far(measure)}"
        case "cannot tell":
            unsure = [one for one in measure.paraphrases if one.difference.pairs and not one.is_equivalent]
            where = f" in {listed([one.key.name for one in unsure])}" if measure.is_by_feature else ""
            prompts = min(one.difference.pairs for one in unsure)
            return f"whether paraphrases move it{where} cannot be told from {prompts} prompts"
    return "it was tried on no paraphrase"


def _on_confounds(measure: StudiedMeasure) -> Iterator[str]:
    pairs = confounds(measure)
    told = [
        f"edits of {own.intervention.name} move {other.key.name} ({_size(other)}) as much as their own feature "
        f"({_size(own)}) or more"
        for own, other in pairs[:MOST_NAMED]
    ]
    if told:
        more = [f"{len(pairs) - MOST_NAMED} more"] if len(pairs) > MOST_NAMED else []
        yield f"it confounds: {listed([*told, *more])}"
    elif measure.is_by_feature and any(effect.moved for effect in measure.own):
        yield "it confounds nothing that could be shown"


def _on_length(measure: StudiedMeasure) -> Iterator[str]:
    """What is left of the effects that hold when length is taken out; nothing where no text's length changed."""
    holding = [effect for effect in (*measure.own, *measure.paraphrases) if effect.moved and not effect.is_equivalent]
    if measure.is_length or not any(any(effect.pairs.words.values()) for effect in holding):
        return
    if all(effect.left == 0 for effect in holding):
        yield "with length taken out nothing is left"
        return
    fates: dict[str, list[str]] = {"holds": [], "turns round": [], "is no longer shown": []}
    for effect in holding:
        same_way = (effect.left > 0) == (effect.difference.delta > 0)
        fate = "is no longer shown" if not effect.is_left else "holds" if same_way else "turns round"
        fates[fate].append(_named(effect, measure))
    told = ", ".join(f"{fate} for {listed(names)}" for fate, names in fates.items() if names)
    yield f"with length taken out the effect {told}"


def _named(effect: Effect, measure: StudiedMeasure) -> str:
    by_feature = effect.is_paraphrase and measure.is_by_feature
    return f"paraphrase ({effect.key.name})" if by_feature else effect.intervention.name


def _moved_by_paraphrases(measure: StudiedMeasure) -> list[Effect]:
    return [effect for effect in measure.paraphrases if effect.moved and not effect.is_equivalent]


def _as_far(measure: StudiedMeasure) -> str:
    """Which edits move it no farther than paraphrases do."""
    (paraphrase,) = measure.paraphrases
    near = [effect.intervention.name for effect in measure.own if effect.size <= paraphrase.size]
    return f" as far as edits of {listed(near)} or farther" if near else ""


def _size(effect: Effect) -> str:
    # differences that are all the same have no spread to measure them in
    difference = effect.difference
    return f"always {difference.delta:+.3g}" if math.isnan(difference.effect) else f"d {difference.effect:+.2f}"


def listed(names: Sequence[str]) -> str:
    """Names in words.

    >>> listed(["social_atmosphere"]), listed(["agent", "plot", "style"])
    ('social atmosphere', 'agent, plot and style')
    """
    words = [name.replace("_", " ") for name in names]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def warnings(study: Study) -> list[str]:
    """What to beware of, a line each."""
    return [*_on_texts(study), *_on_values(study), *_on_tests(study)]


def _on_texts(study: Study) -> Iterator[str]:
    texts = study.texts
    if texts.unknown:
        yield f"left out because nothing says what was done to them: {texts.unknown} texts"
    for intervention in study.interventions:
        made = len(texts.changed[intervention])
        of = f"{'edits of ' if intervention.feature else ''}{intervention.name}{'' if intervention.feature else 's'}"
        told = of.replace("_", " ")
        if orphans := texts.orphans[intervention]:
            yield f"{orphans} of {made + orphans} {told} are left out: their original was not scored"
        if same := texts.same[intervention]:
            yield f"{same} of {made} {told} are word for word their original, and count with a difference of 0"


def _on_values(study: Study) -> Iterator[str]:
    edited = {one.feature for one in study.interventions}
    for measure in (one for one in study.measures if not one.is_length):
        name = measure.name.replace("_", " ")
        lost = {one: (effect.pairs.left_out, effect.pairs.pairs) for one, effect in _worst(measure)}
        for intervention, (left_out, pairs) in lost.items():
            if left_out:
                told = intervention.name.replace("_", " ")
                yield f"{name}: {left_out} of {left_out + pairs} pairs of {told} are left out: a side has no value"
        unedited = [key for key in measure.keys if key not in edited] if measure.is_by_feature else []
        if unedited:
            yield f"{name}: no text has an edit of {listed(unedited)}, so that its sensitivity to that is not known"
        elif not measure.is_by_feature and not any(one.feature for one in study.interventions):
            yield f"{name}: there are no edits, so that its sensitivity is not known"


def _worst(measure: StudiedMeasure) -> Iterator[tuple[Intervention, Effect]]:
    """Of each intervention the effect with the most pairs left out, on the key by which it is judged."""
    rows: dict[Intervention, list[Effect]] = {}
    for effect in measure.effects:
        if effect.is_own or effect.is_paraphrase:
            rows.setdefault(effect.intervention, []).append(effect)
    for intervention, effects in rows.items():
        yield intervention, max(effects, key=lambda effect: effect.pairs.left_out)


def _on_tests(study: Study) -> Iterator[str]:
    for measure in (one for one in study.measures if not one.is_length):
        name = measure.name.replace("_", " ")
        # that with the most prompts: where it cannot hold, none can
        for effect in sorted(measure.own, key=lambda effect: -effect.difference.pairs)[:1]:
            least, tests, pairs = effect.difference.least_p, effect.tests, effect.difference.pairs
            if pairs == 1:
                yield f"{name}: one prompt allows no test"
            elif least * tests >= LEVEL:
                yield (
                    f"{name}: with {pairs} prompts no p-value lies below {least:.2g}, over {tests} tests "
                    f"{min(1.0, least * tests):.2g}: no effect could hold, however large"
                )
