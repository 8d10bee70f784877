"""A text as sentences that can be taken out of it by number, and where a tail that only repeats itself begins."""

import re
from collections.abc import Collection
from itertools import pairwise

from genie_inspect.scripts import SENTENCE_ENDS, WIDE_ENDS, spaced_word_spans

_CLOSERS = r"[\"'”’»」』）)*_]*"
_END = re.compile(rf"(?<=[{SENTENCE_ENDS}]){_CLOSERS}\s+|(?<=[{WIDE_ENDS}])(?![{WIDE_ENDS}]){_CLOSERS}\s*|\n+\s*")
_LAST = re.compile(rf"[{SENTENCE_ENDS}{WIDE_ENDS}]{_CLOSERS}\Z")
REPEATS, SHORTEST_LOOP = 3, 24
MOST_IN_VERSE = 8  # rounds of whole lines; songs end with that many, models run on until their tokens end


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each sentence, with the white space after it: they follow on one another, first to last.

    >>> [ "It rained.  “Go!” she said."[start:end] for start, end in sentence_spans("It rained.  “Go!” she said.") ]
    ['It rained.  ', '“Go!” ', 'she said.']
    """
    ends = [match.end() for match in _END.finditer(text) if match.end() < len(text)]
    bounds = [0, *ends, len(text)]
    return [(start, end) for start, end in pairwise(bounds) if end > start]


def last_sentence(text: str) -> str:
    """The text's last sentence; empty where it has none."""
    spans = sentence_spans(text)
    return text[slice(*spans[-1])].strip() if spans else ""


def without_sentences(text: str, numbers: Collection[int]) -> str:
    """The text less the sentences of these numbers, counted from 1; what stays is as it was.

    >>> without_sentences("Sure! It rained. The end? Tell me more.", {1, 4})
    'It rained. The end?'
    """
    remaining = [
        text[start:end] for number, (start, end) in enumerate(sentence_spans(text), 1) if number not in numbers
    ]
    return "".join(remaining).strip()


def without_repeated_tail(text: str) -> str:
    """The text up to the end of the first round of a loop that runs to its end; the text itself when there is none.

    A loop is the same run of words, exactly, at least three times in a row and 24 words in all, the last time perhaps
    cut off. A refrain is none: it stands inside the text, or ends it with at most eight rounds of whole lines.

    >>> without_repeated_tail("It rained. " + "And on and on it went. " * 9 + "And on")
    'It rained. And on and on it went.'
    """
    spans = list(spaced_word_spans(text))
    spoken = [text[start:end] for start, end in spans]
    for period in range(1, len(spoken) // REPEATS + 1):
        start = len(spoken)
        if start > period and spoken[-1 - period].startswith(spoken[-1]):
            start -= 1  # the last word may be cut off
        while start < len(spoken) and start > period and spoken[start - 1] == spoken[start - 1 - period]:
            start -= 1
        length = len(spoken) - start + period
        if start < len(spoken) and length >= max(REPEATS * period, SHORTEST_LOOP):
            rounds = length // period
            begins = [len(spoken) - number * period for number in range(1, rounds + 1)]
            lines = all(not place or "\n" in text[spans[place - 1][1] : spans[place][0]] for place in begins)
            if lines and rounds <= MOST_IN_VERSE and spoken[-1] == spoken[-1 - period]:
                return text
            # the loop has no beginning of its own: the first round ends where a sentence does, if any does
            ends = [place for place in range(start, start + period) if _LAST.search(spoken[place - 1])]
            return text[: spans[min(ends, default=start) - 1][1]]
    return text
