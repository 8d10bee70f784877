"""The scorer `document`: what Inspect View shows of a document beside its measures. It measures nothing itself."""

import math
from collections.abc import Mapping

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
    from genie_inspect.scorers.outcome import rounded
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


def genie_coverage(scores: Mapping[str, Score]) -> float:
    """Share of Genie's questions that could be used, 0 to 1; NaN where Genie gives no value, or did not score."""
    from genie_inspect.logs.evidence import added
    from genie_inspect.logs.measures import GENIE
    from genie_inspect.logs.scores import scores_of, signature_of

    genies = [scores_of(name, score) for name, score in scores.items() if signature_of(score).measure == GENIE]
    if not genies or genies[-1].is_unscored:
        return math.nan
    used, asked = added(genies[-1].evidence.coverage.values())
    return used / asked if asked else math.nan


def without_value(scores: Mapping[str, Score]) -> list[str]:
    """Scorers of measures that give a reason and no value, each once."""
    from genie_inspect.logs.scores import last_of_each, measured, scores_of

    others = last_of_each(measured(scores)).items()
    return [name for name, score in others if score.reason and scores_of(name, score).is_unscored]
