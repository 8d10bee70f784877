"""The logit judge: labels by probability, one request or many, and what judges refuse."""

import math
import string
import threading
import time
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import anyio
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.log import transcript
from inspect_ai.log._transcript import Transcript, init_transcript
from inspect_ai.model import Logprob, Logprobs, Model, ModelOutput, TopLogprob, get_model
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState
from tests.scripted import Asked, Script, output, saying
from tests.served import NO_BATCHES, Served, serving

from genie_inspect.engines.classifiers import PUBLISHED_REWARD
from genie_inspect.errors import GraderFailedError, UnknownChoiceError
from genie_inspect.graders.cache import Cache, Judged
from genie_inspect.graders.logit_judge import (
    BATCHING,
    LABELS,
    LOGIT,
    LOGPROBS,
    NO_LOGPROBS,
    ONE_TOKEN,
    LogitJudge,
    check_log_probabilities,
    judged,
    label_reading,
)
from genie_inspect.graders.merging import RatingMemo, Unrated
from genie_inspect.graders.protocols import OFF_LABELS, UNSPECIFIED, Answer
from genie_inspect.graders.quality import RewardQuality
from genie_inspect.prompting.fence import unfenced

if TYPE_CHECKING:
    from genie_inspect.engines.classifiers import RewardModel


QUESTION = Asked("How does it end?")
ANSWER = Answer("in the rain")


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
    """A grader whose first token is spread as the other answer says."""
    return Script(lambda request: spread(**by_answer[unfenced(request)["other"].replace(" ", "_")]))


async def test_the_rating_is_the_expected_value_over_the_labels() -> None:
    # at sea: 4 x 0.75 + 2 x 0.25; at home: (1 x 0.6 + 2 x 0.2) / 0.8
    script = logits(at_sea={"_4": 0.75, "_2": 0.25}, at_home={"_1": 0.6, "_2": 0.2, "The": 0.2})
    rated = await LogitJudge(script.model()).rate(QUESTION, ANSWER, [Answer("at sea"), Answer("at home")])
    assert rated.ratings == pytest.approx((3.5, 1.25))
    assert rated.faults == {}
    # (0 + 0.2) / 2
    assert rated.off_labels == pytest.approx(0.1)


async def test_what_repeats_stands_first_so_that_a_server_computes_it_once_a_question() -> None:
    script = logits(at_sea={"_4": 1.0}, at_home={"_4": 1.0})
    await LogitJudge(script.model()).rate(QUESTION, ANSWER, [Answer("at sea"), Answer("at home")])
    first, second = sorted(script.requests, key=lambda request: str(unfenced(request)["other"]))
    shared = first.index("at home")
    assert first[:shared] == second[:shared]
    assert ANSWER.text in first[:shared]


async def test_a_model_that_was_about_to_say_something_else_is_not_rated_and_says_why() -> None:
    script = logits(at_sea={"_4": 0.4, "Well": 0.6}, at_home={"_4": 0.6, "Well": 0.4})
    rated = await LogitJudge(script.model()).rate(QUESTION, ANSWER, [Answer("at sea"), Answer("at home")])
    assert rated.ratings == (None, 4.0)
    assert rated.faults == {0: OFF_LABELS}
    # (0.6 + 0.4) / 2: what was not rated counts here
    assert rated.off_labels == pytest.approx(0.5)


async def test_a_limit_of_0_off_the_labels_rates_only_what_is_wholly_on_them() -> None:
    script = logits(at_sea={"_4": 0.9, "Well": 0.1}, at_home={"_4": 1.0})
    judge = LogitJudge(script.model(), most_off_labels=0.0)
    rated = await judge.rate(QUESTION, ANSWER, [Answer("at sea"), Answer("at home")])
    assert rated.ratings == (None, 4.0)
    assert rated.faults == {0: OFF_LABELS}
    assert "off<=0," in judge.signature


