"""The logit judge: one output token a pair, the rating as the expected value over the labels' probabilities."""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from inspect_ai.model import GenerateConfig, Model, ModelName

from genie_inspect.asking.grader import answered
from genie_inspect.asking.identity import identified_model
from genie_inspect.asking.in_flight import Room
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.inspect_private import unlogged
from genie_inspect.judges.cache import Judged
from genie_inspect.judges.merging import Keep, RatingMemo
from genie_inspect.judges.protocols import Answer, AskedQuestion, Rated
from genie_inspect.measures.labels import label_reading
from genie_inspect.prompting.fence import fenced
from genie_inspect.prompting.templates import load_template

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

Candidates = Sequence[tuple[str, float]]


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
        templates: A folder with a `rate_logit.md` of the user's own.
        memo: What this judge has said before.
        most_off_labels: Highest probability off the labels, 0 to 1, at which a pair is still rated.

    Raises:
        UnknownChoiceError: If the provider returns no log probabilities.
    """

    def __init__(
        self,
        model: Model,
        templates: Path | str | None = None,
        memo: RatingMemo | None = None,
        most_off_labels: float = MOST_OFF_LABELS,
    ) -> None:
        check_log_probabilities(model)
        self.model = model
        self.template = load_template("rate_logit", {"data"}, templates)
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

        async def ask_all(texts: Sequence[str], keep: Keep) -> Mapping[str, str]:
            requests = {text: self._request(question.text, answer.text, text) for text in texts}

            async def ask_one(text: str) -> bool:
                found = judged({text: await self._ask(requests[text])})
                keep(found)
                return bool(found)

            with unlogged():
                together = await self._ask_together(list(requests.values()))
                if together is None:
                    answered_to = await self.room.each(ask_one, texts)
                    return {text: NO_LOGPROBS for text, found in zip(texts, answered_to, strict=True) if not found}
            found = judged(dict(zip(texts, together, strict=True)))
            keep(found)
            return {text: NO_LOGPROBS for text in texts if text not in found}

        return await self.memo.rated(
            self.signature, question.text, answer.text, others, ask_all, most_off_labels=self.most_off_labels
        )

    def _request(self, question: str, answer: str, other: str) -> str:
        return self.template.fill(data=fenced({"question": question, "answer": answer, "other": other}))

    async def _ask_together(self, requests: Sequence[str]) -> Sequence[Candidates] | None:
        """The candidates of all requests; None where they must be asked one by one."""
        if ModelName(self.model).api not in BATCHING:
            return None
        from genie_inspect.judges.batch import first_tokens_in_one_request

        return await first_tokens_in_one_request(self.model, requests, CANDIDATES)

    async def _ask(self, request: str) -> Candidates:
        output = await answered(self.model, request, ONE_TOKEN)
        logprobs = output.choices[0].logprobs if output.choices else None
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
