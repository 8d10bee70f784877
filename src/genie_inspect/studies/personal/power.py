"""How many votes per rater needs: the gain over the grader alone, by the number of stories that were learnt from."""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from genie_inspect.agreement.figures import DOTS, INK
from genie_inspect.agreement.votes import VotesError
from genie_inspect.building.interviewing import Progress, no_progress
from genie_inspect.cli.options import Answer, answering, flag, option
from genie_inspect.cli.running import progress_bar
from genie_inspect.cli.terminal import Unbroken
from genie_inspect.errors import UnfittableError
from genie_inspect.statistics.agreement import CLOSEST
from genie_inspect.statistics.bootstrap import percentile_interval
from genie_inspect.studies.personal.ballots import Ballots, Factor, Values, reading_votes, voted
from genie_inspect.studies.personal.fitting import (
    GAIN,
    STORY,
    TASTE_OPTION,
    TERMS,
    figures_table,
    fitted,
    judge_model,
)
from genie_inspect.studies.personal.judge import GRADER, LENIENCY, SCORES, TASTE, TEST, YES_NO, ScoreSource

if TYPE_CHECKING:
    import altair


@dataclass(frozen=True, slots=True)
class World:
    """How votes come about: log-odds of a yes, and standard deviations of what adds to them."""

    stories: int = 36
    stories_a_plot: int = 3
    tests: int = 5
    raters: int = 10
    raters_a_story: int = 3
    leniency: float = 0.0  # over raters
    taste: float = 0.0  # over raters and tests
    story: float = 0.5  # over stories, of what no grader sees
    test: float = 0.7  # over tests
    scores: tuple[float, ...] = (0.8,)  # log-odds that a standard deviation of each score adds
    base: float = -1.0


