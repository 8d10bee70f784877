"""Near-duplicates: texts that share most of their runs of five words.

Exact, within one group of texts: of two texts with Jaccard similarity t or more, the smallest 1 - t of their shingles
have one in common, under any fixed order of shingles (prefix filter: Chaudhuri, Ganti and Kaushik, ICDE 2006). So only
texts that share one of those are compared, and none is missed.
"""

import math
from array import array
from collections import defaultdict

from genie_inspect.scripts import words

SIZE = 5  # words: five in a row are seldom shared by chance
THRESHOLD = 0.8


def shingles(text: str, size: int = SIZE) -> "array[int]":
    """Sorted numbers that stand for the distinct runs of `size` words; a shorter text is one run.

    The numbers differ from process to process; what is equal does not.
    """
    found = words(text.casefold())
    # numbers take a fraction of the memory of words
    runs = {hash(tuple(found[start : start + size])) for start in range(max(1, len(found) - size + 1))}
    return array("q", sorted(runs))


def jaccard(first: "array[int]", second: "array[int]") -> float:
    """Shared shingles over all shingles, 0 to 1.

    >>> round(jaccard(array("q", [1, 2, 3]), array("q", [2, 3, 4])), 2)
    0.5
    """
    shared = len(set(first).intersection(second))
    return shared / (len(first) + len(second) - shared)


class NearDuplicates:
    """Finds for each text of a group an earlier one that it nearly repeats.

    Args:
        threshold: Jaccard similarity of shingles from which two texts are near-duplicates, above 0 and at most 1.
        size: Words a shingle.

    Raises:
        ValueError: If the threshold is out of range.

    >>> seen = NearDuplicates()
    >>> [seen.twin(text) for text in ("It was late and she slept.", "A ship.", "it was late, and she slept")]
    [None, None, 0]
    """

    def __init__(self, threshold: float = THRESHOLD, size: int = SIZE) -> None:
        if not 0 < threshold <= 1:
            raise ValueError(f"threshold is {threshold}, expected a number above 0 and at most 1")
        self.threshold = threshold
        self.size = size
        self._shingles: dict[int, array[int]] = {}
        self._numbers_with: defaultdict[int, list[int]] = defaultdict(list)
        self._count = 0

    def twin(self, text: str) -> int | None:
        """Number, from 0, of the first earlier text that this one nearly repeats; None, and kept, if there is none."""
        runs = shingles(text, self.size)
        number, self._count = self._count, self._count + 1
        prefix = runs[: len(runs) - math.ceil(self.threshold * len(runs)) + 1]
        for candidate in sorted({earlier for shingle in prefix for earlier in self._numbers_with.get(shingle, ())}):
            other = self._shingles[candidate]
            shortest, longest = sorted((len(runs), len(other)))
            # sets whose sizes differ more than that cannot be so alike
            if shortest >= self.threshold * longest and jaccard(runs, other) >= self.threshold:
                return candidate
        self._shingles[number] = runs
        for shingle in prefix:
            self._numbers_with[shingle].append(number)
        return None
