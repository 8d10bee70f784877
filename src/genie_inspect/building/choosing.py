"""Which documents a population takes: cleaned, cut where they fall apart, and drawn by a plan."""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import TypeVar

from inspect_ai.model import GenerateConfig, Model

from genie_inspect.building.interviewing import Progress, no_progress
from genie_inspect.errors import UnreadableReplyError
from genie_inspect.graders.grader import gathered, identified_model
from genie_inspect.graders.readable import readable
from genie_inspect.measures.marks import QuotedText
from genie_inspect.measures.tokens import word_count
from genie_inspect.populations.schema import Document, document_id
from genie_inspect.prompting.fence import fenced
from genie_inspect.prompting.forms import LAST, last_form, last_sound_sentence, written_text
from genie_inspect.prompting.templates import Instruction
from genie_inspect.prompting.texts import has_word, last_sentence, without_repeated_tail
from genie_inspect.scripts import SENTENCE_ENDS, WIDE_ENDS
from genie_inspect.signature import digest

ItemT = TypeVar("ItemT")


def stratified(items: Iterable[ItemT], stratum: Callable[[ItemT], str], *seed: object) -> list[ItemT]:
    """All items in a seeded order of which every beginning takes the strata as equally as can be.

    >>> [word[0] for word in stratified(["a1", "a2", "a3", "a4", "b1", "b2"], lambda word: word[0], 0)].count("a")
    4
    """
    chance = random.Random(digest(*map(str, seed)))  # noqa: S311  # a sample, no secret
    groups: dict[str, list[ItemT]] = {}
    for item in items:
        groups.setdefault(stratum(item), []).append(item)
    # sorted, so that the order of the items' strata does not matter
    for name in sorted(groups):
        chance.shuffle(groups[name])
    # who comes first in each round is drawn too: else the first name would gain a place
    order = sorted(groups)
    chance.shuffle(order)
    rounds = zip_longest(*(groups[name] for name in order), fillvalue=None)
    return [item for turn in rounds for item in turn if item is not None]


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


INSTRUCTION = Instruction(
    "last_sound_sentence",
    keys=frozenset({"writing"}),
    # that it holds together: so that all later steps are counted
    rehearsed=lambda data: fenced({LAST: last_sentence(data["writing"])}),
    is_prose=True,
)
CONFIG = GenerateConfig(temperature=0.0, max_tokens=400)  # the longest sentence of the shipped stories has some 120
ASKED, CUT, WORDS = "asked about", "cut", "words cut"
ABSENT, UNREADABLE = "kept whole: the sentence is not in the text", "kept whole: the reply could not be read"
BROKEN = "falls apart in its first half"


class Cleaner:
    """Asks a model for the last sound sentence of documents, and cuts what stands behind it."""

    def __init__(self, model: Model, templates: Path | None = None) -> None:
        self.model = model
        self.template = INSTRUCTION.template(templates)
        self.counts: Counter[str] = Counter()  # documents that were asked about, by what came of it; and words cut

    @cached_property
    def signature(self) -> str:
        """`last_sound_sentence(<model>@<digest>,template=<digest>)`."""
        model = identified_model(self.model, (CONFIG, last_form()))
        return f"{INSTRUCTION.name}({model},template={self.template.digest})"

    @property
    def card(self) -> dict[str, str]:
        counted = ", ".join(f"{count} {what}" for what, count in self.counts.items() if count)
        return {"Broken ends": f"looked for by {self.signature}: {counted}"}

    async def cleaned(
        self, documents: Sequence[Document], dropped: Counter[str], progress: Progress = no_progress
    ) -> list[Document]:
        """The documents in their order, cut where they fall apart; without those that do so in their first half."""
        done = 0

        async def sentence_of(document: Document) -> str | None:
            nonlocal done
            request = self.template.request({"writing": document.text})
            sentence = None
            with suppress(UnreadableReplyError):
                sentence = await readable(self.model, request, CONFIG, last_sound_sentence, last_form())
            done += 1
            progress("looking for broken ends", done, len(documents))
            return sentence

        sentences = await gathered(*map(sentence_of, documents))
        self.counts[ASKED] += len(documents)
        cut = [self._cut(document, sentence) for document, sentence in zip(documents, sentences, strict=True)]
        dropped[BROKEN] += cut.count(None)
        return [document for document in cut if document is not None]

    def _cut(self, document: Document, sentence: str | None) -> Document | None:
        """The document up to the sentence; None where most of it would be gone."""
        if sentence is None:
            self.counts[UNREADABLE] += 1
            return document
        # an empty sentence says that none is sound
        rest = up_to_sentence(document.text, sentence) if sentence else ""
        if rest is None:
            self.counts[ABSENT] += 1
            return document
        gone = document.text[len(rest) :]
        if not has_word(gone):
            return document
        if loses_most(document.text, rest):
            return None
        self.counts[CUT] += 1
        self.counts[WORDS] += word_count(gone)
        identity = document_id(document.prompt, rest)
        return document.model_copy(update={"id": identity, "text": rest, "cut_words": word_count(gone)})
