"""What of a text from outside is read: whole characters, no thoughts, not more than a limit.

And what can be told of it by rule: whether it has a word, where its sentences end, whether it is nothing but a refusal.

All parsers of replies begin with `spoken`, so that each of them is given a text that it can read in linear time.
"""

import re
import unicodedata
from collections.abc import Collection
from itertools import pairwise
from string import punctuation

from genie_inspect.scripts import SENTENCE_ENDS, WIDE_ENDS, spaced_word_spans

LONGEST = 1_000_000  # characters; the longest replies that models can write (128,000 tokens) have some 600,000
TOO_LONG = f"longer than {LONGEST:,} characters"
SHOWN = 80  # characters of a reply in an error
_THOUGHTS = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]")
# a pair of halves, half a character alone, or any other escape, of which the backslash must not begin the next one
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)


def whole_text(text: str) -> str:
    """The text without halves of characters, which no file or request can hold; each becomes U+FFFD."""
    # two halves, each sent on its own, make a character together
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def whole_json(text: str) -> str:
    r"""JSON whose strings are whole texts: "\ud83d" alone, as a reply that was cut off has it, becomes "\ufffd"."""
    return _ESCAPE.sub(lambda escape: "\\ufffd" if escape[1] else escape[0], text) if "\\u" in text else text


def has_word(text: str) -> bool:
    """Whether there is a letter or a digit in it; an underscore is none."""
    return _WORD.search(text) is not None


def spoken(reply: str) -> str:
    """The reply without a reasoning model's <think>...</think>; empty where it never ends."""
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
    spans = sentence_spans(text)
    return text[slice(*spans[-1])].strip() if spans else ""


def without_sentences(text: str, numbers: Collection[int]) -> str:
    """The text less the sentences of these numbers, counted from 1; what stays is as it was."""
    spans = enumerate(sentence_spans(text), start=1)
    return "".join(text[start:end] for number, (start, end) in spans if number not in numbers).strip()


