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

from genie_inspect.measures.ngrams import Corpus, index_of

Numbers = NDArray[np.int64]
Values = NDArray[np.float64]

FLOOR = 1.2e-10  # as published, for a word that never follows its context


class RunCounts(Protocol):
    """A corpus whose runs of tokens can be counted, such as a `TokenIndex`."""

    @property
    def tokens(self) -> int:
        """How many tokens it has."""
        ...

    def lengths(self, tokens: Sequence[str], limits: Numbers) -> Numbers:
        """The length of the longest run at each token of a text that also stands in the corpus, shape (N,).

        No run from a token goes beyond the token's limit, shape (N,).
        """
        ...

    def counts(self, tokens: Sequence[str], starts: Numbers, ends: Numbers) -> Numbers:
        """How often the runs of a text from `starts` up to `ends` stand in the corpus, shape (R,).

        The run of no token counts as often as there are tokens.
        """
        ...


@dataclass(frozen=True, slots=True)
class RunNovelty:
    """How new a run of words is to a corpus; NaN for a run without words, and where the corpus has none."""

    log_perplexity: float
    """Mean of -log P of its words, 0 or more; higher = less likely."""
    novel_share: float
    """NovelPct, 0 (all of it stands in the corpus) to 1."""


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
    tokens = [*context, word]
    return float(_probabilities(tokens, _reach([tokens], tokens, counted := _counted(corpus)), [0], counted)[-1])


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
    nothing = RunNovelty(math.nan, math.nan)
    tokens = list(chain.from_iterable(runs))
    if not tokens or not counted.tokens:
        return [nothing] * len(runs)
    ends = np.cumsum([len(run) for run in runs])
    starts = ends - [len(run) for run in runs]
    reach = _reach(runs, tokens, counted)
    likely = _probabilities(tokens, reach, starts, counted)
    surprise = -np.log(np.where(likely > 0, likely, floor))
    return [
        RunNovelty(float(surprise[start:end].mean()), _novel_share(reach[start:end] - start))
        if end > start
        else nothing
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
    ]


def _counted(corpus: Corpus | RunCounts) -> RunCounts:
    return index_of(corpus) if isinstance(corpus, Sequence) else corpus


def _reach(runs: Sequence[Sequence[str]], tokens: Sequence[str], counted: RunCounts) -> Numbers:
    """How far what stands in the corpus extends from each token, no further than its own run."""
    limits = np.repeat(np.cumsum([len(run) for run in runs]), [len(run) for run in runs])
    return np.arange(len(tokens)) + counted.lengths(tokens, limits)


def _probabilities(
    tokens: Sequence[str], reach: Numbers, starts: Sequence[int] | Numbers, counted: RunCounts
) -> Values:
    """Of each token after what stands before it in its own run."""
    places = np.arange(len(tokens))
    # a suffix of what occurs occurs too, so that reaches never fall: the first that extends to the token is the longest
    own = np.asarray(starts)[np.searchsorted(starts, places, "right") - 1]
    context = np.maximum(np.searchsorted(reach, places), own)
    before = counted.counts(tokens, context, places)
    both = counted.counts(tokens, context, places + 1)
    likely: Values = np.divide(both, before, out=np.full(len(tokens), math.nan), where=before > 0)
    return likely


def _novel_share(reach: Numbers) -> float:
    """NovelPct from how far what occurs extends from each token of one run."""
    lengths = reach - np.arange(len(reach))
    if reach[0] == len(reach):
        return 0.0
    # behind the last absent n-gram everything reaches the end, and says nothing of what would be absent there
    n = int(lengths[reach < len(reach)].min()) + 1
    return float((lengths[: len(reach) - n + 1] < n).mean())
