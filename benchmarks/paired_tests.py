"""Which test of a mean difference of pairs: candidates by shape of the differences and number of pairs.

Every candidate gives p-value and 95% interval; `print_candidates` says how often it finds what is not there, how often
the two contradict each other, how often the interval holds the truth, and how often a difference is found.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from genie_inspect.statistics.differences import LEVEL, paired_permutation

Array = NDArray[np.float64]
PAIRS = (8, 25, 50)
RESAMPLES = 1_999  # of every candidate that resamples; `genie compare` takes 10,000
COLUMNS = 500  # comparisons that share their draws
SHIFTED = {8: 2.6, 25: 2.3, 50: 2.3}  # true difference in standard errors, at which the t test has a power near 60%
TAIL = LEVEL / 2
T_TEST = "paired t test"

SKEWED = "skewed, as near a ceiling"
SHAPES: dict[str, Callable[[np.random.Generator, tuple[int, int]], Array]] = {
    "normal": lambda generator, size: generator.normal(size=size),
    SKEWED: lambda generator, size: 1 - generator.exponential(size=size),
    "heavy tails": lambda generator, size: generator.standard_t(4, size=size) / math.sqrt(2),
}
DELTAS = SHAPES | {
    "two skewed scores": lambda generator, size: np.subtract(*generator.exponential(size=(2, *size))) / math.sqrt(2)
}


class Verdicts(NamedTuple):
    """What a candidate says of many comparisons, shape (comparisons,) each."""

    p_values: Array
    lows: Array
    highs: Array

    @property
    def found(self) -> NDArray[np.bool_]:
        """Whether a difference is found by p-value."""
        return self.p_values < LEVEL

    @property
    def outside(self) -> NDArray[np.bool_]:
        """Whether 0 lies outside of the interval."""
        return (self.lows > 0) | (self.highs < 0)


def verdicts(deltas: Array, generator: np.random.Generator) -> dict[str, Verdicts]:
    """Every candidate's verdicts on columns of deltas, shape (pairs, comparisons)."""
    pairs, mean, spread = len(deltas), deltas.mean(axis=0), deltas.std(axis=0)
    counts = generator.multinomial(pairs, np.full(pairs, 1 / pairs), size=RESAMPLES).astype(float).T
    flipped = paired_permutation(np.zeros_like(deltas), deltas, RESAMPLES, int(generator.integers(2**32)), level=LEVEL)
    return {
        "sign-flip permutation (chosen)": Verdicts(flipped.p_value, flipped.low, flipped.high),
        **bootstrap_t((deltas - mean).T, mean, spread, counts),
        "BCa bootstrap": bca(deltas.T, counts),
        T_TEST: t_test(mean, spread, pairs),
    }


def t_test(mean: Array, spread: Array, pairs: int) -> Verdicts:
    """The paired t test."""
    error = spread / math.sqrt(pairs - 1)
    half = float(stdtrit(pairs - 1, 1 - TAIL)) * error
    return Verdicts(2 * stdtr(pairs - 1, -np.abs(mean / error)), mean - half, mean + half)


def bootstrap_t(centred: Array, mean: Array, spread: Array, counts: Array) -> dict[str, Verdicts]:
    """Resampled t statistics: p-value and interval by both tails, by absolute values, and by one of each, as it was.

    Args:
        centred: Deltas less their mean, shape (comparisons, pairs).
        mean: Of the deltas, shape (comparisons,).
        spread: Standard deviation of the deltas, same shape.
        counts: How often a resample draws each pair, shape (pairs, RESAMPLES).
    """
    means, squares = centred @ counts / len(counts), centred**2 @ counts / len(counts)
    variances = squares - means**2
    variances[variances <= 1e-12 * squares] = 0  # one pair drawn throughout
    with np.errstate(divide="ignore"):
        drawn = np.sort(means / np.sqrt(variances), axis=1)
    observed = mean / spread
    above, below = (drawn >= observed[:, None]).sum(axis=1), (drawn <= observed[:, None]).sum(axis=1)
    tails = np.minimum(1, 2 * (1 + np.minimum(above, below)) / (1 + RESAMPLES))
    last = math.ceil(TAIL * (1 + RESAMPLES)) - 2  # so many draws lie beyond the end and are too few for p >= LEVEL
    ends = mean - drawn[:, -1 - last] * spread, mean - drawn[:, last] * spread
    sizes = np.sort(np.abs(drawn), axis=1)
    absolute = (1 + (sizes >= np.abs(observed)[:, None]).sum(axis=1)) / (1 + RESAMPLES)
    half = sizes[:, 1 - math.ceil(LEVEL * (1 + RESAMPLES))] * spread
    return {
        "equal-tailed bootstrap-t": Verdicts(tails, *ends),
        "symmetric bootstrap-t": Verdicts(absolute, mean - half, mean + half),
        "as it was: p symmetric, interval equal-tailed": Verdicts(absolute, *ends),
    }


