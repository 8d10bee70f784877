"""A judge of one's own from votes and scores: its coefficients, and what it foretold of plots held out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from genie_inspect.agreement.figures import DOTS, INK
from genie_inspect.agreement.votes import VotesError
from genie_inspect.statistics.forecasts import LOG_LOSS, Forecasts, drawn_clusters, figures_of, mean_difference
from genie_inspect.statistics.ordinal import ShrunkenModel, shrunken_ordinal
from genie_inspect.studies.personal.ballots import Ballots, Factor
from genie_inspect.studies.personal.judge import (
    FEWEST_PLOTS,
    FIGURES,
    GRADER,
    LENIENCY,
    MAJORITY,
    RATER,
    SCORES,
    SOURCE,
    TASTE,
    TEST,
    WITH_LENIENCY,
    WITH_TASTE,
    Figure,
    HeldOut,
    PersonalJudge,
    RaterFigures,
    RaterTerms,
    ScoreColumn,
    Tenth,
)

if TYPE_CHECKING:
    import altair


Values = NDArray[np.float64]
Codes = NDArray[np.int64]
Rows = NDArray[np.intp]

MOST_WITH_TASTE = 1_000  # raters

TERMS: Mapping[str, tuple[str, ...]] = {
    RATER: (TEST, LENIENCY),
    GRADER: (TEST, SCORES),
    WITH_LENIENCY: (TEST, SCORES, LENIENCY),
    WITH_TASTE: (TEST, SCORES, LENIENCY, TASTE),
}
"""Kinds of terms of each fitted model."""


STORY = "story"
"""What no grader sees of a story: a kind of term that only a world is fitted with."""


@dataclass(frozen=True, slots=True)
class Fitted:
    terms: tuple[str, ...]
    means: Values
    """Of the scores."""
    spreads: Values
    model: ShrunkenModel

    def chances(self, ballots: Ballots) -> Values:
        """Chances of at least each step but the lowest, of votes, shape (N, steps - 1)."""
        groups = {name: codes for name, (codes, _) in _groupings(ballots, self.terms).items()}
        columns = {SCORES: (ballots.scores - self.means) / self.spreads} if SCORES in self.terms else {}
        return self.model.chances(groups, columns)


def fitted(ballots: Ballots, terms: tuple[str, ...]) -> Fitted:
    means, spreads = ballots.scores.mean(axis=0), ballots.scores.std(axis=0)
    # a number that never varies says nothing
    spreads[spreads < 1e-9] = 1.0
    columns = {SCORES: (ballots.scores - means) / spreads} if SCORES in terms else {}
    model = shrunken_ordinal(ballots.levels, len(ballots.scale), _groupings(ballots, terms), columns)
    return Fitted(terms, means, spreads, model)


def _groupings(ballots: Ballots, terms: tuple[str, ...]) -> dict[str, tuple[Codes, int]]:
    """Of each vote its group, and how many groups there are."""
    tests, raters = ballots.tests, ballots.raters
    every = {
        TEST: (tests.codes, len(tests)),
        LENIENCY: (raters.codes, len(raters)),
        TASTE: (raters.codes * len(tests) + tests.codes, len(raters) * len(tests)),
        STORY: (ballots.stories.codes, len(ballots.stories)),
    }
    return {name: every[name] for name in terms if name in every}


def shares(ballots: Ballots, factor: Factor, learnt: Rows, wanted: Rows) -> Values:
    """For votes the shares of other votes of their group that reach each step, shape (wanted, steps - 1)."""
    steps = len(ballots.scale) - 1
    reached = ballots.levels[:, None] > np.arange(steps)
    own, size = factor.codes[learnt], len(factor)
    counts = np.bincount(own, minlength=size)
    # half a vote for and against: a group without a vote is known as little
    sums = np.column_stack([np.bincount(own, reached[learnt, step], size) for step in range(steps)])
    return np.asarray(((sums + 0.5) / (counts[:, None] + 1))[factor.codes[wanted]])


def held_out(ballots: Ballots, name: str, learnt: Rows, wanted: Rows) -> Values:
    if name in (MAJORITY, SOURCE):
        factor = ballots.tests if name == MAJORITY else ballots.sources
        if factor is None:
            raise ValueError("no source is named, expected one of each story")
        return shares(ballots, factor, learnt, wanted)
    return fitted(ballots.at(learnt), TERMS[name]).chances(ballots.at(wanted))


def judge_model(ballots: Ballots, *, taste: bool) -> str:
    """The model of a judge: with taste where that is wanted and can be told from leniency."""
    # of thousands of raters, each with a few votes a test, taste would take gigabytes and find nothing
    has_taste = len(ballots.tests) > 1 and len(ballots.raters) <= MOST_WITH_TASTE
    return WITH_TASTE if taste and has_taste else WITH_LENIENCY


def models_of(ballots: Ballots) -> list[str]:
    fitted_ones = [name for name in TERMS if name != WITH_TASTE or judge_model(ballots, taste=True) == WITH_TASTE]
    return [MAJORITY, *([SOURCE] if ballots.sources else []), *fitted_ones]


EACH = 20  # plots, up to which each is held out by itself
FOLDS = 10
OF_VERDICTS = ("f1", "precision", "recall")
"""Figures that are of yes and no alone."""
Told = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Foretold:
    """What each model foretold of every vote, its plot held out."""

    ballots: Ballots
    folds: Codes
    """Of each vote the fold that it was held out in, from 0."""
    chances: Mapping[str, Values]
    """By model, shape (votes, steps - 1)."""

    def forecasts(self, model: str) -> Forecasts:
        """As events: a vote is one for each step, whether it is reached. Those of one fold and step are compared."""
        ballots, steps = self.ballots, len(self.ballots.scale) - 1
        step = np.tile(np.arange(steps), len(ballots))
        by_rater = self.folds * len(ballots.raters) + ballots.raters.codes
        return Forecasts(
            self.chances[model].ravel(),
            (np.repeat(ballots.levels, steps) > step).astype(float),
            np.repeat(ballots.plots.codes, steps),
            np.repeat(self.folds, steps) * steps + step,
            np.repeat(by_rater, steps) * steps + step,
        )

    def losses(self, model: str) -> Values:
        return np.asarray(self.forecasts(model).log_losses.reshape(len(self.ballots), -1).sum(axis=1))


def folds_of(plots: Codes, count: int, seed: int) -> Codes:
    """The fold of each row: plots whole, each by itself where they are few."""
    if count < 2:
        raise VotesError("all votes are on stories of one plot, expected two plots or more: none can be held out")
    if count <= EACH:
        return plots
    fold_of = np.empty(count, dtype=np.int64)
    fold_of[np.random.default_rng(seed).permutation(count)] = np.arange(count) % FOLDS
    return np.asarray(fold_of[plots])


def foretell(
    ballots: Ballots, seed: int = 0, models: list[str] | None = None, told: Told = lambda *_: None
) -> Foretold:
    folds = folds_of(ballots.plots.codes, len(ballots.plots), seed)
    count, names = int(folds.max()) + 1, models or models_of(ballots)
    chances = {name: np.empty((len(ballots), len(ballots.scale) - 1)) for name in names}
    for fold in range(count):
        wanted, learnt = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        for name in names:
            chances[name][wanted] = held_out(ballots, name, learnt, wanted)
        told("holding plots out", fold + 1, count)
    return Foretold(ballots, folds, chances)


def figures(foretold: Foretold, model: str, resamples: int = 1_000, seed: int = 0) -> HeldOut:
    ballots = foretold.ballots
    draws = drawn_clusters(len(ballots.plots), resamples, seed)
    wanted = [name for name in FIGURES if len(ballots.scale) == 2 or name not in OF_VERDICTS]
    folds = int(foretold.folds.max()) + 1
    found = {}
    for name in foretold.chances:
        intervals = figures_of(foretold.forecasts(name), draws, folds)
        found[name] = {figure: Figure.model_validate(intervals[figure]) for figure in wanted}
    losses = {name: foretold.losses(name) for name in foretold.chances}
    names = sorted(found, key=lambda name: found[name][LOG_LOSS].value or 0.0)
    return HeldOut(
        votes=len(ballots),
        stories=len(ballots.stories),
        plots=len(ballots.plots),
        folds=folds,
        model=model,
        models={name: found[name] for name in names},
        gains={name: _gain(losses[name] - losses[GRADER], ballots.plots.codes, draws) for name in names},
        calibration=tuple(
            Tenth(votes=votes, mean=mean, share=share) for votes, mean, share in foretold.forecasts(model).calibration()
        ),
        raters=_holding_out_raters(foretold, losses[model] - losses[GRADER], draws),
        left_out=dict(ballots.left_out),
    )


def _gain(deltas: Values, plots: Codes, draws: Values, confidence: float = 0.95) -> Figure:
    count = draws.shape[1]
    sums, counts = (np.bincount(plots, own, count).astype(float) for own in (deltas, np.ones(len(plots))))
    return Figure.model_validate(mean_difference(draws, sums, counts, confidence))


def _holding_out_raters(foretold: Foretold, deltas: Values, draws: Values) -> dict[str, RaterFigures]:
    ballots = foretold.ballots
    order = np.argsort(ballots.raters.codes, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(ballots.raters.codes))[:-1])
    # one plot drawn again and again has no spread, which would read as certainty
    has_interval = [len(np.unique(ballots.plots.codes[rows])) >= FEWEST_PLOTS for rows in parts]
    # an error of 5% over all of them together (Bonferroni)
    confidence = 1 - 0.05 / max(1, sum(has_interval))
    gains = [_gain(deltas[rows], ballots.plots.codes[rows], draws, confidence) for rows in parts]
    return {
        name: RaterFigures(
            votes=len(rows),
            stories=len(np.unique(ballots.stories.codes[rows])),
            gain=gain if certain else Figure(value=gain.value, low=None, high=None),
        )
        for name, rows, gain, certain in zip(ballots.raters.names, parts, gains, has_interval, strict=True)
    }


def fit_judge(
    ballots: Ballots, *, taste: bool = True, resamples: int = 1_000, seed: int = 0, told: Told = lambda *_: None
) -> tuple[PersonalJudge, HeldOut]:
    model = judge_model(ballots, taste=taste)
    found = foretell(ballots, seed, told=told)
    return judge_of(ballots, fitted(ballots, TERMS[model])), figures(found, model, resamples, seed)


def judge_of(ballots: Ballots, fit: Fitted) -> PersonalJudge:
    tests, raters, model = ballots.tests, ballots.raters, fit.model
    cells = np.bincount(raters.codes * len(tests) + tests.codes, minlength=len(raters) * len(tests))
    votes = cells.reshape(len(raters), len(tests))
    tastes = model.terms.get(TASTE, np.zeros(votes.size)).reshape(votes.shape)
    # a test without a vote of the rater has no taste
    tastes = np.where(votes, tastes, 0)
    return PersonalJudge(
        scale=ballots.scale,
        thresholds=tuple(model.thresholds),
        tests=dict(zip(tests.names, model.terms[TEST], strict=True)),
        columns=tuple(
            ScoreColumn(**dict(source), mean=mean, spread=spread, slope=slope)
            for source, mean, spread, slope in zip(
                ballots.columns, fit.means, fit.spreads, model.terms[SCORES], strict=True
            )
        ),
        raters={
            name: RaterTerms(
                votes=votes[rater].sum(),
                leniency=model.terms[LENIENCY][rater],
                error=model.errors[LENIENCY][rater],
                taste={test: taste for test, taste in zip(tests.names, tastes[rater], strict=True) if taste},
            )
            for rater, name in enumerate(raters.names)
        },
        variances=model.variances,
    )


def calibration_chart(figures: HeldOut) -> "altair.LayerChart | altair.FacetChart":
    """What came true of the forecasts in each tenth of the scale; on the line they are what comes true."""
    import altair

    rows = [{"foretold": own.mean, "true": own.share, "votes": own.votes} for own in figures.calibration]
    whole = altair.Scale(domain=[0, 1])
    ends = altair.Chart(altair.InlineData(values=[{"end": 0}, {"end": 1}])).mark_line(color=INK, strokeDash=[4, 4])
    dots = altair.Chart(altair.InlineData(values=rows)).mark_circle(color=DOTS, opacity=0.8)
    return altair.layer(
        ends.encode(
            x=altair.X("end:Q", title="foretold on plots held out", scale=whole),
            y=altair.Y("end:Q", title="came true", scale=whole),
        ),
        dots.encode(
            x="foretold:Q",
            y="true:Q",
            size=altair.Size("votes:Q", title="votes", scale=altair.Scale(range=[30, 400])),
        ),
    ).properties(width=300, height=300, title=altair.TitleParams(figures.model, anchor="start"))
