"""Strategies under tasks and scorers that know nothing of them."""

import math
from pathlib import Path

import pytest
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser
from inspect_ai.scorer import Score, Scorer, Target, includes, mean, scorer
from inspect_ai.solver import Solver, TaskState, prompt_template
from tests.scripted import OWL, Script, saying

from genie_inspect.prompting.fence import unfenced
from genie_inspect.solvers.negative_sampling import negative_sampling
from genie_inspect.solvers.outline import outline
from genie_inspect.solvers.trim import trim
from genie_inspect.solvers.verbalized_sampling import verbalized_sampling

READABLE = (
    '{"responses": [{"text": "An owl sails.", "probability": 0.1}, {"text": "An owl sails.", "probability": 0.1}]}'
)
SOLVERS = {
    "verbalized_sampling": verbalized_sampling(),
    "outline": outline(),
    "negative_sampling": negative_sampling(),
    "trim": trim(meta=False),
}


@scorer(metrics={"*": [mean()]})
def lengths() -> Scorer:
    """A scorer of several values."""

    async def score(state: TaskState, target: Target) -> Score:
        return Score(value={"characters": len(state.output.completion), "one": 1})

    return score


def run(solver: Solver, script: Script, folder: Path, samples: int = 1, setup: Solver | None = None) -> EvalLog:
    """The log of a task that is not ours."""
    dataset = MemoryDataset([Sample(input=OWL, target="owl", id=number) for number in range(samples)])
    task = Task(dataset=dataset, setup=setup, solver=solver, scorer=[includes(), lengths()])
    log = evaluate(task, model=script.model(), log_dir=str(folder), display="none", max_samples=1)[0]
    assert log.status == "success", log.error
    return log


def score(log: EvalLog, name: str, sample: int = 0) -> Score:
    found = (log.samples or [])[sample].scores or {}
    return found[name]


@pytest.mark.parametrize("strategy", SOLVERS)
def test_silence_is_no_wrong_answer_but_unscored_with_a_reason(strategy: str, tmp_path: Path) -> None:
    log = run(SOLVERS[strategy], saying(""), tmp_path)
    for name in ("includes", "lengths"):
        found = score(log, name)
        assert math.isnan(found.as_float())
        assert str(found.reason).startswith((strategy, "no_response"))
    assert log.results is not None
    assert [own.unscored_samples for own in log.results.scores] == [1, 1]


def test_samples_that_can_be_read_are_scored_as_ever_and_metrics_leave_the_others_out(tmp_path: Path) -> None:
    log = run(verbalized_sampling(), saying("rubbish", "rubbish", READABLE, "rubbish", "rubbish"), tmp_path, samples=3)
    assert [score(log, "includes", number).value for number in (0, 2)] == pytest.approx([math.nan] * 2, nan_ok=True)
    assert score(log, "includes", 1).value == "C"
    assert score(log, "lengths", 1).value == {"characters": len("An owl sails."), "one": 1}
    assert log.results is not None
    assert log.results.scores[0].metrics["accuracy"].value == 1.0
    assert log.results.scores[0].scored_samples == 1


def test_the_same_scorers_serve_a_later_run(tmp_path: Path) -> None:
    task = Task(dataset=[Sample(input=OWL, target="owl")], solver=verbalized_sampling(), scorer=includes())
    for reply, value in (("rubbish", math.nan), (READABLE, "C"), ("rubbish", math.nan)):
        log = evaluate(task, model=saying(reply).model(), log_dir=str(tmp_path), display="none")[0]
        found = score(log, "includes")
        assert found.value == value or math.isnan(found.as_float())
        assert (found.reason is None) == (value == "C")


def test_the_request_is_what_the_set_up_made_of_it(tmp_path: Path) -> None:
    script = saying(READABLE)
    run(verbalized_sampling(), script, tmp_path, setup=prompt_template("In verse: {prompt}"))
    assert unfenced(script.requests[0])["request"] == f"In verse: {OWL}"


def test_the_last_of_several_messages_is_the_request_and_what_stands_before_it_stays(tmp_path: Path) -> None:
    script = saying(READABLE)
    messages: list[ChatMessage] = [ChatMessageSystem(content="Be brief."), ChatMessageUser(content=OWL)]
    task = Task(dataset=[Sample(input=messages, target="owl")], solver=verbalized_sampling(), scorer=includes())
    (log,) = evaluate(task, model=script.model(), log_dir=str(tmp_path), display="none")
    assert unfenced(script.requests[0])["request"] == OWL
    (sample,) = log.samples or []
    asked = [event for event in sample.events if event.event == "model"]
    assert [message.role for message in asked[0].input] == ["system", "user"]
    assert score(log, "includes").value == "C"
