"""How likely a corpus makes the words of an expression, each after all that comes before it.

Source: Saakyan et al. 2025 (arXiv 2509.22641), after the infinity-gram of Liu et al. 2024 (arXiv 2401.17377).
Deviations: tokens are words and marks, where theirs are a model's pieces of words; nothing is added to the mean before
it is inverted; an expression whose only absent n-gram is the whole of it is novel, where the released code returns 0.
"""

import math
from collections.abc import Sequence
from itertools import chain
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from genie_inspect.measures.ngrams import Corpus, Numbers, TokenIndex

FLOOR = 1.2e-10  # as published, for a word that never follows its context


class RunCounts(Protocol):
    """A corpus whose runs of tokens can be counted, such as a `TokenIndex`."""

    @property
    def tokens(self) -> int: ...

    def lengths(self, tokens: Sequence[str], limits: Numbers) -> Numbers:
        """The longest run at each token of a text that is also in the corpus, up to the token's limit, (N,)."""

    def counts(self, tokens: Sequence[str], starts: Numbers, ends: Numbers) -> Numbers:
        """How often the runs of a text stand in the corpus, (R,); that of no token as often as there are tokens."""


Known = tuple[Numbers, NDArray[np.float64]]


class RunsInCorpus:
    """What a corpus says of many runs of words, looked up together; takes its place where one of them is measured."""

    def __init__(self, runs: Sequence[Sequence[str]], corpus: Corpus | RunCounts) -> None:
        counted = TokenIndex(corpus) if isinstance(corpus, Sequence) else corpus
        tokens = list(chain.from_iterable(runs))
        # of each token the longest run of its own that stands in the corpus, and its probability after what is before
        # it; nothing where the corpus has no tokens
        unknown = np.zeros(0, dtype=np.int64), np.zeros(0)
        self.by_run: dict[tuple[str, ...], Known] = dict.fromkeys(map(tuple, runs), unknown)
        if not tokens or not counted.tokens:
            return
        sizes = np.array([len(run) for run in runs])
        ends = np.cumsum(sizes)
        places, starts = np.arange(len(tokens)), np.repeat(ends - sizes, sizes)
        # how far what stands in the corpus extends from each token, no further than its own run
        reach = places + counted.lengths(tokens, np.repeat(ends, sizes))
        # a suffix of what occurs occurs too, so reaches never fall: the first that extends to a token is the longest
        context = np.maximum(np.searchsorted(reach, places), starts)
        before, both = (counted.counts(tokens, context, ends) for ends in (places, places + 1))
        likely = np.divide(both, before, out=np.full(len(tokens), math.nan), where=before > 0)
        for run, size, end in zip(runs, sizes, ends, strict=True):
            self.by_run[tuple(run)] = (reach - places)[end - size : end], likely[end - size : end]


def _looked_up(tokens: Sequence[str], corpus: Corpus | RunCounts | RunsInCorpus) -> Known:
    found = corpus if isinstance(corpus, RunsInCorpus) else RunsInCorpus([tokens], corpus)
    return found.by_run[tuple(tokens)]


def probability(context: Sequence[str], word: str, corpus: Corpus | RunCounts | RunsInCorpus) -> float:
    """How often the word follows the longest suffix of the context that is in the corpus, 0 to 1.

    count(suffix + word) / count(suffix); with no suffix that occurs, the word's share of all tokens; NaN for a corpus
    without tokens. A corpus is documents, which no run crosses, an index of them, or what was looked up in one before,
    for this run among others.

    >>> probability(["never", "the"], "owl", [["the", "owl", "and", "the", "fox"]])  # one of two after "the"
    0.5
    """
    _, likely = _looked_up([*context, word], corpus)
    return float(likely[-1]) if len(likely) else math.nan


def log_perplexity(tokens: Sequence[str], corpus: Corpus | RunCounts | RunsInCorpus, floor: float = FLOOR) -> float:
    """Mean of -log P of the tokens, each after those before it, 0 or more; higher = newer.

    NaN without tokens, and for a corpus without tokens; `floor` replaces a probability of 0.

    >>> log_perplexity(["the", "owl"], [["the", "owl", "and", "the", "fox"]]) == -math.log(2 / 5 * 1 / 2) / 2
    True
    """
    _, likely = _looked_up(tokens, corpus)
    return float((-np.log(np.where(likely > 0, likely, floor))).mean()) if len(likely) else math.nan


def novel_share(tokens: Sequence[str], corpus: Corpus | RunCounts | RunsInCorpus) -> float:
    """NovelPct: the share of an expression's n-grams that are absent from a corpus, 0 to 1.

    n is the smallest for which some n-gram is absent: 0 where the whole expression is in the corpus, 1 where
    nothing but the whole is absent. NaN without tokens, and for a corpus without tokens.

    >>> novel_share(["a", "b", "c", "d"], [["a", "b", "c"], ["c", "d"]])  # n = 3: "b c d" is absent, "a b c" is not
    0.5
    """
    lengths, _ = _looked_up(tokens, corpus)
    if not len(lengths):
        return math.nan
    if lengths[0] == len(tokens):
        return 0.0
    # behind the last absent n-gram everything reaches the end, and says nothing of what would be absent there
    n = int(lengths[np.arange(len(tokens)) + lengths < len(tokens)].min()) + 1
    return float((lengths[: len(tokens) - n + 1] < n).mean())
