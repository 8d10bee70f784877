"""The curiosity model on sentence vectors: ridge and logistic regression in place of a trained language model.

With unit vectors 1 - cosine is half of the squared distance, which is what ridge regression makes small. The inverse
vector of story, question and explanation is the explanation's sentence vector, and after it the probabilities of the
raters given the explanation, times lambda; all of it at length 1. The forward model predicts it from story, question
and rater. Forward less inverse vector is the curiosity, which the classifier reads beside story and question.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, Self, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator
from scipy.special import softmax

from genie_inspect.agreement.votes import Id, StoryRow, prompt_of
from genie_inspect.engines.embedders import embedder
from genie_inspect.errors import UnfittableError, UnknownChoiceError
from genie_inspect.files.json_lines import first_fault

Values = NDArray[np.float64]
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class ExplainedVote(StoryRow):
    text: Words  # the story itself
    test: Id
    question: Words  # the test in words
    rater: Id
    verdict: bool
    explanation: Words | None = None
    # what several stories may be written from; where a file does not say it, by the story's id
    plot: Id = Field(default_factory=lambda row: prompt_of(row["story"]))

    @model_validator(mode="before")
    @classmethod
    def _without_null(cls, row: Any) -> Any:
        is_null = isinstance(row, dict) and row.get("plot", "") is None
        return {name: value for name, value in row.items() if name != "plot"} if is_null else row


class CuriosityModel(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def settings(self) -> "CuriositySettings": ...

    def fit(self, votes: Sequence[ExplainedVote]) -> Self:
        """Learn from these votes alone: what was learned before is forgotten."""

    def probabilities(self, votes: Sequence[ExplainedVote]) -> Values:
        """Probability of a yes for each vote, 0 to 1; its verdict is not looked at."""

    def save(self, folder: Path) -> None:
        """Write weights into a folder that exists: no text, no vote."""


def linear(rows: Values, weights: Values) -> Values:
    """Rows by weights, shape (inputs + 1, outputs), of which the last are added to each output."""
    return np.asarray(rows @ weights[:-1] + weights[-1])


def ridge(rows: Values, targets: Values, penalty: float) -> Values:
    """The linear map of rows to targets with the least squared error plus penalty times its squared weights."""
    centre, middle = rows.mean(axis=0), targets.mean(axis=0)
    inputs = rows - centre
    weights = np.linalg.solve(inputs.T @ inputs + penalty * np.eye(rows.shape[1]), inputs.T @ (targets - middle))
    return np.vstack([weights, middle - centre @ weights])


def softmax_regression(rows: Values, labels: Values, penalty: float) -> Values:
    """Weights to the log-odds of each class: of the highest likelihood less penalty / 2 times their squares."""
    from scipy.optimize import minimize

    inputs = np.column_stack([rows, np.ones(len(rows))])
    borne = np.full((inputs.shape[1], 1), penalty)
    borne[-1] = 0

    def cost(flat: Values) -> tuple[float, Values]:
        weights = flat.reshape(inputs.shape[1], -1)
        chances = softmax(inputs @ weights, axis=1)
        surprise = -np.log(np.maximum((chances * labels).sum(axis=1), np.finfo(float).tiny)).sum()
        slope = inputs.T @ (chances - labels) + borne * weights
        return float(surprise + (borne * weights**2).sum() / 2), slope.ravel()

    start = np.zeros(inputs.shape[1] * labels.shape[1])
    best = minimize(cost, start, jac=True, method="L-BFGS-B", options={"maxiter": 5_000, "maxfun": 10_000})
    if not best.success:
        raise UnfittableError(f"the classifier was not found after {best.nit} steps, expected a larger penalty")
    return np.asarray(best.x.reshape(inputs.shape[1], -1))


Explanation = Literal["none", "held-out"]
EXPLANATIONS: tuple[Explanation, ...] = get_args(Explanation)

READING: dict[Explanation, str] = {
    "none": (
        "explanation=none: the held-out explanation is replaced by the mean over the rater's explanations "
        "that were learned from."
    ),
    "held-out": (
        "explanation=held-out: the curiosity score reads the held-out rater's own explanation of the verdict that is "
        "predicted, that is, the answer. These figures say nothing of a story that the rater has not judged."
    ),
}


class RaterMeans:
    """What the inverse model says of a rater's explanations on average: nothing of it comes from another vote.

    A prediction of the explanation from story, question and rater could stand there as well, but that is what the
    forward model is trained to be: their difference would be nil.
    """

    def __init__(self, votes: Sequence[ExplainedVote], vectors: Values) -> None:
        raters = np.array([vote.rater for vote in votes])
        self.by_rater = {str(rater): vectors[raters == rater].mean(axis=0) for rater in np.unique(raters)}
        self.everybody = vectors.mean(axis=0)

    def rows(self, votes: Sequence[ExplainedVote]) -> Values:
        """The mean of each vote's rater; of a rater without explanations, everybody's."""
        return np.array([self.by_rater.get(vote.rater, self.everybody) for vote in votes])


def explained(votes: Sequence[ExplainedVote], explanation: Explanation) -> list[ExplainedVote]:
    """The votes with an explanation, which forward and inverse model learn from."""
    having = [vote for vote in votes if vote.explanation]
    if not having:
        raise UnfittableError(f"none of {len(votes)} votes has an explanation, and a curiosity model learns from them")
    check_readable(votes, explanation)
    raters = {vote.rater for vote in having}
    if len(raters) < 2:
        raise UnfittableError(f"all explanations are by rater {raters.pop()!r}, expected at least two raters")
    return having


def check_readable(votes: Sequence[ExplainedVote], explanation: Explanation) -> None:
    """Refuse votes whose explanations shall be read and are not there."""
    missing = sum(not vote.explanation for vote in votes)
    if explanation == "held-out" and missing:
        raise UnfittableError(
            f"{missing} of {len(votes)} votes have no explanation, expected one each with explanation=held-out; "
            "explanation=none learns from those that are there"
        )


def check_both_verdicts(votes: Sequence[ExplainedVote]) -> None:
    verdicts = {vote.verdict for vote in votes}
    if len(verdicts) < 2:
        missing = "no" if True in verdicts else "yes"
        raise UnfittableError(f"among {len(votes)} votes to learn from there is no {missing!r}, expected both verdicts")


class CuriositySettings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    # the study's lambda: what telling the rater from the explanation weighs beside the cosine; stated: 1
    rater_weight: float = Field(default=1.0, ge=0)


class VectorSettings(CuriositySettings):
    """On sentence vectors. None of these is the study's, which has no such form."""

    ridge: float = Field(default=1.0, gt=0)  # penalty of the forward model; vectors have length 1
    penalty: float = Field(default=1.0, gt=0)  # of both classifiers, as `penalty / 2` times the squared weights


