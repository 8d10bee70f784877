"""The pairwise judge: the study's protocol, one call a pair, the reason before the number."""

from collections.abc import Mapping, Sequence
from contextlib import suppress

from inspect_ai.model import GenerateConfig

from genie_inspect.errors import UnreadableReplyError
from genie_inspect.graders.cache import Judged
from genie_inspect.graders.merging import Candidates, Mode, Part, RatingJudge, Unrated, pair_instruction, pair_request
from genie_inspect.inspect_private import unlogged
from genie_inspect.prompting.replies import pair_rating

# sampling of the study's reference judge (arXiv 2606.12790, section 4); its reply is one sentence and a number
STUDY = GenerateConfig(temperature=0.7, top_p=0.9, max_tokens=256)
TOKENS_A_REASON = 30  # assumed: one sentence and a number is what rate_pair.md asks for


class PairwiseJudge(RatingJudge):
    """Makes one call per pair, out of the log."""

    name = "pairwise"
    instruction = pair_instruction("rate_pair")
    requests = ((STUDY, None),)

    async def _rate(self, pairs: Unrated) -> Mapping[str, str]:
        async def rate_pair(other: str) -> None:
            request = pair_request(self.template, pairs.question, pairs.answer, [other])
            with suppress(UnreadableReplyError):
                pairs.keep({other: Judged(await self.read_of(request, pair_rating))})

        with unlogged():
            await self.room.each(rate_pair, pairs.others)
        return {}


def _said(text: str, candidates: Candidates, parts: Sequence[Part]) -> list[dict[str, Judged]]:
    (_, _, (other, *_)), *_ = parts
    with suppress(UnreadableReplyError):
        return [{other: Judged(pair_rating(text))}]
    return [{}]


PAIRWISE = Mode(
    PairwiseJudge.name, PairwiseJudge, PairwiseJudge.instruction, lambda count, as_json: TOKENS_A_REASON, said=_said
)
