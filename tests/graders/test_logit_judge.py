"""The logit judge: labels by probability, one request or many, and what judges refuse."""

import math
import string
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

import anyio
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from inspect_ai.log import transcript
from inspect_ai.log._transcript import Transcript, init_transcript
from inspect_ai.model import Logprob, Logprobs, Model, ModelOutput, TopLogprob, get_model
from inspect_ai.model._model import init_model_usage, model_usage  # as an evaluation counts, in no public way
from tests.scripted import Asked, Script, output
from tests.served import BROKEN, BUSY, CUT, HANGING, NO_BATCHES, OK, Served, serving, without_pauses

from genie_inspect.errors import GraderFailedError, UnknownChoiceError
from genie_inspect.graders.cache import Judged, Memo
from genie_inspect.graders.logit_judge import (
    LABELS,
    NO_LOGPROBS,
    LogitJudge,
    first_tokens_in_one_request,
    label_reading,
)
from genie_inspect.graders.merging import Unrated, rated
from genie_inspect.graders.protocols import OFF_LABELS, UNSPECIFIED, Answer, Rated
from genie_inspect.prompting.templates import unfenced

QUESTION = Asked("How does it end?")
ANSWER = Answer("in the rain")
FOUR = [Answer(f"ending {number}") for number in range(4)]
openai_client = pytest.mark.parametrize("anyio_backend", ["asyncio"])  # it knows no other


def spread(**probabilities: float) -> ModelOutput:
    """An output whose first token has these probabilities: `_4` stands for the label 4."""
    tops = [
        TopLogprob(token=token.removeprefix("_"), logprob=math.log(share), bytes=None)
        for token, share in probabilities.items()
    ]
    made = output(tops[0].token)
    made.choices[0].logprobs = Logprobs(content=[Logprob(token=tops[0].token, logprob=0.0, top_logprobs=tops)])
    return made


def logits(**by_answer: dict[str, float]) -> Script:
    """A grader whose first token is spread as the other answer says; without probabilities where it says nothing."""

    def reply(request: str) -> ModelOutput:
        shares = by_answer[unfenced(request)["other"].replace(" ", "_")]
        return spread(**shares) if shares else output("3")

    return Script(reply)


async def test_the_rating_is_the_expected_value_over_the_labels_or_there_is_a_reason_for_none() -> None:
    init_transcript(Transcript())
    said: dict[str, dict[str, float]] = {
        "at_sea": {"_4": 0.75, "_2": 0.25},  # 4 x 0.75 + 2 x 0.25
        "at_home": {"_1": 0.6, "_2": 0.2, "The": 0.2},  # (1 x 0.6 + 2 x 0.2) / 0.8
        "babble": {"_4": 0.4, "Well": 0.6},  # about to say something else
        "nothing": {"_0": 0.6, "_4": 0.4},
        "silence": {},
    }
    script, others = logits(**said), [Answer(name.replace("_", " ")) for name in said]
    found = await LogitJudge(script.model()).rate(QUESTION, ANSWER, others)
    assert found.ratings == pytest.approx((3.5, 1.25, None, None, None))
    assert found.faults == {2: OFF_LABELS, 3: UNSPECIFIED, 4: NO_LOGPROBS}
    # (0 + 0.2 + 0.6 + 0) / 4: what was not rated counts here
    assert found.off_labels == pytest.approx(0.2)
    assert (len(script.requests), transcript().events) == (5, []), "no call for a pair is in the log"


def test_a_provider_without_log_probabilities_is_refused_by_name_and_told_who_has_them() -> None:
    with pytest.raises(UnknownChoiceError, match=r"grader for judge=logit is 'bundled/grader'.*openai.*vllm"):
        LogitJudge(get_model("bundled/grader"))


PROBABILITIES = st.dictionaries(
    st.sampled_from([*LABELS, *string.ascii_letters, " ", "The", "10", "1.5"]), st.floats(1e-9, 1), min_size=1
)


def logged(probabilities: dict[str, float]) -> list[tuple[str, float]]:
    return [(token, math.log(share)) for token, share in probabilities.items()]