async def test_a_label_0_with_most_of_the_labels_probability_means_that_one_side_gives_no_answer() -> None:
    script = logits(at_sea={"_0": 0.6, "_4": 0.4}, at_home={"_0": 0.4, "_4": 0.6})
    rated = await LogitJudge(script.model()).rate(QUESTION, ANSWER, [Answer("at sea"), Answer("at home")])
    assert rated.ratings == (None, 4.0)
    assert rated.faults == {0: UNSPECIFIED}


async def test_a_reply_without_log_probabilities_is_no_rating_and_no_zero() -> None:
    rated = await LogitJudge(Script(lambda request: "3").model()).rate(QUESTION, ANSWER, [Answer("at sea")])
    assert rated.ratings == (None,)
    assert rated.faults == {0: NO_LOGPROBS}
    assert rated.off_labels is None


async def test_equal_answers_are_judged_once_and_a_later_run_asks_nobody(tmp_path: Path) -> None:
    script = logits(at_sea={"_4": 0.4, "Well": 0.6}, at_home={"_2": 1.0})
    others = [Answer("at sea"), Answer("At sea."), Answer("at home")]
    runs = [
        await LogitJudge(script.model(), memo=RatingMemo(Cache(tmp_path))).rate(QUESTION, ANSWER, others)
        for _ in range(2)
    ]
    assert runs[0] == runs[1]
    assert runs[0].faults == {0: OFF_LABELS, 1: OFF_LABELS}, "also what was found to be off the labels"
    assert len(script.requests) == 2


async def test_a_grader_that_fails_in_one_of_many_calls_is_one_error_and_what_it_said_before_is_on_record(
    tmp_path: Path,
) -> None:
    def failing(request: str) -> ModelOutput:
        if unfenced(request)["other"] == "at home":
            raise ConnectionError("refused")
        return spread(_4=1.0)

    others = [Answer("at sea"), Answer("at home")]
    with pytest.raises(GraderFailedError, match="ConnectionError: refused"):
        await LogitJudge(Script(failing).model(), memo=RatingMemo(Cache(tmp_path))).rate(QUESTION, ANSWER, others)
    script = logits(at_home={"_2": 1.0})
    judge = LogitJudge(script.model(), memo=RatingMemo(Cache(tmp_path)))
    assert (await judge.rate(QUESTION, ANSWER, others)).ratings == (4.0, 2.0)
    assert len(script.requests) == 1


def test_a_provider_without_log_probabilities_is_refused_by_name_and_told_who_has_them() -> None:
    model = get_model("bundled/grader")
    with pytest.raises(UnknownChoiceError, match=r"bundled/grader.*openai.*vllm"):
        check_log_probabilities(model)
    with pytest.raises(UnknownChoiceError, match="grader for judge=logit is 'bundled/grader'"):
        LogitJudge(model)


async def test_the_calls_of_single_pairs_are_not_in_the_log() -> None:
    init_transcript(Transcript())
    script = logits(at_sea={"_4": 1.0}, at_home={"_2": 1.0})
    await LogitJudge(script.model()).rate(QUESTION, ANSWER, [Answer("at sea"), Answer("at home")])
    assert len(script.requests) == 2
    assert transcript().events == []


def test_a_pair_is_unrated_where_more_than_half_says_that_one_side_gives_no_answer() -> None:
    half, more = ([("0", math.log(share)), ("4", math.log(1 - share))] for share in (0.5, 0.51))
    found = judged({"half": half, "more": more, "nothing": []})
    assert {text: one.rating for text, one in found.items()} == {"half": pytest.approx(4), "more": 0}


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
    ],
)
def test_the_rating_is_the_mean_of_the_labels_weighted_by_their_probabilities(
    probabilities: dict[str, float], rating: float, off_labels: float
) -> None:
    assert label_reading(logged(probabilities)) == pytest.approx((rating, off_labels))


