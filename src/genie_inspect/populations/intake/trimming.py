"""The document in a generation: without thoughts, without a tail that repeats itself, up to its last sound sentence."""

import re

from genie_inspect.errors import UnreadableReplyError
from genie_inspect.measures.quotations import QuotedText
from genie_inspect.prompting.documents.sentences import without_repeated_tail
from genie_inspect.prompting.responses import written_text
from genie_inspect.scripts import SENTENCE_ENDS, WIDE_ENDS

# marks of chat templates that a model wrote out as text: <|im_end|>, </s>, [/INST]
_CHAT_MARKS = re.compile(r"<\|[a-z_]{2,20}\|>|</?s>|\[/?INST\]")
_MARK, _CLOSERS = rf"[{SENTENCE_ENDS}{WIDE_ENDS}]", r"[\"'”’)\]*_»」』]*"
_CLOSING = re.compile(f"{_MARK}*{_CLOSERS}")
_SENTENCE_END = re.compile(rf"{_MARK}{_CLOSERS}\Z")
_LINE_END = re.compile(r"[ \t]*(?:[\r\n]|\Z)")


def trimmed(generation: str) -> str:
    r"""The generation without thoughts, chat marks, outer space, and the repetitions of a degenerate tail.

    Empty when there is no word in it.

    >>> trimmed("<think>A castle.</think> The moat rose.<|im_end|>")
    'The moat rose.'
    """
    return without_repeated_tail(_written(generation)).strip()


def is_degenerate(generation: str) -> bool:
    """Whether more than half of what the model said, thoughts aside, is a tail that repeats itself."""
    text = _written(generation)
    return loses_most(text, without_repeated_tail(text))


def loses_most(text: str, rest: str) -> bool:
    """Whether more than half of a text is gone."""
    return 2 * len(rest) < len(text)


def up_to_sentence(text: str, sentence: str) -> str | None:
    """The text up to the end of one of its sentences, the last time that it stands there; None where it does not.

    What a model copies is found as a close reader's quotes are. It must end as a sentence does, so that a word or two,
    which stand in any text, cut none.

    >>> up_to_sentence("The owl slept.  She woke. Owl the of owl.", "she  woke")
    'The owl slept.  She woke.'
    >>> up_to_sentence("The owl slept.  She woke. Owl the of owl.", "The owl")
    """
    place = QuotedText(text).find(sentence, last=True)
    if place is None:
        return None
    closing = _CLOSING.match(text, place[1])
    begin, end = place[0], closing.end() if closing else place[1]
    ends = _SENTENCE_END.search(text[begin:end]) or _LINE_END.match(text, end)
    return text[:end] if ends else None


def _written(generation: str) -> str:
    """The generation without thoughts and chat marks; empty when it has no word."""
    try:
        return _CHAT_MARKS.sub("", written_text(generation)).strip()
    except UnreadableReplyError:
        return ""
