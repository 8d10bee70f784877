"""What each intervention does to each key of each scorer: difference, effect size, tests."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from genie_inspect.interventions.schema import EDIT, PARAPHRASE
from genie_inspect.reports.sensitivity.keys import StudyKey
from genie_inspect.reports.sensitivity.pairs import Intervention, Pairs, StudyTexts, pairs_of
from genie_inspect.statistics.bootstrap import paired_bootstrap
from genie_inspect.statistics.equivalence import default_margin, tost
from genie_inspect.statistics.paired.corrections import bonferroni
from genie_inspect.statistics.paired.differences import LEVEL, Difference, differences
from genie_inspect.statistics.paired.pairs import TIE, Values
from genie_inspect.statistics.paired.permutation import paired_permutation

RESAMPLES = 10_000


@dataclass(frozen=True, slots=True)
class Effect:
    """What one intervention does to one key. A key that is not tested has no p-values."""

    intervention: Intervention
    key: StudyKey
    pairs: Pairs
    difference: Difference
    """Changed texts less originals, a pair a prompt; its p-value is that of the sign-flip permutation test,
    uncorrected. The margin is in standard deviations of the originals, each by itself."""
    p_value: float
    """Corrected for the number of tests of its family."""
    tests: int
    """How many there are in it; 0 where the key is not tested."""
    bootstrap_p: float
    """As the study tests: two-sided paired bootstrap with centred differences, corrected likewise."""
    bootstrap_p_unlike: float
    """Of a paraphrase, as the study tests: two one-sided paired bootstraps; uncorrected."""
    left: float = math.nan
    """The difference with length taken out; NaN of length itself, of what is constant, and where none can be told."""
    left_p: float = math.nan
    """That it is 0, by the same test and corrected as `p_value` is."""

    @property
    def words(self) -> float:
        """By how many words the changed texts are longer, a mean over prompts; NaN without any."""
        words = self.pairs.words.values()
        return math.fsum(words) / len(words) if words else math.nan

    @property
    def is_left(self) -> bool:
        """Whether the difference holds with length taken out."""
        return self.left_p < LEVEL

    @property
    def magnitude(self) -> float:
        """|d|, by which effects are ranked; differences that are all the same, and not 0, are beyond any."""
        if self.is_constant or not self.pairs.rows:
            return 0.0
        size = abs(self.difference.effect)
        return math.inf if math.isnan(size) and self.difference.pairs > 1 else size

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
    return tuple(_corrected(list(_less_length(effects, resamples, seed))))


def _effects(
    texts: StudyTexts, intervention: Intervention, keys: Sequence[StudyKey], resamples: int, seed: int
) -> Iterator[Effect]:
    columns = [pairs_of(texts, intervention, key.scorer, key.name) for key in keys]
    prompts = list(dict.fromkeys(own[0].prompt for own in texts.originals.values()))
    before, after = (_side(columns, prompts, side) for side in (0, 1))
    found = differences(before, after, resamples=resamples, seed=seed)
    resampled = paired_bootstrap(before, after, resamples, seed).p_value
    for place, (key, pairs) in enumerate(zip(keys, columns, strict=True)):
        # the margin is of texts as they are scored: means of several originals lie nearer to each other
        margin = default_margin(np.array([own for own, _ in pairs.rows.values()])) if pairs.rows else 0.0
        sides = before[:, place], after[:, place], margin or None
        alike = tost(*sides)
        difference = replace(found[place], margin=margin, p_unlike=alike.p_value)
        difference = difference.within(*key.ends) if key.ends else difference
        effect = Effect(intervention, key, pairs, difference, math.nan, 0, float(resampled[place]), math.nan)
        if not key.tested:
            difference = replace(difference, p_value=math.nan, p_unlike=math.nan)
            yield replace(effect, difference=difference, bootstrap_p=math.nan)
        elif effect.is_paraphrase:
            alike = tost(*sides, "bootstrap", resamples, seed)
            yield replace(effect, bootstrap_p_unlike=alike.p_value)
        else:
            yield effect


def _less_length(effects: Sequence[Effect], resamples: int, seed: int) -> Iterator[Effect]:
    """The effects with what is left of each when length is taken out."""
    prompts = list(dict.fromkeys(prompt for effect in effects for prompt in effect.pairs.prompts))
    left = np.full((len(prompts), len(effects)), math.nan)
    for place, effect in enumerate(effects):
        if not (effect.key.is_length or effect.is_constant):
            others = [other.pairs for other in effects if other.key == effect.key and other is not effect]
            left[:, place] = [_left(prompt, effect.pairs, others) for prompt in prompts]
    tested = paired_permutation(np.zeros_like(left), left, resamples, seed)
    for effect, delta, p_value in zip(effects, tested.delta, tested.p_value, strict=True):
        yield replace(effect, left=float(delta), left_p=float(p_value) if effect.key.tested else math.nan)


def _left(prompt: str, pairs: Pairs, others: Sequence[Pairs]) -> float:
    """A prompt's difference less what the prompt's other texts move the key per word, times its own change in words.

    The rate is that of a least-squares line through 0. Each prompt has its own, so that prompts stay independent, and
    the test allows for how well a rate is known. NaN where the others are as long as their originals, and these are
    not.
    """
    if prompt not in pairs.prompts:
        return math.nan
    before, after = pairs.prompts[prompt]
    delta, words = after - before, pairs.words[prompt]
    if words == 0:
        return delta
    known = [(own.words[prompt], own.prompts[prompt]) for own in others if prompt in own.prompts]
    squares = math.fsum(longer**2 for longer, _ in known)
    if squares == 0:
        return math.nan
    explained = math.fsum(longer * (changed - first) for longer, (first, changed) in known) / squares * words
    return 0.0 if math.isclose(delta, explained, rel_tol=TIE) else delta - explained


def _side(columns: Sequence[Pairs], prompts: Sequence[str], side: int) -> Values:
    """Values before (0) or after (1), a row a prompt, a column a key; NaN where there is none."""
    missing = (math.nan, math.nan)
    return np.array([[pairs.prompts.get(name, missing)[side] for pairs in columns] for name in prompts], dtype=float)


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
            yield replace(
                effect,
                p_value=float(p_values[at]),
                bootstrap_p=float(resampled[at]),
                left_p=float(np.minimum(1, effect.left_p * len(places))),
                tests=len(places),
            )
        else:
            yield effect


def _without_test(effect: Effect, tests: int) -> Effect:
    """What is constant has no effect size: 0 by the spread 0 is no number, and no p-value: there is nothing to test."""
    return replace(
        effect,
        difference=replace(effect.difference, effect=math.nan, p_value=math.nan),
        bootstrap_p=math.nan,
        left_p=math.nan,
        tests=tests,
    )
