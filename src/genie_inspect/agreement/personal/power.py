"""How many votes a rater needs: the gain over the grader alone, by the number of stories that were learnt from."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from genie_inspect.agreement.personal.ballots import Ballots
from genie_inspect.agreement.personal.holding_out import Told
from genie_inspect.agreement.personal.models import TERMS, fitted, foretold, judge_model
from genie_inspect.agreement.personal.simulation import World, simulated, world_of
from genie_inspect.agreement.votes import VotesError
from genie_inspect.errors import UnfittableError
from genie_inspect.raters.figures import GRADER
from genie_inspect.statistics.bootstrap import percentile_interval
from genie_inspect.statistics.forecasts import CLOSEST

STEPS = 6  # numbers of plots on the curve
DOUBLINGS = (1, 2, 4, 8)
UNSEEN = 60  # stories on which a simulated judge is tried
SURE = 0.95
LEAST = 0.01
"""Of the grader's log loss, what a draw has to gain to count as better.

Of 200 simulations of raters who do not differ 29% gained something, and none 1%.
"""


@dataclass(frozen=True, slots=True)
class Point:
    """One number of stories."""

    stories: int
    votes: float
    """A rater, on average over raters and draws."""
    gain: float
    """Mean log loss a vote less that of the grader alone, on other stories; below 0 = better."""
    low: float
    """Of the middle 95% of the draws."""
    high: float
    better: float
    """Share of the draws that gain at least `LEAST` of the grader's log loss."""
    draws: int


@dataclass(frozen=True, slots=True)
class Curve:
    """The gain by the number of stories."""

    title: str
    points: tuple[Point, ...]

    @property
    def sentence(self) -> str:
        """From how many stories on raters are foretold better than by the grader alone."""
        for index, point in enumerate(self.points):
            if all(later.better >= SURE for later in self.points[index:]):
                return f"{_reached(point)} in {SURE:.0%} of the draws or more."
        last = self.points[-1]
        return f"{_reached(last)} in {last.better:.0%} of the draws, not yet in {SURE:.0%}."


def _reached(point: Point) -> str:
    votes = f"{point.stories} stories ({point.votes:.0f} votes a rater)"
    return (
        f"Learnt from {votes}, votes are foretold better than by the grader alone ({LEAST:.0%} of its log loss or more)"
    )


def from_data(
    ballots: Ballots,
    sizes: Sequence[int] = (),
    *,
    repeats: int = 40,
    taste: bool = True,
    seed: int = 0,
    told: Told = lambda *_: None,
) -> Curve:
    """The curve from the votes themselves: some plots are learnt from, all others foretold.

    Args:
        ballots: Votes.
        sizes: Numbers of stories, each rounded to whole plots; some between two plots and all but two unless given.
        repeats: How often plots are drawn for each.
        taste: Whether raters may differ by test too.
        seed: Of the draws.
        told: Called with step, draws done and draws in all.

    Raises:
        VotesError: If there are too few plots, or a number asks for more of them than can be learnt from.
    """
    plots = len(ballots.plots)
    counts = _plots_to_learn_from(plots, len(ballots.stories), sizes)

    def drawn(count: int, draw: int) -> tuple[Ballots, Ballots]:
        generator = np.random.default_rng([seed, count, draw])
        learnt = np.isin(ballots.plots.codes, generator.permutation(plots)[:count])
        return ballots.at(np.flatnonzero(learnt)), ballots.at(np.flatnonzero(~learnt))

    title = (
        f"Learning curve from {len(ballots):,} votes on {len(ballots.stories)} stories [middle 95% of {repeats} draws]"
    )
    return Curve(title, _points(drawn, sorted(set(counts)), repeats, taste, told))


