"""The judge: a score's verdict, calibrated by test, by a rater's leniency and by the rater's taste in tests.

`genie rater fit` writes a folder with the judge, its held-out figures, a card for people, and digests of them.
"""

import math
from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import NormalDist
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, model_validator

from genie_inspect.agreement.machine_scores import JudgedStory
from genie_inspect.errors import GenieError, UnknownChoiceError
from genie_inspect.files.json_lines import json_row
from genie_inspect.files.writing import LARGEST, check_file, new_folder, write_lines
from genie_inspect.populations.schema import NonEmpty, Row
from genie_inspect.populations.writing import plain, table
from genie_inspect.signature import digest, package_version

YES_NO = (0.0, 1.0)
# kinds of terms; each has one spread over raters, tests or scores
LENIENCY, TASTE, TEST, SCORES = "leniency", "taste", "test", "scores"
ALL = "all"  # stands for every rater, so that none may have it for an id
FEWEST_VOTES = 20  # of a rater with fewer nothing is foretold: little more than the average of all would come out
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

    name: NonEmpty  # as people know it
    scorer: str = ""  # who gives it in a log; empty where it came from a file
    signature: str = ""  # of the score, without the letter of its version; empty where it came from a file
    key: str = ""  # of a value of the score; empty for what the score says of the test in question
    points: bool = False  # whether the points on a test count, and not that it passes

    def number(self, judged: JudgedStory, test: str) -> float:
        """The number for a test of a story; NaN where the score has none."""
        own = values_of(judged) if self.key else judged.points if self.points else judged.tests
        return own.get(self.key or test, math.nan)


def values_of(judged: JudgedStory) -> Mapping[str, float]:
    # a file has a score, or tests
    return judged.values or ({} if judged.tests else {"score": judged.score})


class ScoreColumn(ScoreSource):
    mean: Rounded
    spread: Annotated[Rounded, Field(gt=0)]  # standard deviation among the votes that it was fitted to
    slope: Rounded  # log-odds that one standard deviation adds


class RaterTerms(Row):
    votes: Count  # that stand behind it
    leniency: Rounded  # log-odds that the rater adds on every test, above those of the average rater
    error: Deviation  # standard deviation of what is not known of the leniency; 0 if all raters are alike
    # by test, log-odds that the rater adds on it beside the leniency; a test without a vote of the rater is absent
    taste: dict[str, Rounded] = Field(default_factory=dict)


class PersonalJudge(Row):
    """All that is needed to foretell verdicts: coefficients and counts, no vote and no word of anybody."""

    format: Literal[1] = 1
    scale: Annotated[tuple[Finite, ...], Field(min_length=2), AfterValidator(_rising)]  # steps of a vote; no, yes: 0, 1
    # log-odds, of each step but the lowest
    thresholds: Annotated[tuple[Rounded, ...], Field(min_length=1), AfterValidator(_rising)]
    tests: dict[str, Rounded]  # log-odds that each adds; one without a name where votes are on whole stories
    columns: tuple[ScoreColumn, ...]
    raters: dict[NonEmpty, RaterTerms]
    variances: dict[NonEmpty, Deviation]  # by kind of term; 0 where its terms do not differ beyond chance

    @model_validator(mode="after")
    def _whole(self) -> "PersonalJudge":
        if len(self.thresholds) != len(self.scale) - 1:
            raise ValueError(f"a scale of {len(self.scale)} steps has {len(self.thresholds)} thresholds")
        return self

    @property
    def digest(self) -> str:
        return digest(self.model_dump_json())

    def opinion(self, rater: str, test: str, numbers: Mapping[str, float]) -> dict[str, float] | None:
        """What a rater would say of a test of a story, and why; None where a number is missing.

        `expected` is the number that is to be expected, with yes and no the chance of a yes, `average` the same for the
        average rater; `scores`, `leniency` and `taste` are the log-odds that each adds to those of the test.
        """
        given = [(column, numbers.get(column.name, math.nan)) for column in self.columns]
        if any(math.isnan(number) for _, number in given):
            return None
        terms = self.raters[rater]
        scores = math.fsum(column.slope * (number - column.mean) / column.spread for column, number in given)
        leniency, taste = terms.leniency, terms.taste.get(test, 0.0)
        base = self.tests[test] + scores
        expected, average = self._expected(base + leniency + taste), self._expected(base)
        return {"expected": expected, "average": average, "scores": scores, "leniency": leniency, "taste": taste}

    def _expected(self, log_odds: float) -> float:
        # the hyperbolic tangent does not overflow where the exponential would
        chances = [(1 + math.tanh((log_odds - threshold) / 2)) / 2 for threshold in self.thresholds]
        steps = [above - below for below, above in pairwise(self.scale)]
        return self.scale[0] + math.fsum(step * chance for step, chance in zip(steps, chances, strict=True))

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
# with fewer an interval over plots is too narrow: raters who do not differ seem to in 5 of 100 cases with 6 plots
FEWEST_PLOTS = 8


