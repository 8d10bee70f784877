"""The expressions of a text: what stands between two punctuation marks.

Source: Saakyan et al. 2025 (arXiv 2509.22641). Deviation: an ellipsis and a dash of two hyphens end an expression too,
being what `...` and an em dash are to others.
"""

import re
import unicodedata

from genie_inspect.measures.tokens import Token, plain_typography
from genie_inspect.scripts import PHRASE_ENDS, SENTENCE_ENDS, WIDE_ENDS, spaced_words

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
