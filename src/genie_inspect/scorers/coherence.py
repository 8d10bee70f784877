"""The scorer `coherence`: whether a document hangs together, so that novelty is not word salad."""

from functools import partial

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from genie_inspect.errors import UnknownChoiceError
from genie_inspect.scorers.stderr import per_key

KEYS = ("coherence_rating",)
GRADER = "grader"


@scorer(
    metrics=per_key({}),
    headline="coherence_rating",
    ranges={"coherence_rating": (1, 5)},
    meaning="How coherent the text is. Higher is more coherent, which is not novelty.",
)
def coherence(by: str = GRADER, templates: str | None = None) -> Scorer:
    """How coherent a document is: 1 to 5 by the grader, 0 to about 4.5 by a reward model; higher = more coherent.

    The document is left as it is; `genie compare --min-coherence` leaves out those rated lower.

    Args:
        by: `grader`, or `reward/<hub id or folder>` of ArmoRM (needs the extra `local`; the study kept 2 and more).
        templates: A folder with a `coherence.md` of your own.

    Raises:
        RefusedError: If `by` is neither, the reward model's extra is missing, or the template of the user's has other
            blanks than ours.
    """
    from genie_inspect.graders.grader import bound_when_scored, grader, refusals
    from genie_inspect.graders.quality import COHERENCE, REWARD, GraderCoherence, rewarded
    from genie_inspect.samples import document_of, prompt_of
    from genie_inspect.scorers.outcome import Measurement, scored_or_reason
    from genie_inspect.signature import signature

    with refusals():
        fixed = rewarded(by)
        if by != GRADER and fixed is None:
            raise UnknownChoiceError("by", by, f"{GRADER} or {REWARD}<hub id or folder>")
        template = COHERENCE.template(templates)
    asked = partial(grader, "coherence", replaceable=False)
    rater_by = bound_when_scored(asked, partial(GraderCoherence, template=template))

    async def score(state: TaskState, target: Target) -> Score:
        rater = fixed or rater_by()
        facts = {"signature": signature("coherence", version="1-A", by=rater.signature)}

        async def rated() -> Measurement:
            rating = await rater.rate(prompt_of(state), document_of(state))
            return Measurement({KEYS[0]: rating}, f"Coherence {rating:.1f}.")

        return await scored_or_reason(state, KEYS, facts, rated)

    return score
