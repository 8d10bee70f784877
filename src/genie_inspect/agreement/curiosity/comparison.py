"""What a curiosity model predicts of votes that it has not seen, beside what the same model gets by reading them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from genie_inspect.agreement.curiosity.folds import Folds, by_plots, by_rows
from genie_inspect.agreement.votes import VotesError
from genie_inspect.engines.curiosity.explanations import READING, Explanation, explained
from genie_inspect.engines.curiosity.votes import CuriosityModel, ExplainedVote, Values
from genie_inspect.statistics.bootstrap import BootstrapInterval
from genie_inspect.statistics.forecasts import AUC, LOG_LOSS, Draws, Forecasts

HeldOut = Literal["rows", "plots"]
Progress = Callable[[str, int, int], None]
DIVISIONS = {"rows": by_rows, "plots": by_plots}
FIGURES = ("pearson", "f1", LOG_LOSS, AUC, "kappa")


@dataclass(frozen=True, slots=True)
class Column:
    """One way of predicting every vote once, from folds that did not hold it."""

    explanation: Explanation | None
    """None: no model, but the share of yes on the test."""
    held_out: HeldOut
    figures: dict[str, BootstrapInterval]
    """Over all votes, with intervals by plot; AUC and Pearson compare votes of one fold alone."""
    unknown_raters: int
    """Votes by raters who gave no vote that was learned from."""


@dataclass(frozen=True, slots=True)
class CuriosityComparison:
    """A model's columns, and what they rest on."""

    reading: str
    """Whether any column reads the answer; it stands in everything that is printed or written."""
    model: str
    settings: dict[str, int | float]
    folds: int
    votes: int
    yes: int
    explained: int
    stories: int
    plots: int
    raters: int
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """How many folds are made, and how intervals are drawn."""

    folds: int = 5
    resamples: int = 1_000
    seed: int = 0


def compared(
    votes: Sequence[ExplainedVote],
    models: Mapping[Explanation, CuriosityModel],
    explanation: Explanation,
    plan: Plan,
    progress: Progress = lambda step, done, total: None,
) -> CuriosityComparison:
    """The figures without the explanation; with `held-out`, beside them what reading it gives, by rows and by plots.

    Args:
        votes: What is predicted.
        models: The model for each of the two readings.
        explanation: What is asked for.
        plan: Folds and draws.
        progress: Told after each fold.

    Raises:
        VotesError: If one rater gave all votes, or the folds cannot be made.
        UnfittableError: If explanations are missing.
        EngineFailedError: If a model fails.
    """
    raters = {vote.rater for vote in votes}
    if len(raters) < 2:
        raise VotesError(f"all votes are by rater {raters.pop()!r}, expected at least two raters")
    ways: list[tuple[Explanation, HeldOut]] = [("none", "plots")]
    if explanation == "held-out":
        ways = [("held-out", "rows"), ("held-out", "plots"), *ways]
    # faults are said before hours of training
    for reading, _ in ways:
        explained(votes, reading)
    divisions = {held_out: DIVISIONS[held_out](votes, plan.folds, plan.seed) for _, held_out in ways}
    columns = []
    for reading, held_out in ways:
        step = f"explanation={reading}, {held_out} held out"
        chances = np.full(len(votes), np.nan)
        for fold in range(plan.folds):
            is_out = divisions[held_out] == fold
            learned, out = _parted(votes, is_out)
            chances[is_out] = models[reading].fit(learned).probabilities(out)
            progress(step, fold + 1, plan.folds)
        columns.append(_column(votes, chances, reading, held_out, divisions[held_out], plan))
    columns.append(_column(votes, shares(votes, divisions["plots"]), None, "plots", divisions["plots"], plan))
    model = models[explanation]
    return CuriosityComparison(
        reading=READING[explanation],
        model=model.name,
        settings=model.settings_used(),
        folds=plan.folds,
        votes=len(votes),
        yes=sum(vote.verdict for vote in votes),
        explained=sum(vote.explanation is not None for vote in votes),
        stories=len({vote.story for vote in votes}),
        plots=len({vote.plot for vote in votes}),
        raters=len(raters),
        columns=tuple(columns),
    )


def shares(votes: Sequence[ExplainedVote], fold_of: Folds) -> Values:
    """For each vote the share of yes on its test among the votes of the other folds, as if there had been one of each.

    Without that one of each, a test that nobody passed would make a first yes infinitely surprising.
    """
    verdicts, tests = np.array([vote.verdict for vote in votes]), np.array([vote.test for vote in votes])
    chances = np.empty(len(votes))
    for place in range(len(votes)):
        like = verdicts[(tests == tests[place]) & (fold_of != fold_of[place])]
        chances[place] = (like.sum() + 1) / (len(like) + 2)
    return chances


def _parted(
    votes: Sequence[ExplainedVote], is_out: NDArray[np.bool_]
) -> tuple[list[ExplainedVote], list[ExplainedVote]]:
    learned = [vote for vote, out in zip(votes, is_out, strict=True) if not out]
    return learned, [vote for vote, out in zip(votes, is_out, strict=True) if out]


def _column(
    votes: Sequence[ExplainedVote],
    chances: Values,
    explanation: Explanation | None,
    held_out: HeldOut,
    fold_of: Folds,
    plan: Plan,
) -> Column:
    outcomes = np.array([float(vote.verdict) for vote in votes])
    plots, codes = np.unique([vote.plot for vote in votes], return_inverse=True)
    forecasts = Forecasts(chances, outcomes, codes, fold_of, fold_of)
    found = Draws.of(len(plots), plan.resamples, plan.seed).figures(forecasts, plan.folds)
    known = [{vote.rater for vote in _parted(votes, fold_of == fold)[0]} for fold in range(plan.folds)]
    unknown = sum(vote.rater not in known[fold] for vote, fold in zip(votes, fold_of, strict=True))
    return Column(explanation, held_out, {name: found[name] for name in FIGURES}, unknown)
