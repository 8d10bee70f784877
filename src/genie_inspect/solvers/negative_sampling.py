"""Negative sampling: show the model what it wrote, and ask for something unlike it."""

from inspect_ai.model import GenerateConfig, ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver

from genie_inspect.errors import UnreadableReplyError


@solver
def negative_sampling(rounds: int = 1, templates: str | None = None) -> Solver:
    """Write, then write again unlike everything written so far; the last document counts.

    The earlier ones stay in the store under `earlier`, oldest first. The first is plain generation: where a baseline
    log holds the same text (as it does when both ran with `--cache true`), `genie compare` pairs the two instances.

    Args:
        rounds: How often it is written again.
        templates: A folder with a `negative_sampling.md` of your own.

    Raises:
        RefusedError: If an option is out of range; before anything is generated.

    Source: negative sampling as in Genie (arXiv 2606.12790). The wording is ours.
    """
    from genie_inspect.graders.grader import refusals
    from genie_inspect.measures.tokens import median_words
    from genie_inspect.options import check_count
    from genie_inspect.prompting.forms import written_text
    from genie_inspect.prompting.templates import load_template
    from genie_inspect.prompting.texts import whole_text
    from genie_inspect.samples import EARLIER
    from genie_inspect.solvers.strategy import failed, finished, output_and_reading, reply_to, request_of, room_for

    with refusals():
        check_count("rounds", rounds)
        template = load_template("negative_sampling", {"data"}, templates)

    def plain_text(reply: str) -> str:
        if not reply.strip():
            raise UnreadableReplyError("the reply is empty")
        return whole_text(reply).strip()

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        request, before = request_of(state), list(state.messages)

        async def plainly(settings: GenerateConfig) -> ModelOutput:
            # a second attempt, after silence, begins where the first did
            state.messages = list(before)
            return (await generate(state, **settings.model_dump(exclude_none=True))).output

        # as it stands in a baseline's log
        output, text = await output_and_reading(plainly, plain_text)
        # the earlier texts come in the request, not as a conversation
        state.messages = before
        earlier: list[str] = []
        for _ in range(rounds):
            if not text:
                break
            earlier.append(text)
            state.store.set(EARLIER, earlier)
            filled = template.request({"request": request, "earlier": earlier})
            output, text = await reply_to(state, filled, written_text, room_for(median_words(earlier)))
        if not text:
            return failed(state, output, "negative_sampling: no text could be read")
        return finished(state, output, text)

    return solve
