"""Negative sampling: show the model what it wrote, and ask for something unlike it."""

from inspect_ai.model import ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver

from genie_inspect.measures.length import median_words
from genie_inspect.prompting.fence import fenced
from genie_inspect.prompting.responses import written_text
from genie_inspect.samples.store import EARLIER
from genie_inspect.solvers.strategy import (
    check_count,
    failed,
    finished,
    held_back,
    request_of,
    room_for,
    strategy_template,
    told,
)


@solver
def negative_sampling(rounds: int = 1, templates: str | None = None) -> Solver:
    """Write, then write again unlike everything written so far; the last document counts.

    The earlier ones stay in the store under `earlier`, oldest first. The first is plain generation: where a baseline
    log holds the same text (as it does when both ran with `--cache true`), `genie compare` pairs the two instances.

    Args:
        rounds: How often it is written again.
        templates: A folder with a `negative_sampling.md` of your own.

    Raises:
        PrerequisiteError: If an option is out of range; before anything is generated.

    Source: negative sampling as in Genie (arXiv 2606.12790). The wording is ours.
    """
    check_count("rounds", rounds)
    template = strategy_template("negative_sampling", {"data"}, templates)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        request, before = request_of(state), list(state.messages)
        output, text = await _first(state, generate)
        state.messages = before
        earlier: list[str] = []
        for _ in range(rounds):
            if not text:
                break
            earlier.append(text)
            state.store.set(EARLIER, earlier)
            asked = template.fill(data=fenced({"request": request, "earlier": earlier}))
            output, new = await told(state, asked, written_text, room_for(median_words(earlier)))
            text = new or ""
        return (
            finished(state, output, text) if text else failed(state, output, "negative_sampling: no text could be read")
        )

    return solve


async def _first(state: TaskState, generate: Generate) -> tuple[ModelOutput, str]:
    """Plain generation's output and text; silence is asked once more, outside of any cache."""
    before = list(state.messages)
    output = (await generate(state)).output
    if not (held_back(output) or output.completion.strip()):
        state.messages = before
        output = (await generate(state, cache=False)).output
    return output, "" if held_back(output) else output.completion.strip()
