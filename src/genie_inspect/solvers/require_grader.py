"""The set-up step that ends a run without a grader before anything is generated."""

from inspect_ai.solver import Solver, solver


@solver
def require_grader(judge: str, panel_alone: bool = False) -> Solver:
    """Check that the grader role is bound when the judge asks a model.

    Args:
        judge: As for the scorer `genie`, or the name of another scorer that asks the grader, such as `ttcw`.
        panel_alone: Whether the task could do with its panel alone, for the error message.

    Raises:
        PrerequisiteError: If it is not, naming the ways out.
    """
    from genie_inspect.judges.choices import graders_for
    from genie_inspect.solvers.requirement import requirement

    return requirement(lambda: graders_for(judge, panel_alone=panel_alone))
