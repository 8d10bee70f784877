"""Pairs of concepts: which of those that were proposed are far enough from each other, and why others are not."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from genie_inspect.engines.embedders.choices import Embedder
from genie_inspect.measures.distance import cosine_distances, nearest_distance
from genie_inspect.prompting.answers import normalised
from genie_inspect.prompting.texts import has_word

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    Vector = NDArray[float64]

APART = 0.8
"""Least distance of a pair's concepts by the static embedder: the study's 25 pairs have 0.81 to 1.11, a castle and a
fortress 0.42, a robot and an android 0.77."""
PAIRS_APART = 0.4
"""Least distance of two pairs by the static embedder: of the study's 300 twos of pairs all but two have more."""
LONGEST = 60  # characters of a concept
MOST_WORDS = 6
DIGITS = 4  # of a distance
NO_PAIR = "no two concepts"
TWICE = "proposed before"
TAKEN = "a concept of another pair"
UNKNOWN = "no word that the embedder knows"
NEAR = "concepts near each other"
NEAR_PAIR = "near another pair"
LEFT = "more than were needed"
_ARTICLE = re.compile(r"^(?:an?|the) ")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two concepts of a domain."""

    first: str
    second: str
    distance: float
    """Cosine distance of the two, 0 to 2."""


class PairChooser:
    """Takes pairs one after another, as long as they are far from those that were taken before.

    Args:
        embedder: By which distances are measured.
        apart: Least distance of a pair's two concepts.
        pairs_apart: Least distance of two pairs, each the sum of its concepts' vectors, whichever is first.
    """

    def __init__(self, embedder: Embedder, apart: float = APART, pairs_apart: float = PAIRS_APART) -> None:
        self.embedder = embedder
        self.apart = apart
        self.pairs_apart = pairs_apart
        self.taken: list[Pair] = []
        self.dropped: Counter[str] = Counter()
        """Proposals that were not taken, by reason."""
        self._proposed: set[frozenset[str]] = set()
        self._vectors: list[Vector] = []

    def take(self, proposals: Sequence[str], most: int) -> None:
        """Take sound pairs in the order in which they are proposed, until there are as many as are wanted.

        Args:
            proposals: Each two concepts with a semicolon between them.
            most: How many are wanted in all.

        Raises:
            EngineFailedError: If the embedder fails.
        """
        pairs = [pair for text in proposals if (pair := concepts(text))]
        self.dropped.update([NO_PAIR] * (len(proposals) - len(pairs)))
        vectors = self.embedder.embed([concept for pair in pairs for concept in pair])
        for pair, first, second in zip(pairs, vectors[::2], vectors[1::2], strict=True):
            reason = LEFT if len(self.taken) >= most else self._fault(pair, first, second)
            if reason:
                self.dropped[reason] += 1
            else:
                self.taken.append(Pair(*pair, round(float(cosine_distances(first, [second])[0]), DIGITS)))
                self._vectors.append(first + second)

    def _fault(self, pair: tuple[str, str], first: "Vector", second: "Vector") -> str:
        """Why a pair is not taken; empty when it is sound."""
        key = frozenset(map(_plain, pair))
        if key in self._proposed:
            return TWICE
        self._proposed.add(key)
        # the study's 25 pairs have no concept twice
        if any(_plain(concept) in key for other in self.taken for concept in (other.first, other.second)):
            return TAKEN
        if not (first.any() and second.any() and (first + second).any()):
            return UNKNOWN
        if cosine_distances(first, [second])[0] < self.apart:
            return NEAR
        # of no pairs it is NaN, which is below nothing
        return NEAR_PAIR if nearest_distance(first + second, self._vectors) < self.pairs_apart else ""


def concepts(text: str) -> tuple[str, str] | None:
    """The two concepts of one line of a reply; None where it does not hold two short ones.

    >>> concepts("a castle;  a spaceship.")
    ('a castle', 'a spaceship')
    >>> concepts("a castle, a spaceship") is None
    True
    """
    parts = [" ".join(part.split()).strip(" .") for part in text.split(";")]
    if len(parts) != 2 or not all(map(_is_concept, parts)):
        return None
    return parts[0], parts[1]


def _is_concept(text: str) -> bool:
    # what is longer, or would steer a terminal, is no name of a thing
    return has_word(text) and text.isprintable() and len(text) <= LONGEST and len(text.split()) <= MOST_WORDS


def _plain(concept: str) -> str:
    """The concept as it counts for equality, without its article."""
    return _ARTICLE.sub("", normalised(concept))