def bca(deltas: Array, counts: Array) -> Verdicts:
    """Efron's bias-corrected and accelerated bootstrap; p is the level at which the interval starts to exclude 0.

    Our own, because scipy.stats.bootstrap neither gives a p-value nor shares its draws between comparisons. Deltas
    have shape (comparisons, pairs).
    """
    mean = deltas.mean(axis=1, keepdims=True)
    drawn = np.sort(deltas @ counts / len(counts), axis=1)
    bias = ndtri(((drawn < mean).sum(axis=1) + 0.5) / (1 + RESAMPLES))
    skew = ((deltas - mean) ** 3).sum(axis=1) / (6 * ((deltas - mean) ** 2).sum(axis=1) ** 1.5)

    def share(tail: float) -> Array:
        """Of the draws, below an end that is to leave this tail below it."""
        shifted = bias + float(ndtri(tail))
        return np.asarray(ndtr(bias + shifted / (1 - skew * shifted)))

    def tail(share: Array) -> Array:
        """The tail that an end leaves which this share of the draws lies below: the inverse."""
        shifted = np.clip(ndtri(share), -1e9, 1e9) - bias
        exact = ndtr(shifted / (1 + skew * shifted) - bias)
        # no tail is that small, or that large
        return np.asarray(np.where(1 + skew * shifted > 0, exact, shifted > 0), dtype=float)

    rows, columns = np.arange(len(deltas)), np.ceil(share(TAIL) * (1 + RESAMPLES)).astype(int) - 2
    lows = np.where(columns < 0, -np.inf, drawn[rows, np.maximum(columns, 0)])
    columns = np.floor(share(1 - TAIL) * (1 + RESAMPLES)).astype(int)
    highs = np.where(columns >= RESAMPLES, np.inf, drawn[rows, np.minimum(columns, RESAMPLES - 1)])
    below = tail((1 + (drawn <= 0).sum(axis=1)) / (1 + RESAMPLES))
    above = 1 - tail((drawn < 0).sum(axis=1) / (1 + RESAMPLES))
    return Verdicts(np.minimum(1, 2 * np.minimum(below, above)), lows, highs)


def simulated(shape: str, pairs: int, shift: float, count: int) -> dict[str, Verdicts]:
    """Every candidate's verdicts on comparisons with a true difference of so many standard errors."""
    parts: list[dict[str, Verdicts]] = []
    for number in range(math.ceil(count / COLUMNS)):
        generator = np.random.default_rng([pairs, number, round(10 * abs(shift)), shift < 0])
        deltas = DELTAS[shape](generator, (pairs, COLUMNS)) + shift / math.sqrt(pairs)
        parts.append(verdicts(deltas, generator))
    return {
        name: Verdicts(*(np.concatenate(columns) for columns in zip(*(part[name] for part in parts), strict=True)))
        for name in parts[0]
    }


def print_candidates(count: int) -> None:
    """A row a shape and candidate; `count` comparisons without a difference for each number of pairs."""
    few, many = PAIRS[0], PAIRS[1:]
    print(
        f"Choice of the test, at {LEVEL:.0%}, each cell for {', '.join(map(str, PAIRS))} pairs. Level and coverage: "
        f"{count:,} comparisons without a difference (standard error {_error(LEVEL, count):.1%}). Contradictions: with "
        f"a difference, up or down, whichever has more ({count // 2:,} comparisons of {few} pairs, {count // 10:,} of "
        f"more; at most {_error(0.5, count // 2):.1%} and {_error(0.5, count // 10):.1%}). Power: over both directions "
        f"({_error(0.5, count):.1%})"
    )
    print(
        "\n| differences | test | level | contradictions | coverage | power, 8 pairs | t test at that level |"
        "\n|:--|:--|--:|--:|--:|--:|--:|"
    )
    for shape in DELTAS:
        nothing = [simulated(shape, pairs, 0, count) for pairs in PAIRS]
        sizes = {few: count // 2} | dict.fromkeys(many, count // 10)
        moved = [[simulated(shape, n, sign * SHIFTED[n], size) for sign in (1, -1)] for n, size in sizes.items()]
        for name in nothing[0]:
            levels = [float(of[name].found.mean()) for of in nothing]
            split = [max(float((way[name].found != way[name].outside).mean()) for way in ways) for ways in moved]
            inside = [1 - float(of[name].outside.mean()) for of in nothing]
            power = np.mean([way[name].found.mean() for way in moved[0]])
            # the p-value below which the t test, where nothing differs, lies as often as the candidate finds something
            bound = np.quantile(nothing[0][T_TEST].p_values, levels[0])
            same = np.mean([(way[T_TEST].p_values < bound).mean() for way in moved[0]])
            print(f"| {shape} | {name} | {_row(levels)} | {_row(split)} | {_row(inside)} | {power:.1%} | {same:.1%} |")


def _error(share: float, count: int) -> float:
    return math.sqrt(share * (1 - share) / count)


def _row(shares: list[float]) -> str:
    return ", ".join(f"{share:.1%}" for share in shares)