@pytest.mark.parametrize(
    ("probabilities", "rating", "off_labels"),
    [
        # (1 x 0.1 + 2 x 0.2 + 4 x 0.5) / (0.1 + 0.2 + 0.5) = 2.5 / 0.8
        ({"1": 0.1, "2": 0.2, "4": 0.5, "The": 0.2}, 3.125, 0.2),
        # the label 0 is no part of the mean: with half of the labels' probability the mean is over 2 alone
        ({"0": 0.3, "2": 0.3}, 2.0, 0.4),
        # a label counts with space around it and no other way
        ({"3": 0.1, " 3": 0.1, "\n3": 0.1, "Ġ3": 0.1, "3.": 0.1, "33": 0.1, "three": 0.1, "٣": 0.1}, 3.0, 0.7),
        ({"The": 0.9}, 0.0, 1.0),
        ({}, 0.0, 1.0),
        ({"0": 1.0}, 0.0, 0.0),
        # one side gives no answer where more than half says so
        ({"0": 0.5, "4": 0.5}, 4.0, 0.0),
        ({"0": 0.51, "4": 0.49}, 0.0, 0.0),
        # vLLM writes e^-9999 for what a constraint rules out
        ({"4": 1.0, "3": 5e-324, "The": 5e-324}, 4.0, 0.0),
    ],
)
def test_the_rating_is_the_mean_of_the_labels_weighted_by_their_probabilities(
    probabilities: dict[str, float], rating: float, off_labels: float
) -> None:
    assert label_reading(logged(probabilities)) == pytest.approx((rating, off_labels))


@given(PROBABILITIES)
@example({"0": 1.0, "1": 1e-9, "a": 1.0})  # nearly everything is on the label 0
@example({"0": 0.4, "4": 0.6})
def test_a_rating_stays_on_the_scale_whatever_the_order_of_the_candidates(weights: dict[str, float]) -> None:
    total = sum(weights.values())
    candidates = logged({token: weight / total for token, weight in weights.items()})
    rating, off_labels = label_reading(candidates)
    assert rating == 0 or 1 <= rating <= 4
    assert off_labels is not None
    assert 0 <= off_labels <= 1
    assert label_reading(candidates[::-1]) == pytest.approx((rating, off_labels))


def _logprobs(request: str) -> dict[str, float]:
    """The label that the other answer's number says, with nine tenths; the rest is on no label."""
    return {str(1 + int(unfenced(request)["other"].split()[1])): math.log(0.9), "The": math.log(0.1)}


QUESTIONS, PATIENCE = 30, 3.0  # more than any limit here; seconds


class Counter:
    """Replies when as many requests are under way as are awaited, or when they have been for long enough."""

    def __init__(self, awaited: int) -> None:
        self.awaited, self.now, self.most = awaited, 0, 0
        self._changed = threading.Condition()
        self._end = 0.0

    def __call__(self, request: str) -> dict[str, float]:
        """Called for each conversation, of which a request here has one."""
        with self._changed:
            self._end = self._end or time.monotonic() + PATIENCE
            self.now += 1
            self.most = max(self.most, self.now)
            self._changed.notify_all()
            self._changed.wait_for(lambda: self.most >= self.awaited, max(0.0, self._end - time.monotonic()))
        time.sleep(0.02)  # one too many would arrive meanwhile
        with self._changed:
            self.now -= 1
        return {"1": 0.0}


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """A server without faults yet, and clients that do not pause between attempts."""
    without_pauses(monkeypatch)
    with serving(Served(lambda request: "1", logprobs=_logprobs)) as server:
        yield server


async def rate_all(model: Model) -> None:
    judge = LogitJudge(model)
    async with anyio.create_task_group() as group:
        for number in range(QUESTIONS):
            group.start_soon(judge.rate, Asked(f"What is thing {number}?"), Answer("a"), [Answer("b")])


@pytest.mark.parametrize("batches", [True, False])
@openai_client
async def test_a_roles_own_connections_are_a_batchs_too_or_where_there_are_none_the_pairs(
    served: Served, batches: bool, anyio_backend: str
) -> None:
    served.logprobs = counter = Counter(12)
    served.fault = lambda number, request: "" if batches or "batch" not in served.paths[-1] else NO_BATCHES
    async with served.model("vllm", max_connections=12) as model:
        await rate_all(model)
    assert counter.most == 12


async def test_two_answers_to_a_question_are_rated_at_a_time_and_any_probability_off_the_labels_counts() -> None:
    memo, both = Memo(), anyio.Event()
    asked: list[str] = []

    async def rate(pairs: Unrated) -> Mapping[str, str]:
        asked.append(pairs.answer)
        if len(asked) == 2:
            both.set()
        await both.wait()
        pairs.keep({"a hen": Judged(3.0, 0.9)})
        return {}

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            for answer in ("an owl", "a fox"):
                group.start_soon(rated, memo, "judge", "Who?", answer, [Answer("a hen")], rate)
    assert sorted(asked) == ["a fox", "an owl"]
    assert (await rated(memo, "judge", "Who?", "a dog", [Answer("a hen")], rate)).ratings == (3.0,)


