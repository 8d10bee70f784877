"""Words and punctuation marks of a text, and its expressions, which stand between marks; with their places in it.

Source of expressions: Saakyan et al. 2025 (arXiv 2509.22641). Deviation: an ellipsis and a dash of two hyphens end an
expression too, being what `...` and an em dash are to others.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from statistics import median

from genie_inspect.scripts import PHRASE_ENDS, SENTENCE_ENDS, SPACED, UNSPACED, WIDE_ENDS, pattern, spaced_words

# a word with its inner apostrophes and hyphens, a run of full stops, or one other mark
_PLAIN_TOKEN = re.compile(r"\w+(?:['-]\w+)*|\.{2,}|[^\w\s]")
_TOKEN = rf"{UNSPACED}|{SPACED}(?:['\-·\u05f3\u05f4]{SPACED})*|\.{{2,}}|(?![\s\x1c-\x1f])\X"
# typography that says the same as its plain form; Unicode's compatibility forms do the rest
_SINGLE, _DOUBLE = "\u2018\u2019\u201a\u201b\u02bc`", "\u201c\u201d\u201e\u201f\u00ab\u00bb"
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
_PLAIN = str.maketrans(_SINGLE + _DOUBLE + _DASHES, "'" * len(_SINGLE) + '"' * len(_DOUBLE) + "-" * len(_DASHES))
# English function words: articles, pronouns, prepositions, conjunctions, auxiliaries and their contractions
_FUNCTION_WORDS = """
a an the this that these those such some any no each every either neither both all
i me my mine myself we us our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself they them their theirs themselves
who whom whose which what one
about above across after against along among around as at before behind below beneath beside between beyond by
down during for from in inside into near of off on onto out outside over past since through throughout to toward
towards under until up upon with within without
and or but nor so yet if because although though while whereas unless than whether when where why how
am is are was were be been being have has had having do does did doing will would shall should can could may might
must ought not
isn't aren't wasn't weren't haven't hasn't hadn't don't doesn't didn't won't wouldn't shan't shouldn't can't
couldn't mustn't i'm i've i'll i'd you're you've you'll you'd he's he'll he'd she's she'll she'd it's it'll it'd
we're we've we'll we'd they're they've they'll they'd that's there's who's what's let's
there here then now too very just only also again
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a mark or several words, and where they stand in the text: from `start` up to `end`."""

    text: str
    start: int
    end: int


def tokens(text: str) -> list[str]:
    """Words and punctuation marks in order, as they count for n-grams: plain typography, accents and case kept.

    Words keep inner apostrophes and hyphens. A script without spaces between words comes out as characters.

    >>> tokens("“Don’t,” said Zoë… twice—")
    ['"', "Don't", ',', '"', 'said', 'Zoë', '...', 'twice', '-']
    """
    folded = plain_typography(text) if text.isascii() else "".join(map(_folded, _characters(text)))
    return [match[0] for match in _found(folded)]


def placed_tokens(text: str) -> list[Token]:
    """The same tokens with their places in the text as it was given."""
    folded, origin, end = list[str](), [], 0
    for character in _characters(text):
        start, end = end, end + len(character)
        plain = _folded(character)
        folded.append(plain)
        # one may fold to several ("…" to three dots): each of them stands for the place of the one
        origin += [(start, end)] * len(plain)
    return [Token(match[0], origin[match.start()][0], origin[match.end() - 1][1]) for match in _found("".join(folded))]


def plain_typography(text: str) -> str:
    """The text with plain quotes and hyphens in place of typographic ones; as long as it was."""
    return text.translate(_PLAIN)


def _characters(text: str) -> Iterable[str]:
    """As people see them: each letter with its marks."""
    return text if text.isascii() else pattern(r"\X").findall(text)


@lru_cache(maxsize=10_000)
def _folded(character: str) -> str:
    return unicodedata.normalize("NFKC", plain_typography(character))


def _found(folded: str) -> Iterable["re.Match[str]"]:
    return _PLAIN_TOKEN.finditer(folded) if folded.isascii() else pattern(_TOKEN).finditer(folded)


def is_content(token: str) -> bool:
    """Whether a token carries meaning of its own: no punctuation, no function word."""
    return token.casefold() not in FUNCTION_WORDS and re.search(r"\w", token) is not None


# Documents whose lengths differ by more than this factor should not be compared: compression and n-gram measures move
# with length alone. A convention of ours.
LIKE = 1.5


def word_count(text: str) -> int:
    """How many words the text has: runs of anything but white space; in a script without spaces, characters."""
    return len(spaced_words(text))


def median_words(texts: Iterable[str]) -> int | None:
    """Median number of words, rounded; None without texts."""
    counts = [word_count(text) for text in texts]
    return round(median(counts)) if counts else None


def is_like_length(words: float, others: float) -> bool:
    """Whether two lengths, both above 0, lie within a factor of 1.5 of each other."""
    return min(words, others) > 0 and max(words, others) <= LIKE * min(words, others)


LEAST_WORDS = 2
_ENDS = re.escape(f",;:—()（）{SENTENCE_ENDS}{WIDE_ENDS}{PHRASE_ENDS}")
_BETWEEN = re.compile(rf"(?:[^{_ENDS}\n\r\v\f\x85\u2028\u2029-]|-(?!-)(?<!--))+")
_OUTER = "PSZC"  # Unicode's punctuation, symbols, spaces and control characters


Expression = Token  # with quotes and dashes in their plain form, as long as in the text


def split_expressions(text: str) -> list[Expression]:
    """The expressions of a text, in order: at least two words between punctuation marks or line breaks.

    The marks are , . ! ? ; : ( ) and em dashes, line breaks too, and those of other scripts for the same. Punctuation
    and space on the outside do not belong to an expression. In a script without spaces each character is a word.

    >>> [expression.text for expression in split_expressions("“The sky’s lid,” he said. Rain: a well-read ghost.")]
    ["The sky's lid", 'he said', 'a well-read ghost']
    """
    expressions = []
    for part in _BETWEEN.finditer(text):
        start, end = without_outside(text, *part.span())
        if sum(any(map(str.isalnum, word)) for word in spaced_words(text[start:end])) >= LEAST_WORDS:
            expressions.append(Expression(plain_typography(text[start:end]), start, end))
    return expressions


def without_outside(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the words of `text[start:end]` begin and end: without punctuation, symbols and space on the outside."""
    while start < end and unicodedata.category(text[start])[0] in _OUTER:
        start += 1
    while start < end and unicodedata.category(text[end - 1])[0] in _OUTER:
        end -= 1
    return start, end
