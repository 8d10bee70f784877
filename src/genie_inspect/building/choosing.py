"""Which documents a population takes: cleaned, cut where they fall apart, and drawn by a plan."""

import random
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import TypeVar

from inspect_ai.model import GenerateConfig, Model

from genie_inspect.building.interviewing import Progress, no_progress
from genie_inspect.building.question_writing import Wanted
from genie_inspect.errors import UnreadableReplyError
from genie_inspect.graders.grader import gathered, identified_model
from genie_inspect.graders.quality import CoherenceRater
from genie_inspect.graders.readable import readable
from genie_inspect.measures.marks import QuotedText
from genie_inspect.measures.tokens import word_count
from genie_inspect.populations.schema import Document, Feature, document_id
from genie_inspect.populations.survey import THRESHOLD, NearDuplicates
from genie_inspect.prompting.fence import fenced
from genie_inspect.prompting.forms import last_form, last_sound_sentence, written_text
from genie_inspect.prompting.templates import Instruction
from genie_inspect.prompting.texts import has_word, without_repeated_tail
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


INSTRUCTION = Instruction("last_sound_sentence", frozenset({"data"}))
CONFIG = GenerateConfig(temperature=0.0, max_tokens=400)  # the longest sentence of the shipped stories has some 120
STEP = "looking for broken ends"
ASKED, CUT, WORDS = "asked about", "cut", "words cut"
ABSENT, UNREADABLE = "kept whole: the sentence is not in the text", "kept whole: the reply could not be read"
BROKEN = "falls apart in its first half"


class Cleaner:
    """Asks a model for the last sound sentence of documents, and cuts what stands behind it."""

    def __init__(self, model: Model, templates: Path | None = None) -> None:
        self.model = model
        self.template = INSTRUCTION.template(templates)
        self.counts: Counter[str] = Counter()
        """Documents that were asked about, by what came of it; and how many words were cut."""

    @cached_property
    def signature(self) -> str:
        """`last_sound_sentence(<model>@<digest>,template=<digest>)`."""
        model = identified_model(self.model, (CONFIG, last_form()))
        return f"{INSTRUCTION.name}({model},template={self.template.digest})"

    async def cleaned(
        self, documents: Sequence[Document], dropped: Counter[str], progress: Progress = no_progress
    ) -> list[Document]:
        """The documents in their order, cut where they fall apart; without those that do so in their first half."""
        done = 0

        async def sentence_of(document: Document) -> str | None:
            """What the model calls the last sound sentence; None where no reply could be read."""
            nonlocal done
            request = self.template.fill(data=fenced({"writing": document.text}))
            sentence = None
            with suppress(UnreadableReplyError):
                sentence = await readable(self.model, request, CONFIG, last_sound_sentence, last_form())
            done += 1
            progress(STEP, done, len(documents))
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


def card_line(cleaner: Cleaner | None) -> dict[str, str]:
    if cleaner is None:
        return {}
    counted = ", ".join(f"{count} {what}" for what, count in cleaner.counts.items() if count)
    return {"Broken ends": f"looked for by {cleaner.signature}: {counted}"}


Filter = Callable[[Sequence[Document]], Awaitable[list[Document]]]
"""Given documents of one prompt, returns those that may join the population."""
RATED, UNRATED = "coherence asked for", "coherence could not be rated, kept"


