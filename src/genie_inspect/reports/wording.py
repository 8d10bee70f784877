"""The words that a model's documents share: how they begin and end, whom they name, what they use too often."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import bdtrc

from genie_inspect.measures.tokens import is_content
from genie_inspect.scripts import is_english, words
from genie_inspect.statistics.effect import holm, stratified_exact

Texts = Sequence[tuple[str, str]]  # prompts and documents
OPENING, ENDING, NAME, WORD, ENGLISH = "opening", "ending", "name", "word", "word_against_english"
LENGTH = 3  # words of an opening and an ending
OVERUSED = 2  # times as many documents as the population's, from which a word is tested
LEVEL = 0.05
NO_NAMES = frozenset(
    """
    Mr Mrs Ms Miss Dr Sir Lady Lord Madam I Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February
    March April May June July August September October November December
    """.split()  # noqa: SIM905  # quotes would hide the words
)
# a capital letter that no sentence, quote or heading begins with
_INSIDE = re.compile(r"(?<=[a-z,;] )[A-Z][\w'-]*[a-z]")


class Wording(NamedTuple):
    """What some documents share; of so many for the prompts in which it occurs, and for words in all."""

    what: str  # opening, ending, name, word or word_against_english
    text: str
    given: int  # documents that have it
    documents: int
    population_given: int
    population_documents: int  # 0 where there is nothing to compare with
    # of words: that they are as common in the population or in general English, corrected for all words (Holm)
    p_value: float | None = None
    expected: float | None = None  # documents that would have it, were it as common as in general English


class Split(NamedTuple):
    prompt: str
    text: str
    words: list[str]


def shared_wording(own: Texts, others: Texts, english: Mapping[str, float] | None = None) -> list[Wording]:
    """What at least two documents share, by class, the commonest first; of words what the population has less often.

    With `english`, by word its share of all words, words are those that general English has less often.

    The words of a document's own prompt do not count.
    """
    mine, theirs = ([Split(prompt, text, words(text)) for prompt, text in texts] for texts in (own, others))
    sizes, other_sizes = (Counter(split.prompt for split in splits) for splits in (mine, theirs))
    found = []
    openings, endings = partial(_edges, edge=slice(LENGTH)), partial(_edges, edge=slice(-LENGTH, None))
    for what, parts in ((OPENING, openings), (ENDING, endings), (NAME, _names)):
        counts, other_counts = _by_prompt(parts(mine)), _by_prompt(parts(theirs))
        where: dict[str, list[str]] = {}
        for prompt, of_prompt in counts.items():
            for text in of_prompt:
                where.setdefault(text, []).append(prompt)
        shared = []
        for text, prompts in where.items():
            if (given := sum(counts[prompt][text] for prompt in prompts)) > 1:
                other_given = sum(other_counts[prompt][text] for prompt in prompts)
                documents, other_documents = (sum(of[prompt] for prompt in prompts) for of in (sizes, other_sizes))
                shared.append(Wording(what, text, given, documents, other_given, other_documents))
        found += sorted(shared, key=lambda wording: (-wording.given, wording.text))
    if english is not None:
        return found + _overused_in_english(mine, english)
    return found + (_overused(mine, theirs) if others else [])


def _overused(own: Sequence[Split], others: Sequence[Split]) -> list[Wording]:
    """Words in significantly more of the documents than of the population's, prompt by prompt, the surest first."""
    mine, theirs = _by_prompt(_words(own)), _by_prompt(_words(others))
    sizes, other_sizes = (Counter(split.prompt for split in splits) for splits in (own, others))
    compared = [prompt for prompt in sizes if other_sizes[prompt]]
    documents, other_documents = (sum(of[prompt] for prompt in compared) for of in (sizes, other_sizes))
    given, other_given = (sum((of[prompt] for prompt in compared), Counter()) for of in (mine, theirs))
    # each word of two documents is one of the family; those that are not used far more often are not computed
    family = [word for word in given | other_given if given[word] + other_given[word] > 1]
    p_values = []
    for word in family:
        share, other_share = given[word] / documents, other_given[word] / other_documents
        tables = [(mine[each][word], sizes[each], theirs[each][word], other_sizes[each]) for each in compared]
        p_values.append(stratified_exact(tables) if share >= OVERUSED * other_share and given[word] > 1 else 1.0)
    found = [
        Wording(WORD, word, given[word], documents, other_given[word], other_documents, p)
        for word, p in zip(family, holm(p_values).tolist(), strict=True)
        if p < LEVEL
    ]
    return sorted(found, key=lambda wording: (wording.p_value, -wording.given, wording.text))