def simulated(world: World, seed: int) -> tuple[Ballots, Values, Values]:
    """Votes of a world, and the truth behind them: each rater's leniency, and taste by rater and test."""
    draw = np.random.default_rng(seed)
    who = np.array([draw.permutation(world.raters)[: world.raters_a_story] for _ in range(world.stories)])
    story, test, seat = (part.ravel() for part in np.indices((world.stories, world.tests, who.shape[1])))
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

    def factor(letter: str, codes: NDArray[np.int64]) -> Factor:
        return Factor(tuple(f"{letter}{number}" for number in range(int(codes.max()) + 1)), codes)

    ballots = Ballots(
        stories=factor("s", story),
        plots=factor("p", story // world.stories_a_plot),
        tests=factor("t", test),
        raters=factor("r", rater),
        sources=None,
        levels=(draw.random(len(log_odds)) < expit(log_odds)).astype(np.int64),
        scale=YES_NO,
        columns=tuple(ScoreSource(name=f"score{index}") for index in range(len(world.scores))),
        scores=numbers[story, test],
        left_out={},
    )
    return ballots, leniency, taste


def world_of(ballots: Ballots) -> World:
    """The world that votes seem to come from, with a spread over stories that no grader sees."""
    model = fitted(ballots, (*TERMS[judge_model(ballots, taste=True)], STORY)).model
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


STEPS = 6  # numbers of plots on the curve
DOUBLINGS = (1, 2, 4, 8)
UNSEEN = 60  # stories on which a simulated judge is tried
SURE = 0.95
# of the grader's log loss, what a draw has to gain to count as better: of 200 simulations of raters who do not differ
# 29% gained something, and none 1%
LEAST = 0.01


@dataclass(frozen=True, slots=True)
class Point:
    stories: int
    votes: float  # a rater, on average over raters and draws
    gain: float  # mean log loss a vote less that of the grader alone, on other stories; below 0 = better
    low: float  # of the middle 95% of the draws
    high: float
    better: float  # share of the draws that gain at least `LEAST` of the grader's log loss
    draws: int


def power_sentence(points: Sequence[Point]) -> str:
    """From how many stories on raters are predicted better than by the grader alone."""
    sure = list(takewhile(lambda earlier: earlier.better >= SURE, reversed(points)))
    point = sure[-1] if sure else points[-1]
    share = f"{SURE:.0%} of the draws or more" if sure else f"{point.better:.0%} of the draws, not yet in {SURE:.0%}"
    return (
        f"Learnt from {point.stories} stories ({point.votes:.0f} votes per rater), votes are predicted better than by "
        f"the grader alone ({LEAST:.0%} of its log loss or more) in {share}."
    )


def learning_curve(
    ballots: Ballots,
    sizes: Sequence[int] = (),
    *,
    simulate: bool = False,
    repeats: int = 40,
    taste: bool = True,
    seed: int = 0,
    told: Progress = no_progress,
) -> tuple[str, list[Point]]:
    """A title, and the gain by the number of stories that are learnt from.

    From the votes themselves some plots are learnt from, all others foretold. To simulate is to draw votes from a model
    of these: as many tests and raters, other stories and raters.
    """
    plots, stories = len(ballots.plots), len(ballots.stories)
    if simulate:
        world = world_of(ballots)
        counts = sorted(set(sizes)) or [stories * times for times in DOUBLINGS]
        title = (
            f"Learning curve, simulated: {world.tests} tests, {world.raters_a_story} of {world.raters} raters a story, "
            f"leniency {world.leniency:.2f}, taste {world.taste:.2f}"
        )
    elif plots < 3:
        raise VotesError(f"there are {plots} plots, expected 3 or more: two to learn from and one to predict")
    else:
        counts = sorted({max(1, round(size * plots / stories)) for size in sizes})
        if counts and counts[-1] >= plots:
            raise VotesError(
                f"stories is {max(sizes)}, expected fewer than the {stories} that there are: for more of them "
                "--simulate"
            )
        most = max(2, plots - 2 if plots > 4 else plots - 1)
        counts = counts or sorted({round(count) for count in np.linspace(2, most, STEPS)})
        title = f"Learning curve from {len(ballots):,} votes on {stories} stories [middle 95% of {repeats} draws]"

    def drawn(count: int, draw: int) -> tuple[Ballots, Ballots]:
        """Votes to learn from, and votes to foretell."""
        if simulate:
            every, *_ = simulated(replace(world, stories=count + UNSEEN), seed * 1_000_003 + draw)
            is_learnt = every.stories.codes < count
        else:
            every, order = ballots, np.random.default_rng([seed, count, draw]).permutation(plots)
            is_learnt = np.isin(ballots.plots.codes, order[:count])
        return every.at(np.flatnonzero(is_learnt)), every.at(np.flatnonzero(~is_learnt))

    points = []
    for number, count in enumerate(counts):
        pairs = []
        for draw in range(repeats):
            pairs.append(drawn(count, draw))
            told("drawing", number * repeats + draw + 1, len(counts) * repeats)
        points.append(_point(pairs, taste))
    return title, points


def _point(pairs: Sequence[tuple[Ballots, Ballots]], taste: bool) -> Point:
    losses = []
    for learnt, other in pairs:
        with suppress(UnfittableError):  # all votes of the draw are the same
            losses.append([_loss(learnt, other, name) for name in (judge_model(learnt, taste=taste), GRADER)])
    ours, graders = np.array(losses).reshape(-1, 2).T
    defined = ours - graders
    middle = percentile_interval(float(defined.mean()) if len(defined) else math.nan, defined)
    return Point(
        stories=round(float(np.mean([len(np.unique(learnt.stories.codes)) for learnt, _ in pairs]))),
        votes=float(np.mean([len(learnt) for learnt, _ in pairs])) / len(pairs[0][0].raters),
        gain=middle.value,
        low=middle.low,
        high=middle.high,
        better=float((defined <= -LEAST * graders).mean()) if len(defined) else math.nan,
        draws=len(defined),
    )


def _loss(learnt: Ballots, other: Ballots, model: str) -> float:
    """Log loss a vote on other votes."""
    chances = np.clip(fitted(learnt, TERMS[model]).chances(other), CLOSEST, 1 - CLOSEST)
    reached = other.levels[:, None] > np.arange(chances.shape[1])
    return float(-np.where(reached, np.log(chances), np.log1p(-chances)).sum(axis=1).mean())


def power_chart(title: str, points: Sequence[Point]) -> "altair.LayerChart | altair.FacetChart":
    """The gain over the grader alone against the votes of a rater, with the middle 95% of the draws."""
    import altair

    rows = [
        {"votes": point.votes, "stories": point.stories, "gain": -point.gain, "low": -point.high, "high": -point.low}
        for point in points
    ]
    base = altair.Chart(altair.InlineData(values=rows)).encode(x=altair.X("votes:Q", title="votes per rater"))
    y_title = "log loss a vote below that of the grader alone"
    gain = altair.Y("gain:Q", title=y_title)
    level = altair.Chart(altair.InlineData(values=[{"none": 0}])).mark_rule(color=INK, strokeDash=[4, 4])
    return altair.layer(
        base.mark_area(opacity=0.2, color=DOTS).encode(y=altair.Y("low:Q", title=y_title), y2="high:Q"),
        base.mark_line(color=DOTS, point=True).encode(y=gain),
        base.mark_text(dy=-10, color=INK).encode(y=gain, text="stories:Q"),
        level.encode(y="none:Q"),
    ).properties(
        width=480,
        height=260,
        title=altair.TitleParams("What votes are worth", subtitle=[title, "numbers: stories"], anchor="start"),
    )


@click.command()
@reading_votes
@flag("--simulate", help="Simulate votes like these, for more stories.")
@option("--stories", "sizes", multiple=True, type=click.IntRange(2), help="Stories to try; repeatable.")
@option("--repeats", default=40, type=click.IntRange(2), help="Random draws per number of stories.")
@TASTE_OPTION
@answering(picture="the learning curve")
def power(simulate: bool, sizes: tuple[int, ...], repeats: int, taste: bool, seed: int, **given: Any) -> Answer:
    """Estimate on how many stories raters must vote.

    So many that they are predicted better than by the grader alone.

    Plots are drawn to learn from, and predictions of all other plots count.

    \b
    Example: genie rater power votes.csv --scores logs/ --picture power.svg
    """
    ballots = voted(**given)
    with progress_bar() as told:
        title, points = learning_curve(
            ballots, sizes, simulate=simulate, repeats=repeats, taste=taste, seed=seed, told=told
        )
    rows = []
    for point in points:
        gain = f"{point.gain:+.4f} [{point.low:+.4f}, {point.high:+.4f}]"
        rows.append((str(point.stories), f"{point.votes:.0f}", gain, f"{100 * point.better:.0f}%"))
    table = figures_table(title, ("stories", "votes per rater", GAIN, "1% better in"), rows)
    said = Unbroken(power_sentence(points))
    return Answer({"title": title, "points": points}, [table, said], lambda: power_chart(title, points))
