"""Outline: the parts of a plan one after the other, then the document from the plan."""

from collections.abc import Sequence

from inspect_ai.solver import Generate, Solver, TaskState, solver

from genie_inspect.errors import UnknownChoiceError

STAGES = ("conflict", "characters", "setting", "plot")


@solver
def outline(stages: Sequence[str] | str = STAGES, words: int | None = None, templates: str | None = None) -> Solver:
    """Plan part by part, a call each, then write from the plan, which stays in the store under `plan`.

    Args:
        stages: What is planned, in this order; on the command line separated by commas.
        words: Length asked for; without it the population's median for the prompt, where the task knows it.
        templates: A folder with an `outline_stage.md` or `outline_write.md` of your own.

    Raises:
        RefusedError: If an option is out of range; before anything is generated.

    Source: outlining as in Genie (arXiv 2606.12790). The wording is ours.
    """
    from genie_inspect.graders.grader import refusals
    from genie_inspect.options import check_count
    from genie_inspect.prompting.fence import fenced
    from genie_inspect.prompting.forms import written_text
    from genie_inspect.prompting.templates import load_template
    from genie_inspect.samples import PLAN
    from genie_inspect.solvers import strategy

    with refusals():
        # a list from code, one text from the command line
        listed = stages.split(",") if isinstance(stages, str) else stages if isinstance(stages, Sequence) else ()
        parts = [str(part).strip() for part in listed]
        if not all(parts) or len(set(parts)) < max(1, len(parts)):
            raise UnknownChoiceError("stages", stages, "different names of parts of a plan, such as conflict,plot")
        if words is not None:
            check_count("words", words)
        ask_stage = load_template("outline_stage", {"stage", "data"}, templates)
        ask_text = load_template("outline_write", {"length", "data"}, templates)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        plan: dict[str, str] = {}
        for stage in parts:
            data = fenced({"request": strategy.request_of(state), "plan": plan, "stage": stage})
            output, part = await strategy.reply_to(state, ask_stage.fill(stage=stage, data=data), written_text)
            # a later part would be planned from a gap
            if part is None:
                return strategy.failed(state, output, f"outline: no {stage} could be read")
            plan[stage] = part
        state.store.set(PLAN, plan)
        length = strategy.words_wanted(state, words)
        data = fenced({"request": strategy.request_of(state), "plan": plan})
        request = ask_text.fill(length=strategy.length_clause(length), data=data)
        output, text = await strategy.reply_to(state, request, written_text, strategy.room_for(length))
        if text is None:
            return strategy.failed(state, output, "outline: no text could be read")
        return strategy.finished(state, output, text)

    return solve
