"""Samples without a document: under any task's scorers, the reason in place of a score."""

from functools import wraps

from inspect_ai.scorer import Score, Scorer, Target
from inspect_ai.solver import TaskState
from inspect_ai.util import registry_info

from genie_inspect.inspect_private import task_scorers
from genie_inspect.samples.store import UNSCORED

OWN = "genie_inspect/"
HEEDS = "genie_inspect_heeds"  # attribute of a scorer that is wrapped already


def leave_unscored(state: TaskState, reason: str) -> None:
    """Have every scorer of the task give the reason, not a score: most take an empty text for a wrong answer.

    Ours see for themselves that there is no document, and keep their keys and signature.
    """
    state.store.set(UNSCORED, reason)
    scorers = task_scorers()
    for place, scorer in enumerate(scorers):
        # once a scorer: samples of one task share them
        if not (registry_info(scorer).name.startswith(OWN) or hasattr(scorer, HEEDS)):
            scorers[place] = _heeding(scorer)


def _heeding(scorer: Scorer) -> Scorer:
    """The scorer, under its own name and metrics, but for samples that are to stay unscored."""

    @wraps(scorer)
    async def score(state: TaskState, target: Target) -> Score | None:
        reason = state.store.get(UNSCORED)
        return await scorer(state, target) if reason is None else Score.unscored(reason=str(reason))

    setattr(score, HEEDS, True)
    return score
