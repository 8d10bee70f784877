"""The scorer `document`: what Inspect View shows of a document beside its measures. It measures nothing itself."""

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState


@scorer(metrics=[])  # means of these would stand among those of measures
def document() -> Scorer:
    """How long a document is and what its scores rest on, as columns of Inspect View; reports leave it out.

    Keys: `words` of what the model wrote; `coverage`, 0 to 1, the share of Genie's questions that could be used, NaN
    where Genie gives no value; `unscored`, how many of the sample's other scores have a reason and no value. It knows
    the scores by those scorers alone that come before it, and asks nobody.
    """
    from genie_inspect.measures.tokens import word_count
    from genie_inspect.samples import document_of
    from genie_inspect.scorers.outcome import genie_coverage, rounded, without_value
    from genie_inspect.signature import signature

    facts = {"signature": signature("document", version="2-A")}

    async def score(state: TaskState, target: Target) -> Score:
        others = state.scores or {}
        values = {
            "words": word_count(document_of(state)),
            "coverage": genie_coverage(others),
            "unscored": len(without_value(others)),
        }
        return rounded(Score(value=values, explanation="Columns of the list of samples; no measure.", metadata=facts))

    return score
