"""Edits and paraphrases of documents by a model, one document after another.

Source: the sensitivity study of Genie (arXiv 2606.12790): alternatives proposed without sight of the population, an
edit for each, three paraphrases. Deviation: one alternative is drawn where the study takes three.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from genie_inspect.asking.gathering import gathered
from genie_inspect.building.interventions.instructions import Editor
from genie_inspect.building.interventions.screening import visible_fault
from genie_inspect.interventions.schema import (
    EDIT,
    ORIGINAL,
    PARAPHRASE,
    Changed,
    Edit,
    Original,
    Paraphrase,
    StudyText,
    drawn,
    intervention_id,
)
from genie_inspect.judges.protocols import Reader
from genie_inspect.populations.schema import Document, Feature, Question, Row

ALTERNATIVES, PARAPHRASES = 5, 3
DOCUMENTS_AT_ONCE = 16
NO_ANSWER = "the document does not say"
NO_ALTERNATIVE, NO_TEXT = "no alternative proposed", "no text in the reply"


class Rejected(Row):
    """An edit or paraphrase that cannot be used, and why."""

    original: str
    kind: str
    feature: str = ""
    alternative: str = ""
    reason: str
    text: str = ""


@dataclass(slots=True)
class Written:
    """What was written of some documents."""

    texts: list[StudyText] = field(default_factory=list)
    """Each original, followed by what was made of it."""
    rejected: list[Rejected] = field(default_factory=list)

    @property
    def reasons(self) -> dict[str, int]:
        """How many were rejected, by what they were and why."""
        return dict(Counter(f"{row.feature or row.kind}: {row.reason}" for row in self.rejected).most_common())


@dataclass(frozen=True, slots=True)
class Material:
    """A document with what can be asked about it, and what is on record of its answers."""

    document: Document
    questions: tuple[Question, ...]
    answers: Mapping[str, str | None]
    """By question id; a question without an entry is still to be read."""


class InterventionWriter:
    """Writes the edits and paraphrases of documents.

    Args:
        editor: Who writes.
        reader: Who answers the questions about a document that nobody has answered yet.
        features: What is edited.
        writer: Who writes, as it stands in every text.
        paraphrases: How many of each document.
        seed: Draws one of the alternatives.
    """

    def __init__(
        self,
        editor: Editor,
        reader: Reader,
        features: Sequence[Feature],
        writer: str,
        paraphrases: int = PARAPHRASES,
        seed: int = 0,
    ) -> None:
        self.editor = editor
        self.reader = reader
        self.features = features
        self.writer = writer
        self.paraphrases = paraphrases
        self.seed = seed

    async def write(self, materials: Sequence[Material], done: Callable[[int], None] = lambda _: None) -> Written:
        """The edits and paraphrases of all documents, some documents at a time.

        Raises:
            GraderFailedError: If a model cannot be reached.
        """
        written = Written()
        for start in range(0, len(materials), DOCUMENTS_AT_ONCE):
            for part in await gathered(*map(self._document, materials[start : start + DOCUMENTS_AT_ONCE])):
                written.texts += part.texts
                written.rejected += part.rejected
            done(min(start + DOCUMENTS_AT_ONCE, len(materials)))
        return written

    async def _document(self, material: Material) -> Written:
        document = material.document
        answers = await self._answers(material)
        original = Original(
            kind=ORIGINAL, id=document.id, prompt=document.prompt, text=document.text, writer=document.model
        )
        results = await gathered(
            *(self._edit(material, feature, answers) for feature in self.features),
            *(self._paraphrase(document, number) for number in range(1, self.paraphrases + 1)),
        )
        written = Written([original])
        for result in results:
            if isinstance(result, Rejected):
                written.rejected.append(result)
            elif any(result.id == text.id for text in written.texts):
                # a model that says twice the same has paraphrased once
                reason = visible_fault(document.text, result.text, [result.text])
                written.rejected.append(
                    Rejected(original=document.id, kind=result.kind, reason=reason, text=result.text)
                )
            else:
                written.texts.append(result)
        return written

    async def _answers(self, material: Material) -> dict[str, str | None]:
        """The document's own answers: those on record, the others read now."""
        missing = [question for question in material.questions if question.id not in material.answers]
        reading = await self.reader.read(material.document.text, missing) if missing else None
        fresh = reading.answers if reading else ()
        return {
            **material.answers,
            **{q.id: answer.text if answer else None for q, answer in zip(missing, fresh, strict=True)},
        }

    async def _edit(
        self, material: Material, feature: Feature, answers: Mapping[str, str | None]
    ) -> Changed | Rejected:
        document = material.document
        data = {
            "prompt": document.prompt,
            "text": document.text,
            "feature": feature.name,
            "definition": feature.definition,
            "reader": {
                question.text: answers.get(question.id) or NO_ANSWER
                for question in material.questions
                if question.feature == feature.name
            },
        }
        alternatives = await self.editor.alternatives(ALTERNATIVES, {**data, "count": ALTERNATIVES})
        if not alternatives:
            return Rejected(original=document.id, kind=EDIT, feature=feature.name, reason=NO_ALTERNATIVE)
        alternative = drawn(alternatives, document.id, feature.name, self.seed)
        text = await self.editor.edit({**data, "value": alternative}, document.text)
        if reason := await self._fault(document.text, text):
            return Rejected(
                original=document.id,
                kind=EDIT,
                feature=feature.name,
                alternative=alternative,
                reason=reason,
                text=text,
            )
        return Edit(
            kind=EDIT,
            id=intervention_id(document.id, EDIT, feature.name, text),
            original=document.id,
            feature=feature.name,
            alternatives=alternatives,
            alternative=alternative,
            text=text,
            writer=self.writer,
        )

    async def _paraphrase(self, document: Document, number: int) -> Changed | Rejected:
        text = await self.editor.paraphrase(document.text, number)
        if reason := await self._fault(document.text, text):
            return Rejected(original=document.id, kind=PARAPHRASE, reason=reason, text=text)
        return Paraphrase(
            kind=PARAPHRASE,
            id=intervention_id(document.id, PARAPHRASE, "", text),
            original=document.id,
            text=text,
            writer=self.writer,
        )

    async def _fault(self, original: str, changed: str) -> str:
        """Why a changed text cannot be used: what can be seen first, which costs nothing, then what the editor says."""
        if not changed:
            return NO_TEXT
        return visible_fault(original, changed) or await self.editor.screened(original, changed)
