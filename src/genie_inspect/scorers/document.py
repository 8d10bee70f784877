"""The scorer `document`: what Inspect View shows of a document beside its measures. It measures nothing itself."""

import math

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState


@scorer(metrics=[])  # means of these would stand among those of measures
def document() -> Scorer:
    """How long a document is and what its scores rest on, as columns of Inspect View; reports leave it out.

    Keys: `words` of what the model wrote; `coverage`, 0 to 1, the share of Genie's questions that could be used, NaN
    where Genie gives no value; `unscored`, how many of the sample's other scores have a reason and no value. It knows
    the scores by those scorers alone that come before it, and makes no model calls.
    """
    from genie_inspect.logs.evidence import NO_SHARE, added
    from genie_inspect.logs.measures import GENIE
    from genie_inspect.logs.scores import last_of_each, measured, scores_of
    from genie_inspect.measures.tokens import word_count
    from genie_inspect.samples import document_of
    from genie_inspect.scorers.outcome import rounded
    from genie_inspect.signature import signature

    facts = {"signature": signature("document", version="2-A")}

    async def score(state: TaskState, target: Target) -> Score:
        others = measured(state.scores or {})
        genies = [own for name, score in others.items() if (own := scores_of(name, score)).signature.measure == GENIE]
        is_known = genies and not genies[-1].is_unscored
        used, asked = added(genies[-1].evidence.coverage.values()) if is_known else NO_SHARE
        last = last_of_each(others).items()
        values = {
            "words": word_count(document_of(state)),
            "coverage": used / asked if asked else math.nan,
            "unscored": sum(bool(score.reason) and scores_of(name, score).is_unscored for name, score in last),
        }
        return rounded(Score(value=values, explanation="Columns of the list of samples; no measure.", metadata=facts))

    return score
