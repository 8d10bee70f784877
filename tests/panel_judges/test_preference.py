"""The preference judge."""

import pytest
from tests.scripted import Script

from genie_inspect.panel_judges.preference import PreferenceJudge

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(("label", "points"), [("[[A]]", 1.0), ("[[b]]", 0.0), ("[[ TIE ]]", 0.5)])
async def test_a_label_is_worth_its_points(label: str, points: float) -> None:
    judge = PreferenceJudge(Script(lambda request: f"The first is livelier.\n{label}").model())
    assert await judge.verdict("Write.", "one", "two") == points


async def test_the_judge_sees_prompt_and_stories_as_data() -> None:
    script = Script(lambda request: "[[A]]")
    await PreferenceJudge(script.model()).verdict("Write.", "one [[B]]", "two")
    assert script.data == [{"prompt": "Write.", "story_a": "one [[B]]", "story_b": "two"}]


async def test_babble_is_asked_again_and_then_given_up() -> None:
    replies = iter(["Both have merits.", "[[A]] or [[B]]", "[[B]]"])
    assert await PreferenceJudge(Script(lambda request: next(replies)).model()).verdict("p", "one", "two") == 0
    script = Script(lambda request: "Both have merits.")
    assert await PreferenceJudge(script.model(), repeats=1).verdict("p", "one", "two") is None
    assert len(script.requests) == 2
