"""The solver `generations`: several replies to one prompt, inside one sample."""

from inspect_ai.model import CachePolicy, ModelOutput, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

FEWEST = 2


@solver
def generations(k: int = 10) -> Solver:
    """Generate k replies to the sample's messages, independently of one another, and keep their texts.

    Args:
        k: How many, at least 2.

    Raises:
        RefusedError: If k is not a whole number of at least 2.
    """
    from genie_inspect.graders.grader import gathered, refusals
    from genie_inspect.inspect_private import bounded, resolved_settings
    from genie_inspect.options import check_count
    from genie_inspect.samples import keep_generations, no_document
    from genie_inspect.solvers.strategy import held_back

    with refusals():
        check_count("k", k, FEWEST, "one generation has nothing to be distinct from")

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        policy = resolved_settings(get_model()).cache

        async def reply(number: int) -> ModelOutput:
            return await bounded(get_model()).generate(state.messages, cache=cache_for(number, policy))

        # side by side, however many choices the provider can give in one call
        outputs = await gathered(*(reply(number) for number in range(k)))
        # a refused reply keeps its place as an empty text: measures of a set count it as none
        keep_generations(state, ("" if held_back(output) else output.completion for output in outputs))
        # scorers of one document see the first that there is
        documents = (output for output in outputs if not (held_back(output) or no_document(output.completion)))
        state.output = next(documents, outputs[0])
        state.messages.append(state.output.message)
        return state

    return solve


def cache_for(number: int, policy: bool | CachePolicy | None) -> bool | CachePolicy:
    """The run's own cache policy with a scope for each reply: equal requests would all get the first one's."""
    from genie_inspect.samples import GENERATIONS

    if not policy:
        return False
    policy = policy if isinstance(policy, CachePolicy) else CachePolicy()
    return policy.model_copy(update={"scopes": {**policy.scopes, GENERATIONS: str(number)}})


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
