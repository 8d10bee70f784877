"""Edits and paraphrases of a log beside their originals, and what they do to each measure."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from genie_inspect.logs.measures import GENIE, Bounds, keys_to_test, measure_of
from genie_inspect.logs.scored_log import ScoredDocument, ScoredLog, one_signature
from genie_inspect.populations.interventions import EDIT, ORIGINAL, PARAPHRASE
from genie_inspect.statistics.bootstrap import paired_bootstrap
from genie_inspect.statistics.differences import LEVEL, Difference, differences, paired_permutation
from genie_inspect.statistics.effect import ROUNDING, TIE, Values, bonferroni
from genie_inspect.statistics.equivalence import default_margin, tost

LENGTH = ""
"""In the place of a scorer's name: the words of a text, to hold measures against."""
Text = tuple[ScoredDocument, ...]
"""One text: a document for each epoch in which it was scored."""


@dataclass(frozen=True, slots=True)
class Intervention:
    """What was done to originals."""

    kind: str
    """`edit` or `paraphrase`."""
    feature: str = ""
    """Which an edit changed."""

    @property
    def name(self) -> str:
        return self.feature if self.kind == EDIT else self.kind


@dataclass(frozen=True, slots=True)
class StudyTexts:
    """The texts of a study."""

    originals: Mapping[str, Text]
    """By id; none where edits of other features stand for them."""
    prompts: Mapping[str, str]
    """By id of an original its prompt."""
    changed: Mapping[Intervention, Sequence[tuple[str, Text]]]
    """What was made of an original that was scored, with the original's id; edits first, paraphrases last."""
    orphans: Mapping[Intervention, int]
    """Texts whose original was not scored."""
    same: Mapping[Intervention, int]
    """Texts that are word for word their original: they count, with a difference of 0."""
    unknown: int
    """Texts of which nobody says what was done to them; they are left out."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """The values of one key for an intervention, paired by original, and by prompt."""

    rows: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """By original its value, and the mean value of the texts that were made of it."""
    prompts: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """By prompt the means of these over its originals: what is tested."""
    words: Mapping[str, float] = field(default_factory=dict)
    """By prompt by how many words the same texts are longer than their originals, likewise; nothing where no text is
    known."""
    sizes: Mapping[str, float] = field(default_factory=dict)
    """By original how far these lie from it, whichever way: the mean of |difference|, each text by itself."""
    pairs: int = 0
    """Texts with a value whose original has one."""
    left_out: int = 0
    """Texts without a value, or whose original has none."""


def texts_of(documents: Iterable[ScoredDocument], *, stand_ins: bool = False) -> StudyTexts:
    """The texts of a study, originals with what was made of them.

    With `stand_ins` edits of other features stand for originals where there are none.
    """
    originals: dict[str, list[ScoredDocument]] = {}
    made: dict[tuple[Intervention, str, str | int], list[ScoredDocument]] = {}
    unknown: set[str | int] = set()
    for document in documents:
        facts = document.intervention
        if facts and facts.kind == ORIGINAL:
            originals.setdefault(facts.original, []).append(document)
        elif facts and (facts.kind == PARAPHRASE or (facts.kind == EDIT and facts.feature)):
            key = Intervention(facts.kind, facts.feature if facts.kind == EDIT else ""), facts.original, document.sample
            made.setdefault(key, []).append(document)
        else:
            unknown.add(document.sample)
    # `sorted` is stable: features stand as the log has them, with the paraphrases below
    interventions = sorted(dict.fromkeys(one for one, _, _ in made), key=lambda one: one.kind == PARAPHRASE)
    changed: dict[Intervention, list[tuple[str, Text]]] = {one: [] for one in interventions}
    orphans = dict.fromkeys(interventions, 0)
    same = dict.fromkeys(interventions, 0)
    prompts = {name: own[0].prompt for name, own in originals.items()}
    if stand_ins and not originals:
        prompts = {original: text[0].prompt for (_, original, _), text in made.items()}
    for (intervention, original, _), text in made.items():
        if original not in prompts:
            orphans[intervention] += 1
            continue
        changed[intervention].append((original, tuple(text)))
        # of scores that come without their texts nothing is known
        same[intervention] += bool(text[0].text) and text[0].text == originals[original][0].text
    own = {name: tuple(text) for name, text in originals.items()}
    return StudyTexts(own, prompts, changed, orphans, same, len(unknown))


def value_of(text: Text, scorer: str, key: str) -> float:
    """A text's value: the mean over the epochs in which it has one; NaN without any. Its words by `LENGTH`."""
    if scorer == LENGTH:
        return mean([document.words for document in text])
    values = [value for document in text if not math.isnan(value := document.value(scorer, key))]
    return mean(values) if values else math.nan


def compared_with(texts: StudyTexts, intervention: Intervention, feature: str) -> Mapping[str, Text]:
    """By id of an original what its changed texts are compared with: itself, or what stands for it.

    That is all edits of it which change neither the feature of the intervention nor that which is scored.
    """
    if texts.originals:
        return texts.originals
    others: dict[str, Text] = {}
    for one, made in texts.changed.items():
        if one.kind == EDIT and one.feature not in (intervention.feature, feature):
            for original, text in made:
                others[original] = (*others.get(original, ()), *text)
    return others


