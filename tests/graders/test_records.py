"""What judges take, refuse and keep apart: pairs, providers, prompts that are asked for at the same time."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

import anyio
import pytest
from tests.scripted import saying

from genie_inspect.engines.classifiers import PUBLISHED_REWARD
from genie_inspect.engines.embedders import embedder
from genie_inspect.errors import FitError
from genie_inspect.graders.cache import Judged
from genie_inspect.graders.logit_judge import BATCHING, LOGIT, LOGPROBS, ONE_TOKEN, check_log_probabilities
from genie_inspect.graders.merging import RatingMemo, Unrated
from genie_inspect.graders.pairwise_judge import PAIRWISE
from genie_inspect.graders.protocols import Answer
from genie_inspect.graders.quality import RewardQuality
from genie_inspect.graders.vectors_judge import VECTORS, FeatureFit, fit_for, shipped_fit, vectors_judge

if TYPE_CHECKING:
    from genie_inspect.engines.classifiers import RewardModel
    from genie_inspect.engines.embedders import Embedder


def test_a_pair_is_of_one_other_answer() -> None:
    with pytest.raises(ValueError, match="too many values"):
        PAIRWISE.request(PAIRWISE.instruction.template(), "Who?", "an owl", ["a fox", "a hen"])


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


def test_vectors_cost_no_reply_and_name_the_features_that_their_fit_does_not_know() -> None:
    assert [VECTORS.reply_tokens(50, as_json) for as_json in (False, True)] == [0, 0]
    assert vectors_judge(embedder(), features=["weather", "age"]).signature.endswith("pooled=age+weather)")
    assert "pooled" not in vectors_judge(embedder()).signature


def test_a_fit_of_another_embedder_says_how_to_make_one() -> None:
    class Other:
        name, identity = "mine", "mine@1"

    with pytest.raises(FitError) as refused:
        fit_for(cast("Embedder", Other()))
    assert str(refused.value) == (
        f"embedder is 'mine' (mine@1) and the fit that ships was measured with {shipped_fit().embedder}; make one "
        "with: genie calibrate --ratings ratings.jsonl --embedder mine --fit-vectors fit.json and name it: "
        "judge=vectors/fit.json"
    )


@pytest.mark.parametrize("knots", [((0.1, 2.0), (0.1, 3.0)), ((0.1, 3.0), (0.2, 2.0)), ()])
def test_a_fit_has_cosines_that_rise_and_ratings_that_do_not_fall(knots: tuple[tuple[float, float], ...]) -> None:
    facts = {"pairs": 1, "answers": 1, "spearman": None, "kendall": None}
    assert FeatureFit.model_validate({**facts, "knots": ((0.1, 2.0), (0.2, 2.0))}).pairs == 1
    with pytest.raises(ValueError, match="knots"):
        FeatureFit.model_validate({**facts, "knots": knots})


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