def without_repeated_tail(text: str) -> str:
    """The text up to the end of the first round of a loop that runs to its end; the text itself when there is none.

    A loop is the same run of words, exactly, at least three times in a row and 24 words in all, the last time perhaps
    cut off. A refrain is none: it stands inside the text, or ends it with at most eight rounds of whole lines.
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


REFUSAL = "refusal"  # why a document is not scored or does not join, in logs and counts; the word is Inspect's
MOST_WORDS = 100  # the shortest story that ships has 120, and refusals that also offer something else some 80
LONGEST_REFUSAL = 1_000  # characters of so many words; a longer text is looked at no further
_THOUGHTS_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_MARK = re.compile(r"<[^<>]{1,40}>")  # of a chat template or of HTML
_LISTED = re.compile(r"^[ \t]*(?:[-•*]|\d{1,2}[.)])[ \t].*$", re.MULTILINE)
# typographic quotes and apostrophes, dashes as commas, Markdown as space
_FOLDED = str.maketrans(
    dict.fromkeys("’\u2018", "'")
    | dict.fromkeys("“”", '"')
    | dict.fromkeys("—\u2013", ",")
    | dict.fromkeys("*_#>`~|", " ")
)
_SENTENCE_END = re.compile(r"(?<=[.!?:;])\s+|\n+")
# somebody in the text speaks, so that it is a story; "that said" is said by whoever refuses
_TOLD = re.compile(
    r"(?<!that )(?<!being )\bsaid\b"
    r"|\b(?:says|whispered|whispers|replied|told|muttered|murmured|shouted|answered|wrote|cried|explained)\b"
)
_TASK = (
    r"(?:stor(?:y|ies)|tales?|content|texts?|materials?|narratives?|fiction|poems?|scenes?|essays?|abstracts?|responses?"
    r"|requests?|prompts?|tasks?|topics?|instructions?|questions?|subjects?|themes?|scenarios?|writing|roleplays?)"
)
_THAT = (
    rf"(?:that|this|it|those|these|such(?: a)?|so|(?:\w+ ){{0,6}}?(?:{_TASK}|one|kind|type|sort|thing|anything"
    r"|something|help|assistance|information|advice))"
)
_UNTIL = (
    r"(?:\Z"
    r"|, (?:but|as|because|since|so|and|however|which|especially|though|sorry|even|unless|or|nor|if|it|i|i'm|please"
    r"|instead|particularly|including|given|thank|thanks)\b"
    r"| (?:about|that|which|involving|with|in|containing|of|featuring|depicting|describing|promoting|like|as|because"
    r"|for|due|on|from|where|using|since|if|or|and|either|here|today|now|right now|at this time|you|is|based)\b)"
)
_MATTER = rf"(?:about |on )?{_THAT}(?: \w+){{0,2}}?{_UNTIL}"
_WRITE = (
    r"(?:(?:writ|creat|generat|produc|provid|compos|craft|draft|develop|mak|offer|continu|finish|complet|fulfil"
    r"|accommodat|answer|discuss|support|depict|describ|honor|honour|process|tell|giv)\w{0,4}(?: you)?"
    r"|carry(?:ing)? out|tak(?:e|ing) on|(?:proceed|comply|engag|respond|participat)\w{0,3} (?:with|in|to))"
)
_HELP = r"(?:help|assist)(?:ing)?(?: you)?(?: out)?"
_ACT = (
    rf"(?:{_WRITE} {_MATTER}|do(?:ing)? (?:that|this|so){_UNTIL}|(?:comply|proceed)\Z"
    rf"|{_HELP}(?:\Z| (?:with|in|on) (?:{_WRITE} )?{_MATTER}))"
)
_CANNOT = (
    r"(?:can(?:not|'t|t| not)|could(?: not|n't)|will not|won't|would(?: not|n't)|do not|don't|should(?: not|n't)"
    r"|(?:'m|am) (?:not (?:able|allowed|permitted|willing|going|programmed|designed|in a position)|unable) to"
    r"|(?:'m|am) (?:not capable of|prohibited from|forbidden from)|(?:'d|would) (?:rather|prefer) not(?: to)?"
    r"|(?:have no|(?:do not|don't) have the) (?:ability|capability|capacity|way) to|(?:do not|don't) know how to"
    r"|(?:do not|don't) (?:think|believe) (?:that )?i (?:can|should)"
    r"|(?:won't|will not|would not|wouldn't) be(?: able to)?"
    r"|(?:(?:must|have to|need to|'ll have to|respectfully|politely) ){0,3}(?:decline|refuse) to"
    r"|(?:(?:'m|am) not|(?:do not|don't) feel) comfortable)"
)
_BY = r"(?:(?:ethically|really|just|simply|actually|currently|directly|knowingly|therefore|in good conscience),? )?"
# as words, not compiled: `re` compiles and keeps them at their first use, for here they would be a third of the import
_REFUSED = (
    rf"(?:\bi ?|\A(?:sorry,? (?:but )?)?){_CANNOT} (?:and will not |and won't )?{_BY}{_ACT}"
    r"|\bi (?:cannot|can't)(?:, sorry)?\Z"
    rf"|\bi ?(?:(?:'m|am) not|(?:do not|don't) feel) comfortable with {_MATTER}"
    r"|(?<!if )\bi ?(?:(?:'ll|will|must|have to|need to|am going to|'m going to|respectfully|politely|therefore) ){0,3}"
    rf"(?:decline|refuse|pass)(?:\Z| (?:on )?(?:this|that|your|the) (?:{_TASK}|one)\b|, sorry\Z)"
    r"|\b(?:not|isn't) something (?:that )?i(?:'m| am)? (?:can|could|will|able|willing|comfortable)\b"
    rf"|\bsomething (?:that )?i ?{_CANNOT}\b"
    rf"|\b(?:would not|wouldn't|not|isn't) (?:be )?(?:appropriate|possible|right|ethical) (?:for me )?to {_ACT}"
    rf"|\b(?:prevents?|stops?|keeps?|prohibits?|forbids?) me (?:from |to ){_ACT}"
    r"|\b(?:violates?|against|conflicts? with|breach(?:es)?) (?:my|our|\w+'s|(?:the )?content)\b"
    r".{0,40}\b(?:guidelines?|polic(?:y|ies)|rules|terms|programming|values|principles)\b"
    r"|\b(?:this|that|it|which)(?: is|'s) beyond (?:my (?:abilities|capabilities|scope)|what i can)\b"
    r"|\brequests? (?:cannot|can't|could not) be (?:completed|processed|fulfilled|answered|accommodated|met)\b"
)
# apology, reason, offer, question back: what surrounds a refusal
_TALK = (
    rf"\b(?:{_TASK}|sorry|apolog\w+|regret|unfortunately|guidelines?|polic(?:y|ies)|language model|ai|assistant|instead"
    r"|something else|alternative\w*|feel free|let me know|happy to|glad to|would you|you(?:'d| would) like|if you"
    r"|can i|could i|please|thank|thanks|assist\w*|help|harm\w*|violen\w+|explicit|inappropriate|appropriate|offensive"
    r"|copyright\w*|respectful\w*|ethic\w+|guidance|rephrase|brainstorm|comply|programm\w+|i understand|i appreciate)\b"
)


def refuses(text: str) -> bool:
    """Whether a text is nothing but a refusal in plain English, of at most 100 words; no other language is known.

    One sentence has to refuse the task ("I can't write that"), and every other to talk about it (an apology, a reason,
    an offer): one that does not, or somebody who speaks, makes a story of it. Thoughts that a reasoning model left in
    front do not count.

    >>> [refuses(text) for text in ("I’m sorry, but I can’t help with that.", "I'm sorry, but I can't stay, she said.")]
    [True, False]
    """
    visible = _THOUGHTS_END.split(text)[-1].strip()
    if len(visible) > LONGEST_REFUSAL or len(visible.split()) > MOST_WORDS:
        return False
    plain = unicodedata.normalize("NFKC", _MARK.sub(" ", _LISTED.sub("", visible)).casefold().translate(_FOLDED))
    words = _unquoted(re.sub(r"[ \t]+", " ", plain).strip())
    sentences = [part.strip(punctuation + " ") for part in _SENTENCE_END.split(words)]
    sentences = [sentence for sentence in sentences if sentence]
    refused = [re.search(_REFUSED, sentence) is not None for sentence in sentences]
    on_task = all(no or re.search(_TALK, sentence) for no, sentence in zip(refused, sentences, strict=True))
    return any(refused) and on_task and not _TOLD.search(words)


def _unquoted(words: str) -> str:
    """The text without quotes around the whole of it; empty where it opens with speech."""
    mark = words[:1]
    if mark not in ('"', "'"):
        return words
    return words[1:-1] if len(words) > 1 and words.endswith(mark) and words.count('"') in (0, 2) else ""
