"""Strategies under tasks and scorers that know nothing of them, and under `--cache`."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser
from inspect_ai.scorer import Score, Scorer, Target, includes, mean, scorer
from inspect_ai.solver import Solver, TaskState, prompt_template
from tests.scripted import OWL, Script, saying
from tests.solvers.runs import run as run_on_owl
from tests.tasks.runs import run as run_task

from genie_inspect.prompting.templates import unfenced
from genie_inspect.solvers.prompting_methods import negative_sampling, outline, trim, verbalized_sampling

READABLE = json.dumps({"responses": [{"text": "An owl sails.", "probability": 0.1}] * 2})
SOLVERS = {
    "verbalized_sampling": verbalized_sampling(),
    "outline": outline(),
    "negative_sampling": negative_sampling(),
    "trim": trim(meta=False),
}


@scorer(metrics={"*": [mean()]})
def lengths() -> Scorer:

    async def score(state: TaskState, target: Target) -> Score:
        return Score(value={"characters": len(state.output.completion), "one": 1})

    return score


def run(solver: Solver, script: Script, folder: Path, samples: int = 1, setup: Solver | None = None) -> EvalLog:
    dataset = MemoryDataset([Sample(input=OWL, target="owl", id=number) for number in range(samples)])
    task = Task(dataset=dataset, setup=setup, solver=solver, scorer=[includes(), lengths()])
    return run_task(task, folder, script, max_samples=1)


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
        log = run_task(task, tmp_path, saying(reply))
        found = score(log, "includes")
        assert found.value == value or math.isnan(found.as_float())
        assert (found.reason is None) == (value == "C")


def test_the_last_of_several_messages_is_the_request_and_what_stands_before_it_stays(tmp_path: Path) -> None:
    script = saying(READABLE)
    run(verbalized_sampling(), script, tmp_path, setup=prompt_template("In verse: {prompt}"))
    assert unfenced(script.requests.pop())["request"] == f"In verse: {OWL}", "what the set-up made of it"
    messages: list[ChatMessage] = [ChatMessageSystem(content="Be brief."), ChatMessageUser(content=OWL)]
    task = Task(dataset=[Sample(input=messages, target="owl")], solver=verbalized_sampling(), scorer=includes())
    log = run_task(task, tmp_path, script)
    assert unfenced(script.requests[0])["request"] == OWL
    (sample,) = log.samples or []
    asked = [event for event in sample.events if event.event == "model"]
    assert [message.role for message in asked[0].input] == ["system", "user"]
    assert score(log, "includes").value == "C"


class Case(NamedTuple):
    """A strategy, and what it hears: each second reply is one that can be read."""

    strategy: Callable[[], Solver]
    writer: tuple[str, ...]
    grader: tuple[str, ...]
    document: str


CASES = {
    "outline": Case(lambda: outline(stages="plot"), ("", "a storm", " ", "An owl."), (), "An owl."),
    "verbalized_sampling": Case(lambda: verbalized_sampling(k=2), ("Here are two.", READABLE), (), "An owl sails."),
    "negative_sampling": Case(negative_sampling, ("", "A ship.", " ", "An owl."), (), "An owl."),
    "trim": Case(trim, ("Sure! An owl.",), ("Nothing to cut, I think.", '{"cut": [1]}'), "An owl."),
}


@pytest.mark.parametrize("name", CASES)
def test_what_cannot_be_read_is_in_inspects_cache_and_asked_for_anew_all_the_same(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "inspect-cache"))
    case = CASES[name]
    # a later run finds the unreadable replies in the cache
    for writes, judges in ((case.writer, case.grader), (case.writer[1::2], case.grader[1::2])):
        writer, grader = saying(*(writes or ("",))), saying(*(judges or ("",)))
        (sample,) = run_on_owl(case.strategy(), writer, tmp_path, grader=grader, cache=True)
        assert (sample.output.completion, sample.output.error) == (case.document, None)
        assert (len(writer.requests), len(grader.requests)) == (len(writes), len(judges))
