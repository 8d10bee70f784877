"""A reader that asks another one only what is not on record."""

from collections import defaultdict
from collections.abc import Sequence

import anyio

from genie_inspect.judges.cache import ATTEMPT, NO, Cache
from genie_inspect.judges.protocols import Answer, AskedQuestion, Reader, Reading
from genie_inspect.signature import digest


class CachedReader:
    """Answers from the cache; the rest from the reader behind it, put on record before it is used.

    Two samples that ask about one document at the same time ask the reader once. That a document is no attempt is kept
    too; unreadable replies are not.

    Args:
        reader: Who answers what is not on record.
        cache: Where answers are kept.
    """

    def __init__(self, reader: Reader, cache: Cache) -> None:
        self.reader = reader
        self.cache = cache
        self._reading: defaultdict[str, anyio.Lock] = defaultdict(anyio.Lock)

    @property
    def signature(self) -> str:
        """The reader's own: where an answer was kept does not change it."""
        return self.reader.signature

    async def read(self, document: str, questions: Sequence[AskedQuestion]) -> Reading:
        """One answer a question, in order."""
        key = digest(document)
        async with self._reading[key]:
            kept = self.cache.answers(self.signature, key, (ATTEMPT, *(question.text for question in questions)))
            if kept.get(ATTEMPT) == NO:
                return Reading((None,) * len(questions), is_attempt=False)
            missing = [question for question in questions if question.text not in kept]
            fresh = await self.reader.read(document, missing) if missing else Reading(())
            # what has answers on record was an attempt when they were given, and stays one
            is_attempt = fresh.is_attempt or bool(kept)
            usable = {
                question.text: answer.text if answer else None
                for index, (question, answer) in enumerate(zip(missing, fresh.answers, strict=True))
                if index not in fresh.faults
            }
            if usable:
                self.cache.keep_answers(self.signature, key, usable if is_attempt else {**usable, ATTEMPT: NO})
        kept |= usable
        places = {question.text: index for index, question in enumerate(questions)}
        faults = {places[missing[index].text]: fault for index, fault in fresh.faults.items()}
        texts = (kept.get(question.text) for question in questions)
        answers = tuple(Answer(text) if text is not None else None for text in texts)
        return Reading(answers, faults, is_attempt)
