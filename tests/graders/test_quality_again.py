"""Qualities by a grader."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import pytest
from tests.scripted import Script

from genie_inspect.graders.quality import GraderQuality, RewardQuality

if TYPE_CHECKING:
    from genie_inspect.engines.classifiers import RewardModel

pytestmark = pytest.mark.anyio


async def test_each_reply_gets_the_level_of_its_own() -> None:
    script = Script(
        lambda request: f"It does what it should.\nRating: {7 if 'good' in request.split('json')[-1] else 2}"
    )
    assert await GraderQuality(script.model()).levels("Write.", ["good one", "bad one"]) == [7.0, 2.0]
    assert sorted(data["reply"] for data in script.data) == ["bad one", "good one"]


@pytest.mark.parametrize("babble", ["", "Quite nice.", "Rating: 11", "Rating: 0", "Rating: 7.5"])
async def test_a_grader_that_babbles_leaves_the_level_unknown(babble: str) -> None:
    script = Script(lambda request: babble)
    (level,) = await GraderQuality(script.model(), repeats=1).levels("Write.", ["one"])
    assert math.isnan(level)
    assert len(script.requests) == 2


async def test_levels_of_rewards_are_those_of_the_published_thresholds_a_reply_each() -> None:
    class Rewards:
        """A reward model to which a reply is worth the number that it is, once it is told of the right prompt."""

        model = name = "numbers"

        def rewards(self, prompt: str, replies: Sequence[str]) -> list[float]:
            return [float(reply) if prompt == "Write." else math.nan for reply in replies]

    quality = RewardQuality(cast("RewardModel", Rewards()))
    # thresholds -7.71875, -6.28125, -6, ... and -2.046875 last
    assert await quality.levels("Write.", ["0", "-8", "-7", "-2.046875"]) == [10, 1, 2, 9]
