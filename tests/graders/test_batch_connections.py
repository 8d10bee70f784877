"""A batch takes the connections that the run gives its grader."""

import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import anyio
import pytest
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.model import Model, get_model
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState
from tests.scripted import Asked, saying
from tests.served import NO_BATCHES, Served, serving

from genie_inspect.graders.logit_judge import LogitJudge
from genie_inspect.graders.protocols import Answer

QUESTIONS, PATIENCE = 30, 3.0  # more than any limit here; seconds


class Counter:
    """Replies when as many requests are under way as are awaited, or when they have been for long enough."""

    def __init__(self, awaited: int) -> None:
        self.awaited, self.now, self.most = awaited, 0, 0
        self._changed = threading.Condition()
        self._end = 0.0

    def __call__(self, request: str) -> dict[str, float]:
        """Called for each conversation, of which a request here has one."""
        with self._changed:
            self._end = self._end or time.monotonic() + PATIENCE
            self.now += 1
            self.most = max(self.most, self.now)
            self._changed.notify_all()
            self._changed.wait_for(lambda: self.most >= self.awaited, max(0.0, self._end - time.monotonic()))
        time.sleep(0.02)  # one too many would arrive meanwhile
        with self._changed:
            self.now -= 1
        return {"1": 0.0}


@pytest.fixture
def served() -> Iterator[Served]:
    """A server that says 1."""
    with serving(Served(lambda request: "1")) as server:
        yield server


async def rate_all(model: Model) -> None:
    judge = LogitJudge(model)
    async with anyio.create_task_group() as group:
        for number in range(QUESTIONS):
            group.start_soon(judge.rate, Asked(f"What is thing {number}?"), Answer("a"), [Answer("b")])


@scorer(metrics=[])
def rating() -> Scorer:
    """Asks the grader of the run."""

    async def score(state: TaskState, target: Target) -> Score:
        await rate_all(get_model(role="grader"))
        return Score(value=1)

    return score


@pytest.mark.parametrize("connections", [4, 24])
def test_as_many_batches_are_in_flight_as_the_run_has_connections(
    served: Served, tmp_path: Path, connections: int
) -> None:
    served.logprobs = counter = Counter(connections)
    grader = served.model("vllm", max_connections=None)
    task = Task(dataset=[Sample(input="")], scorer=rating())
    run = partial(evaluate, task, model=saying("A story.").model(), log_dir=str(tmp_path), display="none")
    (log,) = run(model_roles={"grader": grader}, max_connections=connections)
    assert log.status == "success", log.error
    assert {path.rpartition("/")[2] for path in served.paths} == {"batch"}
    assert (len(served.paths), counter.most) == (QUESTIONS, connections)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # the client of OpenAI knows no other
async def test_a_roles_own_connections_are_a_batchs_too(served: Served, anyio_backend: str) -> None:
    served.logprobs = counter = Counter(16)
    async with served.model("vllm", max_connections=16) as model:
        await rate_all(model)
    assert counter.most == 16


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_where_there_are_no_batches_the_pairs_have_as_many(served: Served, anyio_backend: str) -> None:
    served.logprobs = counter = Counter(12)
    served.fault = lambda number, request: NO_BATCHES if served.paths[-1].endswith("/batch") else ""
    async with served.model("vllm", max_connections=12) as model:
        await rate_all(model)
    assert counter.most == 12
