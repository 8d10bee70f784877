"""What a judge of one's own claims of raters, where it is known what is true."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from genie_inspect.agreement.personal.fitting import judge_of
from genie_inspect.agreement.personal.holding_out import foretell, gain_of
from genie_inspect.agreement.personal.models import TERMS, fitted, judge_model
from genie_inspect.agreement.personal.simulation import World, simulated
from genie_inspect.raters.figures import GRADER
from genie_inspect.raters.judge import LENIENCY, TASTE


@dataclass(frozen=True, slots=True)
class Claims:
    """Of one simulation."""

    better: bool
    """It says that it foretells better than the grader alone."""
    worse: bool
    rater: bool
    """It says of some rater that he is harsher or more lenient than the average."""
    gain: float
    """Log loss a vote less that of the grader alone."""
    leniency: float
    """Correlation of fitted with true leniencies; NaN where either do not vary."""
    taste: float


def claims(world: World, seed: int, resamples: int = 400) -> Claims:
    """What is claimed of one simulation of a world."""
    truth = simulated(world, seed)
    ballots = truth.ballots
    model = judge_model(ballots, taste=True)
    gain = gain_of(foretell(ballots, seed, [GRADER, model]), model, resamples, seed)
    fit = fitted(ballots, TERMS[model])
    # raters count in order of appearance
    raters = [int(name[1:]) for name in ballots.raters.names]
    tastes = fit.model.terms.get(TASTE, np.zeros(0))
    return Claims(
        gain.is_below,
        gain.is_above,
        any(judge_of(ballots, fit).stands_out(name) for name in ballots.raters.names),
        gain.value or 0.0,
        _correlation(fit.model.terms[LENIENCY], truth.leniency[raters]),
        _correlation(tastes, truth.taste[raters].ravel()[: len(tastes)]),
    )


def _correlation(found: NDArray[np.float64], true: NDArray[np.float64]) -> float:
    if not len(found) or found.std() == 0 or true.std() == 0:
        return math.nan
    return float(np.corrcoef(found, true)[0, 1])
