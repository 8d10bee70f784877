"""The logit judge: one output token a pair, the rating as the expected value over the labels' probabilities."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from inspect_ai.model import GenerateConfig, Model, ModelName, ModelUsage, TopLogprob
from inspect_ai.model import Logprobs as InspectLogprobs
from inspect_ai.util import concurrency
from pydantic import BaseModel

from genie_inspect.errors import GraderFailedError, UnknownChoiceError
from genie_inspect.graders.cache import Judged, Memo
from genie_inspect.graders.grader import ALL, PrerequisiteError, answered, give_up
from genie_inspect.graders.merging import (
    Candidates,
    Mode,
    RatingJudge,
    Unrated,
    pair_instruction,
    pair_request,
)
from genie_inspect.inspect_private import connections, count_usage, resolved_settings, retried, served_client, unlogged
from genie_inspect.measures.genie import HIGHEST, LOWEST
from genie_inspect.prompting.templates import Template

if TYPE_CHECKING:
    from inspect_ai.model._providers.vllm import VLLMAPI  # inspect-evals-lint: ignore[IECQ001] -- for types alone


NO_ANSWER = "0"
LABELS = (NO_ANSWER, *map(str, range(LOWEST, HIGHEST + 1)))


def label_reading(candidates: Candidates) -> Judged:
    """The expected rating of one token position; 0 where label 0 has most of the labels' probability, or none has any.

    The probability off the labels is an upper bound where only the most likely tokens are known.

    >>> rating, off_labels = label_reading([("3", math.log(0.6)), (" 4", math.log(0.2)), ("The", math.log(0.2))])
    >>> round(rating, 2), round(off_labels, 2)
    (3.25, 0.2)
    """
    mass = dict.fromkeys(LABELS, 0.0)
    for token, logprob in candidates:
        if token.strip() in mass:
            mass[token.strip()] += math.exp(logprob)
    total = math.fsum(mass.values())
    # not the total less the label 0: rounding would carry a mean beyond the end of the scale, where it counts as none
    rated = math.fsum(share for label, share in mass.items() if label != NO_ANSWER)
    weighted = math.fsum(int(label) * share for label, share in mass.items())
    is_rated = rated > 0 and mass[NO_ANSWER] / total <= 0.5
    return Judged(weighted / rated if is_rated else 0.0, max(0.0, 1 - total))


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
    if ModelName(model).api not in LOGPROBS:
        accepted = f"a provider with log probabilities: {', '.join(sorted(LOGPROBS))}"
        raise UnknownChoiceError("grader for judge=logit", str(model), accepted)


class LogitJudge(RatingJudge):
    """Reads the probabilities of the labels 0 to 4 at the first token, without constraining it.

    A pair whose labels together have too little probability is not rated: the model was about to say something else.
    """

    name = "logit"
    instruction = pair_instruction("rate_logit")
    requests = ((ONE_TOKEN, None),)
    most_off_labels = MOST_OFF_LABELS
    facts = f"off<={MOST_OFF_LABELS:g},"

    def __init__(self, model: Model, template: Template | None = None, memo: Memo | None = None) -> None:
        check_log_probabilities(model)
        super().__init__(model, template, memo)

    async def _rate(self, pairs: Unrated) -> Mapping[str, str]:
        requests = {other: pair_request(self.template, pairs.question, pairs.answer, [other]) for other in pairs.others}
        rated: set[str] = set()

        def keep(candidates_by_text: Mapping[str, Candidates]) -> None:
            ratings = judged(candidates_by_text)
            pairs.keep(ratings)
            rated.update(ratings)

        async def ask_alone(other: str) -> None:
            output = await answered(self.model, requests[other], ONE_TOKEN)
            keep({other: first_tokens(output.choices[0].logprobs)})

        with unlogged():
            together = None
            if ModelName(self.model).api in BATCHING:
                in_one = partial(first_tokens_in_one_request, self.model)
                (together,) = await self.room.each(in_one, [list(requests.values())])
            if together is None:
                await self.room.each(ask_alone, pairs.others)
            else:
                keep(dict(zip(requests, together, strict=True)))
        return {other: NO_LOGPROBS for other in pairs.others if other not in rated}


def judged(candidates_by_text: Mapping[str, Candidates]) -> dict[str, Judged]:
    """Ratings by the other answer, where there are candidates."""
    return {text: label_reading(candidates) for text, candidates in candidates_by_text.items() if candidates}


LOGIT = Mode(
    LogitJudge.name,
    LogitJudge,
    LogitJudge.instruction,
    lambda count, as_json: 1,
    said=lambda text, candidates, parts: [judged({parts[0][2][0]: candidates})],
    check=check_log_probabilities,
)


class _Token(BaseModel):
    top_logprobs: list[TopLogprob] = []


class Logprobs(BaseModel):
    """As servers send them, who may leave out what Inspect's own have."""

    content: list[_Token] | None = None


