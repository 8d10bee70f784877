"""The score of one story by a critic's tests: every part of it, from a critic that always says the same."""

import math
from typing import Any

import pytest
from inspect_ai.scorer import Score
from tests.scripted import saying, written

from genie_inspect.critic.critic import Critic
from genie_inspect.critic.instructions import Instructions
from genie_inspect.critic.rubrics import Rubric, Test
from genie_inspect.scoring.critique.examination import Examination

RUBRIC = Rubric(name="mine", tests=(Test(id="a", name="is it so", question="Is it?"),))
STORY, OTHER = "A grey owl waits.", "A white owl sleeps, and then another one does too."


async def examined(
    reply: str, reference: str | None = OTHER, cutoff: int | None = 0, **metadata: Any
) -> tuple[Score, Critic]:
    critic = Critic(saying(reply).model(), Instructions.load(reference=reference is not None), repeats=0)
    examination = Examination(RUBRIC, critic.instructions, cutoff, {"generator": "none"})
    return await examination.score(critic, written(STORY, "Owl! " * 100, **metadata), reference), critic


async def test_a_story_beside_a_reference_has_a_score_with_all_that_it_rests_on() -> None:
    score, critic = await examined("A: plain. B: bold.\n\n[[A=B]]", references="abc123")
    assert score.value == {"mine_total": 1.0, "mine_a": 1.0}
    assert (score.answer, score.reason) == (STORY, None)
    facts = score.metadata or {}
    assert (facts["judge"], facts["judged"], facts["prompt"]) == (critic.signature, 1, ("Owl! " * 100)[:159] + "…")
    assert facts["signature"] == (
        f"measure:ttcw|judge:{critic.signature}|generator:none|stories:abc123|cutoff:0|version:1-A"
    )
    assert "this document" not in (score.explanation or "")
    assert "Unlike lengths, which do not compare well: 4 words, the reference has 10." in (score.explanation or "")


async def test_the_cutoff_decides_and_a_story_alone_has_none() -> None:
    above, _ = await examined("A: plain. B: bold.\n\n[[A=B]]", cutoff=1)
    assert above.value == {"mine_total": 0.0, "mine_a": 0.0}
    alone, _ = await examined("Fine.\n\n[[YES]]", reference=None, cutoff=None)
    assert alone.value == {"mine_total": 1.0, "mine_a": 1.0}
    signature = (alone.metadata or {})["signature"]
    assert "cutoff" not in signature
    assert "|stories:unknown|" in signature
    assert "Unlike" not in (alone.explanation or "")


@pytest.mark.parametrize("reference", ["", " -- \n"])
async def test_without_a_word_in_the_reference_nothing_is_asked(reference: str) -> None:
    score, _ = await examined("[[A=B]]", reference=reference)
    assert (score.reason, score.explanation) == ("no reference story", "Not scored: no reference story.")
    assert isinstance(score.value, dict)
    assert all(math.isnan(float(str(value))) for value in score.value.values())
    assert set(score.value) == {"mine_total", "mine_a"}
    assert set(score.metadata or {}) == {"signature", "judge", "prompt"}


async def test_where_no_test_could_be_judged_the_reason_is_an_unreadable_reply() -> None:
    score, _ = await examined("Hm.")
    assert score.reason == "invalid_response_format"
    assert (score.metadata or {})["faults"] == {"unreadable reply": 2}
