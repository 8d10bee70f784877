"""What an editor and a checker are asked, and how much they may say."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from inspect_ai.model import GenerateConfig, Model

from genie_inspect.asking.readable import readable
from genie_inspect.errors import UnreadableReplyError
from genie_inspect.measures.length import word_count
from genie_inspect.prompting.fence import fenced
from genie_inspect.prompting.forms import Form, answers_form, choices_form
from genie_inspect.prompting.replies import numbered_answers, numbered_choices
from genie_inspect.prompting.templates import Instruction, Template
from genie_inspect.prompting.texts import spoken

T = TypeVar("T")
PROPOSE, EDIT, PARAPHRASE, SCREEN, CHECK = INSTRUCTIONS = (
    Instruction("propose_alternatives", frozenset({"count", "data"})),
    Instruction("edit_feature", frozenset({"data"})),
    Instruction("paraphrase", frozenset({"count", "data"})),
    Instruction("screen_edit", frozenset({"data"})),
    Instruction("check_edit", frozenset({"data"})),
)
KEEP = "keep"
VERDICTS = (KEEP, "no prose", "no edit", "unfinished")
YES, NO = "yes", "no"
TOKENS_A_WORD = 2  # room for scripts in which a word takes more
SPARE_TOKENS = 200
TOKENS_A_VALUE = 60


class Editor:
    """Asks one model for edits, paraphrases and verdicts on them; every request is fenced.

    Args:
        model: Who is asked.
        templates: A folder of the user's own instruction templates.

    Raises:
        TemplateError: If a template of the user's cannot be used.
    """

    def __init__(self, model: Model, templates: Path | None = None) -> None:
        self.model = model
        self.templates: Mapping[str, Template] = {i.name: i.template(templates) for i in INSTRUCTIONS}
        self.unreadable = 0
        """Requests to which no reply could be read."""

    async def alternatives(self, count: int, data: Mapping[str, Any]) -> tuple[str, ...]:
        """So many other values of a feature, each once; fewer where the replies hold no more."""

        def read(reply: str) -> tuple[str, ...]:
            values = numbered_answers(reply, count)
            if not values:
                raise UnreadableReplyError("the reply proposes nothing")
            return tuple(dict.fromkeys(values[number] for number in sorted(values)))

        tokens = SPARE_TOKENS + TOKENS_A_VALUE * count
        return await self._asked(PROPOSE, data, read, tokens, answers_form(count), temperature=1.0, count=count) or ()

    async def edit(self, data: Mapping[str, Any], document: str) -> str:
        """The document with a feature's new value; empty where no reply is a text."""
        return await self._text(EDIT, data, document)

    async def paraphrase(self, document: str, number: int) -> str:
        """The document in other words, the paraphrase of that number; empty where no reply is a text."""
        return await self._text(PARAPHRASE, {"text": document, "version": number}, document, count=number)

    async def screened(self, original: str, changed: str) -> str:
        """Why a changed text cannot be used, empty where it can; what could not be judged cannot."""
        form = choices_form(1, VERDICTS)
        data = {"text": original, "changed": changed}
        verdict = await self._asked(SCREEN, data, lambda reply: _choice(reply, VERDICTS), SPARE_TOKENS, form)
        return "" if verdict == KEEP else verdict or "unreadable verdict"

    async def has_value(self, data: Mapping[str, Any]) -> bool | None:
        """Whether a text has a value of a feature; None where no reply says so."""
        form = choices_form(1, (YES, NO))
        verdict = await self._asked(CHECK, data, lambda reply: _choice(reply, (YES, NO)), SPARE_TOKENS, form)
        return None if verdict is None else verdict == YES

    async def _text(self, instruction: Instruction, data: Mapping[str, Any], document: str, **blanks: Any) -> str:
        def read(reply: str) -> str:
            text = spoken(reply).strip()
            if not text:
                raise UnreadableReplyError("the reply is no text")
            return text

        tokens = SPARE_TOKENS + TOKENS_A_WORD * word_count(document)
        return await self._asked(instruction, data, read, tokens, temperature=0.7, **blanks) or ""

    async def _asked(
        self,
        instruction: Instruction,
        data: Mapping[str, Any],
        read: Callable[[str], T],
        max_tokens: int,
        form: Form | None = None,
        temperature: float = 0.0,
        **blanks: Any,
    ) -> T | None:
        """What the first readable reply says; None where there is none.

        Raises:
            GraderFailedError: If the model cannot be reached.
        """
        request = self.templates[instruction.name].fill(data=fenced(data), **blanks)
        try:
            return await readable(
                self.model, request, GenerateConfig(temperature=temperature, max_tokens=max_tokens), read, form
            )
        except UnreadableReplyError:
            self.unreadable += 1
            return None


def _choice(reply: str, choices: tuple[str, ...]) -> str:
    verdict = numbered_choices(reply, 1, choices).get(1)
    if verdict is None:
        raise UnreadableReplyError(f"the reply is none of {', '.join(choices)}")
    return verdict
