"""Texts that are made to break or to hold up whoever reads them, and how many of them are tried."""

import os
import time
from collections.abc import Callable

from hypothesis import strategies as st
from tests.processes import tries

THOROUGH = 10_000
EXAMPLES_IN_FULL = 1_000
EXAMPLES = int(os.environ.get("GENIE_EXAMPLES") or tries(100, EXAMPLES_IN_FULL))
"""Random texts a parser: GENIE_EXAMPLES=10000 tries as many, and every repeated piece at its full length."""
FULL = 1_000_000  # characters
SECONDS_A_MILLION = 1.0
SPARE_SECONDS = 0.25  # of a machine that is busy

# what openers, closers, separators and words of our forms a pattern may begin with, again and again
PIECES = (
    *("<think>", "</think>", "<think></think>", "<thinking>x", "<", ">", "<a", "<|", "</s>", "[INST]"),
    *("{", "}", '{"', '{"a":', '{"1":', '{"1":"', '{"a":[', '{ "', '{"a":{}', "{}", '{"1": "a"} ', '{"a\\"', "{\\"),
    *("[", "[[", "[[A", "[[A>B", "[[A>B]]", "[[yes ", "[[ ", "]", "]]", "(", ")", "[1,", '"cut": [', "[[A>>B]] "),
    *("*", "**", "_", "`", "```json\n", "```\n", "# ", "> ", "- ", "| ", "|", "-", "--", "\u2013", "\u2014"),
    *('"', "'", '""', '"1', '"1"', '"1":', '"1": "x", ', '"1": 1, ', '"\\', "\\", "\\'", "\\u", "\\ud83d", "“", "”"),
    *("’",),
    *("1", "1 ", "1:", "1: ", "1:2 ", "1. ", "1)", "0.", "1-", "3/", "-1", "1e", "1\n", "\u0663", "&#1", "3, "),
    *(".", ". ", "..", "?", "? ", "!", "!\u201d ", ",", ";", ":", "&", "&gt;", "&#62;", "&amp;amp;", "/", "a/", "and "),
    *(" ", "  \n", "\n", "\r\n", "\t", "\u3000", "\u200b", "\u2028", "\x85", "\x1c", "\x00", " x", "a\n"),
    *("a", "a ", "word ", "\u00e9", "e\u0301", "\u00df", "\ufdfa", "\u0130", "\ud83d", "\ude00", "\U0001f600"),
    *("\uff3b",),
    *("rating", "rating ", "Rating: 1\n", "rating (", "rating ( ", "rating is ", "Rating: ", "attempt: "),
    *('"attempt": ',),
    *("not ", "not specified ", "this detail ", "the text does not ", "it is ", "i cannot ", "sorry ", "plot: ", "no "),
    *("null", "true", "[WP] ", "[ ", "<newline>", "question ", "and or ", "(a or ", "such as ", "said "),
    *("i can't help ",),
    '{"responses": [{"text": "',
)
WORST = ("<think>", "{", '{"a":', '{"1":"', "*", "“", "(", "\n", "[WP] ", "]", " ", "1", '"', "a", "\ud83d", "\ufdfa")
"""Pieces of which a hundred thousand characters once took a reader seconds, and their like."""
WHOLE = {
    "nested objects": '{"a":' * 80_000 + "1" + "}" * 80_000,
    "nested lists": "[" * 500_000 + "]" * 500_000,
    "nested lists in an object": '{"cut": ' + "[" * 900 + "1" + "]" * 900 + "}",
    "many objects": '{"1": "a"}\n' * 90_000,
    "one object of many members": "{" + ", ".join(f'"{number}": "x"' for number in range(70_000)) + "}",
    "a number of a million digits": "Rating: " + "1" * FULL,
    "a number of 5,000 digits": "Rating: " + "1" * 5_000,
    "nothing but 5,000 digits": "1" * 5_000,
    "an entity of 5,000 digits": "&#" + "1" * 5_000 + "; [[A>B]]",
    "words that nearly repeat": " ".join("ab"[number.bit_count() % 2] for number in range(400_000)),
    "periods that break off": " ".join("abcdefg"[number % 7] for number in range(400_000)) + " x",
    "spans of sentences": 'He said so." ' * 70_000,
    "many beginnings of an object": '{"a":[' + "1," * 400_000 + '{"1":' * 10_000,
}


def repeated(piece: str, length: int) -> str:
    """So many characters of nothing but the piece, between a beginning and an end that look like something."""
    return "1 not specified" + piece * (length // len(piece)) + " x"


def mixed(length: int) -> str:
    return "".join(piece * (length // len(PIECES) // len(piece)) for piece in PIECES)


def seconds(read: Callable[[], object]) -> float:
    """How long it takes, without what other processes take."""
    start = time.thread_time()
    read()
    return time.thread_time() - start


def texts() -> st.SearchStrategy[str]:
    """Texts of any characters, half ones among them, and of pieces in any order."""
    piece = st.sampled_from(PIECES)
    runs = st.tuples(piece, st.integers(1, 40)).map(lambda run: run[0] * run[1])
    built = st.lists(st.one_of(piece, runs, st.text(st.characters(), max_size=5)), max_size=30).map("".join)
    return st.one_of(st.text(st.characters()), built)