class Figure(Row):
    """A figure with its 95% interval over plots; None where there is none, since a file has no NaN."""

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
    votes: int
    mean: Rounded
    share: Rounded


class RaterFigures(Row):
    votes: int
    stories: int
    gain: Figure  # as in `HeldOut.gains`, of this rater's votes; its interval has an error of 5% over all raters


class HeldOut(Row):
    """What was foretold of plots that were held out whole."""

    votes: int
    stories: int
    plots: int
    folds: int
    model: NonEmpty  # which of the models the judge is
    models: dict[NonEmpty, dict[NonEmpty, Figure]]  # by model and figure
    gains: dict[NonEmpty, Figure]  # by model, mean log loss less that of the grader alone; below 0 = better
    calibration: tuple[Tenth, ...]  # of the judge's model
    raters: dict[NonEmpty, RaterFigures]
    left_out: dict[NonEmpty, int]  # votes that were not used, by reason

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
        if gain.is_above:
            return (
                f"Worse than the grader alone by {shown(gain, 4)} in log loss a vote: these raters differ by less than "
                "it costs to learn how."
            )
        if gain.value is not None and gain.low is not None and gain.high is not None:
            # of a loss, less is better by as much
            size = f"{-gain.value:.4f} [{-gain.high:.4f}, {-gain.low:.4f}]"
        better = "Better than the grader alone" if gain.is_below else "Cannot be told from the grader alone: better"
        return f"{better} by {size} in log loss a vote."


def shown(figure: Figure | None, decimals: int = 3, sign: str = "") -> str:
    if figure is None or figure.value is None:
        return "not defined"
    form = f"{sign}.{decimals}f"
    ends = "" if figure.low is None or figure.high is None else f" [{figure.low:{form}}, {figure.high:{form}}]"
    return f"{figure.value:{form}}{ends}"


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
    return f"predicted {'better' if gain.is_below else 'worse'} than by the grader alone"


markdown_table = partial(table, figures="--:")
TEXT = """\
# A judge of one's own

{sentence}

Predicts what each of {raters} raters would say of a story, from scores that it has: {columns}. Fitted with
genie-inspect to {votes} votes on {stories} stories of {plots} plots; its identity is `{identity}`. The folder has
coefficients and counts, but no votes and no texts.

## Held out

Plots were held out whole, in {folds} folds; strengths of shrinking were chosen without them. AUC, kappa and Pearson's r
compare votes that were held out together. Intervals: 95%, by bootstrap over plots.

{figures}

## Calibration

{calibration}

## Raters

Leniency: log-odds of a yes above those of the average rater, shrunk towards 0. Gain: log loss a vote less that of the
grader alone, on plots held out; below 0 is better. Intervals: 95%, for all raters together. Of a rater with fewer than
{fewest} votes nothing is predicted.

{raters_table}

## Use

```sh
inspect score LOG --scorer genie_inspect/personal -S rater=FOLDER#ID --action append
```
"""
RowT = TypeVar("RowT", bound=Row)
MANIFEST, JUDGE, HELD_OUT, CARD = "manifest.json", "judge.json", "figures.json", "README.md"


class PersonalError(GenieError):
    """A judge of one's own cannot be used: the message names folder and file and what would work."""


