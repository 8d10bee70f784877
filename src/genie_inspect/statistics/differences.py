"""What paired scores differ by, and which of many differences hold."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from genie_inspect.statistics.bootstrap import paired_bootstrap
from genie_inspect.statistics.corrections import bonferroni, holm
from genie_inspect.statistics.effect import cohens_d
from genie_inspect.statistics.equivalence import tost
from genie_inspect.statistics.pairs import Values, paired_values
from genie_inspect.statistics.power import paired_power

LEVEL = 0.05


def uncorrected(p_values: ArrayLike) -> Values:
    """The p-values as they are."""
    return np.asarray(p_values, dtype=float)


CORRECTIONS = {"holm": holm, "bonferroni": bonferroni, "none": uncorrected}


@dataclass(frozen=True, slots=True)
class Difference:
    """One column of pairs, taken by itself; what could not be had is NaN."""

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
    """That the mean delta is 0: studentised paired bootstrap, two-sided."""
    p_unlike: float
    """That the mean delta is at least the margin: two one-sided tests."""
    margin: float

    def within(self, span: float) -> "Difference":
        """The same with its interval cut at -span and span, beyond which no difference can lie.

        An end that few pairs leave open stays open.
        """
        low = max(self.low, -span) if math.isfinite(self.low) else self.low
        high = min(self.high, span) if math.isfinite(self.high) else self.high
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
    """Chance that a delta as large as the margin is found, with these pairs and this spread at the corrected level."""
    differs: bool
    is_equivalent: bool


def differences(
    before: ArrayLike, after: ArrayLike, margin: float | None = None, resamples: int = 10_000, seed: int = 0
) -> list[Difference]:
    """One difference a column.

    Args:
        before: Shape (N, F); a pair with a NaN is left out of its column.
        after: The other side, same shape.
        margin: Largest mean delta that does not matter; default: 0.2 standard deviations of `before`, by column.
        resamples: Of the bootstrap.
        seed: Of the bootstrap.

    Raises:
        ValueError: If the shapes differ, a value is infinite or an option is out of range.
    """
    first, second = paired_values(before, after)
    found = paired_bootstrap(first, second, resamples, seed, studentised=True)
    return [
        _difference(first[:, column], second[:, column], margin, low, high, p_value)
        for column, (low, high, p_value) in enumerate(zip(found.low, found.high, found.p_value, strict=True))
    ]


def findings(found: Sequence[Difference], correction: str = "holm", level: float = LEVEL) -> list[Finding]:
    """Which differences hold when all of them are looked at: one family of tests, and one of equivalence.

    Args:
        found: Every difference that is reported together.
        correction: `holm`, `bonferroni` or `none`.
        level: Chance of any false finding among them.

    Raises:
        KeyError: If the correction is unknown.
    """
    adjusted = CORRECTIONS[correction]
    p_values = adjusted([difference.p_value for difference in found])
    unlike = adjusted([difference.p_unlike for difference in found])
    tests = int((~np.isnan(p_values)).sum()) if correction != "none" else 1
    return [
        Finding(
            difference, float(p), float(q), _power(difference, level / max(1, tests)), bool(p < level), bool(q < level)
        )
        for difference, p, q in zip(found, p_values, unlike, strict=True)
    ]


def _difference(
    before: Values, after: Values, margin: float | None, low: float, high: float, p_value: float
) -> Difference:
    present = ~np.isnan(before)
    before, after = before[present], after[present]
    means = (float(before.mean()), float(after.mean())) if len(before) else (math.nan, math.nan)
    alike = tost(before, after, margin)
    return Difference(
        pairs=len(before),
        before=means[0],
        after=means[1],
        delta=alike.delta,
        low=float(low),
        high=float(high),
        effect=cohens_d(before, after),
        spread=float((after - before).std(ddof=1)) if len(before) > 1 else math.nan,
        p_value=float(p_value),
        p_unlike=alike.p_value,
        margin=alike.margin,
    )


def _power(difference: Difference, level: float) -> float:
    measured = difference.pairs > 1 and difference.spread > 0 and difference.margin > 0
    return paired_power(difference.margin, difference.spread, difference.pairs, level) if measured else math.nan
