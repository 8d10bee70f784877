"""Trim: a document without thoughts, talk about it, and a tail that has broken down."""

from typing import TYPE_CHECKING

from inspect_ai.model import GenerateConfig, Model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from genie_inspect.errors import GraderFailedError, UnreadableReplyError

if TYPE_CHECKING:
    from genie_inspect.prompting.templates import Template

NO_GRADER = """\
trim asks a model which sentences are no part of the document, and no grader is named. Two ways out:
  --model-role grader=<provider/model>   any model of your choice
  -S meta=false                          cut only thoughts and tails that repeat themselves"""
TOKENS_A_NUMBER = 4
SPARE_TOKENS = 50


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
    from genie_inspect.graders.grader import ROLE, bound_model, refusals
    from genie_inspect.options import check_switch
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
    """The text without thoughts, repeated tail and the sentences that the grader names."""
    from genie_inspect.graders.readable import readable
    from genie_inspect.prompting.forms import cut_form, sentences_to_cut, written_text
    from genie_inspect.prompting.texts import sentence_spans, without_repeated_tail, without_sentences

    # first what needs no model: the grader gets fewer sentences
    text = without_repeated_tail(written_text(text))
    if not model:
        return text
    sentences = [text[start:end].strip() for start, end in sentence_spans(text)]
    count = len(sentences)
    # by number, because a model that copies text changes it
    numbered = {str(number): sentence for number, sentence in enumerate(sentences, start=1)}
    request = template.request({"sentences": numbered}, count=count)
    settings = GenerateConfig(temperature=0.0, max_tokens=SPARE_TOKENS + TOKENS_A_NUMBER * count)
    cut = await readable(model, request, settings, lambda reply: sentences_to_cut(reply, count), cut_form(count), 1)
    return written_text(without_sentences(text, cut))
