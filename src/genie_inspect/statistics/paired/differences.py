"""Differences of paired scores, and which of many hold once the number of tests is allowed for."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr

from genie_inspect.statistics.effect import cohens_d
from genie_inspect.statistics.equivalence import EquivalenceTest, tost
from genie_inspect.statistics.paired.corrections import bonferroni, holm
from genie_inspect.statistics.paired.pairs import ROUNDING, Values, centred_deltas, complete_pairs, paired_values
from genie_inspect.statistics.paired.permutation import least_p_value, paired_permutation
from genie_inspect.statistics.power import paired_power, pairs_needed

LEVEL = 0.05  # by convention; each of the two families of tests is held to it
TEST = "sign-flip permutation test"


def uncorrected(p_values: ArrayLike) -> Values:
    """The p-values as they are."""
    return np.asarray(p_values, dtype=float)


CORRECTIONS = {"holm": holm, "bonferroni": bonferroni, "none": uncorrected}


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference in one column of pairs, by itself; NaN where a figure is not defined."""

    pairs: int
    """With both sides; pairs must not hang together: take one a prompt."""
    before: float
    """Mean over the pairs, as is `after`; their difference is `delta`."""
    after: float
    delta: float
    low: float
    high: float
    effect: float
    """Cohen's d of the pairs."""
    spread: float
    """Standard deviation of the deltas."""
    p_value: float
    """That the mean delta is 0, two-sided; below LEVEL exactly where 0 lies outside of `low` to `high`."""
    least_p: float
    """The smallest p-value that so few pairs can have."""
    p_unlike: float
    """That the mean delta is at least the margin: two one-sided tests."""
    margin: float

    def within(self, lowest: float, highest: float) -> "Difference":
        """The same with its interval cut where no difference from this baseline can lie.

        An end that few pairs leave open stays open, and 0 is inside afterwards exactly where it was before.

        Args:
            lowest: The lowest value that there can be on either side.
            highest: The highest.
        """
        # a baseline at an end leaves nothing on that side; rounding must not take 0 out
        down, up = min(0.0, lowest - self.before), max(0.0, highest - self.before)
        low, high = (max(down, min(end, up)) if math.isfinite(end) else end for end in (self.low, self.high))
        return replace(self, low=low, high=high)


@dataclass(frozen=True, slots=True)
class Finding:
    """A difference among the others that were looked at."""

    difference: Difference
    p_value: float
    """Corrected for the number of tests."""
    p_unlike: float
    """Corrected likewise."""
    power: float
    """Chance that a paired t test finds a delta as large as the margin, with these pairs and this spread at the
    corrected level; 0 where so few pairs have no p-value below it."""
    needed: float
    """Pairs with which that chance would be the usual 80%, of the same spread; NaN where the power is not known."""
    differs: bool
    is_equivalent: bool


def differences(
    before: ArrayLike,
    after: ArrayLike,
    margin: float | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    equivalence: str = "t",
) -> list[Difference]:
    """One difference a column, its interval at 1 - LEVEL.

    Args:
        before: Shape (N, F); a pair with a NaN is left out of its column.
        after: The other side, same shape.
        margin: Largest mean delta that does not matter; default: 0.2 standard deviations of `before`, by column.
        resamples: Of the permutation test, and of a bootstrap for equivalence.
        seed: Of both.
        equivalence: Method of `tost`.

    Raises:
        UnknownChoiceError: If the method is unknown.
        ValueError: If the shapes differ, a value is infinite or an option is out of range.
    """
    first, second = paired_values(before, after)
    # the permutation test keeps its level with few pairs, the bootstrap does not (benchmarks/README.md)
    test = paired_permutation(first, second, resamples, seed, level=LEVEL)
    columns = [complete_pairs(*sides) for sides in zip(first.T, second.T, strict=True)]
    return [
        _difference(
            *sides,
            ends=(float(low), float(high)),
            p_value=float(p_value),
            least_p=least_p_value(len(sides[0]), resamples),
            alike=tost(*sides, margin, equivalence, resamples, seed),
        )
        for sides, low, high, p_value in zip(columns, test.low, test.high, test.p_value, strict=True)
    ]