@dataclass(frozen=True, slots=True)
class Chooser:
    """Takes a seeded sample of a prompt's documents, every model as equally as can be."""

    size: int
    seed: int
    near_duplicates: float
    rater: CoherenceRater | None = None
    least: float = 0.0
    """Coherence from which a document joins, on the rater's own scale."""
    cleaner: Cleaner | None = None
    """Cuts documents where they fall apart; None leaves them whole."""

    async def choose(self, documents: Sequence[Document], counts: Counter[str], attempts: Filter) -> list[Document]:
        """The documents that join, in the order of the sample; what does not is counted by reason.

        No more documents are cleaned, rated for coherence and read than are needed to fill the sample.
        """
        # before the sample is drawn: a near-duplicate must not take a place in it
        seen, seen_cut = NearDuplicates(self.near_duplicates), NearDuplicates(self.near_duplicates)
        distinct = [document for document in documents if seen.twin(document.text) is None]
        counts["near-duplicate"] += len(documents) - len(distinct)
        prompt = documents[0].prompt if documents else ""
        waiting = stratified(distinct, lambda document: document.model, self.seed, prompt)
        chosen: list[Document] = []
        # only as many as are still wanted: rating and reading cost calls
        while waiting and len(chosen) < self.size:
            missing = self.size - len(chosen)
            whole = await self._cleaned(waiting[:missing], counts, seen_cut)
            chosen += await attempts(await self._coherent(whole, counts))
            waiting = waiting[missing:]
        counts["not sampled"] += len(waiting)
        return chosen

    async def _cleaned(
        self, documents: Sequence[Document], counts: Counter[str], seen: NearDuplicates
    ) -> list[Document]:
        """The documents up to where they fall apart; without their broken ends two may be nearly the same."""
        if self.cleaner is None:
            return list(documents)
        cleaned = await self.cleaner.cleaned(documents, counts)
        distinct = [document for document in cleaned if seen.twin(document.text) is None]
        counts["near-duplicate"] += len(cleaned) - len(distinct)
        return distinct

    async def _coherent(self, documents: Sequence[Document], counts: Counter[str]) -> list[Document]:
        rater = self.rater
        if rater is None:
            return list(documents)

        async def rating_of(document: Document) -> float | None:
            with suppress(UnreadableReplyError):
                return await rater.rate(document.prompt, document.text)
            return None

        ratings = await gathered(*map(rating_of, documents))
        # what could not be rated joins, and is counted: a rater's fault is not the document's
        is_coherent = [rating is None or rating >= self.least for rating in ratings]
        counts["incoherent"] += is_coherent.count(False)
        counts[UNRATED] += ratings.count(None)
        counts[RATED] += len(ratings)
        return [document for document, joins in zip(documents, is_coherent, strict=True) if joins]


GRADER, NONE = "grader", "none"


@dataclass(frozen=True, slots=True)
class Plan:
    """Logs, questions and options that a population is built from."""

    logs: Sequence[str]
    output: Path
    name: str
    licence: str
    features: tuple[Feature, ...]
    version: str = "1"
    description: str = ""
    questions: Path | None = None
    """A file or population whose questions are asked; None has them written."""
    wanted: Wanted = field(default_factory=Wanted)
    per_prompt: int = 50
    seed: int = 0
    near_duplicates: float = THRESHOLD
    coherence: str = GRADER
    """`grader`, `reward/<hub id or folder>` of ArmoRM, or `none`."""
    min_coherence: float | None = None
    """Least coherence on the rater's own scale; its middle unless given."""
    clean_by_model: bool = False
    """Whether the grader is asked where each document falls apart, and what stands behind that is cut."""
    templates: Path | None = None
    yardstick: str = NONE
    """The judge, `list` or `pairwise`, with which the documents are compared with each other; or `none`."""


@dataclass(slots=True)
class Built:
    """Counts of a build, for people and scripts."""

    population: str = ""
    generations: int = 0
    documents: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    """Generations that did not join, by reason."""
    coherence_unrated: int = 0
    """Documents that joined although their coherence could not be rated."""
    prompts_without_documents: int = 0
    """Prompts that lost all of them, and so their questions."""
    questions: int = 0
    rejected_questions: dict[str, int] = field(default_factory=dict)
    answers: int = 0
    unspecified: int = 0
    """Answers that say that the document does not say."""
    unreadable_answers: int = 0
    """Answers that could not be had; they are not on record and are read again by whoever scores."""
    unreadable_replies: int = 0
    """Replies about questions that held nothing, or lacked something that was asked for."""
    asked_again: int = 0
    """Requests that only an unreadable reply made necessary."""
    cleaned: dict[str, int] | None = None
    """What came of asking where documents fall apart, and how many words were cut; None where nobody was asked."""

    def provenance(self, plan: Plan) -> dict[str, str]:
        # the card is all that a reader of the population has of how it was built
        counted = ", ".join(f"{count} {reason}" for reason, count in self.dropped.items())
        written = "written, filtered and mapped by the grader"
        return {
            "Generations found in logs": str(self.generations),
            "Dropped": counted or "none",
            "Coherence": f"by {plan.coherence}; {self.coherence_unrated} unreadable and kept",
            "Documents a prompt": f"at most {plan.per_prompt}, stratified by model, seed {plan.seed}",
            "Near-duplicates": f"dropped from {plan.near_duplicates:.0%} shared runs of five words",
            "Questions": f"from {plan.questions.name}" if plan.questions else written,
            "Yardstick": f"by judge={plan.yardstick}" if plan.yardstick != NONE else NONE,
            "Answers": f"{self.answers}: {self.unspecified} not specified; {self.unreadable_answers} more unreadable",
        }
