"""The logit judge: one output token a pair, the rating as the expected value over the labels' probabilities."""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property, partial

from inspect_ai.model import GenerateConfig, Model, ModelName

from genie_inspect.asking.grader import answered
from genie_inspect.asking.identity import identified_model
from genie_inspect.asking.in_flight import Room
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.inspect_private import unlogged
from genie_inspect.judges.cache import Judged
from genie_inspect.judges.merging import RatingMemo, Unrated
from genie_inspect.judges.modes import Candidates, Mode, pair_instruction, pair_request
from genie_inspect.judges.protocols import Answer, AskedQuestion, Rated
from genie_inspect.measures.labels import label_reading
from genie_inspect.prompting.templates import Template

# providers whose replies Inspect reads log probabilities from; the others are refused by name. Of the ones that pass
# requests on (openai-api, litellm-proxy, openrouter) it depends on who is behind them: a pair without any is unscored.
LOGPROBS = frozenset(
    {"azureai", "deepseek", "google", "grok", "hf", "litellm-proxy", "llama-cpp-python", "mockllm"}
    | {"openai", "openai-api", "openrouter", "sglang", "together", "vllm"}
)
CANDIDATES = 20  # most that OpenAI and vLLM return; five labels need room beside whatever else is likely
ONE_TOKEN = GenerateConfig(temperature=0.0, max_tokens=1, logprobs=True, top_logprobs=CANDIDATES)
MOST_OFF_LABELS = 0.5
NO_LOGPROBS = "no log probabilities"

BATCHING = frozenset({"vllm"})  # providers that take many conversations in one request


def check_log_probabilities(model: Model) -> None:
    """Refuse a model whose provider returns no log probabilities.

    Raises:
        UnknownChoiceError: If it does not.
    """
    if ModelName(model).api not in LOGPROBS:
        accepted = f"a provider with log probabilities: {', '.join(sorted(LOGPROBS))}"
        raise UnknownChoiceError("grader for judge=logit", str(model), accepted)


class LogitJudge:
    """Reads the probabilities of the labels 0 to 4 at the first token, without constraining it.

    The instruction, the question and the answer stand first in every request, so that a server that caches prefixes
    computes them once a question. A pair whose labels together have too little probability is not rated: such a model
    was about to say something else. A pair whose label 0 has more than half of the labels' probability is unspecified.

    Args:
        model: Who judges; its provider must return log probabilities.
        template: Its instruction; the bundled one unless given.
        memo: What this judge has said before.
        most_off_labels: Highest probability off the labels, 0 to 1, at which a pair is still rated.

    Raises:
        UnknownChoiceError: If the provider returns no log probabilities.
    """

    def __init__(
        self,
        model: Model,
        template: Template | None = None,
        memo: RatingMemo | None = None,
        most_off_labels: float = MOST_OFF_LABELS,
    ) -> None:
        check_log_probabilities(model)
        self.model = model
        self.template = template or LOGIT.instruction.template()
        self.memo = memo or RatingMemo()
        self.most_off_labels = most_off_labels
        self.room = Room(model)

    @cached_property
    def signature(self) -> str:
        """`logit(<model>@<digest>,off<=0.5,template=<digest>)`."""
        model = identified_model(self.model, (ONE_TOKEN, None))
        return f"logit({model},off<={self.most_off_labels:g},template={self.template.digest})"

    async def rate(self, question: AskedQuestion, answer: Answer, others: Sequence[Answer]) -> Rated:
        """One rating an other answer, on a continuous scale from 1 to 4; equal answers are judged once."""
        return await self.memo.rated(
            self.signature, question.text, answer.text, others, self._rate, most_off_labels=self.most_off_labels
        )

    async def _rate(self, pairs: Unrated) -> Mapping[str, str]:
        with unlogged():
            is_rated = await self._rate_together(pairs)
            if is_rated is None:
                is_rated = await self.room.each(partial(self._rate_pair, pairs), pairs.others)
        return {other: NO_LOGPROBS for other, rated in zip(pairs.others, is_rated, strict=True) if not rated}

    async def _rate_together(self, pairs: Unrated) -> list[bool] | None:
        """As `_rate_pair` for each of the others, in one request; None where they must be asked one by one."""
        if ModelName(self.model).api not in BATCHING:
            return None
        from genie_inspect.judges.batch import first_tokens_in_one_request

        async def ask(others: Sequence[str]) -> list[list[tuple[str, float]]] | None:
            requests = [self._request(pairs, other) for other in others]
            return await first_tokens_in_one_request(self.model, requests, CANDIDATES)

        (together,) = await self.room.each(ask, [pairs.others])
        if together is None:
            return None
        ratings = judged(dict(zip(pairs.others, together, strict=True)))
        pairs.keep(ratings)
        return [other in ratings for other in pairs.others]

    async def _rate_pair(self, pairs: Unrated, other: str) -> bool:
        """Whether there are candidates for an other answer; their rating is kept."""
        rating = judged({other: await self._ask(self._request(pairs, other))})
        pairs.keep(rating)
        return bool(rating)

    def _request(self, pairs: Unrated, other: str) -> str:
        return pair_request(self.template, pairs.question, pairs.answer, [other])

    async def _ask(self, request: str) -> Candidates:
        output = await answered(self.model, request, ONE_TOKEN)
        logprobs = output.choices[0].logprobs
        if logprobs is None or not logprobs.content:
            return ()
        return [(top.token, top.logprob) for top in logprobs.content[0].top_logprobs or ()]


def judged(candidates_by_text: Mapping[str, Candidates]) -> dict[str, Judged]:
    """What the candidates say by the other answer; nothing where there are no candidates.

    A pair of which the label 0 has most of the labels' probability, or no label has any, is rated 0.
    """
    readings = {text: label_reading(found) for text, found in candidates_by_text.items() if found}
    return {
        text: Judged(
            0.0 if reading.no_answer > 0.5 or math.isnan(reading.rating) else reading.rating, reading.off_labels
        )
        for text, reading in readings.items()
    }


LOGIT = Mode(
    "logit",
    LogitJudge,
    pair_instruction("rate_logit"),
    lambda count, as_json: 1,
    said=lambda text, candidates, others: judged({others[0]: candidates}),
    check=check_log_probabilities,
)
