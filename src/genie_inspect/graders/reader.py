"""The grader as reader: all questions about a document in one call, what is missing again alone."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from inspect_ai.model import GenerateConfig, Model

from genie_inspect.graders.cache import ANSWERS, NO, WHETHER_ATTEMPT, Memo
from genie_inspect.graders.grader import Request, ask
from genie_inspect.graders.protocols import UNREADABLE, Answer, AskedQuestion, Reading
from genie_inspect.graders.readable import ANEW, Asker, labelled, until_complete
from genie_inspect.prompting.answers import ATTEMPT, NOT_SPECIFIED, YES, reading_reply
from genie_inspect.prompting.forms import answers_form, reading_form
from genie_inspect.prompting.replies import LONGEST_ANSWER
from genie_inspect.prompting.templates import Instruction, Recording, Template, fenced, numbered
from genie_inspect.signature import digest

Read = Callable[[str, Sequence[AskedQuestion]], Awaitable[Reading]]


async def answered(memo: Memo, reader: str, document: str, questions: Sequence[AskedQuestion], read: Read) -> Reading:
    """One answer per question; a reader, named by its signature, is asked only those that are not on record."""
    place = reader, digest(document)
    async with memo.on_record(ANSWERS, *place) as kept:
        if kept.get(WHETHER_ATTEMPT) == NO:
            return Reading((None,) * len(questions), is_attempt=False)
        missing = [question for question in questions if question.text not in kept]
        fresh = await read(document, missing) if missing else Reading(())
        # what has answers on record was an attempt when they were given, and stays one
        is_attempt = fresh.is_attempt or any(question.text in kept for question in questions)
        usable = {
            question.text: answer.text if answer else None
            for index, (question, answer) in enumerate(zip(missing, fresh.answers, strict=True))
            if index not in fresh.faults
        }
        memo.keep(ANSWERS, place, usable if is_attempt or not usable else {**usable, WHETHER_ATTEMPT: NO})
    texts, faults = kept | usable, {missing[index].text: fault for index, fault in fresh.faults.items()}
    answers = [texts.get(question.text) for question in questions]
    places = {index: faults[question.text] for index, question in enumerate(questions) if question.text in faults}
    return Reading(tuple(None if text is None else Answer(text) for text in answers), places, is_attempt)


TOKENS_AN_ANSWER = 40
SPARE_TOKENS = 200
CONCISE = "concise"


def _recorded(record: Recording, data: dict[str, Any]) -> str:
    answers = {number: record.answer(data["document"], question) for number, question in data["questions"].items()}
    said = {number: answer or NOT_SPECIFIED for number, answer in answers.items()}
    return json.dumps({ATTEMPT: YES, **said}, ensure_ascii=False)


def _rehearsed(data: dict[str, Any]) -> str:
    # an answer of the document's own: as many pairs are rated as can be
    return fenced(dict.fromkeys(data["questions"], f"a short answer {digest(data['document'])[:4]}"))


def _instruction(name: str) -> Instruction:
    keys = frozenset({"document", "questions"})
    return Instruction(name, frozenset({"count", "data"}), keys, rehearsed=_rehearsed, recorded=_recorded)


@dataclass(frozen=True, slots=True)
class AnswerLength:
    name: str  # as `answer_length=` takes it
    instruction: Instruction
    times: int = 1  # how many times the tokens of a concise answer one may have
    longest: int | None = None  # most characters; None: any number, for what is asked for at length is no babble


READ = _instruction("read")
LENGTHS = {
    length.name: length
    for length in (
        AnswerLength(CONCISE, READ, longest=LONGEST_ANSWER),
        AnswerLength("sentence", _instruction("read_sentence"), times=3),
        AnswerLength("free", _instruction("read_free"), times=8),
    )
}


class GraderReader(Asker[Template]):
    """Asks a chat model; deterministic settings, answers aligned by question number."""

    def __init__(
        self,
        model: Model,
        template: Template | None = None,
        memo: Memo | None = None,
        length: AnswerLength = LENGTHS[CONCISE],
    ) -> None:
        super().__init__(model, template or length.instruction.template())
        self.length, self.memo = length, memo or Memo()
        self.requests = self._asked(1), self._asked(2)

    @cached_property
    def signature(self) -> str:
        """`grader(<model>@<digest>,template=<digest>)`; with `,answers=<length>` where these are not concise."""
        # signatures of concise answers are older than the choice
        fact = "" if self.length.name == CONCISE else f",answers={self.length.name}"
        return super().signature.removesuffix(")") + f"{fact})"

    async def read(self, document: str, questions: Sequence[AskedQuestion]) -> Reading:
        """One answer per question; a document that the grader takes for no attempt has neither answers nor faults."""
        return await answered(self.memo, self.signature, document, questions, self._read)

    async def _read(self, document: str, questions: Sequence[AskedQuestion]) -> Reading:
        # what the first reply with a word on it says; a later one sees a single question and less to go by
        is_attempt: bool | None = None

        async def ask_missing(missing: Sequence[int], settings: GenerateConfig) -> dict[int, str | None]:
            """All questions in one call, then one call for each that is still missing."""
            nonlocal is_attempt
            calls = [[index] for index in missing] if settings == ANEW else [list(missing)]
            answers: dict[int, str | None] = {}
            for places in calls:
                read, attempted = await self._ask(document, [questions[place].text for place in places], settings)
                is_attempt = attempted if is_attempt is None else is_attempt
                if is_attempt is False:
                    return dict.fromkeys(missing)  # nothing is missing any more
                answers |= {places[number - 1]: text for number, text in read.items()}
            return answers

        answers = await until_complete(range(len(questions)), ask_missing, self.repeats)
        if is_attempt is False:
            return Reading((None,) * len(questions), is_attempt=False)
        texts = [answers.get(index) for index in range(len(questions))]
        faults = {index: UNREADABLE for index in range(len(questions)) if index not in answers}
        return Reading(tuple(Answer(text) if text is not None else None for text in texts), faults)

    async def _ask(
        self, document: str, questions: Sequence[str], settings: GenerateConfig
    ) -> tuple[dict[int, str | None], bool | None]:
        count = len(questions)
        request = self.template.request({"questions": numbered(questions), "document": document}, count=count)
        # a question that is asked again stands under its own words
        about = questions[0] if count == 1 else f"{count} questions"
        config, form = self._asked(count)
        async with labelled("read", about, document):
            reply = await ask(self.model, request, config.merge(settings), form)
        # a template of the user's own may have no marker
        return reading_reply(reply, count, questions, self.length.longest, NOT_SPECIFIED in self.template.text)

    def _asked(self, count: int) -> Request:
        # a template of the user's own may not ask for the field, and a model would fill it in by chance
        form = reading_form if f'"{ATTEMPT}"' in self.template.text else answers_form
        most = SPARE_TOKENS + TOKENS_AN_ANSWER * self.length.times * count
        return GenerateConfig(temperature=0.0, max_tokens=most), form(count)
