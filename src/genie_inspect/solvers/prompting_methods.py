"""Prompting methods: a plan first, something unlike the first text, several answers at once, and a document trimmed."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from inspect_ai.model import GenerateConfig, Model, ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver

from genie_inspect.errors import GraderFailedError, UnknownChoiceError, UnreadableReplyError

if TYPE_CHECKING:
    from genie_inspect.prompting.forms import Response
    from genie_inspect.prompting.templates import Template

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
    from genie_inspect.errors import check_count
    from genie_inspect.graders.grader import refusals
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
        prompt, plan = strategy.request_of(state), dict[str, str]()
        for stage in parts:
            request = ask_stage.request({"request": prompt, "plan": plan, "stage": stage}, stage=stage)
            output, part = await strategy.reply_to(state, request, written_text)
            # a later part would be planned from a gap
            if part is None:
                return strategy.failed(state, output, f"outline: no {stage} could be read")
            plan[stage] = part
        state.store.set(PLAN, plan)
        length = strategy.words_wanted(state, words)
        request = ask_text.request({"request": prompt, "plan": plan}, length=strategy.length_clause(length))
        output, text = await strategy.reply_to(state, request, written_text, strategy.room_for(length))
        reason = "outline: no text could be read"
        return strategy.failed(state, output, reason) if text is None else strategy.finished(state, output, text)

    return solve


@solver
def negative_sampling(rounds: int = 1, templates: str | None = None) -> Solver:
    """Write, then write again unlike everything written so far; the last document counts.

    The earlier ones stay in the store under `earlier`, oldest first. The first is plain generation: where a baseline
    log has the same text (as it does when both ran with `--cache true`), `genie compare` pairs the two instances.

    Args:
        rounds: How often it is written again.
        templates: A folder with a `negative_sampling.md` of your own.

    Raises:
        RefusedError: If an option is out of range; before anything is generated.

    Source: negative sampling as in Genie (arXiv 2606.12790). The wording is ours.
    """
    from genie_inspect.errors import check_count
    from genie_inspect.graders.grader import refusals
    from genie_inspect.measures.tokens import median_words
    from genie_inspect.prompting.forms import written_text
    from genie_inspect.prompting.templates import load_template
    from genie_inspect.prompting.texts import whole_text
    from genie_inspect.samples import EARLIER
    from genie_inspect.solvers import strategy

    with refusals():
        check_count("rounds", rounds)
        template = load_template("negative_sampling", {"data"}, templates)

    def plain_text(reply: str) -> str:
        if not reply.strip():
            raise UnreadableReplyError("the reply is empty")
        return whole_text(reply).strip()

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        request, before = strategy.request_of(state), list(state.messages)

        async def plainly(settings: GenerateConfig) -> ModelOutput:
            # a second attempt, after silence, begins where the first did
            state.messages = list(before)
            return (await generate(state, **settings.model_dump(exclude_none=True))).output

        # as it stands in a baseline's log
        output, text = await strategy.output_and_reading(plainly, plain_text)
        # the earlier texts come in the request, not as a conversation
        state.messages = before
        earlier: list[str] = []
        for _ in range(rounds):
            if text is None:
                break
            earlier.append(text)
            state.store.set(EARLIER, earlier)
            filled = template.request({"request": request, "earlier": earlier})
            room = strategy.room_for(median_words(earlier))
            output, text = await strategy.reply_to(state, filled, written_text, room)
        reason = "negative_sampling: no text could be read"
        return strategy.failed(state, output, reason) if text is None else strategy.finished(state, output, text)

    return solve


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
    asked for, how many could be read and how many of those are different is in the sample's metadata
    (`responses_asked`, `responses_parsed`, `responses_distinct`). A reply with fewer than two is asked for once more,
    and then the sample is unscored. Of more than k the first k count.

    Args:
        k: How many answers are asked for in one reply.
        threshold: Ask for answers that are each less likely than this; None asks for the full distribution.
        words: Length asked for; without it the population's median for the prompt, where the task knows it.
        pick: `random` (each with the same chance: verbalized probabilities rarely add up to 1; drawn from the sample's
            id and epoch, so that reruns agree), `least` (the least likely) or `all` (each a choice of the output, and
            what measures of a set judge; scorers of one document see the first).
        templates: A folder with a `verbalized_sampling.md` of your own.

    Raises:
        RefusedError: If an option is out of range; before anything is generated.

    Source: verbalized sampling as in Genie (arXiv 2606.12790). The wording is ours.
    """
    from genie_inspect.errors import check_count
    from genie_inspect.graders.grader import refusals
    from genie_inspect.prompting.forms import verbalized_responses
    from genie_inspect.prompting.templates import load_template, without_echo
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
        data = {"request": strategy.request_of(state), "answers": k}
        clause = strategy.length_clause(length)
        request = template.request(data, count=k, distribution=distribution, length=clause)

        def first_of(reply: str) -> "list[Response]":
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
    from genie_inspect.signature import digest

    if pick == "all":
        return [response.text for response in responses]
    if pick == "least":
        # one without a probability is not known to be unlikely
        return [min(responses, key=lambda r: math.inf if math.isnan(r.probability) else r.probability).text]
    # by a digest and not a seed: it does not depend on which sample comes first
    return [responses[int(digest(draw), 16) % len(responses)].text]


