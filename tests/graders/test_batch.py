import math
from collections.abc import Iterator
from typing import Any

import pytest
from inspect_ai.model import Model
from inspect_ai.model._model import init_model_usage, model_usage  # as an evaluation counts, in no public way
from tests.scripted import Asked
from tests.served import BABBLE, BROKEN, BUSY, CUT, HANGING, NO_BATCHES, OK, Served, serving, without_pauses

from genie_inspect.errors import GraderFailedError
from genie_inspect.graders.logit_judge import NO_LOGPROBS, LogitJudge, first_tokens_in_one_request
from genie_inspect.graders.protocols import OFF_LABELS, Answer, Rated
from genie_inspect.prompting.fence import unfenced

QUESTION, ANSWER = Asked("How does it end?"), Answer("in the rain")
OTHERS = [Answer(f"ending {number}") for number in range(4)]

pytestmark = pytest.mark.parametrize("anyio_backend", ["asyncio"])  # the client of OpenAI knows no other


def _logprobs(request: str) -> dict[str, float]:
    """The label that the other answer's number says, with nine tenths; the rest is on no label."""
    return {str(1 + int(unfenced(request)["other"].split()[1])): math.log(0.9), "The": math.log(0.1)}


async def rated_by(model: Model) -> Rated:
    async with model:
        return await LogitJudge(model).rate(QUESTION, ANSWER, OTHERS)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """A server without faults yet, and clients that do not pause between attempts."""
    without_pauses(monkeypatch)
    with serving(Served(lambda request: "1", logprobs=_logprobs)) as server:
        yield server


async def test_all_pairs_of_a_question_are_one_request_and_each_gets_its_own_rating(served: Served) -> None:
    rated = await rated_by(served.model("vllm"))
    assert rated.ratings == pytest.approx((1, 2, 3, 4))
    assert rated.off_labels == pytest.approx(0.1)
    assert served.paths == ["/v1/chat/completions/batch"]


async def test_the_tokens_of_a_batch_are_counted(served: Served) -> None:
    init_model_usage()
    await rated_by(served.model("vllm"))
    (used,) = model_usage().values()
    # the server says 10 and 1 for each of four conversations
    assert (used.input_tokens, used.output_tokens, used.total_tokens) == (40, 4, 44)


async def test_the_roles_own_settings_reach_the_batch_as_they_reach_a_single_request(served: Served) -> None:
    own = {"seed": 7, "logit_bias": {42: 10.0}, "extra_body": {"top_k": 5}, "temperature": 0.9}
    await rated_by(served.model("vllm", system_message="Be strict.", **own))
    (body,) = served.bodies
    assert [conversation[0] for conversation in body["messages"]] == [{"role": "system", "content": "Be strict."}] * 4
    assert (body["seed"], body["top_k"], body["temperature"]) == (7, 5, 0)
    assert body["logit_bias"] == {"42": 10.0}


async def test_a_server_without_batches_is_asked_pair_by_pair(served: Served) -> None:
    served.fault = lambda number, request: NO_BATCHES if number == 0 else OK
    rated = await rated_by(served.model("vllm"))
    assert rated.ratings == pytest.approx((1, 2, 3, 4))
    assert served.paths[1:] == ["/v1/chat/completions"] * 4


async def test_another_provider_is_asked_pair_by_pair(served: Served) -> None:
    rated = await rated_by(served.model("openai"))
    assert rated.ratings == pytest.approx((1, 2, 3, 4))
    assert served.paths == ["/v1/chat/completions"] * 4


@pytest.mark.parametrize("provider", ["vllm", "openai"])
async def test_in_one_request_or_pair_by_pair_twenty_candidates_are_asked_for(served: Served, provider: str) -> None:
    await rated_by(served.model(provider))
    assert {body["top_logprobs"] for body in served.bodies} == {20}


@pytest.mark.parametrize("fault", [BUSY, BROKEN, CUT, HANGING])
async def test_a_request_that_fails_once_is_made_again(served: Served, fault: str) -> None:
    served.fault = lambda number, request: fault if number == 0 else OK
    rated = await rated_by(served.model("vllm", attempt_timeout=1 if fault == HANGING else None))
    assert rated.ratings == pytest.approx((1, 2, 3, 4))
    # a server that hangs would reply in the end: it is not waited for
    assert served.faults == [fault, OK]


@pytest.mark.parametrize(("fault", "named"), [(BUSY, "429"), (BROKEN, "500"), (CUT, "Connection"), (NO_BATCHES, "404")])
async def test_a_server_that_keeps_failing_is_a_grader_that_failed_and_the_error_says_how(
    served: Served, fault: str, named: str
) -> None:
    served.fault = lambda number, request: fault
    with pytest.raises(GraderFailedError, match=rf"grader vllm/m-\d+ failed: .*{named}"):
        await rated_by(served.model("vllm", max_retries=1))


async def test_babble_at_the_first_token_is_not_rated(served: Served) -> None:
    served.fault = lambda number, request: BABBLE
    rated = await rated_by(served.model("vllm"))
    assert rated.ratings == (None,) * 4
    assert rated.faults == dict.fromkeys(range(4), OFF_LABELS)


async def test_a_reply_that_is_no_json_or_misses_conversations_is_a_grader_that_failed(served: Served) -> None:
    choice = served.choice
    async with served.model("vllm") as model:
        served.choice = lambda index, *rest: choice(0, *rest)  # type: ignore[method-assign]  # this test's own server
        with pytest.raises(GraderFailedError, match="sent 1 replies to 2 requests in one"):
            await first_tokens_in_one_request(model, ['```json\n{"other": "ending 1"}\n```'] * 2)
        served.choice = lambda *any_of: {"what": "is this"}  # type: ignore[method-assign]
        with pytest.raises(GraderFailedError, match="ValidationError"):
            await first_tokens_in_one_request(model, ["x"])


@pytest.mark.parametrize("logprobs", [None, {"content": None}, {"content": []}, {"content": [{"top_logprobs": []}]}])
async def test_a_conversation_without_log_probabilities_costs_its_own_pair_alone(
    served: Served, logprobs: dict[str, Any] | None
) -> None:
    choice = served.choice
    served.choice = lambda index, *rest: choice(index, *rest) | ({"logprobs": logprobs} if index == 1 else {})  # type: ignore[method-assign]  # this test's own server
    rated = await rated_by(served.model("vllm"))
    assert [rated.ratings[1], rated.faults] == [None, {1: NO_LOGPROBS}]
    assert [rated.ratings[index] for index in (0, 2, 3)] == pytest.approx([1, 3, 4])


@pytest.mark.parametrize("provider", ["vllm", "openai"])
async def test_of_a_reply_with_more_tokens_than_were_asked_for_the_first_is_read(served: Served, provider: str) -> None:
    choice = served.choice
    later = {"token": "4", "logprob": 0.0, "bytes": None, "top_logprobs": [{"token": "4", "logprob": 0, "bytes": None}]}

    def talkative(*asked: Any) -> dict[str, Any]:
        made = choice(*asked)
        made["logprobs"]["content"].append(later)
        return made

    served.choice = talkative  # type: ignore[method-assign,assignment]  # this test's own server
    assert (await rated_by(served.model(provider))).ratings == pytest.approx((1, 2, 3, 4))