def findings(family: Sequence[Difference], correction: str = "holm", level: float = LEVEL) -> list[Finding]:
    """Which differences hold when all of them are looked at: one family of tests, and one of equivalence.

    Args:
        family: Every difference that is reported together.
        correction: `holm`, `bonferroni` or `none`.
        level: Chance of any false finding among them.

    Raises:
        KeyError: If the correction is unknown.
    """
    adjusted = CORRECTIONS[correction]
    p_values = adjusted([difference.p_value for difference in family])
    unlike = adjusted([difference.p_unlike for difference in family])
    # the power is that at the strictest level that Holm or Bonferroni asks for
    tests = int((~np.isnan(p_values)).sum()) if correction != "none" else 1
    strictest = level / max(1, tests)
    return [
        Finding(
            difference,
            float(p),
            float(q),
            power=_power(difference, strictest),
            needed=_needed(difference, strictest),
            differs=bool(p < level),
            is_equivalent=bool(q < level),
        )
        for difference, p, q in zip(family, p_values, unlike, strict=True)
    ]


def crossed_p_value(deltas: ArrayLike) -> float:
    """p-value of a mean delta of 0 where rows (prompts) and columns (models) are both drawn from many.

    The squared standard errors of the mean over rows and of the mean over columns are added, and t has one degree of
    freedom less than there are of the fewer. That is too much by the share of single cells, so that the test finds too
    little, never too much: in 0% to 5% of tests without a difference, with 3 to 10 columns, 8 or 30 rows and any
    correlation within rows and within columns up to 0.5.

    Args:
        deltas: Shape (rows, columns); NaN where a cell is missing.

    Returns:
        NaN with fewer than three of either; 1 where every delta is 0.
    """
    values = np.asarray(deltas, dtype=float)
    means = [np.array([line[~np.isnan(line)].mean() for line in lines]) for lines in (values, values.T)]
    fewer = min(map(len, means))
    if fewer < 3:
        return math.nan
    mean, error = float(means[0].mean()), math.sqrt(sum(own.var(ddof=1) / len(own) for own in means))
    if error <= ROUNDING * float(np.nanmax(np.abs(values))):
        return 1.0 if mean == 0 else 0.0
    return 2 * float(stdtr(fewer - 1, -abs(mean) / error))


def _difference(
    before: Values, after: Values, ends: tuple[float, float], p_value: float, least_p: float, alike: EquivalenceTest
) -> Difference:
    """The difference of a column's complete pairs, with the results of its tests."""
    return Difference(
        pairs=alike.n,
        before=float(before.mean()) if alike.n else math.nan,
        after=float(after.mean()) if alike.n else math.nan,
        delta=alike.delta,
        low=ends[0],
        high=ends[1],
        effect=cohens_d(before, after),
        spread=_spread(before, after) if alike.n > 1 else math.nan,
        p_value=p_value,
        least_p=least_p,
        p_unlike=alike.p_value,
        margin=alike.margin,
    )


def _spread(before: Values, after: Values) -> float:
    # deltas that differ by rounding alone have none: next to nothing would be tested with next to no pairs
    _, centred = centred_deltas(before, after)
    return math.sqrt(float((centred**2).sum()) / (len(centred) - 1))


def _power(difference: Difference, level: float) -> float:
    # so few pairs that even the clearest result would not count
    if difference.least_p >= level:
        return 0.0
    if not _has_spread(difference):
        return math.nan
    return paired_power(difference.margin, difference.spread, difference.pairs, level)


def _needed(difference: Difference, level: float) -> float:
    if not _has_spread(difference):
        return math.nan
    return pairs_that_find(difference.margin, difference.spread, level)


def pairs_that_find(delta: float, spread: float, level: float) -> int:
    """The fewest pairs with which the test, as the paired t test would, finds a true mean delta four times in five.

    Args:
        delta: True mean of after - before, not 0.
        spread: Standard deviation of the deltas, above 0.
        level: Of the test, after correction.

    Raises:
        ValueError: If the delta is 0 or the level out of range.
    """
    # with fewer even the clearest result would not count, see `_power`; twenty have every p-value that there is
    countable = next((pairs for pairs in range(2, 20) if least_p_value(pairs) < level), 20)
    return max(countable, pairs_needed(delta, spread, level=level))


def _has_spread(difference: Difference) -> bool:
    # a single pair's spread is NaN, and so is what no pairs have
    return difference.spread > 0 and difference.margin > 0
