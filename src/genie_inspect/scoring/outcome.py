"""One sample's score, or the score that says why there is none: for every scorer alike."""

import math
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from inspect_ai.scorer import Score
from inspect_ai.solver import TaskState

from genie_inspect.errors import EngineFailedError, GenieError, GraderFailedError, RefusalError, UnreadableReplyError
from genie_inspect.logs.lengths import are_unlike, unlike_lengths
from genie_inspect.logs.scores import scores_of
from genie_inspect.measures.length import word_count
from genie_inspect.prompting.documents.refusals import MOST_WORDS
from genie_inspect.samples.document import REFUSAL, document_of, unusable
from genie_inspect.scoring.explanation import cell
from genie_inspect.scripts import is_english
from genie_inspect.statistics.descriptive.digits import three_digits

MAY_REFUSE = "Warning: the rule for refusals knows English only, and this short document is in another language"
# Inspect knows all of them but the last by these names, and counts unscored samples by them
REASONS: Mapping[type[GenieError], str] = {
    RefusalError: REFUSAL,
    GraderFailedError: "grader_failed",
    UnreadableReplyError: "invalid_response_format",
    EngineFailedError: "engine_failed",
}
"""Failures that cost one sample its score, with the reason that the log gives; all other errors end the run."""


async def scored_or_reason(
    state: TaskState, keys: Iterable[str], facts: dict[str, Any], measure: Callable[[], Awaitable[Score]]
) -> Score:
    """The score of a sample, rounded; unscored with a reason where there is no document, or what is asked fails.

    Args:
        state: The sample.
        keys: The measure's keys, all of which stand in every score.
        facts: Metadata of an unscored sample, the signature among them.
        measure: Scores the document; called when there is one.

    Raises:
        Exception: What the measure raises, unless it is one of `REASONS`: a fault of ours, or a wrong set-up.
    """
    text = document_of(state)
    if reason := unusable(state):
        return unscored(keys, reason, f"Not scored: {cell(reason)}.", text, facts)
    try:
        return _with_notes(rounded(await measure()), text)
    # only these: a fault of ours as an unscored sample would look like a fault of the model
    except tuple(REASONS) as error:
        reason = next(reason for kind, reason in REASONS.items() if isinstance(error, kind))
        return unscored(keys, reason, f"Not scored: {cell(str(error))}", text, facts)


def rounded(score: Score) -> Score:
    """The score with the digits that it keeps: three after the point, and of what is nearer to 0 than 0.1 three in all.

    Here and nowhere else: viewers show a value as it stands in the log, and all that is computed from logs begins with
    these values, so that no two rooms show two numbers for one.
    """
    values = score.value if isinstance(score.value, dict) else {}
    kept = {key: three_digits(value) if isinstance(value, float) else value for key, value in values.items()}
    return score.model_copy(update={"value": kept}) if values else score


def _with_notes(score: Score, text: str) -> Score:
    """The score; it says where its document is of another length than the others, or may be a refusal unseen."""
    words, others = word_count(text), scores_of("", score).population_words
    notes = [unlike_lengths("Beware: this document has", words, others)] if are_unlike(words, others) else []
    if words <= MOST_WORDS and not is_english(text):
        notes.append(MAY_REFUSE)
    if not notes:
        return score
    explanation = "\n\n".join([score.explanation or "", *(f"{note}." for note in notes)]).lstrip()
    return score.model_copy(update={"explanation": explanation})


def unscored(keys: Iterable[str], reason: str, explanation: str, text: str, metadata: dict[str, Any]) -> Score:
    """A score that counts nowhere: NaN under every key, so that all samples have the same keys, and the reason."""
    value = dict.fromkeys(keys, math.nan)
    return Score(value=dict(value), answer=text, explanation=explanation, reason=reason, metadata=metadata)
