"""Edits and paraphrases of a log beside their originals, and what they do to each measure."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from genie_inspect.logs.measures import GENIE, Bounds, keys_to_test
from genie_inspect.logs.scored_log import ScoredDocument, ScoredLog, one_signature
from genie_inspect.populations.interventions import EDIT, ORIGINAL, PARAPHRASE
from genie_inspect.statistics.bootstrap import paired_bootstrap
from genie_inspect.statistics.differences import LEVEL, Difference, differences, paired_permutation
from genie_inspect.statistics.effect import ROUNDING, TIE, bonferroni
from genie_inspect.statistics.equivalence import default_margin, tost

LENGTH = ""  # in the place of a scorer's name: the words of a text, to hold measures against
Text = tuple[ScoredDocument, ...]  # one text: a document for each epoch in which it was scored


@dataclass(frozen=True, slots=True)
class Intervention:
    """What was done to originals."""

    kind: str  # `edit` or `paraphrase`
    feature: str = ""  # which an edit changed

    @property
    def name(self) -> str:
        return self.feature if self.kind == EDIT else self.kind


@dataclass(frozen=True, slots=True)
class StudyTexts:
    """The texts of a study."""

    originals: Mapping[str, Text]  # by id; none where edits of other features stand for them
    prompts: Mapping[str, str]  # by id of an original its prompt
    changed: Mapping[Intervention, Sequence[tuple[str, Text]]]
    """What was made of an original that was scored, with the original's id; edits first, paraphrases last."""
    orphans: Mapping[Intervention, int]  # texts whose original was not scored
    same: Mapping[Intervention, int]  # texts that are word for word their original: they count, with a difference of 0
    unknown: int  # texts of which nobody says what was done to them; they are left out


@dataclass(frozen=True, slots=True)
class StudyPairs:
    """The values of one key for an intervention, paired by original, and by prompt."""

    rows: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """By original its value, and the mean value of the texts that were made of it."""
    prompts: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """By prompt the means of these over its originals: what is tested."""
    words: Mapping[str, float] = field(default_factory=dict)
    """By prompt by how many words the same texts are longer, likewise; nothing where no text is known."""
    sizes: Mapping[str, float] = field(default_factory=dict)
    """By original how far these lie from it, whichever way: the mean of |difference|, each text by itself."""
    pairs: int = 0  # texts with a value whose original has one
    left_out: int = 0  # texts without a value, or whose original has none


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
    return StudyTexts(
        {name: tuple(text) for name, text in originals.items()}, prompts, changed, orphans, same, len(unknown)
    )


def value_of(text: Text, scorer: str, key: str) -> float:
    """A text's value: the mean over the epochs in which it has one; NaN without any. Its words by `LENGTH`."""
    if scorer == LENGTH:
        return mean([document.words for document in text])
    values = [value for document in text if not math.isnan(value := document.value(scorer, key))]
    return mean(values) if values else math.nan


def pairs_of(texts: StudyTexts, intervention: Intervention, scored: "StudyKey") -> StudyPairs:
    """The pairs of a key for an intervention.

    The prompt is the unit: originals of one prompt, several paraphrases of one original and several epochs of one text
    are alike, and would be counted as so many witnesses if each were a pair of its own. Their mean is one.
    """
    others = dict(texts.originals)
    if not others:
        # edits of an original stand for it that change neither the edited feature nor the one which is scored
        for one, made in texts.changed.items():
            if one.kind == EDIT and one.feature not in (intervention.feature, scored.feature):
                for original, text in made:
                    others[original] = (*others.get(original, ()), *text)
    before: dict[str, float] = {}
    after: dict[str, list[float]] = {}
    longer: dict[str, list[float]] = {}
    left_out = 0
    for original, text in texts.changed.get(intervention, ()):
        first = others.get(original, ())
        value, changed = (value_of(side, scored.scorer, scored.name) for side in (first, text))
        if math.isnan(value + changed):
            left_out += 1
            continue
        before[original] = value
        after.setdefault(original, []).append(changed)
        if not math.isnan(words := value_of(text, LENGTH, "") - value_of(first, LENGTH, "")):
            longer.setdefault(original, []).append(words)
    rows = {name: (before[name], mean(own)) for name, own in after.items()}
    # the same values in other numbers of epochs have means that differ in their last bits
    far = {
        name: [0.0 if math.isclose(value, one, rel_tol=ROUNDING) else abs(one - value) for one in after[name]]
        for name, value in before.items()
    }
    prompts: dict[str, list[str]] = {}
    for name in rows:
        prompts.setdefault(texts.prompts[name], []).append(name)
    return StudyPairs(
        rows=rows,
        prompts={
            prompt: (mean([rows[name][0] for name in names]), mean([rows[name][1] for name in names]))
            for prompt, names in prompts.items()
        },
        words={prompt: mean([mean(longer[name]) for name in names]) for prompt, names in prompts.items() if longer},
        sizes={name: mean(own) for name, own in far.items()},
        pairs=sum(map(len, after.values())),
        left_out=left_out,
    )