class LoraSettings(CuriositySettings):
    """On a language model. Stated by the study: rank to warm-up; ours: learning rate, width, clipping and seed."""

    rank: int = Field(default=16, ge=1)
    alpha: int = Field(default=32, ge=1)
    dropout: float = Field(default=0.1, ge=0, lt=1)
    epochs: int = Field(default=3, ge=1)
    batch: int = Field(default=4, ge=1)
    accumulation: int = Field(default=8, ge=1)  # batches to a step
    # tokens; of what is longer the story's end is left out, never the question or the explanation
    length: int = Field(default=4096, ge=64)
    # share of the steps in which the rate rises; then it falls as a cosine
    warmup: float = Field(default=0.1, ge=0, lt=1)
    learning_rate: float = Field(default=2e-4, gt=0)  # what is common for LoRA
    # of the vectors whose cosine is taken: the study speaks of logits, and the cosine of two numbers is 1 or -1, with
    # no gradient, so that nothing would be learned
    width: int = Field(default=8, ge=2)
    clip: float = Field(default=1.0, gt=0)  # longest gradient
    seed: int = Field(default=0, ge=0)


SettingsT = TypeVar("SettingsT", bound=CuriositySettings)


def settings_of(kind: type[SettingsT], pairs: Sequence[str]) -> SettingsT:
    values = dict(pair.partition("=")[::2] for pair in pairs)
    for name in values:
        if name not in kind.model_fields:
            raise UnknownChoiceError("setting", name, f"one of {', '.join(kind.model_fields)}, as name=value")
    try:
        return kind.model_validate(values)
    except ValidationError as invalid:
        raise UnknownChoiceError("setting", ", ".join(pairs), first_fault(invalid, "a value in range")) from invalid


