"""Real logs with given scores: what reports read."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import get_model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from tests.scripted import saying

_MADE: dict[str, tuple[str, bytes]] = {}
"""Name and content of the file of each log, by what was asked for."""

SIGNATURE = "measure:genie|judge:test|version:0"


@solver
def retelling(texts: Sequence[str], earlier: Sequence[str] = ()) -> Solver:
    """Puts a given text in the place of what the model said, one an epoch."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state = await generate(state)
        state.output.completion = texts[(state.epoch - 1) % len(texts)] + f" {state.sample_id}" * bool(texts[0])
        if earlier:
            state.store.set("earlier", [earlier[(state.epoch - 1) % len(earlier)] + f" {state.sample_id}"])
        return state

    return solve


@scorer(name="genie", metrics={"*": [mean()]})
def given(values: Mapping[str, Sequence[Mapping[str, float]]], facts: Mapping[str, Any]) -> Scorer:
    """Scores from a table: by sample and epoch."""

    async def score(state: TaskState, target: Target) -> Score:
        value = dict(values[str(state.sample_id)][state.epoch - 1])
        reason = "no_response" if all(math.isnan(v) for v in value.values()) else None
        return Score(value=dict(value), reason=reason, metadata={"signature": SIGNATURE, **facts})

    return score


@scorer(name="coherence", metrics={"*": [mean()]})
def rated(ratings: Sequence[float]) -> Scorer:
    """Coherence by epoch."""

    async def score(state: TaskState, target: Target) -> Score:
        metadata = {"signature": "measure:coherence|by:test|version:0"}
        return Score(value={"coherence_rating": ratings[state.epoch - 1]}, metadata=metadata)

    return score


def log_of(
    folder: Path,
    task: str,
    values: Mapping[str, Sequence[Mapping[str, float]]],
    *,
    texts: Sequence[str] = (),
    earlier: Sequence[str] = (),
    coherence: Sequence[float] = (),
    model: str = "model",
    **facts: Any,
) -> EvalLog:
    """A finished log; one that was made before in the same words is copied.

    Args:
        folder: Where to.
        task: Its name.
        values: Scores by sample id and epoch.
        texts: Documents by epoch; the sample's id is put behind each. Five words of the task's own unless given.
        earlier: Documents that stood before these, likewise.
        coherence: By epoch.
        model: Name of the model behind `mockllm/`.
        facts: Metadata of each score.
    """
    texts = texts or (f"A story of {task} words",)
    asked = repr((task, values, texts, earlier, coherence, model, facts))
    name, written = _MADE.get(asked, ("", b""))
    if name and not (folder / name).exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(written)
        return read_eval_log(str(folder / name))
    script = saying("said")
    made = Task(
        name=task,
        dataset=MemoryDataset([Sample(input=f"Write about {name}.", id=name) for name in values]),
        solver=retelling(list(texts), list(earlier)),
        scorer=[given(values, facts), *([rated(coherence)] if coherence else [])],
    )
    epochs = len(next(iter(values.values())))
    mock = get_model(f"mockllm/{model}", custom_outputs=script, memoize=False)
    (log,) = evaluate(made, model=mock, epochs=epochs, log_dir=str(folder), display="none", log_realtime=False)
    assert log.status == "success", log.error
    made_at = Path(log.location.removeprefix("file://"))
    _MADE[asked] = made_at.name, made_at.read_bytes()
    return log


def plots(*values: float) -> dict[str, list[dict[str, float]]]:
    """One key, `plot`, for as many prompts as there are values."""
    return {f"thing{number}": [{"plot": value}] for number, value in enumerate(values)}