def test_impossible_tokens_of_a_constrained_server_count_as_nothing() -> None:
    # vLLM writes -9999 for what a constraint rules out
    assert label_reading([("4", 0.0), ("3", -9999.0), ("The", -9999.0)]) == (4.0, 0.0)


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
def served() -> Iterator[Served]:
    """A server that says 1."""
    with serving(Served(lambda request: "1")) as server:
        yield server


async def rate_all(model: Model) -> None:
    judge = LogitJudge(model)
    async with anyio.create_task_group() as group:
        for number in range(QUESTIONS):
            group.start_soon(judge.rate, Asked(f"What is thing {number}?"), Answer("a"), [Answer("b")])


@scorer(metrics=[])
def rating() -> Scorer:
    """Asks the grader of the run."""

    async def score(state: TaskState, target: Target) -> Score:
        await rate_all(get_model(role="grader"))
        return Score(value=1)

    return score


@pytest.mark.parametrize("connections", [4, 24])
def test_as_many_batches_are_in_flight_as_the_run_has_connections(
    served: Served, tmp_path: Path, connections: int
) -> None:
    served.logprobs = counter = Counter(connections)
    grader = served.model("vllm", max_connections=None)
    task = Task(dataset=[Sample(input="")], scorer=rating())
    run = partial(evaluate, task, model=saying("A story.").model(), log_dir=str(tmp_path), display="none")
    (log,) = run(model_roles={"grader": grader}, max_connections=connections)
    assert log.status == "success", log.error
    assert {path.rpartition("/")[2] for path in served.paths} == {"batch"}
    assert (len(served.paths), counter.most) == (QUESTIONS, connections)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # the client of OpenAI knows no other
async def test_a_roles_own_connections_are_a_batchs_too(served: Served, anyio_backend: str) -> None:
    served.logprobs = counter = Counter(16)
    async with served.model("vllm", max_connections=16) as model:
        await rate_all(model)
    assert counter.most == 16


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_where_there_are_no_batches_the_pairs_have_as_many(served: Served, anyio_backend: str) -> None:
    served.logprobs = counter = Counter(12)
    served.fault = lambda number, request: NO_BATCHES if served.paths[-1].endswith("/batch") else ""
    async with served.model("vllm", max_connections=12) as model:
        await rate_all(model)
    assert counter.most == 12


def test_the_logit_judge_asks_whoever_gives_log_probabilities_for_twenty_candidates() -> None:
    assert LOGIT.check is check_log_probabilities
    assert not {"anthropic", "bundled", "mistral", "bedrock"} & LOGPROBS
    assert BATCHING == {"vllm"} < LOGPROBS
    assert (ONE_TOKEN.top_logprobs, ONE_TOKEN.max_tokens, ONE_TOKEN.logprobs) == (20, 1, True)
    check_log_probabilities(saying("").model())


async def test_two_answers_to_a_question_are_rated_at_a_time_and_any_probability_off_the_labels_counts() -> None:
    memo, both = RatingMemo(), anyio.Event()
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
                group.start_soon(memo.rated, "judge", "Who?", answer, [Answer("a hen")], rate)
    assert sorted(asked) == ["a fox", "an owl"]
    assert (await memo.rated("judge", "Who?", "a dog", [Answer("a hen")], rate)).ratings == (3.0,)


@pytest.mark.parametrize(
    ("model", "signature"),
    [
        (PUBLISHED_REWARD, "reward(x)"),
        (f"{PUBLISHED_REWARD}@abc", "reward(x)"),
        ("other/model", "reward(x,thresholds of another model)"),
    ],
)
def test_a_reward_model_with_thresholds_of_another_says_so(model: str, signature: str) -> None:
    class Rewards:
        name = "reward(x)"

    rewards = Rewards()
    rewards.model = model  # type: ignore[attr-defined]
    assert RewardQuality(cast("RewardModel", rewards)).signature == signature
