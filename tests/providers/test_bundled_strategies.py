from pathlib import Path

import pytest
from inspect_ai import eval as evaluate
from inspect_ai.log import EvalLog
from inspect_ai.solver import Solver

from genie_inspect.providers.replay import starter_record
from genie_inspect.solvers.negative_sampling import negative_sampling
from genie_inspect.solvers.outline import outline
from genie_inspect.solvers.trim import trim
from genie_inspect.solvers.verbalized_sampling import verbalized_sampling
from genie_inspect.tasks.synthetic_prompts import synthetic_prompts


def told(solver: Solver, folder: Path) -> EvalLog:
    (log,) = evaluate(
        synthetic_prompts(), solver=solver, model="bundled/inventive", model_roles={"grader": "bundled/grader"},
        epochs=2, limit=2, display="none", log_realtime=False, log_dir=str(folder),
    )  # fmt: skip
    assert log.status == "success", log.error
    return log


@pytest.mark.parametrize("strategy", [verbalized_sampling, outline, negative_sampling, trim])
def test_under_every_strategy_a_recorded_story_is_told_and_scored(strategy: type[Solver], tmp_path: Path) -> None:
    for sample in told(strategy(), tmp_path).samples or []:
        stories = starter_record().stories_of("inventive", str(sample.input))
        assert sample.output.completion in [story.strip() for story in stories]
        assert (sample.scores or {})["genie"].reason is None


def test_a_storyteller_verbalizes_the_stories_it_has(tmp_path: Path) -> None:
    for sample in told(verbalized_sampling(k=5), tmp_path).samples or []:
        stories = starter_record().stories_of("inventive", str(sample.input))
        assert [response["text"] for response in sample.store["responses"]] == [story.strip() for story in stories]


def test_a_storyteller_says_that_it_plans_nothing(tmp_path: Path) -> None:
    for sample in told(outline(), tmp_path).samples or []:
        assert set(sample.store["plan"].values()) == {
            "Whatever the recorded story does: it is read out as it was written, and not planned."
        }


def test_asked_for_something_unlike_its_story_a_storyteller_tells_the_other_one(tmp_path: Path) -> None:
    for sample in told(negative_sampling(), tmp_path).samples or []:
        stories = [story.strip() for story in starter_record().stories_of("inventive", str(sample.input))]
        assert sorted([*sample.store["earlier"], sample.output.completion]) == sorted(stories)


def test_a_storyteller_that_has_told_everything_says_so(tmp_path: Path) -> None:
    (log,) = evaluate(
        synthetic_prompts(judge="embedded"), solver=negative_sampling(rounds=2), model="bundled/inventive", limit=1,
        epochs=1, display="none", log_realtime=False, log_dir=str(tmp_path),
    )  # fmt: skip
    assert log.status == "error"
    assert "has 2 stories on record" in str(log.error and log.error.message)