def from_simulation(
    ballots: Ballots,
    sizes: Sequence[int] = (),
    *,
    repeats: int = 40,
    taste: bool = True,
    seed: int = 0,
    told: Told = lambda *_: None,
) -> Curve:
    """The curve of votes that are drawn from a model of these: as many tests and raters, other stories and raters.

    Args:
        ballots: Votes.
        sizes: Numbers of stories; those that there are and some multiples unless given.
        repeats: How many worlds are drawn for each.
        taste: Whether raters may differ by test too.
        seed: Of the draws.
        told: Called with step, draws done and draws in all.

    Raises:
        UnfittableError: If the votes do not determine the model.
    """
    world = world_of(ballots)

    def drawn(count: int, draw: int) -> tuple[Ballots, Ballots]:
        both = simulated(replace(world, stories=count + UNSEEN), seed * 1_000_003 + draw).ballots
        learnt = both.stories.codes < count
        return both.at(np.flatnonzero(learnt)), both.at(np.flatnonzero(~learnt))

    counts = sorted(set(sizes)) or [len(ballots.stories) * times for times in DOUBLINGS]
    return Curve(f"Learning curve, simulated: {_told_world(world)}", _points(drawn, counts, repeats, taste, told))


def _told_world(world: World) -> str:
    return (
        f"{world.tests} tests, {world.raters_a_story} of {world.raters} raters a story, leniency {world.leniency:.2f}, "
        f"taste {world.taste:.2f}"
    )


def _points(
    drawn: Callable[[int, int], tuple[Ballots, Ballots]],
    counts: Sequence[int],
    repeats: int,
    taste: bool,
    told: Told,
) -> tuple[Point, ...]:
    points = []
    for number, count in enumerate(counts):
        pairs = []
        for draw in range(repeats):
            pairs.append(drawn(count, draw))
            told("drawing", number * repeats + draw + 1, len(counts) * repeats)
        points.append(_point(pairs, taste))
    return tuple(points)


def _point(pairs: Sequence[tuple[Ballots, Ballots]], taste: bool) -> Point:
    losses = np.array([_losses(learnt, other, taste) for learnt, other in pairs])
    ours, graders = losses[~np.isnan(losses).any(axis=1)].T
    defined = ours - graders
    middle = percentile_interval(float(defined.mean()) if len(defined) else math.nan, defined)
    learnt = pairs[0][0]
    votes = float(np.mean([len(own) for own, _ in pairs])) / len(learnt.raters)
    stories = round(float(np.mean([len(np.unique(own.stories.codes)) for own, _ in pairs])))
    better = float((defined <= -LEAST * graders).mean()) if len(defined) else math.nan
    return Point(stories, votes, middle.value, middle.low, middle.high, better, len(defined))


def _losses(learnt: Ballots, other: Ballots, taste: bool) -> tuple[float, float]:
    """Log loss on other votes and that of the grader alone; NaN where nothing can be learnt."""
    model = judge_model(learnt, taste=taste)
    try:
        return _loss(learnt, other, TERMS[model]), _loss(learnt, other, TERMS[GRADER])
    except UnfittableError:  # all votes of the draw are the same
        return math.nan, math.nan


def _loss(learnt: Ballots, other: Ballots, terms: tuple[str, ...]) -> float:
    chances = np.clip(foretold(fitted(learnt, terms), other, terms), CLOSEST, 1 - CLOSEST)
    reached = other.levels[:, None] > np.arange(chances.shape[1])
    return float(-np.where(reached, np.log(chances), np.log1p(-chances)).sum(axis=1).mean())


def _plots_to_learn_from(plots: int, stories: int, sizes: Sequence[int]) -> list[int]:
    """Numbers of plots with so many stories.

    Raises:
        VotesError: If there are too few plots, or none would be left to foretell.
    """
    if plots < 3:
        raise VotesError(f"there are {plots} plots, expected 3 or more: two to learn from and one to foretell")
    counts = [max(1, round(size * plots / stories)) for size in sizes]
    if counts and max(counts) >= plots:
        raise VotesError(
            f"stories is {max(sizes)}, expected fewer than the {stories} that there are: for more of them --simulate"
        )
    return counts or _spaced(2, plots - 2 if plots > 4 else plots - 1)


def _spaced(fewest: int, most: int) -> list[int]:
    return sorted({round(count) for count in np.linspace(fewest, max(fewest, most), STEPS)})
