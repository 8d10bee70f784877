"""Every question about a document is answered once: what was ever answered is not asked again."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence

import anyio

from genie_inspect.judges.cache import ATTEMPT, NO, Cache
from genie_inspect.judges.protocols import Answer, AskedQuestion, Reading
from genie_inspect.signature import digest

Read = Callable[[str, Sequence[AskedQuestion]], Awaitable[Reading]]


class AnswerMemo:
    """What one reader has answered, in the cache for later runs.

    Two samples that ask about one document at the same time ask the reader once. That a document is no attempt is kept
    too; unreadable replies are not.

    Args:
        cache: Where answers are kept, before they are used; None keeps nothing.
    """

    def __init__(self, cache: Cache | None = None) -> None:
        self.cache = cache
        self._reading: defaultdict[str, anyio.Lock] = defaultdict(anyio.Lock)

    async def answered(self, reader: str, document: str, questions: Sequence[AskedQuestion], read: Read) -> Reading:
        """One answer a question, in order, asking only those that are not on record.

        Args:
            reader: The reader's signature.
            document: What is read.
            questions: What is asked of it.
            read: Answers the questions that are not on record.
        """
        if self.cache is None:
            return await read(document, questions)
        key = digest(document)
        async with self._reading[key]:
            kept = self.cache.answers(reader, key, (ATTEMPT, *(question.text for question in questions)))
            if kept.get(ATTEMPT) == NO:
                return Reading((None,) * len(questions), is_attempt=False)
            missing = [question for question in questions if question.text not in kept]
            fresh = await read(document, missing) if missing else Reading(())
            # what has answers on record was an attempt when they were given, and stays one
            is_attempt = fresh.is_attempt or bool(kept)
            usable = {
                question.text: answer.text if answer else None
                for index, (question, answer) in enumerate(zip(missing, fresh.answers, strict=True))
                if index not in fresh.faults
            }
            if usable:
                self.cache.keep_answers(reader, key, usable if is_attempt else {**usable, ATTEMPT: NO})
        faults = {missing[index].text: fault for index, fault in fresh.faults.items()}
        return _in_order(questions, kept | usable, faults, is_attempt)


def _in_order(
    questions: Sequence[AskedQuestion], texts: Mapping[str, str | None], faults: Mapping[str, str], is_attempt: bool
) -> Reading:
    """A reading from answers and faults by the question's text."""
    answers = [texts.get(question.text) for question in questions]
    places = {index: faults[question.text] for index, question in enumerate(questions) if question.text in faults}
    return Reading(tuple(None if text is None else Answer(text) for text in answers), places, is_attempt)
