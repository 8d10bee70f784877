"""How often does `genie validate` find what is not there, and how many prompts does it take to find what is?

    python benchmarks/metric_study.py [RUNS]

1. Sensitivity: measures that give every text a number by chance; how often any of six features is found to move them,
   by the test that is shown and by the study's bootstrap. 2. Robustness: paraphrases that move a measure by just the
   margin; how often they are called equivalent, by t tests and by the study's bootstraps. 3. Several originals of one
   prompt, whose differences are alike: what is found when each is a pair of its own, and when their prompt is. 4. What
   is left by chance of a measure of words and noise when length is taken out. 5. The table of docs/metric_study.md:
   prompts by effect size and power.
"""

import math
import sys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from genie_inspect.statistics.bootstrap import paired_bootstrap
from genie_inspect.statistics.differences import LEVEL, paired_permutation, pairs_that_find
from genie_inspect.statistics.effect import paired_power
from genie_inspect.statistics.equivalence import METHODS, tost

Array = NDArray[np.float64]
FEATURES = 6
ORIGINALS = (8, 16, 25, 50, 100)
"""One of each prompt."""
EFFECTS = (0.3, 0.4, 0.5, 0.62, 0.8, 1.0, 1.2, 1.5)
SPREADS = (0.1, 0.2, 0.4)  # of the differences, in standard deviations of the originals
COLUMNS = 600  # tests that share their draws
DRAWS = 2_000  # of the sign-flip test, where it is the level that is asked for and not a p-value
SHAPES: dict[str, Callable[[np.random.Generator, tuple[int, ...]], Array]] = {
    "normal": lambda generator, size: generator.normal(size=size),
    "from 0 to 1": lambda generator, size: generator.uniform(size=size),
    "0 or 1": lambda generator, size: generator.integers(2, size=size).astype(float),
    "skewed": lambda generator, size: generator.exponential(size=size),
}


def false_findings(shape: str, originals: int, runs: int) -> tuple[float, float]:
    """Share of random measures that any of six edits is said to move: by the permutation test, by the bootstrap."""
    generator = np.random.default_rng([originals, len(shape)])
    # the six edits of an original are compared with one value of it, as in a study
    before = SHAPES[shape](generator, (originals, runs, 1)).repeat(FEATURES, axis=2).reshape(originals, -1)
    after = SHAPES[shape](generator, (originals, runs * FEATURES))
    shares = []
    for test in (paired_permutation, paired_bootstrap):
        parts = range(0, runs * FEATURES, COLUMNS)
        p_values = [test(before[:, at : at + COLUMNS], after[:, at : at + COLUMNS]).p_value for at in parts]
        shares.append(float((np.concatenate(p_values).reshape(runs, FEATURES) * FEATURES < LEVEL).any(axis=1).mean()))
    return shares[0], shares[1]


def false_equivalence(spread: float, originals: int, runs: int) -> list[float]:
    """Share of measures that paraphrases move by just the margin and that are called equivalent, by method."""
    generator = np.random.default_rng([originals, round(10 * spread)])
    found = dict.fromkeys(METHODS, 0)
    for _ in range(runs):
        before = generator.normal(size=originals)
        after = before + 0.2 + spread * generator.normal(size=originals)
        for method in METHODS:
            found[method] += tost(before, after, 0.2, method).p_value < LEVEL
    return [count / runs for count in found.values()]


def found_of_clusters(prompts: int, each: int, correlation: float, runs: int) -> tuple[float, float]:
    """Share of random measures that any of six edits is said to move: with originals as pairs, with prompts."""
    generator = np.random.default_rng([prompts, each, round(10 * correlation)])
    shared = generator.normal(size=(prompts, 1, runs * FEATURES)) * math.sqrt(correlation)
    alone = generator.normal(size=(prompts, each, runs * FEATURES)) * math.sqrt(1 - correlation)
    deltas = shared + alone
    shares = []
    for pairs in (deltas.reshape(prompts * each, -1), deltas.mean(axis=1)):
        parts = range(0, runs * FEATURES, COLUMNS)
        columns = [pairs[:, at : at + COLUMNS] for at in parts]
        p_values = [paired_permutation(np.zeros_like(own), own, DRAWS).p_value for own in columns]
        shares.append(float((np.concatenate(p_values).reshape(runs, FEATURES) * FEATURES < LEVEL).any(axis=1).mean()))
    return shares[0], shares[1]


