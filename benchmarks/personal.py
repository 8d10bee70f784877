"""How often a judge of one's own claims a difference between raters that there is not, and finds one that there is.

python benchmarks/personal.py             500 simulations of each world without a difference, 100 of each other, seeded;
                                          some ten minutes on one core
python benchmarks/personal.py --quick     25 of each
"""

import argparse
import math
import time
from collections.abc import Sequence

import numpy as np

from genie_inspect.studies.personal.power import Claims, World, claims

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
