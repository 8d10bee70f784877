"""How tests run a task as a user does."""

from pathlib import Path
from typing import Any

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.log import EvalLog
from inspect_ai.model import Model
from rich.text import Text
from tests.scripted import Script

from genie_inspect.graders.grader import PrerequisiteError

Who = Script | Model | str | list[Model] | None


def run(
    task: Task | str,
    folder: Path,
    writer: Who = "mockllm/model",
    grader: Who = None,
    status: str = "success",
    **options: Any,
) -> EvalLog:
    """The log of a task, ours by its name, with these options of the run; `task_args` are the task's."""
    writer, grader = (who.model() if isinstance(who, Script) else who for who in (writer, grader))
    ours = isinstance(task, str) and "@" not in task
    settings: dict[str, Any] = {"log_dir": str(folder / "logs"), "display": "none", "log_realtime": False} | options
    roles = {"grader": grader} if grader else None
    logs = evaluate(f"genie_inspect/{task}" if ours else task, model=writer, model_roles=roles, **settings)
    assert {log.status for log in logs} == {status}, logs[0].error
    return logs[0]


def line_of(error: PrerequisiteError) -> str:
    return Text.from_markup(str(error.message)).plain
