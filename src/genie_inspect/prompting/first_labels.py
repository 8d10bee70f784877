"""Replies that begin with their label and give reasons behind it."""

import re

from genie_inspect.prompting.texts import spoken

_BEGINS = re.compile(r"\W{0,9}(\[\[[^\[\]\n]{1,20}\]\])")


def up_to_label(reply: str) -> str:
    """The reply as far as the first line that has a label in double brackets; the whole where there is none.

    Where the next line begins with another label the two are a list of labels: it stays, for the reader to refuse.

    >>> up_to_label("[[A>B]]\\nA earns its end; [[B>A]] would be unfair.")
    '[[A>B]]'
    """
    lines = [line for line in spoken(reply).splitlines() if line.strip()]
    first = next((index for index, line in enumerate(lines) if "[[" in line and "]]" in line), len(lines))
    following = _BEGINS.match(lines[first + 1]) if first + 1 < len(lines) else None
    return "\n".join(lines[: first + 1 + bool(following)])