NO_GRADER = """\
trim asks a model which sentences do not belong to the document, and no grader is named. Two ways out:
  --model-role grader=<provider/model>   any model of your choice
  -S meta=false                          cut only thoughts and tails that repeat themselves"""
TOKENS_A_NUMBER, SPARE_TOKENS = 4, 50


@solver
def trim(meta: bool = True, templates: str | None = None) -> Solver:
    """Cut what is no part of the document; the original stays in the store under `original`.

    Thoughts and a tail that repeats itself word for word need no model. Talk about the document and other broken tails
    are found by the grader, which names sentences by number and copies no text. By itself it generates first; behind
    another solver it trims what that one wrote.

    Args:
        meta: Whether the grader is asked too; false cuts what needs no model.
        templates: A folder with a `trim.md` of your own.

    Raises:
        RefusedError: If `meta` is neither true nor false; before anything is generated.
        PrerequisiteError: If it is on and no grader role is bound; before anything is generated.
    """
    from genie_inspect.errors import check_switch
    from genie_inspect.graders.grader import ROLE, bound_model, refusals
    from genie_inspect.prompting.templates import Instruction
    from genie_inspect.prompting.texts import whole_text
    from genie_inspect.samples import ORIGINAL, keep_generations, kept_generations
    from genie_inspect.solvers.strategy import failed, finished

    with refusals():
        check_switch("meta", meta)
        # the recorded stories hold nothing but story
        instruction = Instruction("trim", {"count", "data"}, {"sentences"}, recorded=lambda *_: '{"cut": []}')
        template = instruction.template(templates)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        model = bound_model((ROLE,), NO_GRADER) if meta else None
        # the first solver of a chain has nothing to trim yet
        if state.output.empty:
            state = await generate(state)
        originals = [whole_text(choice.message.text) for choice in state.output.choices]
        if not any(text.strip() for text in originals):
            return state if state.output.error else failed(state, state.output, "no_response")
        state.store.set(ORIGINAL, originals[0] if len(originals) == 1 else originals)
        try:
            texts = [await _trimmed(text, model, template) for text in originals]
        except UnreadableReplyError:
            return failed(state, state.output, "trim: nothing is left, or the grader's reply could not be read")
        except GraderFailedError:
            return failed(state, state.output, "grader_failed")
        # measures of a set read these: they shall see the trimmed texts too
        if kept_generations(state) == originals:
            keep_generations(state, texts)
        return finished(state, state.output, *texts)

    return solve


async def _trimmed(text: str, model: Model | None, template: "Template") -> str:
    from genie_inspect.graders.readable import readable
    from genie_inspect.prompting.forms import cut_form, sentences_to_cut, written_text
    from genie_inspect.prompting.templates import numbered
    from genie_inspect.prompting.texts import sentence_spans, without_repeated_tail, without_sentences

    # first what needs no model: the grader gets fewer sentences
    text = without_repeated_tail(written_text(text))
    if not model:
        return text
    sentences = [text[start:end].strip() for start, end in sentence_spans(text)]
    count = len(sentences)
    # by number, because a model that copies text changes it
    request = template.request({"sentences": numbered(sentences)}, count=count)
    settings = GenerateConfig(temperature=0.0, max_tokens=SPARE_TOKENS + TOKENS_A_NUMBER * count)
    cut = await readable(model, request, settings, lambda reply: sentences_to_cut(reply, count), cut_form(count), 1)
    return written_text(without_sentences(text, cut))
