"""What each intervention does to each key of each scorer: difference, effect size, tests."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from genie_inspect.interventions.schema import EDIT, PARAPHRASE
from genie_inspect.reports.sensitivity.keys import StudyKey
from genie_inspect.reports.sensitivity.pairs import Intervention, Pairs, StudyTexts, pairs_of
from genie_inspect.statistics.bootstrap import paired_bootstrap
from genie_inspect.statistics.equivalence import tost
from genie_inspect.statistics.paired.corrections import bonferroni
from genie_inspect.statistics.paired.differences import LEVEL, Difference, differences
from genie_inspect.statistics.paired.pairs import Values

RESAMPLES = 10_000


@dataclass(frozen=True, slots=True)
class Effect:
    """What one intervention does to one key. A key that is not tested has no p-values."""

    intervention: Intervention
    key: StudyKey
    pairs: Pairs
    difference: Difference
    """Changed texts less originals; its p-value is that of the sign-flip permutation test, uncorrected."""
    p_value: float
    """Corrected for the number of tests of its family."""
    tests: int
    """How many there are in it; 0 where the key is not tested."""
    bootstrap_p: float
    """As the study tests: two-sided paired bootstrap with centred differences, corrected likewise."""
    bootstrap_p_unlike: float
    """Of a paraphrase, as the study tests: two one-sided paired bootstraps; uncorrected."""

    @property
    def is_constant(self) -> bool:
        """Whether no text differs from its original in this key: there is no effect and nothing to test."""
        return self.difference.pairs > 0 and not any(self.pairs.sizes.values())

    @property
    def is_own(self) -> bool:
        """Whether an edit is judged by this key: that of its feature, or one which is of no feature."""
        return self.intervention.kind == EDIT and self.key.feature in ("", self.intervention.feature)

    @property
    def is_paraphrase(self) -> bool:
        """Whether it is of paraphrases."""
        return self.intervention.kind == PARAPHRASE

    @property
    def moved(self) -> bool:
        """Whether the difference holds."""
        return self.p_value < LEVEL

    @property
    def is_equivalent(self) -> bool:
        """Whether paraphrases leave the key within 0.2 standard deviations of the originals."""
        return self.is_paraphrase and self.difference.p_unlike < LEVEL

    @property
    def size(self) -> float:
        """How far the changed texts lie from their originals, whichever way; NaN without any."""
        sizes = self.pairs.sizes.values()
        return math.fsum(sizes) / len(sizes) if sizes else math.nan

    @property
    def family(self) -> tuple[str, ...]:
        """With which others it is tested: those of one question asked several times."""
        if not self.key.feature:
            # a number by itself: is it moved by any of the edits? do paraphrases move it?
            return (self.key.scorer, self.key.name, self.intervention.kind)
        # does any feature follow its own edits? do any others? do paraphrases move any of them?
        return (self.key.scorer, self.intervention.kind, "own" if self.is_own else "")


def effects_of(
    texts: StudyTexts, keys: Sequence[StudyKey], resamples: int = RESAMPLES, seed: int = 0
) -> tuple[Effect, ...]:
    """The effect of every intervention on every key, interventions in their order, with p-values corrected."""
    if not keys:
        return ()
    effects = [effect for one in texts.changed for effect in _effects(texts, one, keys, resamples, seed)]
    return tuple(_corrected(effects))


def _effects(
    texts: StudyTexts, intervention: Intervention, keys: Sequence[StudyKey], resamples: int, seed: int
) -> Iterator[Effect]:
    columns = [pairs_of(texts, intervention, key.scorer, key.name) for key in keys]
    before, after = (_side(columns, list(texts.originals), side) for side in (0, 1))
    found = differences(before, after, resamples=resamples, seed=seed)
    resampled = paired_bootstrap(before, after, resamples, seed).p_value
    for place, (key, pairs) in enumerate(zip(keys, columns, strict=True)):
        difference = found[place].within(*key.ends) if key.ends else found[place]
        effect = Effect(intervention, key, pairs, difference, math.nan, 0, float(resampled[place]), math.nan)
        if not key.tested:
            difference = replace(difference, p_value=math.nan, p_unlike=math.nan)
            yield replace(effect, difference=difference, bootstrap_p=math.nan)
        elif effect.is_paraphrase:
            alike = tost(before[:, place], after[:, place], None, "bootstrap", resamples, seed)
            yield replace(effect, bootstrap_p_unlike=alike.p_value)
        else:
            yield effect


def _side(columns: Sequence[Pairs], originals: Sequence[str], side: int) -> Values:
    """Values before (0) or after (1), a row an original, a column a key; NaN where there is none."""
    missing = (math.nan, math.nan)
    return np.array([[pairs.rows.get(name, missing)[side] for pairs in columns] for name in originals], dtype=float)


def _corrected(effects: Sequence[Effect]) -> Iterator[Effect]:
    """The effects with the p-values of each family corrected; what is constant counts as a test that found nothing."""
    families: dict[tuple[str, ...], list[int]] = {}
    for place, effect in enumerate(effects):
        if effect.key.tested and not math.isnan(effect.difference.p_value):
            families.setdefault(effect.family, []).append(place)
    own = {place: places for places in families.values() for place in places}
    for place, effect in enumerate(effects):
        if effect.is_constant:
            yield _without_test(effect, len(own.get(place, ())))
        elif place in own:
            places = own[place]
            at = places.index(place)
            p_values = bonferroni([effects[other].difference.p_value for other in places])
            resampled = bonferroni([effects[other].bootstrap_p for other in places])
            yield replace(effect, p_value=float(p_values[at]), bootstrap_p=float(resampled[at]), tests=len(places))
        else:
            yield effect


def _without_test(effect: Effect, tests: int) -> Effect:
    """What is constant has no effect size: 0 by the spread 0 is no number, and no p-value: there is nothing to test."""
    return replace(
        effect,
        difference=replace(effect.difference, effect=math.nan, p_value=math.nan),
        bootstrap_p=math.nan,
        tests=tests,
    )
