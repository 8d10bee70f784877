"""Refusals in words, by rule, for where no model reads: "I'm sorry, but I can't help with that." and nothing else."""

import re
import unicodedata
from string import punctuation

REFUSAL = "refusal"
"""Why a document is not scored or does not join, as it stands in logs and counts; the word is Inspect's."""
MOST_WORDS = 100
"""The shortest story that ships has 120 words, and refusals that also offer something else run to 80 or so."""
LONGEST = 1_000  # characters of so many words; a longer text is looked at no further
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
_END = (
    r"(?:\Z"
    r"|, (?:but|as|because|since|so|and|however|which|especially|though|sorry|even|unless|or|nor|if|it|i|i'm|please"
    r"|instead|particularly|including|given|thank|thanks)\b"
    r"| (?:about|that|which|involving|with|in|containing|of|featuring|depicting|describing|promoting|like|as|because"
    r"|for|due|on|from|where|using|since|if|or|and|either|here|today|now|right now|at this time|you|is|based)\b)"
)
_MATTER = rf"(?:about |on )?{_THAT}(?: \w+){{0,2}}?{_END}"
_WRITE = (
    r"(?:(?:writ|creat|generat|produc|provid|compos|craft|draft|develop|mak|offer|continu|finish|complet|fulfil"
    r"|accommodat|answer|discuss|support|depict|describ|honor|honour|process|tell|giv)\w{0,4}(?: you)?"
    r"|carry(?:ing)? out|tak(?:e|ing) on|(?:proceed|comply|engag|respond|participat)\w{0,3} (?:with|in|to))"
)
_HELP = r"(?:help|assist)(?:ing)?(?: you)?(?: out)?"
_ACT = (
    rf"(?:{_WRITE} {_MATTER}|do(?:ing)? (?:that|this|so){_END}|(?:comply|proceed)\Z"
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
    if len(visible) > LONGEST or len(visible.split()) > MOST_WORDS:
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
