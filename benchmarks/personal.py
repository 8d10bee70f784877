"""How often a judge of one's own claims a difference between raters that there is not, and finds one that there is.

python benchmarks/personal.py             500 simulations of each world without a difference, 100 of each other, seeded;
                                          some ten minutes on one core
python benchmarks/personal.py --quick     25 of each
"""

import argparse
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from genie_inspect.studies.personal.fitting import TERMS, figures, fitted, foretell, judge_model, judge_of
from genie_inspect.studies.personal.judge import GRADER, LENIENCY, TASTE
from genie_inspect.studies.personal.power import World, simulated

WORLDS = {
    "no difference": World(),
    "no difference, 14 tests": World(tests=14),
    "no difference, 2 raters": World(raters=2, raters_a_story=2),
    "no difference, 8 plots": World(stories=24, tests=4),
    "no difference, 100 stories": World(stories=100),
    "no difference, no grader": World(scores=(0.0,)),
    "leniency 0.5": World(leniency=0.5),
    "leniency 0.9": World(leniency=0.9),
    "taste 0.9": World(taste=0.9),
    "leniency 0.9, taste 0.7": World(leniency=0.9, taste=0.7),
    "leniency 0.9, taste 0.7, 100 stories": World(stories=100, leniency=0.9, taste=0.7),
}


@dataclass(frozen=True)
class Claims:
    """What is claimed of one simulation, and correlations of fitted with true terms."""

    better: bool
    worse: bool
    rater: bool
    gain: float
    leniency: float
    taste: float


def claims(world: World, seed: int, resamples: int = 400) -> Claims:
    """The claims of `genie rater fit` on one simulation of a world."""
    ballots, leniency, taste = simulated(world, seed)
    model = judge_model(ballots, taste=True)
    gain = figures(ballots, foretell(ballots, seed, [GRADER, model]), model, resamples, seed).gains[model]
    fit = fitted(ballots, TERMS[model])
    # raters count in order of appearance
    raters = [int(name[1:]) for name in ballots.raters.names]
    tastes = fit.model.terms.get(TASTE, np.zeros(0))
    return Claims(
        gain.is_below,
        gain.is_above,
        any(judge_of(ballots, fit).leaning(name) for name in ballots.raters.names),
        gain.value or 0.0,
        correlation(fit.model.terms[LENIENCY], leniency[raters]),
        correlation(tastes, taste[raters].ravel()[: len(tastes)]),
    )


def correlation(found: NDArray[np.float64], true: NDArray[np.float64]) -> float:
    """Pearson's; NaN where either does not vary."""
    if not len(found) or found.std() == 0 or true.std() == 0:
        return math.nan
    return float(np.corrcoef(found, true)[0, 1])


def row(name: str, found: Sequence[Claims]) -> str:
    """A line of the table."""
    better, worse, rater = (np.mean([getattr(one, what) for one in found]) for what in ("better", "worse", "rater"))
    gain = np.mean([one.gain for one in found])
    kept = [[value for one in found if not math.isnan(value := getattr(one, what))] for what in ("leniency", "taste")]
    shown = " ".join(f"{np.mean(values):8.2f}" if values else f"{'-':>8}" for values in kept)
    return f"{name:38}{100 * better:8.1f}% {100 * worse:7.1f}% {100 * rater:7.1f}% {gain:+9.4f} {shown}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    print("correlations are of the fitted with the true terms")
    print(f"{'world':38}{'better':>9} {'worse':>8} {'a rater':>8} {'gain':>9} {'leniency':>8} {'taste':>8}")
    for name, world in WORLDS.items():
        begin = time.perf_counter()
        times = 25 if quick else 500 if name.startswith("no difference") else 100
        found = [claims(world, seed) for seed in range(times)]
        print(row(name, found), f"  {times} in {time.perf_counter() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
