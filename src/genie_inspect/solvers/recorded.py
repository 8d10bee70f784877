"""The solver `recorded`: a document that exists already, in place of a generation."""

from inspect_ai.model import ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver

DOCUMENT = "document"


@solver
def recorded() -> Solver:
    """Takes the text under `document` in the sample's metadata for the model's output; no model is asked."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        # scorers read the output, whoever made it
        state.output = ModelOutput.from_content("recorded", str(state.metadata[DOCUMENT]))
        state.messages.append(state.output.message)
        return state

    return solve
