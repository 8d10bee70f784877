"""What an answer is: when two are the same, and when it is none."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from genie_inspect.prompting.replies import LONGEST_ANSWER, is_short_text, numbered_values
from genie_inspect.prompting.texts import spoken
from genie_inspect.scripts import words

NOT_SPECIFIED = "[not said]"  # what read.md asks for where the document does not say; no document is about that
MOST_WORDS = 30  # a phrase or a sentence; what is longer says something
LONGEST_COMPARED = 10_000  # characters; one that stands for a whole phrase would make eighteen million of a million
LONGEST_PHRASE = 300  # characters of it, so that hostile input costs nothing

# what questions ask about: in these words a reader names it again before it says that there is nothing
_TOPICS = frozenset(
    """
    age ages answer answers antagonist appearance author background backstory cause character characters city color
    colour conflict country culture data date dates day detail details document duration ending era event events
    excerpt family gender genre goal goals history hour identity information it job landscape language length location
    locations method mood motivation motive name names narration narrative narrator narrators number object objects
    occupation origin outcome passage period perspective place places planet plot point problem profession protagonist
    question reason reasons region relation relations relationship relationships resolution result results role scene
    season setting settings species story street style text that theme this time times title tone town type view
    village weather world writer year years
    """.split()  # noqa: SIM905  # a hundred quotes would hide the words
)
_LINKS = frozenset(
    ("a", "an", "and", "at", "exact", "explicit", "in", "its", "of", "or", "precise", "s", "specific", "the")
)
_TEXT = r"(?:story|text|document|passage|narrative)"
# as words, not compiled: `re` compiles and keeps the long ones at their first use, which keeps the import light
# of readers who were not asked for NOT_SPECIFIED, as in imports: what they write in its place, alone or with a topic
_UNSAID = (
    r"\b(?:(?:s|is|was|are|were) )?(?:"
    r"(?:not|isn t|wasn t|aren t) (?:explicitly |clearly |directly )?(?:said|specified|stated|mentioned|given|provided"
    r"|described|indicated|clear|known|available|applicable)"
    r"|un(?:specified|stated|mentioned|known|clear)|none|na|n a|null|nil|cannot be determined|not enough information"
    r"|no (?:answer|information|mention)(?: given| provided)?|(?:does not|doesn t) (?:apply|say|specify|mention|state)"
    rf")(?: it| this)?(?: (?:in|by|from) (?:the |this )?{_TEXT})?\Z"
)
_TEXT_IS_SILENT = (
    rf"(?:the |this )?{_TEXT} (?:(?:does|did|do) not|doesn t|didn t|don t|never) (?:explicitly |clearly |directly )?(?:"
    r"says?|specif(?:y|ies)|states?|mentions?|gives?|provides?|describes?|indicates?|reveals?|explains?|names?)\b"
)
_OF_NOTHING = re.compile(r"(?:(?:in|at) )?(?:an? )?un(?:specified|stated) ")
# words that readers are often asked to use, with a remark of any length
_WITH_REMARK = re.compile(r"(?:not specified|unspecified|not stated|not mentioned|n/a)\s*(?:[(;:,.–—]|-\s)")
# "not specified", "not mentioned" and "unknown" as people write them elsewhere
_ELSEWHERE = frozenset(
    phrase.strip()
    for phrase in """
    nicht angegeben|nicht erwähnt|nicht genannt|keine angabe|keine angaben|unbekannt|non précisé|non spécifié
    |non mentionné|pas précisé|inconnu|no especificado|no se especifica|no mencionado|no se menciona|desconocido
    |não especificado|não mencionado|desconhecido|non specificato|non indicato|non menzionato|sconosciuto
    |niet vermeld|niet gespecificeerd|onbekend|ej angivet|inte angivet|okänt|nie podano|nie określono|nieznane
    |не указано|не упоминается|не упомянуто|неизвестно|не вказано|невідомо|belirtilmemiş|bilinmiyor
    |غير محدد|غير مذكور|لم يذكر|غير معروف|निर्दिष्ट नहीं|उल्लेख नहीं|अज्ञात
    |未提及|未说明|未提到|未指定|没有提及|没有说明|不详|未知|未說明
    |沒有提及|記載なし|言及なし|不明|특정되지 않음|언급되지 않음|명시되지 않음|알 수 없음
    |ไม่ระบุ|ไม่ได้ระบุ|ไม่ทราบ
    |không rõ|không được đề cập|tidak disebutkan|tidak diketahui
    """.replace("\n", "").split("|")
)

# the rest is "it isn't stated anywhere in the text" in many forms
_TOPIC = rf"(?:{_TEXT}|author|narrator|answer|information|question|details?)"
_IT = r"(?:it|this|that)"
_NOT = r"(?:not|never|cannot|isn t|wasn t|aren t|doesn t|don t|didn t|hasn t|can t)"
_SAY = (
    r"(?:specify|state|mention|say|give|provide|describe|indicate|reveal|disclose|explain|identify|name|define|answer)"
)
_SAYS = (
    r"(?:specifies|states|mentions|says|gives|provides|describes|indicates|reveals|discloses|explains|identifies|names"
    r"|defines|answers)"
)
_SAID = (
    rf"(?:{_SAY}|specified|stated|mentioned|said|given|provided|described|indicated|revealed|disclosed|explained"
    r"|identified|named|defined|clear|known|detailed|determined|determinable|applicable|available|addressed|discussed"
    r"|inferable)"
)
# of a thing in a story these are answers ("never found"); of the text they are none ("not found in the text")
_IN_STORY = r"(?:found|present|included|answered)"
_HOW = r"(?:explicitly|clearly|directly|really|actually|specifically|fully|ever|even|at all|been|be|made|enough)"
# single words, each in one way only: phrases that can be cut in two ways would be tried in all combinations
_WHERE = rf"(?:in|by|from|within|about|for|of|the|any|enough|here|anywhere|explicitly|clearly|{_IT}|{_TOPIC})"
_IS = r"(?:s|is|was|are|were|does|did|do|has|have|can|could)"
_UNSPECIFIED = (
    rf"(?:(?:(?:the|this|that|an?) )?(?:{_TOPIC}|{_IT}) )?(?:{_IS} )?"
    rf"(?:{_NOT}(?: {_HOW})* (?:{_SAID}|enough information|{_IN_STORY} (?:in|by) (?:the )?{_TOPIC})"
    rf"|un(?:specified|stated|mentioned|clear|disclosed|identified|named|explained|answerable|determined|known)"
    rf"|indeterminate|insufficient (?:information|detail|context))"
    rf"(?: {_SAID})?(?: {_WHERE})*"
    rf"|(?:the )?question {_IS} {_NOT} answered(?: {_WHERE})*"
    rf"|(?:the question |it |this |that )?(?:does not|doesn t) apply(?: to)?(?: {_WHERE})*"
    rf"|(?:\w+ ){{1,10}}(?:is|was|are|were) not(?: {_HOW})* (?:specified|stated|mentioned)(?: {_WHERE})*"
    rf"|(?:the |this )?{_TEXT} (?:{_IS} )?{_NOT}(?: {_HOW})* (?:{_SAY}|{_SAYS})\b.*"
    rf"|(?:the |this )?(?:author|narrator) never {_SAYS}(?: {_WHERE})*"
    rf"|(?:none|nothing)(?: {_IS})?(?: {_HOW})* (?:specified|stated|mentioned|said|given|provided)(?: {_WHERE})*"
    rf"|(?:there {_IS} )?no(?: \w+)? (?:answer|information|mention|indication|details?)(?: {_IS})?"
    rf"(?: {_SAID})?(?: {_WHERE})*"
    rf"|(?:it (?:s|is) )?(?:cannot|can not|can t|impossible to|hard to) (?:tell|say|know|determine)(?: {_WHERE})*"
    rf"|(?:we|readers|the reader) {_IS} {_NOT} (?:told|shown)(?: {_WHERE})*"
    rf"|i (?:do not|don t) know|i (?:am|m) not sure"
)

ARTICLES = {"a", "an", "the"}


@lru_cache(maxsize=100_000)  # a population's answers come back with every document
def normalised(answer: str) -> str:
    """The answer as it counts for equality: case, spacing, width, quotes around it and end punctuation do not.

    What is longer than 10,000 characters is equal to itself alone.
    """
    if len(answer) > LONGEST_COMPARED:
        return answer
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", answer).casefold())
    return re.sub(r"\s+", " ", folded.replace("’", "'")).strip(" .!?,;:。।\"'“”\u2018")


def says_nothing(answer: str) -> bool:
    """Whether an answer is the marker that our readers are asked for, NOT_SPECIFIED, with or without a remark.

    Nothing else is: "none" and "unknown" may be what the document says, and the marker is the same in every language.

    >>> [says_nothing(text) for text in ("[Not said].", "(not said)", "[not said]: no name", "none", "unknown")]
    [True, True, True, False, False]
    """
    plain = normalised(answer[:LONGEST_PHRASE])
    return plain.startswith(NOT_SPECIFIED) or (len(answer) <= LONGEST_PHRASE and _words(plain) == "not said")


def is_unspecified(answer: str) -> bool:
    """Whether an answer of a reader who was not asked for our marker says that there is none, by meaning.

    In any case and punctuation. Only a whole answer counts: "an unknown thief" and "nobody" are answers. English is
    known well; of other languages only the usual phrases of a few.

    >>> [is_unspecified(text) for text in ("Not specified.", "N/A", "nicht angegeben", "未提及。", "an unknown thief")]
    [True, True, True, True, False]
    """
    phrase = " ".join(answer.split())
    plain = normalised(phrase[:LONGEST_PHRASE])
    spoken = _words(plain)
    if not spoken or says_nothing(phrase) or _WITH_REMARK.match(plain):
        return True
    if len(phrase) > LONGEST_PHRASE:
        return False
    is_short = spoken.count(" ") < MOST_WORDS
    return _is_unsaid(spoken) or plain in _ELSEWHERE or (is_short and re.fullmatch(_UNSPECIFIED, spoken) is not None)


def repeats_question(answer: str, question: str) -> bool:
    """Whether an answer says nothing but words of its question, as a reader does that does not read.

    Single answers may: to "Does the owl or the fox win?" one answers "the owl". A share of them is what tells.
    """
    said = set(_words(normalised(answer)).split()) - ARTICLES
    return bool(answer) and said <= set(_words(normalised(question)).split())


def _words(plain: str) -> str:
    return " ".join(words(plain.replace("_", " ")))


def _is_unsaid(phrase: str) -> bool:
    """Whether there is nothing in it but a topic and the words that say nothing of it."""
    if re.match(_TEXT_IS_SILENT, phrase):
        return True
    if unsaid := re.search(_UNSAID, phrase):
        topic = phrase[: unsaid.start()].split()
    elif of_nothing := _OF_NOTHING.match(phrase):
        topic = phrase[of_nothing.end() :].split()
    else:
        return False
    # the last word must be the topic itself: "the name is unknown", but not "in the name of the unknown"
    return not topic or (topic[-1] in _TOPICS and _TOPICS.union(_LINKS).issuperset(topic))


ATTEMPT, YES, NO = "attempt", "yes", "no"
# a key of a JSON object, whole or cut off (a quote inside an answer is escaped and no key), else a line of its own
_KEY = re.compile(rf'"{ATTEMPT}"\s*:\s*"?({YES}|{NO})\b', re.IGNORECASE)
_LINE = re.compile(rf"^[ \t>*#_-]*{ATTEMPT}[*_]*[ \t]*[:=][ \t*_]*({YES}|{NO})\b", re.IGNORECASE | re.MULTILINE)


def reading_reply(
    reply: str, count: int, questions: Sequence[str] = (), longest: int | None = LONGEST_ANSWER, has_marker: bool = True
) -> tuple[dict[int, str | None], bool | None]:
    """Answers by question number, and whether the document is a try at what the questions are about.

    An answer is None where the document does not say; what could not be read is absent. The second is None where the
    reply has no word on it.

    >>> reading_reply('{"attempt": "yes", "1": "a pilot", "2": "[not said]"}', 2)
    ({1: 'a pilot', 2: None}, True)
    """
    answers: dict[int, str | None] = {}
    is_silent = says_nothing if has_marker else is_unspecified
    wordings = {number: normalised(question) for number, question in enumerate(questions, start=1)}
    for number, value in numbered_values(reply, count).items():
        answer = None if value is None else value.strip()
        if answer is None:
            answers[number] = None
        elif is_short_text(answer, longest) and normalised(answer) != wordings.get(number):
            answers[number] = None if is_silent(answer) else answer
    text = spoken(reply)
    # the last word on it, as a reply that corrects itself ends with what it means
    attempts = _KEY.findall(text) or _LINE.findall(text)
    return answers, attempts[-1].casefold() == YES if attempts else None
