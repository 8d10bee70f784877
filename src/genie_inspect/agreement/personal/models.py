"""The models that are held against each other: from majorities to a grader with a rater's leniency and taste."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from genie_inspect.agreement.personal.ballots import Ballots, Factor
from genie_inspect.raters.figures import GRADER, MAJORITY, RATER, SOURCE, WITH_LENIENCY, WITH_TASTE
from genie_inspect.raters.judge import LENIENCY, SCORES, TASTE, TEST
from genie_inspect.statistics.shrunken.ordinal import ShrunkenModel, shrunken_ordinal

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


@dataclass(frozen=True, slots=True)
class Fitted:
    """A model, and how numbers were standardised for it."""

    model: ShrunkenModel
    means: Values
    spreads: Values


def groupings(ballots: Ballots, terms: tuple[str, ...]) -> dict[str, tuple[Codes, int]]:
    """The groupings of a model: of each vote its group, and how many groups there are."""
    tests, raters = ballots.tests, ballots.raters
    every = {
        TEST: (tests.codes, len(tests)),
        LENIENCY: (raters.codes, len(raters)),
        TASTE: (raters.codes * len(tests) + tests.codes, len(raters) * len(tests)),
    }
    return {name: every[name] for name in terms if name in every}


def fitted(ballots: Ballots, terms: tuple[str, ...]) -> Fitted:
    """A model of votes.

    Raises:
        UnfittableError: If the votes do not determine it.
    """
    means, spreads = ballots.scores.mean(axis=0), ballots.scores.std(axis=0)
    # a number that never varies says nothing
    spreads[spreads < 1e-9] = 1.0
    columns = {SCORES: (ballots.scores - means) / spreads} if SCORES in terms else {}
    model = shrunken_ordinal(ballots.levels, len(ballots.scale), groupings(ballots, terms), columns)
    return Fitted(model, means, spreads)


def foretold(fitted: Fitted, ballots: Ballots, terms: tuple[str, ...]) -> Values:
    """Chances of at least each step but the lowest, of votes, shape (N, steps - 1)."""
    groups = {name: codes for name, (codes, _) in groupings(ballots, terms).items()}
    columns = {SCORES: (ballots.scores - fitted.means) / fitted.spreads} if SCORES in terms else {}
    return fitted.model.chances(groups, columns)


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
    """What a model foretells of votes, from others."""
    if name in (MAJORITY, SOURCE):
        factor = ballots.tests if name == MAJORITY else ballots.sources
        if factor is None:
            raise ValueError("no source is named, expected one of each story")
        return shares(ballots, factor, learnt, wanted)
    terms = TERMS[name]
    return foretold(fitted(ballots.at(learnt), terms), ballots.at(wanted), terms)


def judge_model(ballots: Ballots, *, taste: bool) -> str:
    """The model of a judge: with taste where that is wanted and can be told from leniency."""
    # of thousands of raters, each with a few votes a test, taste would take gigabytes and find nothing
    has_taste = len(ballots.tests) > 1 and len(ballots.raters) <= MOST_WITH_TASTE
    return WITH_TASTE if taste and has_taste else WITH_LENIENCY


def models_of(ballots: Ballots) -> list[str]:
    """The models that can be made of votes."""
    fitted_ones = [name for name in TERMS if name != WITH_TASTE or judge_model(ballots, taste=True) == WITH_TASTE]
    return [MAJORITY, *([SOURCE] if ballots.sources else []), *fitted_ones]
