from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.scripted import OWL, Script, saying
from tests.solvers.runs import run

from genie_inspect.graders.grader import PrerequisiteError
from genie_inspect.prompting.fence import unfenced
from genie_inspect.solvers.outline import outline


def planning() -> Script:
    def reply(request: str) -> str:
        data = unfenced(request)
        return f"the {data['stage']} of it" if "stage" in data else "An owl leaves home."

    return Script(reply)


def test_each_part_of_the_plan_is_made_in_the_light_of_the_parts_before_it_and_then_the_text(tmp_path: Path) -> None:
    script = planning()
    sample = run(outline(), script, tmp_path, words=180)[0]
    plan = {stage: f"the {stage} of it" for stage in ("conflict", "characters", "setting", "plot")}
    assert sample.output.completion == "An owl leaves home."
    assert sample.store["plan"] == plan
    stages = list(plan)
    for index, stage in enumerate(stages):
        expected = {"request": OWL, "plan": {s: plan[s] for s in stages[:index]}, "stage": stage}
        assert script.data[index] == expected
    assert script.data[4] == {"request": OWL, "plan": plan}
    assert "about 180 words long" in script.requests[4]


@pytest.mark.parametrize("stages", ["ending, voice", ["ending", "voice"]])
def test_the_stages_can_be_named(tmp_path: Path, stages: str | Sequence[str]) -> None:
    assert list(run(outline(stages=stages), planning(), tmp_path)[0].store["plan"]) == ["ending", "voice"]


def test_a_stage_that_stays_silent_twice_leaves_the_sample_without_a_document(tmp_path: Path) -> None:
    script = saying("a storm", "", " ")
    sample = run(outline(), script, tmp_path)[0]
    assert (sample.output.completion, sample.output.error) == ("", "outline: no characters could be read")
    assert len(script.requests) == 3


def test_a_text_that_stays_silent_twice_leaves_the_sample_without_a_document(tmp_path: Path) -> None:
    script = saying("a storm", "<think>What to write?</think>")
    sample = run(outline(stages="conflict"), script, tmp_path)[0]
    assert (sample.output.completion, sample.output.error) == ("", "outline: no text could be read")


@pytest.mark.parametrize("stages", ["", None, [], ["plot", ""], ["plot", "plot"]])
def test_stages_that_name_nothing_or_one_thing_twice_are_refused(stages: Any) -> None:
    with pytest.raises(PrerequisiteError, match="stages is"):
        outline(stages=stages)
