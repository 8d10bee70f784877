"""Set-up steps that check what a run needs, before anything is generated."""

from collections.abc import Callable

from inspect_ai.solver import Generate, Solver, TaskState

from genie_inspect.inspect_private import run_has_begun


def requirement(check: Callable[[], object]) -> Solver:
    """A step that only checks: when the task is made by a run, in one line; else at the first sample.

    Args:
        check: Raises a PrerequisiteError that names the ways out when something is missing.
    """
    # `inspect list` and a look at a task make it without any role being bound
    if run_has_begun():
        check()

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        check()
        return state

    return solve
