"""The grader as reader: all questions about a document in one call, what is missing again alone."""

from collections.abc import Sequence
from pathlib import Path

from inspect_ai.model import GenerateConfig, Model

from genie_inspect.asking.grader import ask
from genie_inspect.judges.protocols import UNREADABLE, Answer, AskedQuestion, Reading
from genie_inspect.prompting.answers import is_unspecified
from genie_inspect.prompting.fence import fenced
from genie_inspect.prompting.forms import answers_form
from genie_inspect.prompting.replies import numbered_answers
from genie_inspect.prompting.templates import load_template

TOKENS_AN_ANSWER = 40
SPARE_TOKENS = 200


class GraderReader:
    """Asks a chat model; deterministic settings, answers aligned by question number.

    Args:
        model: Who reads.
        templates: A folder with a `read.md` of the user's own.
        repeats: How often a question whose answer is missing or malformed is asked again, alone.
    """

    def __init__(self, model: Model, templates: Path | str | None = None, repeats: int = 2) -> None:
        self.model = model
        self.template = load_template("read", {"count", "data"}, templates)
        self.repeats = repeats

    @property
    def signature(self) -> str:
        """`grader(<model>,template=<digest>)`."""
        return f"grader({self.model},template={self.template.digest})"

    async def read(self, document: str, questions: Sequence[AskedQuestion]) -> Reading:
        """One answer a question; None with a fault where the grader babbles to the end."""
        found = await self._ask(document, questions)
        faults: dict[int, str] = {}
        for index, question in enumerate(questions):
            for _ in range(self.repeats):
                if index in found:
                    break
                alone = await self._ask(document, [question])
                if alone:
                    found[index] = alone[0]
            if index not in found:
                faults[index] = UNREADABLE
        answers = [found.get(index) for index in range(len(questions))]
        kept = (Answer(text) if text and not is_unspecified(text) else None for text in answers)
        return Reading(tuple(kept), faults)

    async def _ask(self, document: str, questions: Sequence[AskedQuestion]) -> dict[int, str]:
        asked = {str(number): question.text for number, question in enumerate(questions, start=1)}
        request = self.template.fill(count=len(questions), data=fenced({"document": document, "questions": asked}))
        config = GenerateConfig(temperature=0.0, max_tokens=SPARE_TOKENS + TOKENS_AN_ANSWER * len(questions))
        reply = await ask(self.model, request, config, answers_form(len(questions)))
        return {number - 1: answer for number, answer in numbered_answers(reply, len(questions)).items()}
