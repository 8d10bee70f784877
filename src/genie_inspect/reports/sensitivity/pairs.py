"""The texts of a metric study in pairs: an original's value, and that of the texts which were made of it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from genie_inspect.interventions.schema import EDIT, ORIGINAL, PARAPHRASE
from genie_inspect.logs.scored_log import ScoredDocument, ScoredLog
from genie_inspect.statistics.paired.pairs import ROUNDING

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
        """The feature that was edited, or `paraphrase`."""
        return self.feature if self.kind == EDIT else self.kind


@dataclass(frozen=True, slots=True)
class StudyTexts:
    """The texts of a study."""

    originals: Mapping[str, Text]
    """By id."""
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
    """By prompt by how many words the same texts are longer than their originals, likewise."""
    sizes: Mapping[str, float] = field(default_factory=dict)
    """By original how far these lie from it, whichever way: the mean of |difference|, each text by itself."""
    pairs: int = 0
    """Texts with a value whose original has one."""
    left_out: int = 0
    """Texts without a value, or whose original has none."""


def texts_of(log: ScoredLog) -> StudyTexts:
    """The texts of a study's log, originals with what was made of them."""
    originals: dict[str, list[ScoredDocument]] = {}
    made: dict[tuple[Intervention, str, str | int], list[ScoredDocument]] = {}
    unknown: set[str | int] = set()
    for document in (*log.documents, *log.changed):
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
    for (intervention, original, _), documents in made.items():
        if original not in originals:
            orphans[intervention] += 1
            continue
        changed[intervention].append((original, tuple(documents)))
        same[intervention] += documents[0].text == originals[original][0].text
    return StudyTexts({name: tuple(own) for name, own in originals.items()}, changed, orphans, same, len(unknown))


def value_of(text: Text, scorer: str, key: str) -> float:
    """A text's value: the mean over the epochs in which it has one; NaN without any. Its words by `LENGTH`."""
    if scorer == LENGTH:
        return _mean([document.words for document in text])
    values = [value for document in text if not math.isnan(value := document.value(scorer, key))]
    return _mean(values) if values else math.nan


def pairs_of(texts: StudyTexts, intervention: Intervention, scorer: str, key: str) -> Pairs:
    """The pairs of a key for an intervention.

    The prompt is the unit: originals of one prompt, several paraphrases of one original and several epochs of one text
    are alike, and would be counted as so many witnesses if each were a pair of its own. Their mean is one.
    """
    before: dict[str, float] = {}
    after: dict[str, list[float]] = {}
    longer: dict[str, list[float]] = {}
    left_out = 0
    for original, text in texts.changed.get(intervention, ()):
        first = texts.originals[original]
        values = value_of(first, scorer, key), value_of(text, scorer, key)
        if any(map(math.isnan, values)):
            left_out += 1
            continue
        before[original] = values[0]
        after.setdefault(original, []).append(values[1])
        longer.setdefault(original, []).append(value_of(text, LENGTH, "") - value_of(first, LENGTH, ""))
    rows = {name: (before[name], _mean(own)) for name, own in after.items()}
    prompts: dict[str, list[str]] = {}
    for name in rows:
        prompts.setdefault(texts.originals[name][0].prompt, []).append(name)
    return Pairs(
        rows=rows,
        prompts={
            prompt: (_mean([rows[name][0] for name in names]), _mean([rows[name][1] for name in names]))
            for prompt, names in prompts.items()
        },
        words={prompt: _mean([_mean(longer[name]) for name in names]) for prompt, names in prompts.items()},
        sizes={name: _mean([_between(before[name], one) for one in own]) for name, own in after.items()},
        pairs=sum(map(len, after.values())),
        left_out=left_out,
    )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _between(before: float, after: float) -> float:
    # the same values in other numbers of epochs have means that differ in their last bits
    return 0.0 if math.isclose(before, after, rel_tol=ROUNDING) else abs(after - before)
