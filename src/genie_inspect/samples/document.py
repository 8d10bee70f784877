"""The document of a sample, and why there is none."""

from inspect_ai.log import EvalSample
from inspect_ai.solver import TaskState

from genie_inspect.prompting.documents import refusals
from genie_inspect.prompting.texts import LONGEST, has_word, whole_text

REFUSAL, NO_RESPONSE, FAILED = refusals.REFUSAL, "no_response", "generation failed"
TOO_LONG = f"longer than {LONGEST:,} characters"


def document_of(sample: TaskState | EvalSample) -> str:
    """The text that the model wrote, as it stands but for halves of characters; empty where generation failed."""
    return whole_text(sample.output.completion) if sample.output.choices else ""


def is_cut(sample: TaskState | EvalSample) -> bool:
    """Whether the document ends where the tokens that were allowed for it did, and not where its writer ended it."""
    return sample.output.stop_reason in {"max_tokens", "model_length"} if sample.output.choices else False


def unusable(sample: TaskState | EvalSample) -> str:
    """Why a sample has no document, as a reason for the log; empty when it has one.

    A text without a single letter or digit is no document, and neither is a refusal in words.
    """
    # an EvalSample is one of a log, where a sample that failed has an error and may lack its output
    if isinstance(sample, EvalSample) and sample.error is not None:
        return FAILED
    # nobody answered: as a sample that failed looks when its log is scored again
    if not sample.output.choices:
        return sample.output.error or FAILED
    # a provider's filter can cut a document in its middle: what stands there is no story either
    if sample.output.stop_reason == "content_filter":
        return REFUSAL
    reason = no_document(document_of(sample))
    return sample.output.error or reason if reason == NO_RESPONSE else reason  # a strategy says there what failed


def no_document(text: str) -> str:
    """Why a text is no document, as a reason for the log; empty when it is one."""
    if len(text) > LONGEST:
        return TOO_LONG
    if not has_word(text):
        return NO_RESPONSE
    return REFUSAL if refusals.refuses(text) else ""