async def rated_by(model: Model) -> Rated:
    async with model:
        return await LogitJudge(model).rate(QUESTION, ANSWER, FOUR)


@openai_client
async def test_all_pairs_of_a_question_are_one_request_and_each_gets_its_own_rating(served: Served) -> None:
    init_model_usage()
    rated = await rated_by(served.model("vllm"))
    assert rated.ratings == pytest.approx((1, 2, 3, 4))
    assert rated.off_labels == pytest.approx(0.1)
    # the server says 10 tokens in and 1 out for each of four conversations
    (used,) = model_usage().values()
    assert (used.input_tokens, used.output_tokens, used.total_tokens) == (40, 4, 44)
    assert served.paths == ["/v1/chat/completions/batch"]
    assert served.bodies[0]["top_logprobs"] == 20


@openai_client
async def test_the_roles_own_settings_reach_the_batch_as_they_reach_a_single_request(served: Served) -> None:
    own = {"seed": 7, "logit_bias": {42: 10.0}, "extra_body": {"top_k": 5}, "temperature": 0.9}
    await rated_by(served.model("vllm", system_message="Be strict.", **own))
    (body,) = served.bodies
    assert [conversation[0] for conversation in body["messages"]] == [{"role": "system", "content": "Be strict."}] * 4
    assert (body["seed"], body["top_k"], body["temperature"]) == (7, 5, 0)
    assert body["logit_bias"] == {"42": 10.0}


@pytest.mark.parametrize("provider", ["vllm", "openai"])
@openai_client
async def test_a_server_without_batches_and_another_provider_are_asked_pair_by_pair(
    served: Served, provider: str
) -> None:
    served.fault = lambda number, request: NO_BATCHES if served.paths[-1].endswith("/batch") else OK
    rated = await rated_by(served.model(provider))
    assert rated.ratings == pytest.approx((1, 2, 3, 4))
    assert served.paths[-4:] == ["/v1/chat/completions"] * 4
    assert {body["top_logprobs"] for body in served.bodies} == {20}


@pytest.mark.parametrize("fault", [BUSY, BROKEN, CUT, HANGING])
@openai_client
async def test_a_request_that_fails_once_is_made_again(served: Served, fault: str) -> None:
    served.fault = lambda number, request: fault if number == 0 else OK
    rated = await rated_by(served.model("vllm", attempt_timeout=1 if fault == HANGING else None))
    assert rated.ratings == pytest.approx((1, 2, 3, 4))
    # a server that hangs would reply in the end: it is not waited for
    assert served.faults == [fault, OK]


@pytest.mark.parametrize(("fault", "named"), [(BUSY, "429"), (BROKEN, "500"), (CUT, "Connection"), (NO_BATCHES, "404")])
@openai_client
async def test_a_server_that_keeps_failing_is_a_grader_that_failed_and_the_error_says_how(
    served: Served, fault: str, named: str
) -> None:
    served.fault = lambda number, request: fault
    with pytest.raises(GraderFailedError, match=rf"grader vllm/m-\d+ failed: .*{named}"):
        await rated_by(served.model("vllm", max_retries=1))


@openai_client
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
@openai_client
async def test_a_conversation_without_log_probabilities_costs_its_own_pair_alone(
    served: Served, logprobs: dict[str, Any] | None
) -> None:
    choice = served.choice
    served.choice = lambda index, *rest: choice(index, *rest) | ({"logprobs": logprobs} if index == 1 else {})  # type: ignore[method-assign]  # this test's own server
    rated = await rated_by(served.model("vllm"))
    assert [rated.ratings[1], rated.faults] == [None, {1: NO_LOGPROBS}]
    assert [rated.ratings[index] for index in (0, 2, 3)] == pytest.approx([1, 3, 4])


@pytest.mark.parametrize("provider", ["vllm", "openai"])
@openai_client
async def test_of_a_reply_with_more_tokens_than_were_asked_for_the_first_is_read(served: Served, provider: str) -> None:
    choice = served.choice
    later = {"token": "4", "logprob": 0.0, "bytes": None, "top_logprobs": [{"token": "4", "logprob": 0, "bytes": None}]}

    def talkative(*asked: Any) -> dict[str, Any]:
        made = choice(*asked)
        made["logprobs"]["content"].append(later)
        return made

    served.choice = talkative  # type: ignore[method-assign,assignment]  # this test's own server
    assert (await rated_by(served.model(provider))).ratings == pytest.approx((1, 2, 3, 4))
