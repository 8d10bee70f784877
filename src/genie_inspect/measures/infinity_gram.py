"""How likely a corpus makes the words of an expression, each after all that comes before it.

Source: Saakyan et al. 2025 (arXiv 2509.22641), after the infinity-gram of Liu et al. 2024 (arXiv 2401.17377).
Deviations: tokens are words and marks, where theirs are a model's pieces of words; nothing is added to the mean before
it is inverted; an expression whose only absent n-gram is the whole of it is novel, where the released code returns 0.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from genie_inspect.measures.ngrams import Corpus
from genie_inspect.measures.suffix_array import TokenIndex

Numbers = NDArray[np.int64]
Values = NDArray[np.float64]

FLOOR = 1.2e-10  # as published, for a word that never follows its context


class RunCounts(Protocol):
    """A corpus whose runs of tokens can be counted, such as a `TokenIndex`."""

    @property
    def tokens(self) -> int: ...

    def lengths(self, tokens: Sequence[str], limits: Numbers) -> Numbers:
        """The longest run at each token of a text that also stands in the corpus, up to the token's limit, (N,)."""

    def counts(self, tokens: Sequence[str], starts: Numbers, ends: Numbers) -> Numbers:
        """How often the runs of a text stand in the corpus, (R,); that of no token as often as there are tokens."""


@dataclass(frozen=True, slots=True)
class RunNovelty:
    """How new a run of words is to a corpus; NaN for a run without words, and where the corpus has none."""

    log_perplexity: float  # mean of -log P of its words, 0 or more; higher = less likely
    novel_share: float  # NovelPct, 0 (all of it stands in the corpus) to 1


def probability(context: Sequence[str], word: str, corpus: Corpus | RunCounts) -> float:
    """How often the word follows the longest suffix of the context that stands in the corpus, 0 to 1.

    Args:
        context: What comes before the word; nothing of it need be known.
        word: The word.
        corpus: Documents, each a sequence of tokens, or an index of them; no run crosses from one to the next.

    Returns:
        count(suffix + word) / count(suffix); with no suffix that occurs, the word's share of all tokens; NaN for a
        corpus without tokens.

    >>> probability(["never", "the"], "owl", [["the", "owl", "and", "the", "fox"]])  # one of two after "the"
    0.5
    """
    tokens, counted = [*context, word], _counted(corpus)
    reach = np.arange(len(tokens)) + counted.lengths(tokens, np.full(len(tokens), len(tokens)))
    return float(_probabilities(tokens, reach, np.zeros(1, dtype=np.int64), counted)[-1])


def log_perplexity(tokens: Sequence[str], corpus: Corpus | RunCounts, floor: float = FLOOR) -> float:
    """Mean of -log P of the tokens, each after those before it, 0 or more; higher = newer.

    Args:
        tokens: The expression.
        corpus: As for `probability`.
        floor: Stands for a probability of 0.

    Returns:
        NaN without tokens, and for a corpus without tokens.

    >>> log_perplexity(["the", "owl"], [["the", "owl", "and", "the", "fox"]]) == -math.log(2 / 5 * 1 / 2) / 2
    True
    """
    return novelties([tokens], corpus, floor)[0].log_perplexity


def novel_share(tokens: Sequence[str], corpus: Corpus | RunCounts) -> float:
    """NovelPct: the share of an expression's n-grams that are absent from a corpus, 0 to 1.

    n is the smallest for which some n-gram is absent: 0 where the whole expression stands in the corpus, 1 where
    nothing but the whole is absent.

    Args:
        tokens: The expression.
        corpus: As for `probability`.

    Returns:
        NaN without tokens, and for a corpus without tokens.

    >>> novel_share(["a", "b", "c", "d"], [["a", "b", "c"], ["c", "d"]])  # n = 3: "b c d" is absent, "a b c" is not
    0.5
    """
    return novelties([tokens], corpus)[0].novel_share


def novelties(runs: Sequence[Sequence[str]], corpus: Corpus | RunCounts, floor: float = FLOOR) -> list[RunNovelty]:
    """How new each of many runs of words is, all looked up together."""
    counted = _counted(corpus)
    tokens = list(chain.from_iterable(runs))
    if not tokens or not counted.tokens:
        return [RunNovelty(math.nan, math.nan)] * len(runs)
    sizes = np.array([len(run) for run in runs])
    ends = np.cumsum(sizes)
    # how far what stands in the corpus extends from each token, no further than its own run
    reach = np.arange(len(tokens)) + counted.lengths(tokens, np.repeat(ends, sizes))
    likely = _probabilities(tokens, reach, ends - sizes, counted)
    surprise = -np.log(np.where(likely > 0, likely, floor))

    def novelty(start: int, end: int) -> RunNovelty:
        if start == end:
            return RunNovelty(math.nan, math.nan)
        perplexity = float(surprise[start:end].mean())
        if reach[start] == end:
            return RunNovelty(perplexity, 0.0)
        # behind the last absent n-gram everything reaches the end, and says nothing of what would be absent there
        lengths = reach[start:end] - np.arange(start, end)
        n = int(lengths[reach[start:end] < end].min()) + 1
        return RunNovelty(perplexity, float((lengths[: end - start - n + 1] < n).mean()))

    return [novelty(end - size, end) for size, end in zip(sizes.tolist(), ends.tolist(), strict=True)]


def _counted(corpus: Corpus | RunCounts) -> RunCounts:
    return TokenIndex(corpus) if isinstance(corpus, Sequence) else corpus


def _probabilities(tokens: Sequence[str], reach: Numbers, starts: Numbers, counted: RunCounts) -> Values:
    """Of each token after what stands before it in its own run."""
    places = np.arange(len(tokens))
    # a suffix of what occurs occurs too, so that reaches never fall: the first that extends to the token is the longest
    context = np.maximum(np.searchsorted(reach, places), starts[np.searchsorted(starts, places, "right") - 1])
    before, both = (counted.counts(tokens, context, ends) for ends in (places, places + 1))
    return np.asarray(np.divide(both, before, out=np.full(len(tokens), math.nan), where=before > 0))
