"""The judge: a score's verdict, calibrated by test, by a rater's leniency and by the rater's taste in tests."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, model_validator

from genie_inspect.agreement.machine_scores import JudgedStory
from genie_inspect.populations.schema import NonEmpty, Row
from genie_inspect.signature import digest

YES_NO = (0.0, 1.0)
LENIENCY, TASTE, TEST, SCORES = "leniency", "taste", "test", "scores"
"""Kinds of terms; each has one spread over raters, tests or scores."""
ALL = "all"
"""Stands for every rater, so that none may have it for an id."""
FEWEST_VOTES = 20
"""Of a rater with fewer nothing is foretold: little more than the average of all raters would come out."""

DECIMALS = 6  # of what is written of a fit; steps of a scale stay as they were voted
MOST = 1e12  # of a number in a folder
Finite = Annotated[float, Field(allow_inf_nan=False, ge=-MOST, le=MOST)]
Rounded = Annotated[Finite, AfterValidator(lambda value: round(value, DECIMALS))]
Deviation = Annotated[Rounded, Field(ge=0)]
Count = Annotated[int, Field(ge=0, le=MOST)]


def _rising(values: tuple[float, ...]) -> tuple[float, ...]:
    if any(left >= right for left, right in pairwise(values)):
        raise ValueError("expected numbers that rise")
    return values


class ScoreSource(Row):
    """Which number of which score the judge goes by."""

    name: NonEmpty
    """As people know it."""
    scorer: str = ""
    """Who gives it in a log; empty where it came from a file."""
    signature: str = ""
    """Of the score, without the letter of its version; empty where it came from a file."""
    key: str = ""
    """Of a value of the score; empty for what the score says of the test in question."""
    points: bool = False
    """Whether the points on a test count, and not that it passes."""

    def number(self, judged: JudgedStory, test: str) -> float:
        """The number for a test of a story; NaN where the score has none."""
        own = values_of(judged) if self.key else judged.points if self.points else judged.tests
        return own.get(self.key or test, math.nan)


def values_of(judged: JudgedStory) -> Mapping[str, float]:
    # a file has a score, or tests
    return judged.values or ({} if judged.tests else {"score": judged.score})


class ScoreColumn(ScoreSource):
    mean: Rounded
    spread: Annotated[Rounded, Field(gt=0)]
    """Standard deviation among the votes that it was fitted to."""
    slope: Rounded
    """Log-odds that one standard deviation adds."""


class RaterTerms(Row):
    votes: Count
    """That stand behind it."""
    leniency: Rounded
    """Log-odds that the rater adds on every test, above those of the average rater."""
    error: Deviation
    """Standard deviation of what is not known of the leniency; 0 where raters do not differ beyond chance."""
    taste: dict[str, Rounded] = Field(default_factory=dict)
    """By test, log-odds that the rater adds on it beside the leniency; a test without a vote of the rater is absent."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a rater would say of one test of a story, and why."""

    chances: tuple[float, ...]
    """Of at least each step of the scale but the lowest."""
    expected: float
    """The number that is to be expected; with yes and no the chance of a yes."""
    average: float
    """The same for the average rater."""
    scores: float
    """Log-odds that the scores add to those of the test."""
    leniency: float
    taste: float


