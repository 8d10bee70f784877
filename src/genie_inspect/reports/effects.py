"""Edits and paraphrases of a log beside their originals, and what they do to each measure.

An intervention is called by the feature that an edit changed, or `paraphrase`.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np

from genie_inspect.logs.measures import GENIE, Bounds, keys_to_test
from genie_inspect.logs.reading import ScoredDocument, ScoredLog, one_signature
from genie_inspect.populations.interventions import EDIT, ORIGINAL, PARAPHRASE
from genie_inspect.samples import InterventionFacts
from genie_inspect.statistics.bootstrap import paired_bootstrap
from genie_inspect.statistics.differences import LEVEL, Difference, differences, paired_permutation
from genie_inspect.statistics.effect import ROUNDING, TIE
from genie_inspect.statistics.equivalence import default_margin, tost

LENGTH = ""  # in the place of a scorer's name: the words of a text, to hold measures against
Text = tuple[ScoredDocument, ...]  # one text: a document for each epoch in which it was scored


def intervention_of(facts: InterventionFacts) -> str:
    return facts.feature if facts.kind == EDIT else facts.kind


def kind_of(intervention: str) -> str:
    return PARAPHRASE if intervention == PARAPHRASE else EDIT


@dataclass(frozen=True, slots=True)
class StudyTexts:
    originals: Mapping[str, Text]  # by id; none where edits of other features replace them
    prompts: Mapping[str, str]  # by id of an original its prompt
    # by intervention what was made of an original that was scored, with the original's id; paraphrases last
    changed: Mapping[str, Sequence[tuple[str, Text]]]
    orphans: Mapping[str, int]  # by intervention the texts whose original was not scored
    same: Mapping[str, int]  # and those that are word for word their original: they count, with a difference of 0
    unknown: int  # texts of which nobody says what was done to them; they are left out


def texts_of(documents: Iterable[ScoredDocument], *, stand_ins: bool = False) -> StudyTexts:
    """Originals with what was made of them; `stand_ins`: edits of other features may stand for missing originals."""
    originals = defaultdict[str, list[ScoredDocument]](list)
    made = defaultdict[tuple[str, str, str | int], list[ScoredDocument]](list)
    unknown: set[str | int] = set()
    for document in documents:
        facts = document.intervention
        if facts and facts.kind == ORIGINAL:
            originals[facts.original].append(document)
        elif facts and facts.kind in (EDIT, PARAPHRASE) and (intervention := intervention_of(facts)):
            made[intervention, facts.original, document.sample].append(document)
        else:
            unknown.add(document.sample)
    # `sorted` is stable: features stand as the log has them, with the paraphrases below
    interventions = sorted(dict.fromkeys(one for one, _, _ in made), key=PARAPHRASE.__eq__)
    changed: dict[str, list[tuple[str, Text]]] = {one: [] for one in interventions}
    orphans, same = dict.fromkeys(interventions, 0), dict.fromkeys(interventions, 0)
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
    whole = {name: tuple(text) for name, text in originals.items()}
    return StudyTexts(whole, prompts, changed, orphans, same, len(unknown))


@dataclass(frozen=True, slots=True)
class StudyKey:
    scorer: str
    name: str
    feature: str  # of which feature it is the score; empty where it is of the text as a whole
    tested: bool  # whether it answers its measure's question; the others are shown without tests
    ends: Bounds | None = None  # lowest and highest value that there can be, where they are known

    def value_of(self, text: Text) -> float:
        """The mean over the epochs in which the text has a value; NaN without any."""
        each = (d.words if self.scorer == LENGTH else d.value(self.scorer, self.name) for d in text)
        values = [value for value in each if not math.isnan(value)]
        return fmean(values) if values else math.nan


WORDS = StudyKey(LENGTH, "words", "", tested=True)  # what a count of words would show of the same texts


def keys_of(log: ScoredLog, scorer: str, edited: Collection[str]) -> Iterator[StudyKey]:
    """A scorer's keys. Those that are named like an edited feature are scores of it; all of Genie's are of features."""
    by_genie = one_signature([log], scorer).measure == GENIE
    # every key that any of the texts has, originals or not
    names = replace(log, documents=(*log.documents, *log.changed)).keys(scorer)
    headlines = keys_to_test(log.declared(scorer), names)
    for name in names:
        feature = name if by_genie or name in edited else ""
        yield StudyKey(scorer, name, feature, bool(feature) or name in headlines, log.known_range(scorer, name))


@dataclass(frozen=True, slots=True)
class StudyPairs:
    """The values of one key for an intervention, paired by original, and by prompt."""

    rows: Mapping[str, tuple[float, float]]  # by original its value, and the mean of the texts that were made of it
    prompts: Mapping[str, tuple[float, float]]  # by prompt the means of these over its originals: what is tested
    words: Mapping[str, float]  # by prompt by how many words the texts are longer; nothing where no text is known
    sizes: Mapping[str, float]  # by original the mean of |difference|, each text by itself
    pairs: int  # texts with a value whose original has one
    left_out: int  # texts without a value, or whose original has none


def pairs_of(texts: StudyTexts, intervention: str, key: StudyKey) -> StudyPairs:
    """The pairs of a key for an intervention.

    The prompt is the unit: originals of one prompt, several paraphrases of one original and several epochs of one text
    are alike, and would be counted as so many witnesses if each were a pair of its own. Their mean is one.
    """
    others = dict(texts.originals)
    if not others:
        # edits of an original stand for it that change neither the edited feature nor the one which is scored
        for one, edits in texts.changed.items():
            for original, text in edits if one not in (PARAPHRASE, intervention, key.feature) else ():
                others[original] = (*others.get(original, ()), *text)
    after, far, longer = (defaultdict[str, list[float]](list) for _ in range(3))
    made = texts.changed.get(intervention, ())
    for original, text in made:
        first = others.get(original, ())
        value, changed = key.value_of(first), key.value_of(text)
        if math.isnan(value + changed):
            continue
        after[original].append(changed)
        # the same values in other numbers of epochs have means that differ in their last bits
        size = 0.0 if math.isclose(value, changed, rel_tol=ROUNDING) else abs(changed - value)
        far[original].append(size)
        if not math.isnan(words := WORDS.value_of(text) - WORDS.value_of(first)):
            longer[original].append(words)
    rows = {name: (key.value_of(others[name]), fmean(own)) for name, own in after.items()}
    names = defaultdict[str, list[str]](list)
    for name in rows:
        names[texts.prompts[name]].append(name)
    prompts = {
        prompt: (fmean(rows[name][0] for name in own), fmean(rows[name][1] for name in own))
        for prompt, own in names.items()
    }
    words_by_prompt = {prompt: fmean(fmean(longer[name]) for name in own) for prompt, own in names.items() if longer}
    pairs = sum(map(len, after.values()))
    sizes = {name: fmean(own) for name, own in far.items()}
    return StudyPairs(rows, prompts, words_by_prompt, sizes, pairs, len(made) - pairs)


@dataclass(frozen=True, slots=True)
class Effect:
    """What one intervention does to one key. A key that is not tested has no p-values."""

    intervention: str
    key: StudyKey
    pairs: StudyPairs
    # changed texts less originals, a pair a prompt; its p-values are uncorrected, its margin is from single originals
    difference: Difference
    bootstrap_p: float  # as the study tests: two-sided paired bootstrap with centred differences, corrected as p_value
    bootstrap_p_unlike: float  # of a paraphrase: two one-sided paired bootstraps; uncorrected
    p_value: float = math.nan  # corrected for the number of tests of its family
    tests: int = 0  # how many there are in it; 0 where the key is not tested
    left: float = math.nan  # the difference with length taken out; NaN of length itself and where it cannot be told
    left_p: float = math.nan  # that it is 0, by the same test and corrected as `p_value` is

    @property
    def words(self) -> float:
        """By how many words the changed texts are longer, a mean over prompts; NaN without any."""
        return fmean(self.pairs.words.values()) if self.pairs.words else math.nan

    @property
    def size(self) -> float:
        """How far the changed texts lie from their originals, whichever way; NaN without any."""
        return fmean(self.pairs.sizes.values()) if self.pairs.sizes else math.nan

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
    def is_paraphrase(self) -> bool:
        return self.intervention == PARAPHRASE

    @property
    def is_own(self) -> bool:
        """Whether an edit is judged by this key: that of its feature, or one which is of no feature."""
        return not self.is_paraphrase and self.key.feature in ("", self.intervention)

    @property
    def is_judged(self) -> bool:
        return self.is_own or self.is_paraphrase

    @property
    def moved(self) -> bool:
        return self.p_value < LEVEL

    @property
    def is_left(self) -> bool:
        return self.left_p < LEVEL

    @property
    def is_equivalent(self) -> bool:
        """Whether paraphrases leave the key within 0.2 standard deviations of the originals."""
        return self.is_paraphrase and self.difference.p_unlike < LEVEL

    @property
    def family(self) -> tuple[str, ...]:
        """With which others it is tested: those of one question asked several times."""
        # a number by itself: is it moved by any of the edits? do paraphrases move it? of features: does any follow its
        # own edits? do any others? do paraphrases move any of them?
        which = ("own" if self.is_own else "others") if self.key.feature else self.key.name
        return (self.key.scorer, kind_of(self.intervention), self.key.feature and "feature", which)


def effects_of(texts: StudyTexts, keys: Sequence[StudyKey]) -> tuple[Effect, ...]:
    """The effect of every intervention on every key; p-values are corrected by Bonferroni, family by family."""
    effects = [effect for one in texts.changed for effect in _effects(texts, one, keys)]
    prompts = list(dict.fromkeys(prompt for effect in effects for prompt in effect.pairs.prompts))
    left = np.full((len(prompts), len(effects)), math.nan)
    for place, effect in enumerate(effects):
        if effect.key.scorer != LENGTH and not effect.is_constant:
            others = [other.pairs for other in effects if other.key == effect.key and other is not effect]
            left[:, place] = [_left(prompt, effect.pairs, others) for prompt in prompts]
    without_length = paired_permutation(np.zeros_like(left), left)
    tests = Counter(effect.family for effect in effects if not math.isnan(effect.difference.p_value))
    for place, (effect, left_p) in enumerate(zip(effects, without_length.p_value, strict=True)):
        difference = effect.difference
        # what is constant counts as a test that found nothing
        count = 0 if math.isnan(difference.p_value) else tests[effect.family]
        factor = count if count and not effect.is_constant else math.nan
        p_values = np.minimum(1, factor * np.array([difference.p_value, effect.bootstrap_p, left_p])).tolist()
        if effect.is_constant:
            # 0 by the spread 0 is no effect size, and there is nothing to test
            difference = replace(difference, effect=math.nan, p_value=math.nan)
        told = dict(zip(("p_value", "bootstrap_p", "left_p"), p_values, strict=True))
        delta = float(without_length.delta[place])
        effects[place] = replace(effect, difference=difference, tests=count, left=delta, **told)
    return tuple(effects)


def _effects(texts: StudyTexts, intervention: str, keys: Sequence[StudyKey]) -> Iterator[Effect]:
    columns = [pairs_of(texts, intervention, key) for key in keys]
    missing = (math.nan, math.nan)
    # prompts down, keys across
    values = [[pairs.prompts.get(name, missing) for pairs in columns] for name in dict.fromkeys(texts.prompts.values())]
    before, after = np.moveaxis(np.array(values, dtype=float), 2, 0)
    measured = differences(before, after)
    resampled = paired_bootstrap(before, after).p_value
    for place, (key, pairs) in enumerate(zip(keys, columns, strict=True)):
        # the margin is of texts as they are scored: means of several originals lie nearer to each other
        margin = default_margin(np.array([own for own, _ in pairs.rows.values()])) if pairs.rows else 0.0
        sides = before[:, place], after[:, place], margin or None
        difference = replace(measured[place], margin=margin, p_unlike=tost(*sides).p_value)
        difference = difference.within(*key.ends) if key.ends else difference
        bootstrap_p, unlike = float(resampled[place]), math.nan
        if not key.tested:
            difference, bootstrap_p = replace(difference, p_value=math.nan, p_unlike=math.nan), math.nan
        elif intervention == PARAPHRASE:
            unlike = tost(*sides, "bootstrap").p_value
        yield Effect(intervention, key, pairs, difference, bootstrap_p, unlike)


def _left(prompt: str, pairs: StudyPairs, others: Sequence[StudyPairs]) -> float:
    """A prompt's difference less what the prompt's other texts move the key per word, times its own change in words.

    NaN where the others are as long as their originals, and these are not.
    """
    # the rate is that of a least-squares line through 0; each prompt has its own, so that prompts stay independent, and
    # the test allows for how well a rate is known
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
