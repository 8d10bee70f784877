"""A strategy in a real run on a scripted model."""

from pathlib import Path
from typing import Any

from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalSample
from inspect_ai.model import GenerateConfig, Model
from inspect_ai.scorer import Scorer
from inspect_ai.solver import Solver
from tests.scripted import OWL, Script
from tests.tasks.runs import run as run_task


def run(
    solver: Solver | list[Solver],
    script: Script | Model,
    folder: Path,
    *,
    words: int | None = None,
    scorer: Scorer | None = None,
    grader: Script | None = None,
    epochs: int = 1,
    **config: Any,
) -> list[EvalSample]:
    metadata = {"prompt": OWL, **({"words": words} if words else {})}
    task = Task(
        dataset=MemoryDataset([Sample(input=OWL, id="owl", metadata=metadata)]),
        solver=solver,
        scorer=scorer,
        config=GenerateConfig(**config),
    )
    return run_task(task, folder, script, grader, epochs=epochs).samples or []