class PersonalJudge(Row):
    """All that is needed to foretell verdicts: coefficients and counts, no vote and no word of anybody."""

    format: Literal[1] = 1
    scale: Annotated[tuple[Finite, ...], Field(min_length=2), AfterValidator(_rising)]
    """The steps of a vote; no and yes are 0 and 1."""
    thresholds: Annotated[tuple[Rounded, ...], Field(min_length=1), AfterValidator(_rising)]
    """Log-odds, of each step but the lowest."""
    tests: dict[str, Rounded]
    """By test, log-odds that it adds; one test without a name where votes are on whole stories."""
    columns: tuple[ScoreColumn, ...]
    raters: dict[NonEmpty, RaterTerms]
    variances: dict[NonEmpty, Deviation]
    """By kind of term; 0 where its terms do not differ beyond chance."""

    @model_validator(mode="after")
    def _whole(self) -> "PersonalJudge":
        if len(self.thresholds) != len(self.scale) - 1:
            raise ValueError(f"a scale of {len(self.scale)} steps has {len(self.thresholds)} thresholds")
        return self

    @property
    def digest(self) -> str:
        return digest(self.model_dump_json())

    @property
    def is_yes_or_no(self) -> bool:
        return self.scale == YES_NO

    def opinion(self, rater: str, test: str, numbers: Mapping[str, float]) -> Opinion | None:
        """What a rater would say of a test of a story; None where a number is missing."""
        given = [(column, numbers.get(column.name, math.nan)) for column in self.columns]
        if any(math.isnan(number) for _, number in given):
            return None
        terms = self.raters[rater]
        scores = math.fsum(column.slope * (number - column.mean) / column.spread for column, number in given)
        leniency, taste = terms.leniency, terms.taste.get(test, 0.0)
        base = self.tests[test] + scores
        chances = self._chances(base + leniency + taste)
        return Opinion(chances, self._mean(chances), self._mean(self._chances(base)), scores, leniency, taste)

    def leniency(self, rater: str) -> tuple[float, float]:
        terms = self.raters[rater]
        # the share of the error that each rater gets (Bonferroni)
        half = NormalDist().inv_cdf(1 - 0.025 / len(self.raters)) * terms.error
        return terms.leniency - half, terms.leniency + half

    def leaning(self, rater: str) -> str:
        """How a rater stands out from the average; empty where that cannot be told."""
        low, high = self.leniency(rater)
        if not self.raters[rater].error or low <= 0 <= high:
            return ""
        return "more lenient" if low > 0 else "harsher"

    def _chances(self, log_odds: float) -> tuple[float, ...]:
        # the hyperbolic tangent does not overflow where the exponential would
        return tuple((1 + math.tanh((log_odds - threshold) / 2)) / 2 for threshold in self.thresholds)

    def _mean(self, chances: tuple[float, ...]) -> float:
        steps = [above - below for below, above in pairwise(self.scale)]
        return self.scale[0] + math.fsum(step * chance for step, chance in zip(steps, chances, strict=True))


Number = Annotated[Rounded | None, BeforeValidator(lambda number: None if number != number else number)]

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
    """A figure with its 95% interval over plots; None where there is none, since a file holds no NaN."""

    model_config = ConfigDict(from_attributes=True)

    value: Number
    low: Number
    high: Number

    @property
    def is_below(self) -> bool:
        return self.high is not None and self.high < 0

    @property
    def is_above(self) -> bool:
        return self.low is not None and self.low > 0


class Tenth(Row):
    """What came true of the forecasts in a tenth of the scale."""

    votes: int
    mean: Rounded
    share: Rounded


class RaterFigures(Row):
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

    @model_validator(mode="after")
    def _has_its_gain(self) -> "HeldOut":
        if self.model not in self.gains:
            raise ValueError(f"there is no gain of the model {self.model!r}")
        return self

    @property
    def gain(self) -> Figure:
        return self.gains[self.model]

    @property
    def sentence(self) -> str:
        """Whether the judge foretells better than the grader alone, worse, or neither as far as can be told."""
        if self.plots < FEWEST_PLOTS:
            return (
                f"Cannot be told from the grader alone: {self.plots} plots are too few for an interval, expected "
                f"{FEWEST_PLOTS} or more."
            )
        gain, size = self.gain, "not defined"
        if gain.value is not None and gain.low is not None and gain.high is not None:
            # of a loss, less is better by as much
            sign = 1 if gain.is_above else -1
            low, high = sorted((sign * gain.low, sign * gain.high))
            size = f"{sign * gain.value:.4f} [{low:.4f}, {high:.4f}]"
        if gain.is_above:
            return (
                f"Worse than the grader alone by {size} in log loss a vote: these raters differ by less than it costs "
                "to learn how."
            )
        if self.gain.is_below:
            return f"Better than the grader alone by {size} in log loss a vote."
        return f"Cannot be told from the grader alone: better by {size} in log loss a vote."


def shown(figure: Figure | None, decimals: int = 3, sign: str = "") -> str:
    if figure is None or figure.value is None:
        return "not defined"
    value = f"{figure.value:{sign}.{decimals}f}"
    if figure.low is None or figure.high is None:
        return value
    return f"{value} [{figure.low:{sign}.{decimals}f}, {figure.high:{sign}.{decimals}f}]"


def shown_leniency(judge: PersonalJudge, rater: str) -> str:
    terms = judge.raters[rater]
    if not terms.error:
        return "as the average"
    low, high = judge.leniency(rater)
    return f"{terms.leniency:+.2f} [{low:+.2f}, {high:+.2f}]"


def beside_grader(gain: Figure) -> str:
    """How well a rater is foretold against the grader alone; empty where that cannot be told."""
    if not (gain.is_below or gain.is_above):
        return ""
    return f"foretold {'better' if gain.is_below else 'worse'} than by the grader alone"


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, [":--", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
