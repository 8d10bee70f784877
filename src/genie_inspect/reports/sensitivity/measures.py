"""The measures of a study: what each is called, by which of its effects it is judged, how far texts go by it."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from genie_inspect.logs.measures import measure_of
from genie_inspect.reports.sensitivity.effects import Effect
from genie_inspect.reports.sensitivity.pairs import LENGTH, Intervention
from genie_inspect.signature import judge_of
from genie_inspect.statistics.paired.pairs import ROUNDING


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
