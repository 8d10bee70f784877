"""The steps before a run: what it lacks ends it, and one line says what judging will ask for."""

from collections.abc import Callable, Collection

from inspect_ai.solver import Generate, Solver, TaskState, solver

from genie_inspect.inspect_private import run_has_begun


@solver
def require_models(equivalence: str = "", quality: str = "", preference: bool = False, reading: bool = False) -> Solver:
    """Check that the roles are bound which the panel's measures ask.

    Args:
        equivalence: As for the scorer `partition`; empty when it is not asked for.
        quality: As for the scorer `novelty_bench`; empty when it is not asked for.
        preference: Whether a preference judge is asked.
        reading: Whether `close_reading` asks a grader.

    Raises:
        RefusedError: If there is no such equivalence or quality.
        PrerequisiteError: If a role is not bound, naming the ways out.
    """
    from genie_inspect.errors import check_switch
    from genie_inspect.graders import equivalence as judges
    from genie_inspect.graders.close_reader import reading_model
    from genie_inspect.graders.grader import refusals
    from genie_inspect.graders.quality import preference_model

    with refusals():
        if equivalence:
            judges.equivalence_kind(equivalence)
        if quality:
            judges.quality_kind(quality)
        check_switch("preference", preference)
        check_switch("reading", reading)

    # classifiers and reward models run here and need no role
    def check() -> None:
        if equivalence == judges.GRADER:
            judges.equivalence_grader()
        if quality == judges.GRADER:
            judges.quality_grader()
        if preference:
            preference_model()
        if reading:
            reading_model()

    return requirement(check)


@solver
def require_grader(judge: str, panel_alone: bool = False) -> Solver:
    """Check that the grader role is bound when the judge asks a model.

    Args:
        judge: As for the scorer `genie`, or the name of another scorer that asks the grader, such as `ttcw`.
        panel_alone: Whether the task could do with its panel alone, for the error message.

    Raises:
        PrerequisiteError: If it is not, naming the ways out.
    """
    from genie_inspect.graders.instrument import graders_for

    return requirement(lambda: graders_for(judge, panel_alone=panel_alone))


def requirement(check: Callable[[], object]) -> Solver:
    """A step that only checks: when the task is made by a run, in one line; else at the first sample."""
    # `inspect list` and a look at a task make it without any role being bound
    if run_has_begun():
        check()

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        check()
        return state

    return solve


# from the model under evaluation, the samples and the epochs of a run, which are None where all are meant
Line = Callable[[str, Collection[str | int] | None, int | None], str]


@solver
def announce_cost(line: Line | None = None) -> Solver:
    """One line on standard error at a run's first sample, and one more where it goes by batches and its judges do not.

    Args:
        line: Makes the line, as the tasks give it; nothing is said without one.
    """
    import sys

    from genie_inspect.files.values import one_line
    from genie_inspect.graders.cost import unbatched
    from genie_inspect.graders.grader import PREFERENCE_ROLE, ROLE
    from genie_inspect.inspect_private import run_extent

    announced: set[str] = set()

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        # only now does Inspect know them
        run, samples, epochs = run_extent() or ("", None, None)
        # a task that is made once may be run on several models
        if line is not None and run not in announced:
            announced.add(run)
            if text := line(str(state.model), samples, epochs):
                for said in filter(None, (text, unbatched((ROLE, PREFERENCE_ROLE)))):
                    sys.stderr.write(one_line(said) + "\n")  # noqa: TID251  # a run prints without the command
        return state

    return solve