def left_by_chance(prompts: int, runs: int) -> float:
    """Share of measures of words and noise of which anything is left for any of six edits with length taken out."""
    generator = np.random.default_rng(prompts)
    # six edits and a paraphrase of each prompt, some 26 and 19 words longer; an original's noise is in all of them
    longer = np.array([26.0] * FEATURES + [19.0]) + 3 * generator.normal(size=(prompts, FEATURES + 1))
    noise = generator.normal(size=(prompts, FEATURES + 1, runs)) - generator.normal(size=(prompts, 1, runs))
    deltas = 0.1 * longer[:, :, None] + noise
    found = np.zeros(runs, dtype=bool)
    for edit in range(FEATURES):
        others = [place for place in range(FEATURES + 1) if place != edit]
        rates = (longer[:, others, None] * deltas[:, others]).sum(axis=1) / (longer[:, others] ** 2).sum(axis=1)[
            :, None
        ]
        left = deltas[:, edit] - rates * longer[:, edit, None]
        found |= paired_permutation(np.zeros_like(left), left, DRAWS).p_value * FEATURES < LEVEL
    return float(found.mean())


def equivalence_power(spread: float, originals: int) -> float:
    """Chance that paraphrases which change nothing on average are called equivalent, by t tests and a known margin."""
    from scipy.special import nctdtr, stdtrit

    bound = float(stdtrit(originals - 1, 1 - LEVEL))
    inside = float(nctdtr(originals - 1, 0.2 / spread * math.sqrt(originals), bound))
    return max(0.0, 1 - 2 * inside)


def main() -> None:
    """Print the tables."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    print(f"False findings of {runs:,} random measures over {FEATURES} features, Bonferroni at {LEVEL:.0%}:")
    print("\n| values | originals | permutation test | bootstrap |\n|:--|--:|--:|--:|")
    for shape in SHAPES:
        for originals in ORIGINALS:
            shown, resampled = false_findings(shape, originals, runs)
            print(f"| {shape} | {originals} | {shown:.1%} | {resampled:.1%} |", flush=True)
    print(f"\nCalled equivalent though moved by the margin, of {runs:,}:")
    print("\n| sd of the differences | originals | t tests | bootstraps |\n|--:|--:|--:|--:|")
    for spread in SPREADS:
        for originals in ORIGINALS[:4]:
            by_t, resampled = false_equivalence(spread, originals, runs)
            print(f"| {spread} | {originals} | {by_t:.1%} | {resampled:.1%} |", flush=True)
    print("\nFalse findings where differences of one prompt's originals are alike:")
    print("\n| prompts | originals per prompt | correlation | originals as pairs | prompts as pairs |")
    print("|--:|--:|--:|--:|--:|")
    for prompts in ORIGINALS[:2]:
        for each in (2, 5):
            for correlation in (0.0, 0.3, 0.5):
                alone, together = found_of_clusters(prompts, each, correlation, 4 * runs)
                print(f"| {prompts} | {each} | {correlation:g} | {alone:.1%} | {together:.1%} |", flush=True)
    print("\nAnything left of words and noise with length taken out:\n\n| prompts | found |\n|--:|--:|")
    for prompts in ORIGINALS[:4]:
        print(f"| {prompts} | {left_by_chance(prompts, 4 * runs):.1%} |", flush=True)
    level = LEVEL / FEATURES
    print("\nPower, and prompts for 80%:")
    print(f"\n| d | {' | '.join(map(str, ORIGINALS))} | for 80% |\n|--:|{'--:|' * (len(ORIGINALS) + 1)}")
    for effect in EFFECTS:
        shares = " | ".join(f"{paired_power(effect, 1, n, level):.0%}" for n in ORIGINALS)
        print(f"| {effect} | {shares} | {pairs_that_find(effect, 1, level)} |")
    print(f"\n| sd | {' | '.join(map(str, ORIGINALS))} |\n|--:|{'--:|' * len(ORIGINALS)}")
    for spread in SPREADS:
        print(f"| {spread} | {' | '.join(f'{equivalence_power(spread, n):.0%}' for n in ORIGINALS)} |")


if __name__ == "__main__":
    main()
