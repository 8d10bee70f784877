"""The pairwise judge: the study's protocol, one call a pair, the reason before the number."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial

from inspect_ai.model import GenerateConfig, Model

from genie_inspect.errors import UnreadableReplyError
from genie_inspect.graders.cache import Judged
from genie_inspect.graders.grader import Room, identified_model
from genie_inspect.graders.merging import Candidates, Mode, RatingMemo, Unrated, pair_instruction, pair_request
from genie_inspect.graders.protocols import Answer, AskedQuestion, Rated
from genie_inspect.graders.readable import REPEATS, readable
from genie_inspect.inspect_private import unlogged
from genie_inspect.prompting.replies import pair_rating
from genie_inspect.prompting.templates import Template

# sampling of the study's reference judge (arXiv 2606.12790, section 4); its reply is one sentence and a number
STUDY = GenerateConfig(temperature=0.7, top_p=0.9, max_tokens=256)
TOKENS_A_REASON = 30  # assumed: one sentence and a number is what rate_pair.md asks for


class PairwiseJudge:
    """Rates each pair in a call of its own."""

    def __init__(
        self,
        model: Model,
        template: Template | None = None,
        memo: RatingMemo | None = None,
        repeats: int = REPEATS,
    ) -> None:
        self.model = model
        self.template = template or PAIRWISE.instruction.template()
        self.memo = memo or RatingMemo()
        self.repeats = repeats
        self.room = Room(model)

    @cached_property
    def signature(self) -> str:
        """`pairwise(<model>@<digest>,template=<digest>)`."""
        return f"pairwise({identified_model(self.model, (STUDY, None))},template={self.template.digest})"

    async def rate(self, question: AskedQuestion, answer: Answer, others: Sequence[Answer]) -> Rated:
        return await self.memo.rated(self.signature, question.text, answer.text, others, self._rate)

    async def _rate(self, pairs: Unrated) -> Mapping[str, str]:
        with unlogged():
            await self.room.each(partial(self._rate_pair, pairs), pairs.others)
        return {}

    async def _rate_pair(self, pairs: Unrated, other: str) -> None:
        request = pair_request(self.template, pairs.question, pairs.answer, [other])
        with suppress(UnreadableReplyError):
            rating = await readable(self.model, request, STUDY, pair_rating, repeats=self.repeats)
            pairs.keep({other: Judged(rating)})


def _said(text: str, candidates: Candidates, others: Sequence[str]) -> dict[str, Judged]:
    with suppress(UnreadableReplyError):
        return {others[0]: Judged(pair_rating(text))}
    return {}


PAIRWISE = Mode(
    "pairwise", PairwiseJudge, pair_instruction("rate_pair"), lambda count, as_json: TOKENS_A_REASON, said=_said
)
