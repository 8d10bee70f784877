"""Whether a curiosity score reads the explanation of the very verdict that it predicts, and what it reads instead."""

from collections.abc import Callable, Sequence
from typing import Literal, get_args

import numpy as np

from genie_inspect.engines.curiosity.votes import ExplainedVote, Values
from genie_inspect.errors import UnfittableError

Explanation = Literal["none", "held-out"]
EXPLANATIONS: tuple[Explanation, ...] = get_args(Explanation)

READS_THE_ANSWER = (
    "explanation=held-out: the curiosity score reads the held-out rater's own explanation of the verdict that is "
    "predicted, that is, the answer. These figures say nothing of a story that the rater has not judged."
)
READS_NO_ANSWER = (
    "explanation=none: in place of the held-out explanation stands the mean over the rater's explanations that were "
    "learned from."
)
READING: dict[Explanation, str] = {"none": READS_NO_ANSWER, "held-out": READS_THE_ANSWER}

InverseModel = Callable[[Sequence[ExplainedVote]], Values]


class RaterMeans:
    """What the inverse model says of a rater's explanations on average: nothing of it comes from another vote.

    A prediction of the explanation from story, question and rater could stand there as well, but that is what the
    forward model is trained to be: their difference would be nil.

    Args:
        votes: With explanations, at least one.
        vectors: What the inverse model makes of them, a row a vote.
    """

    def __init__(self, votes: Sequence[ExplainedVote], vectors: Values) -> None:
        raters = np.array([vote.rater for vote in votes])
        self.by_rater = {str(rater): vectors[raters == rater].mean(axis=0) for rater in np.unique(raters)}
        self.everybody = vectors.mean(axis=0)

    def rows(self, votes: Sequence[ExplainedVote]) -> Values:
        """The mean of each vote's rater; of a rater without explanations, everybody's."""
        return np.array([self.by_rater.get(vote.rater, self.everybody) for vote in votes])


def curiosity(
    votes: Sequence[ExplainedVote], forward: Values, inverse: InverseModel, means: RaterMeans, explanation: Explanation
) -> Values:
    """Forward less inverse vector, shape (votes, width).

    Args:
        votes: Whose explanations are read with `held-out` alone.
        forward: What the forward model makes of story, question and rater.
        inverse: Makes a vector of story, question and explanation.
        means: Of the votes that were learned from.
        explanation: What is read.
    """
    return forward - (inverse(votes) if explanation == "held-out" else means.rows(votes))


def explained(votes: Sequence[ExplainedVote], explanation: Explanation) -> list[ExplainedVote]:
    """The votes with an explanation, which forward and inverse model learn from.

    Raises:
        UnfittableError: If there is none, or, with `held-out`, a vote lacks one; or if one rater gave all of them.
    """
    having = [vote for vote in votes if vote.explanation]
    if not having:
        raise UnfittableError(f"none of {len(votes)} votes has an explanation, and a curiosity model learns from them")
    check_readable(votes, explanation)
    raters = {vote.rater for vote in having}
    if len(raters) < 2:
        raise UnfittableError(
            f"all explanations are by rater {raters.pop()!r}, expected at least two raters: the inverse model learns "
            "to tell them apart"
        )
    return having


def check_readable(votes: Sequence[ExplainedVote], explanation: Explanation) -> None:
    """Refuse votes whose explanations shall be read and are not there.

    Raises:
        UnfittableError: If, with `held-out`, a vote lacks its explanation.
    """
    missing = sum(not vote.explanation for vote in votes)
    if explanation == "held-out" and missing:
        raise UnfittableError(
            f"{missing} of {len(votes)} votes have no explanation, expected one each with explanation=held-out; "
            "explanation=none learns from those that are there"
        )


def check_both_verdicts(votes: Sequence[ExplainedVote]) -> None:
    """Refuse votes that are all alike: no classifier learns from them.

    Raises:
        UnfittableError: If there is no yes or no no.
    """
    yes = sum(vote.verdict for vote in votes)
    if yes in (0, len(votes)):
        missing = "no" if yes else "yes"
        raise UnfittableError(f"among {len(votes)} votes to learn from there is no {missing!r}, expected both verdicts")
