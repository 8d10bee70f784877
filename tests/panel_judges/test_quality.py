"""Qualities by a grader."""

import math

import pytest
from tests.scripted import Script

from genie_inspect.panel_judges.quality import GraderQuality

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