class Manifest(Row):
    format: Literal[1] = 1
    kind: Literal["personal judge"] = "personal judge"
    made_by: NonEmpty  # version of this package
    digests: dict[NonEmpty, NonEmpty]  # by file


def write_folder(judge: PersonalJudge, figures: HeldOut, output: Path) -> None:
    with new_folder(output) as making:
        _write(judge, figures, making)


def _write(judge: PersonalJudge, figures: HeldOut, folder: Path) -> None:
    names = [name for name in FIGURES if any(name in own for own in figures.models.values())]
    rows = ([plain(name), *(shown(own.get(figure)) for figure in names)] for name, own in figures.models.items())
    tenths = ([f"{own.mean:.3f}", f"{own.share:.3f}", str(own.votes)] for own in figures.calibration)
    raters = (
        [plain(name), str(terms.votes), shown_leniency(judge, name), shown(figures.raters[name].gain, sign="+")]
        for name, terms in judge.raters.items()
    )
    contents = {name: f"{row.model_dump_json(indent=1)}\n" for name, row in ((JUDGE, judge), (HELD_OUT, figures))}
    contents[CARD] = TEXT.format(
        sentence=figures.sentence,
        raters=len(judge.raters),
        columns=", ".join(plain(column.name) for column in judge.columns),
        votes=figures.votes,
        stories=figures.stories,
        plots=figures.plots,
        identity=judge.digest,
        folds=figures.folds,
        figures=markdown_table(["", *(FIGURES[name] for name in names)], rows),
        calibration=markdown_table(["predicted, mean", "came true", "votes"], tenths),
        fewest=FEWEST_VOTES,
        raters_table=markdown_table(["rater", "votes", "leniency", "gain"], raters),
    )
    manifest = Manifest(made_by=package_version(), digests={name: digest(text) for name, text in contents.items()})
    contents[MANIFEST] = f"{manifest.model_dump_json(indent=1)}\n"
    for name, text in contents.items():
        write_lines(folder / name, [text])


def read_judge(folder: Path) -> PersonalJudge:
    return _read(folder, JUDGE, PersonalJudge)


def read_folder(folder: Path, rater: str | None) -> tuple[PersonalJudge, HeldOut]:
    """The judge, which has this rater where one is named, and the figures of all of its raters."""
    judge = read_judge(folder)
    if rater is not None and rater not in judge.raters:
        raise UnknownChoiceError("rater", rater, f"one of those in {folder}: {', '.join(judge.raters) or 'none'}")
    figures = _read(folder, HELD_OUT, HeldOut)
    if missing := sorted(judge.raters.keys() - figures.raters.keys()):
        raise PersonalError(
            f"{folder / HELD_OUT} has no figures of rater {missing[0]!r}. Fit it again with genie rater fit"
        )
    return judge, figures


def forget(folder: Path, rater: str) -> int:
    """Take all that is of one rater alone out of a folder; returns the votes that it rested on."""
    judge, figures = read_folder(folder, rater)
    # what a link points at stands elsewhere, and is not ours to write
    if links := [name for name in (JUDGE, HELD_OUT, CARD, MANIFEST) if (folder / name).is_symlink()]:
        raise PersonalError(f"{folder / links[0]} is a link, expected a file by genie rater fit")
    votes = judge.raters.pop(rater).votes
    figures.raters.pop(rater)
    _write(judge, figures, folder)
    return votes


def _read(folder: Path, name: str, kind: type[RowT]) -> RowT:
    path = folder / name
    digests = {} if name == MANIFEST else _read(folder, MANIFEST, Manifest).digests
    try:
        check_file(path, LARGEST)
        content = path.read_bytes()
    except OSError as error:
        raise PersonalError(
            f"{path} cannot be read: {error.strerror or error}, expected a folder by genie rater fit"
        ) from error
    if name != MANIFEST and digest(content.decode("utf-8", "replace")) != digests.get(name):
        raise PersonalError(f"{path} is not what was written, by its digest. Fit it again with genie rater fit")
    return json_row(content, kind, str(path), PersonalError)
