"""The scorer `coherence`: whether a document hangs together, so that novelty is not word salad."""

from functools import lru_cache

from inspect_ai.model import Model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from genie_inspect.asking.grader import grader
from genie_inspect.asking.refusals import RefusedError, refusals
from genie_inspect.engines.coherence_rewards import CoherenceRewards
from genie_inspect.errors import EngineFailedError, GraderFailedError, UnknownChoiceError, UnreadableReplyError
from genie_inspect.judges.coherence import CoherenceRater, GraderCoherence, RewardCoherence
from genie_inspect.prompting.templates import load_template
from genie_inspect.samples.document import unusable
from genie_inspect.samples.prompt import prompt_of
from genie_inspect.scorers.outcome import unscored
from genie_inspect.signature import signature

KEYS = ("coherence_rating",)
GRADER, REWARD = "grader", "reward/"


@scorer(metrics={"*": [mean(), stderr()]})
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
    with refusals():
        if by != GRADER and not (by.startswith(REWARD) and by != REWARD):
            raise UnknownChoiceError("by", by, f"{GRADER} or {REWARD}<hub id or folder>")
        load_template("coherence", {"data"}, templates)
        if by != GRADER:
            CoherenceRewards(by.removeprefix(REWARD))  # refuses here what would fail at the first document

    @lru_cache(maxsize=1)
    def rater(model: Model | None) -> CoherenceRater:
        return (
            GraderCoherence(model, templates) if model else RewardCoherence(CoherenceRewards(by.removeprefix(REWARD)))
        )

    async def score(state: TaskState, target: Target) -> Score:
        own = rater(grader("coherence", replaceable=False) if by == GRADER else None)
        text = state.output.completion
        facts = {"signature": signature("coherence", by=own.signature)}
        if reason := unusable(state):
            return unscored(KEYS, reason, f"Not scored: {reason}.", text, facts)
        try:
            rating = await own.rate(prompt_of(state), text)
        except UnreadableReplyError as error:
            return unscored(KEYS, "invalid_response_format", f"Not scored: {error}", text, facts)
        except GraderFailedError as error:
            return unscored(KEYS, "grader_failed", f"Not scored: {error}", text, facts)
        except EngineFailedError as error:
            raise RefusedError(str(error)) from error  # every further document would fail alike
        return Score(
            value={"coherence_rating": rating}, answer=text, explanation=f"Coherence {rating:.1f}.", metadata=facts
        )

    return score