def _overused_in_english(own: Sequence[Split], english: Mapping[str, float]) -> list[Wording]:
    """Words in significantly more of the English documents than their frequency in general English would have them in.

    A document of n words is taken to have a word of frequency f with a probability of 1 - (1 - f)**n. That is too high
    for real texts, in which a word comes in clusters, and so errs towards no finding. The p-value is the binomial one
    at the mean probability, which is not below that of unequal ones (Hoeffding 1956). Words of a document's prompt, and
    of a run with several prompts those of one prompt alone, tell of the subject and do not count; names are listed by
    themselves. A word that is not on the list has no known frequency and is not compared.
    """
    splits = [split for split in own if is_english(split.text)]
    names = {name.casefold() for _, found in _names(splits) for name in found}
    sizes, documents, prompts = [], Counter[str](), defaultdict[str, set[str]](set)
    for split in splits:
        used = _english_words(split.text)
        sizes.append(len(used))
        for word in set(used).difference(_english_words(split.prompt), names):
            if word in english and is_content(word):
                documents[word] += 1
                prompts[word].add(split.prompt)
    several = min(2, len({split.prompt for split in splits}))
    lengths, tested, p_values = np.array(sizes), [], []
    for word, given in documents.items():
        share = float(np.mean(-np.expm1(lengths * np.log1p(-english[word]))))
        expected = len(splits) * share
        if given > 1 and given >= OVERUSED * expected and len(prompts[word]) >= several:
            p_values.append(float(bdtrc(given - 1, len(splits), share)))
            tested.append(Wording(ENGLISH, word, given, len(splits), 0, 0, expected=expected))
    # any word of the list could have been the one that stands out
    corrected = holm(p_values + [1.0] * (len(english) - len(tested))).tolist()[: len(tested)]
    found = [wording._replace(p_value=p) for wording, p in zip(tested, corrected, strict=True) if p < LEVEL]
    return sorted(found, key=lambda wording: (wording.p_value, -wording.given, wording.text))


def _english_words(text: str) -> list[str]:
    """Words as `wordfreq` has them: in small letters, with inner apostrophes."""
    return re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)*", text.casefold().replace("’", "'"))


Parts = Iterable[tuple[str, Iterable[str]]]  # of each document its prompt, and what it has


def _by_prompt(parts: Parts) -> defaultdict[str, Counter[str]]:
    """How many documents for each prompt have each part."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for prompt, own in parts:
        counts[prompt].update(set(own))
    return counts


def _edges(splits: Sequence[Split], edge: slice) -> Parts:
    return ((split.prompt, [" ".join(split.words[edge])]) for split in splits)


def _names(splits: Sequence[Split]) -> Parts:
    """What stands with a capital inside a sentence, and nowhere with a small letter. In English alone."""
    english = [split for split in splits if is_english(split.text)]
    small = {word for split in english for word in split.words if word.islower()}
    named = {name for split in english for name in _INSIDE.findall(split.text)}
    names = {name for name in named if name.casefold() not in small} - NO_NAMES
    return ((split.prompt, names.intersection(split.words).difference(words(split.prompt))) for split in english)


def _words(splits: Sequence[Split]) -> Parts:
    for split in splits:
        used = {word.casefold() for word in split.words if len(word) > 1}
        yield split.prompt, {word for word in used if is_content(word)}.difference(words(split.prompt.casefold()))
