"""The curiosity model on sentence vectors: ridge and logistic regression in place of a trained language model.

With unit vectors 1 - cosine is half of the squared distance, which is what ridge regression makes small. The inverse
vector of story, question and explanation is the explanation's sentence vector, and after it the probabilities of the
raters given the explanation, times lambda; all of it at length 1. The forward model predicts it from story, question
and rater. Forward less inverse vector is the curiosity, which the classifier reads beside story and question.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from genie_inspect.engines.curiosity.explanations import (
    Explanation,
    RaterMeans,
    check_both_verdicts,
    check_readable,
    curiosity,
    explained,
)
from genie_inspect.engines.curiosity.linear import Linear, ridge, softmax, softmax_regression
from genie_inspect.engines.curiosity.settings import VectorSettings
from genie_inspect.engines.curiosity.votes import ExplainedVote, Values
from genie_inspect.engines.embedders.choices import Embedder, embedder

COEFFICIENTS = "coefficients.npz"


class VectorCuriosity:
    """The curiosity model on vectors of an embedder.

    Args:
        explanation: What the curiosity score reads.
        settings: Penalties and lambda.
        vectors: Makes a vector of a text; the one that ships unless given.
    """

    def __init__(
        self, explanation: Explanation, settings: VectorSettings | None = None, vectors: Embedder | None = None
    ) -> None:
        self.explanation = explanation
        self.settings = settings or VectorSettings()
        self._embedder = vectors or embedder()
        self._vectors: dict[str, Values] = {}  # in this process alone: texts of votes are kept nowhere

    @property
    def name(self) -> str:
        """`vectors(<embedder>)`."""
        return f"vectors({self._embedder.identity})"

    def settings_used(self) -> dict[str, int | float]:
        """Every setting by its name."""
        return self.settings.model_dump()

    def fit(self, votes: Sequence[ExplainedVote]) -> "FittedVectors":
        """Forward and inverse model and classifier, from these votes alone.

        Raises:
            UnfittableError: If explanations are missing, by one rater alone, or the verdicts are all alike.
            EngineFailedError: If the embedder fails.
        """
        having = explained(votes, self.explanation)
        check_both_verdicts(votes)
        raters = tuple(sorted({vote.rater for vote in votes}))
        labels = _marks(having, raters)
        tell = softmax_regression(self.explanations(having), labels, self.settings.penalty)
        inverse = partial(self.inverse, tell)
        targets = inverse(having)
        forward = ridge(self.texts(having, raters), targets, self.settings.ridge)
        means = RaterMeans(having, targets)
        verdicts = np.array([vote.verdict for vote in votes])
        unlearned = FittedVectors(self, raters, tell, forward, means, Linear(np.zeros((0, 2)), np.zeros(2)))
        classifier = softmax_regression(
            unlearned.inputs(votes), np.column_stack([~verdicts, verdicts]).astype(float), self.settings.penalty
        )
        return FittedVectors(self, raters, tell, forward, means, classifier)

    def texts(self, votes: Sequence[ExplainedVote], raters: Sequence[str] = ()) -> Values:
        """Vectors of story and question, and 1 at the rater, in one row a vote."""
        parts = [self._embedded([vote.text for vote in votes]), self._embedded([vote.question for vote in votes])]
        return np.column_stack([*parts, _marks(votes, raters)])

    def explanations(self, votes: Sequence[ExplainedVote]) -> Values:
        """Vectors of the explanations, one row a vote."""
        return self._embedded([vote.explanation or "" for vote in votes])

    def inverse(self, tell: Linear, votes: Sequence[ExplainedVote]) -> Values:
        """The inverse vectors of votes with explanations, one row of length 1 a vote."""
        vectors = self.explanations(votes)
        rows = np.column_stack([vectors, self.settings.rater_weight * softmax(tell(vectors))])
        # an explanation of unknown words has no direction, and a lambda of 0 leaves it none
        unit: Values = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.finfo(float).tiny)
        return unit

    def _embedded(self, texts: Sequence[str]) -> Values:
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        self._vectors.update(zip(new, self._embedder.embed(new), strict=True))
        return np.array([self._vectors[text] for text in texts])


@dataclass(frozen=True, slots=True)
class FittedVectors:
    """The curiosity model on vectors with its coefficients."""

    model: VectorCuriosity
    raters: tuple[str, ...]
    tell: Linear
    """Log-odds of the raters, given the explanation."""
    forward: Linear
    means: RaterMeans
    classifier: Linear

    def inputs(self, votes: Sequence[ExplainedVote]) -> Values:
        """What the classifier reads: story, question, curiosity."""
        forward = self.forward(self.model.texts(votes, self.raters))
        inverse = partial(self.model.inverse, self.tell)
        read = curiosity(votes, forward, inverse, self.means, self.model.explanation)
        return np.column_stack([self.model.texts(votes), read])

    def probabilities(self, votes: Sequence[ExplainedVote]) -> Values:
        """Probability of a yes for each vote; a rater that was not learned from counts as none of the raters.

        Raises:
            UnfittableError: If it reads explanations and a vote has none.
        """
        check_readable(votes, self.model.explanation)
        return softmax(self.classifier(self.inputs(votes)))[:, 1]

    def save(self, folder: Path) -> None:
        """Write the coefficients as arrays of numbers, which hold no text and no pickle."""
        parts = {"raters": self.tell, "forward": self.forward, "verdict": self.classifier}
        arrays: dict[str, Any] = {f"{name}_weights": part.weights for name, part in parts.items()}
        arrays |= {f"{name}_intercept": part.intercept for name, part in parts.items()}
        arrays["rater_means"] = np.array([*self.means.by_rater.values(), self.means.everybody])
        np.savez(folder / COEFFICIENTS, **arrays)


def _marks(votes: Sequence[ExplainedVote], raters: Sequence[str]) -> Values:
    """1 at each vote's rater, shape (votes, raters)."""
    return np.array([[float(vote.rater == rater) for rater in raters] for vote in votes]).reshape(len(votes), -1)
