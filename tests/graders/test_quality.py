"""Who rates coherence, and what is asked for it."""

from typing import cast

import pytest
from tests.scripted import saying

from genie_inspect.engines.classifiers import CoherenceRewards
from genie_inspect.errors import UnreadableReplyError
from genie_inspect.graders import quality as coherence
from genie_inspect.graders.quality import COHERENCE, GraderCoherence, RewardCoherence, rewarded
from genie_inspect.prompting.templates import Template


async def test_the_grader_rates_from_1_to_5_and_sees_the_document_alone() -> None:
    script = saying("It hangs together.\nRating: 0", "Rating: 6", "It hangs together.\nRating: 5")
    assert await GraderCoherence(script.model()).rate("Write.", "An owl waits.") == 5
    assert script.data == [{"document": "An owl waits."}] * 3
    assert (script.configs[0].temperature, script.configs[0].max_tokens) == (0.0, 150)
    assert await GraderCoherence(saying("Rating: 1").model()).rate("", "x") == 1
    with pytest.raises(UnreadableReplyError):
        await GraderCoherence(saying("Fine.").model()).rate("Write.", "An owl waits.")


async def test_another_template_is_asked_and_in_the_signature() -> None:
    script = saying("Rating: 3")
    own = GraderCoherence(script.model(), Template("mine", COHERENCE.template().text + "\nThink."))
    await own.rate("Write.", "An owl waits.")
    assert script.requests[0].endswith("Think.")
    plain = GraderCoherence(script.model()).signature
    assert own.signature != plain
    assert plain.startswith("grader(mockllm/model@")
    assert plain.endswith(f",template={COHERENCE.template().digest})")


async def test_a_reward_model_rates_the_document_as_a_reply_to_its_prompt() -> None:
    class Rewards:
        name = "reward(mine)"

        def coherence(self, prompt: str, document: str) -> float:
            return 2.5 if (prompt, document) == ("Write.", "An owl waits.") else 0.0

    rater = RewardCoherence(cast("CoherenceRewards", Rewards()))
    assert await rater.rate("Write.", "An owl waits.") == 2.5
    assert rater.signature == "reward(mine)"


def test_a_reward_model_is_named_or_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coherence, "CoherenceRewards", lambda model: model)
    found = rewarded("reward/some/model")
    assert found is not None
    assert cast("str", found.rewards) == "some/model"
    assert rewarded("reward/") is rewarded("grader") is None