def mean(values: Collection[float]) -> float:
    return math.fsum(values) / len(values)


@dataclass(frozen=True, slots=True)
class StudyKey:
    """One number that a scorer gives every text."""

    scorer: str
    name: str
    feature: str  # of which feature it is the score; empty where it is of the text as a whole
    tested: bool  # whether it answers its measure's question; the others are shown without tests
    ends: Bounds | None = None  # lowest and highest value that there can be, where they are known

    @property
    def is_length(self) -> bool:
        return self.scorer == LENGTH


WORDS = StudyKey(LENGTH, "words", "", tested=True)  # what a count of words would show of the same texts


def keys_of(log: ScoredLog, scorer: str, edited: Collection[str]) -> Iterator[StudyKey]:
    """A scorer's keys. Those that are named like an edited feature are scores of it; all of Genie's are of features."""
    by_genie = one_signature([log], scorer).measure == GENIE
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
    pairs: StudyPairs
    difference: Difference
    """Changed texts less originals, a pair a prompt; its p-value is that of the sign-flip permutation test,
    uncorrected. The margin is in standard deviations of the originals, each by itself."""
    bootstrap_p: float  # as the study tests: two-sided paired bootstrap with centred differences, corrected likewise
    p_value: float = math.nan  # corrected for the number of tests of its family
    tests: int = 0  # how many there are in it; 0 where the key is not tested
    bootstrap_p_unlike: float = math.nan  # of a paraphrase: two one-sided paired bootstraps; uncorrected
    left: float = math.nan
    """The difference with length taken out; NaN of length itself, of what is constant, and where none can be told."""
    left_p: float = math.nan  # that it is 0, by the same test and corrected as `p_value` is

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
    def is_judged(self) -> bool:
        """Whether its measure is judged by it."""
        return self.is_own or self.is_paraphrase

    @property
    def moved(self) -> bool:
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
    prompts = list(dict.fromkeys(prompt for effect in effects for prompt in effect.pairs.prompts))
    left = np.full((len(prompts), len(effects)), math.nan)
    for place, effect in enumerate(effects):
        if not (effect.key.is_length or effect.is_constant):
            others = [other.pairs for other in effects if other.key == effect.key and other is not effect]
            left[:, place] = [_left(prompt, effect.pairs, others) for prompt in prompts]
    tested = paired_permutation(np.zeros_like(left), left, resamples, seed)
    with_left = [
        replace(effect, left=float(delta), left_p=float(p_value) if effect.key.tested else math.nan)
        for effect, delta, p_value in zip(effects, tested.delta, tested.p_value, strict=True)
    ]
    return tuple(_corrected(with_left))


def _effects(
    texts: StudyTexts, intervention: Intervention, keys: Sequence[StudyKey], resamples: int, seed: int
) -> Iterator[Effect]:
    columns = [pairs_of(texts, intervention, key) for key in keys]
    missing = (math.nan, math.nan)
    # prompts down, keys across
    values = [[pairs.prompts.get(name, missing) for pairs in columns] for name in dict.fromkeys(texts.prompts.values())]
    before, after = np.moveaxis(np.array(values, dtype=float), 2, 0)
    measured = differences(before, after, resamples=resamples, seed=seed)
    resampled = paired_bootstrap(before, after, resamples, seed).p_value
    for place, (key, pairs) in enumerate(zip(keys, columns, strict=True)):
        # the margin is of texts as they are scored: means of several originals lie nearer to each other
        margin = default_margin(np.array([own for own, _ in pairs.rows.values()])) if pairs.rows else 0.0
        sides = before[:, place], after[:, place], margin or None
        difference = replace(measured[place], margin=margin, p_unlike=tost(*sides).p_value)
        difference = difference.within(*key.ends) if key.ends else difference
        effect = Effect(intervention, key, pairs, difference, float(resampled[place]))
        if not key.tested:
            bare = replace(difference, p_value=math.nan, p_unlike=math.nan)
            yield replace(effect, difference=bare, bootstrap_p=math.nan)
        elif effect.is_paraphrase:
            yield replace(effect, bootstrap_p_unlike=tost(*sides, "bootstrap", resamples, seed).p_value)
        else:
            yield effect


def _left(prompt: str, pairs: StudyPairs, others: Sequence[StudyPairs]) -> float:
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


def _corrected(effects: Sequence[Effect]) -> Iterator[Effect]:
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
    nan = math.nan
    for effect in corrected:
        # what is constant has no effect size: 0 by the spread 0 is no number, and no p-value: there is nothing to test
        bare = replace(effect.difference, effect=nan, p_value=nan)
        untested = replace(effect, difference=bare, p_value=nan, bootstrap_p=nan, left_p=nan)
        yield untested if effect.is_constant else effect
