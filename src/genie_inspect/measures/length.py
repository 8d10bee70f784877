"""How long documents are, and which are of like length."""

from collections.abc import Iterable
from statistics import median

from genie_inspect.scripts import spaced_words

# compression and n-gram measures move with length alone; 1.5 is a convention of ours
LIKE = 1.5
"""Documents whose lengths differ by more than this factor should not be compared."""


def word_count(text: str) -> int:
    """How many words the text has: runs of anything but white space; in a script without spaces, characters.

    >>> word_count("The end, he said."), word_count("他说：完了。")
    (4, 4)
    """
    return len(spaced_words(text))


def median_words(texts: Iterable[str]) -> int | None:
    """Median number of words, rounded; None without texts.

    >>> median_words(["one two", "one two three four"])
    3
    """
    counts = [word_count(text) for text in texts]
    return round(median(counts)) if counts else None


def is_like_length(words: float, others: float) -> bool:
    """Whether two lengths lie within a factor of 1.5 of each other; both must be above 0.

    >>> is_like_length(98, 500), is_like_length(400, 500)
    (False, True)
    """
    return min(words, others) > 0 and max(words, others) <= LIKE * min(words, others)
