"""What of a text from outside is read: whole characters, no thoughts, not more than a limit; and whether it has a word.

All parsers of replies begin with `spoken`, so that each of them is given a text that it can read in linear time.
"""

import re
from collections.abc import Collection
from itertools import pairwise

from genie_inspect.scripts import SENTENCE_ENDS, WIDE_ENDS, spaced_word_spans

LONGEST = 1_000_000  # characters; the longest replies that models can write (128,000 tokens) have some 600,000
SHOWN = 80  # characters of a reply in an error
_THOUGHTS = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_PAIR, _HALF = re.compile("[\ud800-\udbff][\udc00-\udfff]"), re.compile("[\ud800-\udfff]")
_WORD = re.compile(r"[^\W_]")
# a pair of halves, half a character alone, or any other escape, of which the backslash must not begin the next one
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)


def whole_text(text: str) -> str:
    r"""The text without halves of characters, which no file or request can hold; each becomes U+FFFD.

    >>> whole_text("An owl\ud83d") == "An owl\N{REPLACEMENT CHARACTER}"
    True
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return _HALF.sub("\N{REPLACEMENT CHARACTER}", _PAIR.sub(_joined, text))
    return text


def _joined(pair: re.Match[str]) -> str:
    """The character that two halves, each sent on its own, make together."""
    return pair[0].encode("utf-16", "surrogatepass").decode("utf-16")


def whole_json(text: str) -> str:
    r"""JSON whose strings are whole texts: "\ud83d" alone, as a reply that was cut off may spell it, becomes "\ufffd".

    >>> whole_json(r'["\ud83d", "\ud83d\ude00", "\\ud83d"]')
    '["\\ufffd", "\\ud83d\\ude00", "\\\\ud83d"]'
    """
    return _ESCAPE.sub(lambda escape: "\\ufffd" if escape[1] else escape[0], text) if "\\u" in text else text


def has_word(text: str) -> bool:
    """Whether there is a letter or a digit in it.

    >>> [has_word(text) for text in ("so", "7", "...", "__", "")]
    [True, True, False, False, False]
    """
    return _WORD.search(text) is not None


def spoken(reply: str) -> str:
    """The reply without a reasoning model's thoughts, where they are left in the text; empty where it never ends.

    >>> spoken("<think>An owl?</think>A fox.")
    'A fox.'
    """
    if len(reply) > LONGEST:
        return ""
    text = whole_text(reply)
    parts: list[str] = []
    begin: int | None = 0  # of what is said; None in thoughts
    for tag in _THOUGHTS.finditer(text):
        if not tag[1] and begin is not None:
            parts.append(text[begin : tag.start()])
            begin = None
        elif tag[1]:
            if begin is not None:
                parts.clear()  # some chat templates open the thoughts themselves
            begin = tag.end()
    if begin is not None:
        parts.append(text[begin:])
    return "".join(parts)


def shortened(reply: str) -> str:
    """The reply as an error quotes it: its end where it is long."""
    return repr(reply if len(reply) <= SHOWN else f"...{reply[3 - SHOWN :]}")


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