def first_tokens(logprobs: Logprobs | InspectLogprobs | None) -> Candidates:
    content = (logprobs and logprobs.content) or []
    return [(top.token, top.logprob) for token in content[:1] for top in token.top_logprobs or ()]


PATH = "/chat/completions/batch"
NO_SUCH_PATH = (404, 405)


class _Choice(BaseModel):
    index: int
    logprobs: Logprobs | None = None


class _Usage(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Reply(BaseModel):
    choices: list[_Choice]
    usage: _Usage | None = None


async def first_tokens_in_one_request(model: Model, requests: Sequence[str]) -> list[Candidates] | None:
    """The most likely first tokens of a reply to each request, with their log probabilities, in order.

    None where the server, or this Inspect, has no way to such a request.
    """
    from openai import APIStatusError  # a second of start-up for a client that most runs do not need

    # this endpoint is reached past Inspect, which would merge the role's own settings
    settings = resolved_settings(model)
    head = [{"role": "system", "content": settings.system_message}] if settings.system_message else []
    body = {
        **settings.model_dump(include={"logit_bias", "seed"}, exclude_none=True),
        **(settings.extra_body or {}),
        "messages": [[*head, {"role": "user", "content": request}] for request in requests],
        "temperature": 0.0,
        "max_tokens": 1,
        "logprobs": True,
        "top_logprobs": CANDIDATES,
    }
    try:
        async with concurrency(f"{model}-batch", connections(model) or ALL):
            sent = await _posted(model, body, settings.attempt_timeout)
        if sent is None:
            return None
        reply = _Reply.model_validate(sent)
    except PrerequisiteError:
        raise  # a wrong set-up: every further call would fail alike
    except Exception as error:  # noqa: BLE001  # errors of the client, of its HTTP library, of JSON and of pydantic
        if isinstance(error, APIStatusError) and error.status_code in NO_SUCH_PATH:
            return None
        give_up(model, error)
    choices = {choice.index: first_tokens(choice.logprobs) for choice in reply.choices}
    if sorted(choices) != list(range(len(requests))):
        raise GraderFailedError(f"grader {model} sent {len(choices)} replies to {len(requests)} requests in one")
    usage = reply.usage or _Usage()
    tokens = usage.prompt_tokens, usage.completion_tokens
    count_usage(model, ModelUsage(input_tokens=tokens[0], output_tokens=tokens[1], total_tokens=sum(tokens)))
    return [choices[index] for index in range(len(requests))]


async def _posted(model: Model, body: dict[str, Any], timeout: int | None) -> object | None:
    client = await served_client(model)
    if client is None:  # as of a model that is named to plan with
        return None
    body = body | {"model": cast("VLLMAPI", model.api).service_model_name()}
    options: Any = {"timeout": timeout} if timeout else {}

    async def post() -> object:
        return await client.post(PATH, body=body, cast_to=object, options=options)

    again = retried(model, post)
    return await again() if again else None