COEFFICIENTS = "coefficients.npz"


class VectorCuriosity:
    def __init__(self, explanation: Explanation, settings: VectorSettings | None = None) -> None:
        self.explanation = explanation
        self.settings = settings or VectorSettings()
        self._embedder = embedder()
        self._vectors: dict[str, Values] = {}  # in this process alone: texts of votes are kept nowhere

    @property
    def name(self) -> str:
        return f"vectors({self._embedder.identity})"

    def embedded(self, texts: Sequence[str]) -> Values:
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        self._vectors.update(zip(new, self._embedder.embed(new), strict=True))
        return np.array([self._vectors[text] for text in texts])

    def fit(self, votes: Sequence[ExplainedVote]) -> Self:
        having = explained(votes, self.explanation)
        check_both_verdicts(votes)
        self.raters = sorted({vote.rater for vote in votes})
        vectors = self.embedded([vote.explanation or "" for vote in having])
        # the log-odds of the raters, given the explanation
        self.tell = softmax_regression(vectors, _marks(having, self.raters), self.settings.penalty)
        inverse = self.inverse(having)
        self.forward = ridge(self.texts(having, self.raters), inverse, self.settings.ridge)
        self.means = RaterMeans(having, inverse)
        verdicts = np.array([vote.verdict for vote in votes])
        labels = np.column_stack([~verdicts, verdicts]).astype(float)
        self.classifier = softmax_regression(self.inputs(votes), labels, self.settings.penalty)
        return self

    def texts(self, votes: Sequence[ExplainedVote], raters: Sequence[str] = ()) -> Values:
        """Vectors of story and question, and 1 at the rater, in one row a vote."""
        parts = [self.embedded([getattr(vote, what) for vote in votes]) for what in ("text", "question")]
        return np.column_stack([*parts, _marks(votes, raters)])

    def inverse(self, votes: Sequence[ExplainedVote]) -> Values:
        """The inverse vectors of votes with explanations, one row of length 1 a vote."""
        vectors = self.embedded([vote.explanation or "" for vote in votes])
        rows = np.column_stack([vectors, self.settings.rater_weight * softmax(linear(vectors, self.tell), axis=1)])
        # an explanation of unknown words has no direction, and a lambda of 0 leaves it none
        return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.finfo(float).tiny))

    def inputs(self, votes: Sequence[ExplainedVote]) -> Values:
        """What the classifier reads: story, question, curiosity."""
        forward = linear(self.texts(votes, self.raters), self.forward)
        inverse = self.inverse(votes) if self.explanation == "held-out" else self.means.rows(votes)
        return np.column_stack([self.texts(votes), forward - inverse])

    def probabilities(self, votes: Sequence[ExplainedVote]) -> Values:
        """Probability of a yes for each vote; a rater that was not learned from counts as none of the raters."""
        check_readable(votes, self.explanation)
        return np.asarray(softmax(linear(self.inputs(votes), self.classifier), axis=1)[:, 1])

    def save(self, folder: Path) -> None:
        """Write the coefficients as arrays of numbers, which hold no text and no pickle."""
        parts = {"raters": self.tell, "forward": self.forward, "verdict": self.classifier}
        arrays: dict[str, Any] = {f"{name}_weights": part[:-1] for name, part in parts.items()}
        arrays |= {f"{name}_intercept": part[-1] for name, part in parts.items()}
        arrays["rater_means"] = np.array([*self.means.by_rater.values(), self.means.everybody])
        np.savez(folder / COEFFICIENTS, **arrays)


def _marks(votes: Sequence[ExplainedVote], raters: Sequence[str]) -> Values:
    """1 at each vote's rater, shape (votes, raters)."""
    return np.array([[float(vote.rater == rater) for rater in raters] for vote in votes]).reshape(len(votes), -1)
