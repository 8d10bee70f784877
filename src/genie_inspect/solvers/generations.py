"""Set-up: several replies to one prompt, a document that exists, a reference story's plot drawn by the grader."""

from functools import cache
from typing import TYPE_CHECKING

from inspect_ai.model import CachePolicy, GenerateConfig, Model, ModelOutput, get_model, get_model_info
from inspect_ai.solver import Generate, Solver, TaskState, solver

from genie_inspect.errors import GraderFailedError, UnreadableReplyError

if TYPE_CHECKING:
    from genie_inspect.graders.cost import Cost
    from genie_inspect.prompting.templates import Instruction, Template


FEWEST = 2


@solver
def generations(k: int = 10) -> Solver:
    """Generate k replies to the sample's messages, independently of one another, and keep their texts.

    Args:
        k: How many, at least 2.

    Raises:
        RefusedError: If k is not a whole number of at least 2.
    """
    from genie_inspect.errors import check_count
    from genie_inspect.graders.grader import gathered, refusals
    from genie_inspect.inspect_private import bounded, resolved_settings
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


A_PLOT = "Somebody who wants one thing more than another sets out for it, " * 3 + "and comes home with neither."
NEEDED = {"title", "plot", "words"}
DRAW = GenerateConfig(temperature=0.0, max_tokens=2048)
TOKENS_A_PLOT = 65  # the longest of the 25 to 50 words that are asked for
FEWEST_TOKENS_A_WORD = 1  # no tokenizer needs fewer for a story


@cache
def draw_plot() -> "Instruction":
    from genie_inspect.prompting.templates import Instruction

    return Instruction("draw_plot", keys=frozenset({"story"}), rehearsed=lambda data: A_PLOT, is_prose=True)


@solver
def plot_prompt(templates: str | None = None) -> Solver:
    """Ask for a story from the sample's plot, at the reference's length.

    The sample brings the reference as target, and in its metadata `plot` (empty: the grader draws it) and `words`.

    Args:
        templates: A folder of your own instruction templates.

    Raises:
        RefusedError: If a template of the user's has other blanks than ours.
    """
    from genie_inspect.graders.grader import grader, refusals, unmet
    from genie_inspect.prompting.templates import Instruction

    with refusals():
        draw = draw_plot().template(templates)
        write = Instruction("write_story", {"words", "data"}).template(templates)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if not state.metadata.keys() >= NEEDED:
            raise unmet(
                f"plot_prompt needs {', '.join(sorted(NEEDED))} in a sample's metadata, as the task ttcw sets them"
            )
        model = grader("ttcw", replaceable=False)
        facts, title = get_model_info(model), str(state.metadata["title"])
        # the reference, and a candidate as long
        fewest = 2 * len(state.target.text.split()) * FEWEST_TOKENS_A_WORD
        if facts is not None and facts.context_length is not None and fewest > facts.context_length:
            raise unmet(
                f"the reference {title!r} and a story of its length need at least {fewest} tokens, the window of "
                f"grader {model} has {facts.context_length}: choose a grader with a longer one or a shorter reference"
            )
        # kept in the sample's metadata, so that the log has the plot that was drawn
        if not state.metadata["plot"]:
            state.metadata["plot"] = await drawn_plot(model, draw, state.target.text)
        words = state.metadata["words"]
        # as a person would ask for it: to the nearest ten from a hundred on
        about = round(words, -1) if words >= 100 else words
        state.user_prompt.text = write.request({"plot": state.metadata["plot"]}, words=about)
        return state

    return solve


def plot_cost(story: int, templates: str | None = None) -> "Cost":
    """What it takes to draw a plot, by the story's tokens."""
    from genie_inspect.engines.embedders import static_token_count
    from genie_inspect.graders.cost import Cost

    request = draw_plot().template(templates).request({"story": ""})
    return Cost(1, static_token_count(request) + story, TOKENS_A_PLOT)


async def drawn_plot(model: Model, template: "Template", story: str) -> str:
    from genie_inspect.graders.readable import REPEATS, readable
    from genie_inspect.prompting.forms import one_sentence

    try:
        return await readable(model, template.request({"story": story}), DRAW, one_sentence, whole=True)
    except UnreadableReplyError as error:
        raise GraderFailedError(f"grader {model} drew no plot in {1 + REPEATS} replies: {error}") from error
