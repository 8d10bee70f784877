"""Votes by raters whose leniency and taste are known, on stories whose quality a grader knows in part."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from genie_inspect.agreement.personal.ballots import Ballots, Factor
from genie_inspect.agreement.personal.models import groupings, judge_model
from genie_inspect.raters.figures import WITH_TASTE
from genie_inspect.raters.judge import LENIENCY, SCORES, TASTE, TEST, YES_NO, Source
from genie_inspect.statistics.shrunken.ordinal import chance, shrunken_ordinal

Values = NDArray[np.float64]

STORY = "story"


@dataclass(frozen=True, slots=True)
class World:
    """How votes come about: log-odds of a yes."""

    stories: int = 36
    stories_a_plot: int = 3
    tests: int = 5
    raters: int = 10
    raters_a_story: int = 3
    leniency: float = 0.0
    """Standard deviation over raters."""
    taste: float = 0.0
    """Standard deviation over raters and tests."""
    story: float = 0.5
    """Standard deviation over stories of what no grader sees."""
    test: float = 0.7
    """Standard deviation over tests."""
    scores: tuple[float, ...] = (0.8,)
    """Log-odds that a standard deviation of each score adds."""
    base: float = -1.0


@dataclass(frozen=True, slots=True)
class Simulated:
    """Votes, and the raters behind them."""

    ballots: Ballots
    leniency: Values
    """Shape (raters,)."""
    taste: Values
    """Shape (raters, tests)."""


def simulated(world: World, seed: int) -> Simulated:
    """Votes on stories, each judged on all tests by some of the raters."""
    draw = np.random.default_rng(seed)
    who = np.array([draw.permutation(world.raters)[: world.raters_a_story] for _ in range(world.stories)])
    story, test, seat = (
        part.ravel() for part in np.indices((world.stories, world.tests, min(world.raters, world.raters_a_story)))
    )
    rater = who[story, seat]
    numbers = draw.normal(size=(world.stories, world.tests, len(world.scores)))
    leniency = draw.normal(0, world.leniency, world.raters)
    taste = draw.normal(0, world.taste, (world.raters, world.tests))
    log_odds = (
        world.base
        + draw.normal(0, world.test, world.tests)[test]
        + draw.normal(0, world.story, world.stories)[story]
        + numbers[story, test] @ np.array(world.scores)
        + leniency[rater]
        + taste[rater, test]
    )
    votes = (draw.random(len(log_odds)) < chance(log_odds)).astype(np.int64)
    ballots = Ballots(
        stories=_factor("s", story),
        plots=_factor("p", story // world.stories_a_plot),
        tests=_factor("t", test),
        raters=_factor("r", rater),
        sources=None,
        levels=votes,
        scale=YES_NO,
        columns=tuple(Source(name=f"score{index}") for index in range(len(world.scores))),
        scores=numbers[story, test],
        left_out={},
    )
    return Simulated(ballots, leniency, taste)


def world_of(ballots: Ballots) -> World:
    """The world that votes seem to come from, with a spread over stories that no grader sees.

    Raises:
        UnfittableError: If the votes do not determine it.
    """
    taste = (TASTE,) if judge_model(ballots, taste=True) == WITH_TASTE else ()
    terms = (TEST, LENIENCY, *taste)
    spreads = ballots.scores.std(axis=0)
    columns = {SCORES: (ballots.scores - ballots.scores.mean(axis=0)) / np.where(spreads < 1e-9, 1.0, spreads)}
    groups = groupings(ballots, terms) | {STORY: (ballots.stories.codes, len(ballots.stories))}
    model = shrunken_ordinal(ballots.levels, len(ballots.scale), groups, columns)
    deviations = {name: math.sqrt(variance) for name, variance in model.variances.items()}
    seats = len(set(zip(ballots.stories.codes.tolist(), ballots.raters.codes.tolist(), strict=True)))
    return World(
        stories=len(ballots.stories),
        stories_a_plot=max(1, round(len(ballots.stories) / len(ballots.plots))),
        tests=len(ballots.tests),
        raters=len(ballots.raters),
        raters_a_story=max(1, round(seats / len(ballots.stories))),
        leniency=deviations[LENIENCY],
        taste=deviations.get(TASTE, 0.0),
        story=deviations[STORY],
        test=deviations[TEST],
        scores=tuple(model.terms[SCORES].tolist()),
        # a scale of numbers counts as its middle step reached or not
        base=-float(model.thresholds[len(model.thresholds) // 2]),
    )


def _factor(letter: str, codes: NDArray[np.int64]) -> Factor:
    return Factor(tuple(f"{letter}{number}" for number in range(int(codes.max()) + 1)), codes)
