"""The set-up step that says what judging will ask for, and if not in batches how, once a run before it begins."""

from collections.abc import Callable, Collection

from inspect_ai.solver import Generate, Solver, TaskState, solver

Line = Callable[[str, Collection[str | int] | None, int | None], str]
"""The line from the model under evaluation, the samples and the epochs of a run; these are None where all are meant."""


@solver
def announce_cost(line: Line | None = None) -> Solver:
    """One line on standard error at a run's first sample: only then does Inspect know its epochs and its limit.

    A second one where the run goes by batches and its judges do not.

    Args:
        line: Makes the line, as the tasks give it; nothing is said without one.
    """
    import sys

    from genie_inspect.asking.batched import unbatched
    from genie_inspect.asking.grader import PREFERENCE_ROLE, ROLE
    from genie_inspect.files.printable import one_line
    from genie_inspect.inspect_private import run_extent

    announced: set[str] = set()

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        run, samples, epochs = run_extent() or ("", None, None)
        # a task that is made once may be run on several models
        if line is not None and run not in announced:
            announced.add(run)
            if text := line(str(state.model), samples, epochs):
                for said in filter(None, (text, unbatched((ROLE, PREFERENCE_ROLE)))):
                    sys.stderr.write(one_line(said) + "\n")  # noqa: TID251  # a run prints without the command
        return state

    return solve
