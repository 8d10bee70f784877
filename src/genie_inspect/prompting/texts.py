"""What of a text from outside is read: whole characters, no thoughts, not more than a limit; and whether it has a word.

All parsers of replies begin with `spoken`, so that each of them is given a text that it can read in linear time.
"""

import re

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
