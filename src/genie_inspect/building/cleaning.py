"""Documents cut where they fall apart, as a model sees it, behind the rules that need none.

Source: Genie (arXiv 2606.12790) asks a model for the last sound sentence. Deviation: a sentence that is not in the
text, or a reply that cannot be read, cuts nothing, and what would lose more than half of itself is left out.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from inspect_ai.model import GenerateConfig, Model

from genie_inspect.asking.gathering import gathered
from genie_inspect.asking.identity import identified_model
from genie_inspect.asking.readable import readable
from genie_inspect.building.work import Progress, no_progress
from genie_inspect.errors import UnreadableReplyError
from genie_inspect.measures.length import word_count
from genie_inspect.populations.intake.trimming import loses_most, up_to_sentence
from genie_inspect.populations.schema import Document, document_id
from genie_inspect.prompting.fence import fenced
from genie_inspect.prompting.forms import last_form
from genie_inspect.prompting.responses import last_sound_sentence
from genie_inspect.prompting.templates import Instruction
from genie_inspect.prompting.texts import has_word

INSTRUCTION = Instruction("last_sound_sentence", frozenset({"data"}))
CONFIG = GenerateConfig(temperature=0.0, max_tokens=400)  # the longest sentence of the shipped stories has some 120
STEP = "looking for broken ends"
ASKED, CUT, WORDS = "asked about", "cut", "words cut"
ABSENT, UNREADABLE = "kept whole: the sentence is not in the text", "kept whole: the reply could not be read"
BROKEN = "falls apart in its first half"


class Cleaner:
    """Asks a model for the last sound sentence of documents, and cuts what stands behind it.

    Args:
        model: Who is asked.
        templates: A folder of the user's own templates.

    Raises:
        TemplateError: If the user's template has other blanks than ours.
    """

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
        """The documents in their order, cut where they fall apart; without those that do so in their first half.

        Args:
            documents: What is looked at.
            dropped: Where those that are left out are counted.
            progress: Told of each document.

        Raises:
            GraderFailedError: If the model cannot be reached.
        """
        done = 0

        async def sentence_of(document: Document) -> str | None:
            nonlocal done
            sentence = await self._last_sentence(document.text)
            done += 1
            progress(STEP, done, len(documents))
            return sentence

        sentences = await gathered(*map(sentence_of, documents))
        self.counts[ASKED] += len(documents)
        cut = [self._cut(document, sentence) for document, sentence in zip(documents, sentences, strict=True)]
        dropped[BROKEN] += cut.count(None)
        return [document for document in cut if document is not None]

    async def _last_sentence(self, text: str) -> str | None:
        """What the model calls the last sound sentence; None where no reply could be read."""
        request = self.template.fill(data=fenced({"writing": text}))
        try:
            return await readable(self.model, request, CONFIG, last_sound_sentence, last_form())
        except UnreadableReplyError:
            return None

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
    """What a population's card says of it; nothing where nobody was asked."""
    if cleaner is None:
        return {}
    counted = ", ".join(f"{count} {what}" for what, count in cleaner.counts.items() if count)
    return {"Broken ends": f"looked for by {cleaner.signature}: {counted}"}
