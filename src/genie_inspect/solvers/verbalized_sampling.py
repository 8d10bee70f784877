"""Verbalized sampling: several answers with their probabilities in one reply, of which one is kept."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from inspect_ai.solver import Generate, Solver, TaskState, solver

from genie_inspect.errors import UnknownChoiceError, UnreadableReplyError

if TYPE_CHECKING:
    from genie_inspect.prompting.forms import Response

# what is asked for, as verbalized sampling has it: all answers, or the unlikely ones
FULL = "the full distribution of the answers that you could give, likely and unlikely ones"
TAIL = "the tails of that distribution: answers that each have a probability below {threshold}"
PICKS = ("random", "least", "all")
FEWEST = 2  # with one response to choose from, the reply is an ordinary one


@solver
def verbalized_sampling(
    k: int = 5,
    threshold: float | None = None,
    words: int | None = None,
    pick: str = "random",
    templates: str | None = None,
) -> Solver:
    """Ask for k answers with their probabilities, and keep one.

    They stay in the store, under `responses`; a reply that was cut off gives those that are complete. How many were
    asked for, how many could be read and how many of those are different stands in the sample's metadata
    (`responses_asked`, `responses_parsed`, `responses_distinct`). A reply with fewer than two is asked for once more,
    and then the sample is unscored. Of more than k the first k count.

    Args:
        k: How many answers are asked for in one reply.
        threshold: Ask for answers that are each less likely than this; None asks for the full distribution.
        words: Length asked for; without it the population's median for the prompt, where the task knows it.
        pick: `random` (each with the same chance: verbalized probabilities seldom add up to 1; drawn from the sample's
            id and epoch, so that reruns agree), `least` (the least likely) or `all` (each a choice of the output, and
            what measures of a set judge; scorers of one document see the first).
        templates: A folder with a `verbalized_sampling.md` of your own.

    Raises:
        RefusedError: If an option is out of range; before anything is generated.

    Source: verbalized sampling as in Genie (arXiv 2606.12790). The wording is ours.
    """
    from genie_inspect.graders.grader import refusals
    from genie_inspect.options import check_count
    from genie_inspect.prompting.fence import fenced, without_echo
    from genie_inspect.prompting.forms import Response, verbalized_responses
    from genie_inspect.prompting.templates import load_template
    from genie_inspect.samples import RESPONSES, RESPONSES_ASKED, RESPONSES_DISTINCT, RESPONSES_PARSED, keep_generations
    from genie_inspect.solvers import strategy

    with refusals():
        check_count("k", k)
        if words is not None:
            check_count("words", words)
        if threshold is not None and not (isinstance(threshold, int | float) and 0 < threshold < 1):
            raise UnknownChoiceError("threshold", threshold, "a probability between 0 and 1, or none")
        if pick not in PICKS:
            raise UnknownChoiceError("pick", pick, "one of " + ", ".join(PICKS))
        template = load_template("verbalized_sampling", {"count", "distribution", "length", "data"}, templates)
    distribution = FULL if threshold is None else TAIL.format(threshold=threshold)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        length = strategy.words_wanted(state, words)
        data = fenced({"request": strategy.request_of(state), "answers": k})
        request = template.fill(count=k, distribution=distribution, length=strategy.length_clause(length), data=data)

        def first_of(reply: str) -> list[Response]:
            responses = verbalized_responses(reply)[:k]
            if reason := shortage(responses, k, pick):
                raise UnreadableReplyError(reason)
            return responses

        output, responses = await strategy.reply_to(state, request, first_of, strategy.room_for(length, k))
        # counted anew: also of a reply with too few of them it stands in the log how many there were
        parsed = verbalized_responses(without_echo(output.completion, request))
        texts = {response.text for response in parsed}
        state.metadata |= {RESPONSES_ASKED: k, RESPONSES_PARSED: len(parsed), RESPONSES_DISTINCT: len(texts)}
        if responses is None:
            return strategy.failed(state, output, f"verbalized_sampling: {shortage(parsed[:k], k, pick)}")
        state.store.set(RESPONSES, [asdict(response) for response in responses])
        if pick == "all":
            keep_generations(state, (response.text for response in responses))
        return strategy.finished(state, output, *picked(responses, pick, f"{state.sample_id} {state.epoch}"))

    return solve


def shortage(responses: "Sequence[Response]", k: int, pick: str) -> str:
    """Why no document can be picked from the responses to a request for k of them; empty where one can."""
    count = f"{len(responses)} of {k} responses could be read"
    if len(responses) < min(k, FEWEST):
        return count
    if pick == "least" and all(math.isnan(response.probability) for response in responses):
        return f"{count}, none of them with a probability"
    return ""


def picked(responses: "Sequence[Response]", pick: str, draw: str) -> list[str]:
    """The texts that are kept."""
    from genie_inspect.signature import digest

    if pick == "all":
        return [response.text for response in responses]
    if pick == "least":
        # one without a probability is not known to be unlikely
        return [min(responses, key=lambda r: math.inf if math.isnan(r.probability) else r.probability).text]
    # by a digest and not a seed: it does not depend on which sample comes first
    return [responses[int(digest(draw), 16) % len(responses)].text]