def pairs_of(texts: StudyTexts, intervention: Intervention, scored: "StudyKey") -> Pairs:
    """The pairs of a key for an intervention.

    The prompt is the unit: originals of one prompt, several paraphrases of one original and several epochs of one text
    are alike, and would be counted as so many witnesses if each were a pair of its own. Their mean is one.
    """
    before: dict[str, float] = {}
    after: dict[str, list[float]] = {}
    longer: dict[str, list[float]] = {}
    left_out = 0
    scorer, key = scored.scorer, scored.name
    others = compared_with(texts, intervention, scored.feature)
    for original, text in texts.changed.get(intervention, ()):
        first = others.get(original, ())
        value, changed = value_of(first, scorer, key), value_of(text, scorer, key)
        if math.isnan(value + changed):
            left_out += 1
            continue
        before[original] = value
        after.setdefault(original, []).append(changed)
        if not math.isnan(words := value_of(text, LENGTH, "") - value_of(first, LENGTH, "")):
            longer.setdefault(original, []).append(words)
    rows = {name: (before[name], mean(own)) for name, own in after.items()}
    prompts: dict[str, list[str]] = {}
    for name in rows:
        prompts.setdefault(texts.prompts[name], []).append(name)
    return Pairs(
        rows=rows,
        prompts={
            prompt: (mean([rows[name][0] for name in names]), mean([rows[name][1] for name in names]))
            for prompt, names in prompts.items()
        },
        words={prompt: mean([mean(longer[name]) for name in names]) for prompt, names in prompts.items() if longer},
        sizes={name: mean([_between(before[name], one) for one in own]) for name, own in after.items()},
        pairs=sum(map(len, after.values())),
        left_out=left_out,
    )


def mean(values: Collection[float]) -> float:
    return math.fsum(values) / len(values)


def _between(before: float, after: float) -> float:
    # the same values in other numbers of epochs have means that differ in their last bits
    return 0.0 if math.isclose(before, after, rel_tol=ROUNDING) else abs(after - before)


@dataclass(frozen=True, slots=True)
class StudyKey:
    """One number that a scorer gives every text."""

    scorer: str
    name: str
    feature: str
    """Of which feature it is the score; empty where it is of the text as a whole."""
    tested: bool
    """Whether it answers its measure's question; the others are shown without tests."""
    ends: Bounds | None = None
    """Lowest and highest value that there can be, where they are known."""

    @property
    def is_length(self) -> bool:
        return self.scorer == LENGTH


WORDS = StudyKey(LENGTH, "words", "", tested=True)
"""What a count of words would show of the same texts."""


def keys_of(log: ScoredLog, scorer: str, edited: Collection[str]) -> Iterator[StudyKey]:
    """A scorer's keys. Those that are named like an edited feature are scores of it; all of Genie's are of features."""
    by_genie = measure_of(one_signature([log], scorer)) == GENIE
    # every key that any of the texts has, originals or not
    documents = (*log.documents, *log.changed)
    values = (document.scores[scorer].values for document in documents if scorer in document.scores)
    names = tuple(dict.fromkeys(key for row in values for key in row))
    headlines = keys_to_test(log.declared(scorer), names)
    for name in names:
        feature = name if by_genie or name in edited else ""
        yield StudyKey(scorer, name, feature, bool(feature) or name in headlines, log.known_range(scorer, name))


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
        return mean(self.pairs.words.values()) if self.pairs.words else math.nan

    @property
    def is_left(self) -> bool:
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
        return mean(self.pairs.sizes.values()) if self.pairs.sizes else math.nan

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
    columns = [pairs_of(texts, intervention, key) for key in keys]
    prompts = list(dict.fromkeys(texts.prompts.values()))
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
    if prompt not in pairs.words:
        return math.nan
    before, after = pairs.prompts[prompt]
    delta, words = after - before, pairs.words[prompt]
    if words == 0:
        return delta
    known = [(own.words[prompt], own.prompts[prompt]) for own in others if prompt in own.words]
    squares = math.fsum(longer**2 for longer, _ in known)
    if squares == 0:
        return math.nan
    explained = math.fsum(longer * (changed - first) for longer, (first, changed) in known) / squares * words
    return 0.0 if math.isclose(delta, explained, rel_tol=TIE) else delta - explained


def _side(columns: Sequence[Pairs], prompts: Sequence[str], side: int) -> Values:
    """Values before (0) or after (1), a row a prompt, a column a key; NaN where there is none."""
    missing = (math.nan, math.nan)
    return np.array([[pairs.prompts.get(name, missing)[side] for pairs in columns] for name in prompts], dtype=float)


def _corrected(effects: Sequence[Effect]) -> list[Effect]:
    """The effects with the p-values of each family corrected; what is constant counts as a test that found nothing."""
    families: dict[tuple[str, ...], list[int]] = {}
    for place, effect in enumerate(effects):
        if effect.key.tested and not math.isnan(effect.difference.p_value):
            families.setdefault(effect.family, []).append(place)
    corrected = list(effects)
    for places in families.values():
        p_values = bonferroni([effects[place].difference.p_value for place in places])
        resampled = bonferroni([effects[place].bootstrap_p for place in places])
        for place, p_value, bootstrap_p in zip(places, map(float, p_values), map(float, resampled), strict=True):
            left_p = float(np.minimum(1, effects[place].left_p * len(places)))
            corrected[place] = replace(
                effects[place], p_value=p_value, bootstrap_p=bootstrap_p, left_p=left_p, tests=len(places)
            )
    return [_without_test(effect) if effect.is_constant else effect for effect in corrected]


def _without_test(effect: Effect) -> Effect:
    """What is constant has no effect size: 0 by the spread 0 is no number, and no p-value: there is nothing to test."""
    bare = replace(effect.difference, effect=math.nan, p_value=math.nan)
    return replace(effect, difference=bare, p_value=math.nan, bootstrap_p=math.nan, left_p=math.nan)
