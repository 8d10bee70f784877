"""What each model foretells of plots that it has not seen, whole plots held out and never rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from genie_inspect.agreement.personal.ballots import Ballots
from genie_inspect.agreement.personal.models import held_out, models_of
from genie_inspect.agreement.votes import VotesError
from genie_inspect.raters.figures import FEWEST_PLOTS, FIGURES, GRADER, Figure, HeldOut, RaterFigures, Tenth
from genie_inspect.statistics.forecasts import LOG_LOSS, Draws, Forecasts

Values = NDArray[np.float64]
Codes = NDArray[np.int64]

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
        """The log loss of each vote, over all steps."""
        return np.asarray(self.forecasts(model).log_losses.reshape(len(self.ballots), -1).sum(axis=1))


def folds_of(plots: Codes, count: int, seed: int) -> Codes:
    """The fold of each row: plots whole, each by itself where they are few.

    Raises:
        VotesError: If there is one plot alone.
    """
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
    """What models foretell of each vote from those on other plots.

    Args:
        ballots: Votes.
        seed: Which plots are held out together, where they are many.
        models: All that can be made unless given.
        told: Called with step, fits done and fits in all.

    Raises:
        VotesError: If no plot can be held out.
        UnfittableError: If the votes do not determine a model.
    """
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
    """How well each model foretold, beside the grader alone, the best first.

    Args:
        foretold: What they foretold.
        model: Which of them the judge is.
        resamples: Of the bootstrap over plots.
        seed: Of the bootstrap.
    """
    ballots = foretold.ballots
    draws = Draws.of(len(ballots.plots), resamples, seed)
    wanted = [name for name in FIGURES if len(ballots.scale) == 2 or name not in OF_VERDICTS]
    folds = int(foretold.folds.max()) + 1
    found = {}
    for name in foretold.chances:
        intervals = draws.figures(foretold.forecasts(name), folds)
        found[name] = {figure: Figure.of(intervals[figure]) for figure in wanted}
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
            Tenth(votes=own.forecasts, mean=round(own.mean, 6), share=round(own.share, 6))
            for own in foretold.forecasts(model).calibration()
        ),
        raters=_raters(foretold, losses[model] - losses[GRADER], draws),
        left_out=dict(ballots.left_out),
    )


def gain_of(foretold: Foretold, model: str, resamples: int = 1_000, seed: int = 0) -> Figure:
    """Mean log loss of a model less that of the grader alone, with its interval over plots."""
    draws = Draws.of(len(foretold.ballots.plots), resamples, seed)
    return _gain(foretold.losses(model) - foretold.losses(GRADER), foretold.ballots.plots.codes, draws)


def _gain(deltas: Values, plots: Codes, draws: Draws, confidence: float = 0.95) -> Figure:
    count = draws.counts.shape[1]
    sums, counts = (np.bincount(plots, own, count).astype(float) for own in (deltas, np.ones(len(plots))))
    return Figure.of(draws.difference(sums, counts, confidence))


def _raters(foretold: Foretold, deltas: Values, draws: Draws) -> dict[str, RaterFigures]:
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
