"""The pairwise judge: the study's protocol, one call a pair, the reason before the number."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from inspect_ai.model import GenerateConfig, Model

from genie_inspect.asking.identity import identified_model
from genie_inspect.asking.in_flight import Room
from genie_inspect.asking.readable import REPEATS, readable
from genie_inspect.errors import UnreadableReplyError
from genie_inspect.inspect_private import unlogged
from genie_inspect.judges.cache import Judged
from genie_inspect.judges.merging import Keep, RatingMemo
from genie_inspect.judges.protocols import UNREADABLE, Answer, AskedQuestion, Rated
from genie_inspect.prompting.fence import fenced
from genie_inspect.prompting.ratings import pair_rating
from genie_inspect.prompting.templates import load_template

# sampling of the study's reference judge (arXiv 2606.12790, section 4); its reply is one sentence and a number
STUDY = GenerateConfig(temperature=0.7, top_p=0.9, max_tokens=256)


class PairwiseJudge:
    """Rates each pair in a call of its own.

    Args:
        model: Who judges.
        templates: A folder with a `rate_pair.md` of the user's own.
        memo: What this judge has said before.
        repeats: How often a pair without a readable rating is asked again.
    """

    def __init__(
        self,
        model: Model,
        templates: Path | str | None = None,
        memo: RatingMemo | None = None,
        repeats: int = REPEATS,
    ) -> None:
        self.model = model
        self.template = load_template("rate_pair", {"data"}, templates)
        self.memo = memo or RatingMemo()
        self.repeats = repeats
        self.room = Room(model)

    @cached_property
    def signature(self) -> str:
        """`pairwise(<model>@<digest>,template=<digest>)`."""
        return f"pairwise({identified_model(self.model, (STUDY, None))},template={self.template.digest})"

    async def rate(self, question: AskedQuestion, answer: Answer, others: Sequence[Answer]) -> Rated:
        """One rating an other answer; equal answers are judged once."""

        async def ask_all(texts: Sequence[str], keep: Keep) -> Mapping[str, str]:
            async def ask_one(text: str) -> bool:
                rating = await self._ask(question.text, answer.text, text)
                if rating is not None:
                    keep({text: Judged(rating)})
                return rating is not None

            with unlogged():
                rated = await self.room.each(ask_one, texts)
            return {text: UNREADABLE for text, found in zip(texts, rated, strict=True) if not found}

        return await self.memo.rated(self.signature, question.text, answer.text, others, ask_all)

    async def _ask(self, question: str, answer: str, other: str) -> int | None:
        request = self.template.fill(data=fenced({"question": question, "answer": answer, "other": other}))
        try:
            return await readable(self.model, request, STUDY, pair_rating, repeats=self.repeats)
        except UnreadableReplyError:
            return None
