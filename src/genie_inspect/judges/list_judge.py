"""The list judge: one call rates one answer against many."""

import random
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import cached_property
from pathlib import Path

from inspect_ai.model import GenerateConfig, Model

from genie_inspect.asking.grader import ask
from genie_inspect.asking.identity import identified_model
from genie_inspect.asking.in_flight import Room
from genie_inspect.asking.readable import ANEW, REPEATS, until_complete
from genie_inspect.inspect_private import unlogged
from genie_inspect.judges.cache import Judged
from genie_inspect.judges.merging import Keep, RatingMemo
from genie_inspect.judges.protocols import UNREADABLE, Answer, AskedQuestion, Rated
from genie_inspect.prompting.fence import fenced
from genie_inspect.prompting.forms import ratings_form
from genie_inspect.prompting.replies import numbered_ratings
from genie_inspect.prompting.templates import load_template
from genie_inspect.signature import digest

CHUNK = 50  # most other answers in one call: the whole population of the study
TOKENS_A_RATING = 12
SPARE_TOKENS = 100


class ListJudge:
    """Rates an answer against up to `chunk` others a call.

    The others are shuffled by a seed drawn from the content, so that no document always stands first and a rerun
    asks the same. What comes back unusable is asked again together, at most `repeats` times. The first call of a
    question is in the log, for a reader to see; further ones are not.

    Args:
        model: Who judges.
        templates: A folder with a `rate_list.md` of the user's own.
        memo: What this judge has said before.
        chunk: Most other answers in one call.
        repeats: How often what is missing is asked again.
    """

    def __init__(
        self,
        model: Model,
        templates: Path | str | None = None,
        memo: RatingMemo | None = None,
        chunk: int = CHUNK,
        repeats: int = REPEATS,
    ) -> None:
        if chunk < 1:
            raise ValueError(f"chunk is {chunk}, expected at least 1 answer a call")
        self.model = model
        self.template = load_template("rate_list", {"count", "data"}, templates)
        self.memo = memo or RatingMemo()
        self.chunk = chunk
        self.repeats = repeats
        self.room = Room(model)

    @cached_property
    def signature(self) -> str:
        """`list(<model>@<digest>,chunk=50,template=<digest>)`."""
        model = identified_model(self.model, *((_settings(count), ratings_form(count)) for count in (1, 2)))
        return f"list({model},chunk={self.chunk},template={self.template.digest})"

    async def rate(self, question: AskedQuestion, answer: Answer, others: Sequence[Answer]) -> Rated:
        """One rating an other answer; equal answers are judged once."""

        async def ask_all(texts: Sequence[str], keep: Keep) -> Mapping[str, str]:
            order = shuffled(texts, question.text, answer.text)
            first = order[: self.chunk]

            async def ask_missing(missing: Sequence[str], settings: GenerateConfig) -> dict[str, Judged]:
                async def ask_some(some: Sequence[str]) -> dict[str, Judged]:
                    with nullcontext() if some == first and settings != ANEW else unlogged():
                        judged = await self._ask(question.text, answer.text, some, settings)
                    keep(judged)
                    return judged

                chunks = [missing[start : start + self.chunk] for start in range(0, len(missing), self.chunk)]
                return {
                    text: judged for part in await self.room.each(ask_some, chunks) for text, judged in part.items()
                }

            rated = await until_complete(order, ask_missing, self.repeats)
            return {text: UNREADABLE for text in order if text not in rated}

        return await self.memo.rated(self.signature, question.text, answer.text, others, ask_all)

    async def _ask(
        self, question: str, answer: str, others: Sequence[str], settings: GenerateConfig
    ) -> dict[str, Judged]:
        listed = {str(number): text for number, text in enumerate(others, start=1)}
        request = self.template.fill(
            count=len(others), data=fenced({"question": question, "answer": answer, "others": listed})
        )
        reply = await ask(self.model, request, _settings(len(others)).merge(settings), ratings_form(len(others)))
        return {others[number - 1]: Judged(rating) for number, rating in numbered_ratings(reply, len(others)).items()}


def _settings(count: int) -> GenerateConfig:
    """What a request for so many ratings sets."""
    return GenerateConfig(temperature=0.0, max_tokens=SPARE_TOKENS + TOKENS_A_RATING * count)


def shuffled(texts: Sequence[str], question: str, answer: str) -> list[str]:
    """The texts in an order that depends on nothing but what is asked, so that a rerun asks the same.

    The texts are sorted first: which of them are still missing may differ, where they came from does not matter.
    """
    order = sorted(texts)
    random.Random(digest(question, answer, *order)).shuffle(order)  # noqa: S311  # no secret
    return order
