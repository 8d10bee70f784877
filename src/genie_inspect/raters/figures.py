"""What a judge of one's own foretold of stories that it had not seen, beside what is simpler."""

import math
from typing import Annotated

from pydantic import Field

from genie_inspect.populations.schema import NonEmpty, Row
from genie_inspect.statistics.bootstrap import BootstrapInterval

Number = Annotated[float, Field(allow_inf_nan=False)] | None

MAJORITY, SOURCE, RATER, GRADER = "majority by test", "source alone", "rater, no grader", "grader"
WITH_LENIENCY, WITH_TASTE = "grader + leniency", "grader + leniency + taste"
FIGURES = {
    "log_loss": "log loss",
    "brier": "Brier score",
    "auc": "AUC, all raters",
    "auc_within": "AUC, within a rater",
    "kappa": "Cohen's kappa",
    "f1": "F1",
    "precision": "precision",
    "recall": "recall",
    "pearson": "Pearson's r",
}
"""Figures, by the names that people know; of the first two less is better."""
FEWEST_PLOTS = 8
"""With fewer an interval over plots is too narrow: raters who do not differ seem to in 5 of 100 cases with 6 plots."""


class Figure(Row):
    """A figure with its 95% interval over plots; None where there is none."""

    value: Number
    low: Number
    high: Number

    @classmethod
    def of(cls, interval: BootstrapInterval) -> "Figure":
        """The same, as a file can hold it."""
        numbers = (interval.value, interval.low, interval.high)
        value, low, high = (None if math.isnan(number) else round(number, 6) for number in numbers)
        return cls(value=value, low=low, high=high)

    @property
    def is_below(self) -> bool:
        """Whether it is below 0 with all of its interval."""
        return self.high is not None and self.high < 0

    @property
    def is_above(self) -> bool:
        """Whether it is above 0 with all of its interval."""
        return self.low is not None and self.low > 0


class Tenth(Row):
    """What came true of the forecasts in a tenth of the scale."""

    votes: int
    mean: float
    share: float


class RaterFigures(Row):
    """How well one rater was foretold."""

    votes: int
    stories: int
    gain: Figure
    """Mean log loss less that of the grader alone, of this rater's votes; below 0 = better.

    Its interval has an error of 5% over all raters together.
    """


class HeldOut(Row):
    """What was foretold of plots that were held out whole."""

    votes: int
    stories: int
    plots: int
    folds: int
    model: NonEmpty
    """Which of the models the judge is."""
    models: dict[NonEmpty, dict[NonEmpty, Figure]]
    """By model and figure."""
    gains: dict[NonEmpty, Figure]
    """By model, mean log loss less that of the grader alone; below 0 = better."""
    calibration: tuple[Tenth, ...]
    """Of the judge's model."""
    raters: dict[NonEmpty, RaterFigures]
    left_out: dict[NonEmpty, int]
    """Votes that were not used, by reason."""

    @property
    def gain(self) -> Figure:
        """That of the judge's model."""
        return self.gains[self.model]

    @property
    def sentence(self) -> str:
        """Whether the judge foretells better than the grader alone, worse, or neither as far as can be told."""
        if self.plots < FEWEST_PLOTS:
            return (
                f"Cannot be told from the grader alone: {self.plots} plots are too few for an interval, expected "
                f"{FEWEST_PLOTS} or more."
            )
        if self.gain.is_above:
            return (
                f"Worse than the grader alone by {_size(self.gain)} in log loss a vote: these raters differ by less "
                "than it costs to learn how."
            )
        size = _size(self.gain, -1)
        if self.gain.is_below:
            return f"Better than the grader alone by {size} in log loss a vote."
        return f"Cannot be told from the grader alone: better by {size} in log loss a vote."

    def without(self, rater: str) -> "HeldOut":
        """The same, with nothing of one rater alone."""
        return self.model_copy(update={"raters": {name: own for name, own in self.raters.items() if name != rater}})


def _size(gain: Figure, sign: int = 1) -> str:
    """How much more the loss is, or with a sign of -1 less, with its interval."""
    if gain.value is None or gain.low is None or gain.high is None:
        return "not defined"
    low, high = sorted((sign * gain.low, sign * gain.high))
    return f"{sign * gain.value:.4f} [{low:.4f}, {high:.4f}]"
