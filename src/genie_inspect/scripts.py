r"""Scripts and languages: what a word is in each, where a sentence ends, and whether a text is English.

Every rule that counts or compares words takes them from here. A word follows Unicode (UAX 29): letters keep their
accents and vowel signs. Chinese, Japanese, Thai, Lao, Khmer and Burmese put no spaces between words, and only a
dictionary could find them: there each character, with its marks, counts as one word. Of text in plain Latin letters
words are what `\w+`, and white space, make of it.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from regex import Pattern

_SCRIPTS = r"[\p{Han}\p{Hiragana}\p{Katakana}ー\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
UNSPACED = rf"[{_SCRIPTS}&&[\w--\p{{M}}]]\p{{M}}*"
"""One letter, with its marks, of a script without spaces between words; for `regex`, with (?V1) in front."""
# the two joiners stand inside words of Persian and Hindi; superscript digits are word characters to `re`
SPACED = rf"[[\w\p{{No}}]--{_SCRIPTS}][[\w\p{{No}}\p{{M}}\u200c\u200d]--{_SCRIPTS}]*"
"""A run of letters of any other script, with their marks."""
SENTENCE_ENDS = ".!?…؟۔।॥።។။"
"""Marks that end a sentence where a space follows."""
WIDE_ENDS = "。！？｡"
"""Marks that end a sentence whatever follows."""
PHRASE_ENDS = "،؛、，；："
"""Commas, semicolons and colons of other scripts."""

# words that are frequent in English and in no other language written in these letters
_ENGLISH = frozenset(
    """
    and because been being could didn't don't from hers him his i'm into it it's its of she should that the their them
    these they this those through were what when where which who whose with would you your
    """.split()  # noqa: SIM905  # quotes would hide the words
)
LEAST_ENGLISH = 0.05  # English stories and abstracts on record have .12 and more, eight other languages 0
TOO_FEW = 20  # words that tell nothing


def words(text: str) -> list[str]:
    """The words of a text in order, punctuation left out; the underscore is a letter.

    >>> words("schön, don't"), words("पढ़ी थी"), words("ที่ดี"), words("灯塔 12")
    (['schön', 'don', 't'], ['पढ़ी', 'थी'], ['ที่', 'ดี'], ['灯', '塔', '12'])
    """
    return [text[start:end] for start, end in word_spans(text)]


def word_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where each word begins, and where it ends."""
    found = re.finditer(r"\w+", text) if text.isascii() else pattern(rf"{UNSPACED}|{SPACED}").finditer(text)
    return (match.span() for match in found)


def spaced_words(text: str) -> list[str]:
    """What stands between white space, with its punctuation; of a script without spaces, each character.

    >>> spaced_words("The end, he said."), spaced_words("灯塔。OK")
    (['The', 'end,', 'he', 'said.'], ['灯', '塔。', 'OK'])
    """
    return [text[start:end] for start, end in spaced_word_spans(text)] if is_unspaced(text) else text.split()


def spaced_word_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where each of them begins, and where it ends."""
    if not is_unspaced(text):
        return (match.span() for match in re.finditer(r"\S+", text))
    # a mark belongs to the character before it, and at the beginning to the one behind it
    space = r"\s\x1c-\x1f"  # what `str.split` takes for space
    character = rf"[^{space}\w]*{UNSPACED}[^{space}\w]*"
    return (match.span() for match in pattern(rf"{character}|(?:(?!{UNSPACED})[^{space}])+").finditer(text))


def is_unspaced(text: str) -> bool:
    """Whether there is a letter of a script without spaces between words in it."""
    return not text.isascii() and pattern(UNSPACED).search(text) is not None


def main_script(text: str) -> str:
    """The script of most of its letters, as Unicode calls it; empty for a text without letters.

    >>> main_script("Он сказал: OK"), main_script("灯塔"), main_script("12")
    ('Cyrillic', 'Han', '')
    """
    # the first word of a letter's name is its script
    names = Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in text if letter.isalpha())
    name = next((name for name, _ in names.most_common(1)), "")
    return "Han" if name == "CJK" else name.capitalize()


def is_english(text: str) -> bool:
    """Whether a text is English by its most frequent words; fewer than 20 Latin words are too few to tell and count.

    >>> is_english("Die Frau saß im Haus und wartete. " * 5), is_english("The woman sat in the house. " * 5)
    (False, True)
    """
    found = re.findall(r"\w+(?:['’]\w+)*", text.casefold())
    if not text.isascii() and main_script(text) not in ("Latin", ""):
        return False
    english = sum(word.replace("’", "'") in _ENGLISH for word in found)
    return len(found) < TOO_FEW or english >= LEAST_ENGLISH * len(found)


@cache
def pattern(source: str) -> "Pattern[str]":
    """A compiled pattern with sets and properties of Unicode; `regex` is imported with the first text that needs it."""
    import regex

    return regex.compile("(?V1)" + source)
