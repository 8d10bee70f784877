"""How many are enough: documents for a population, pairs for a comparison, draws to see a class."""

import math
from bisect import bisect_left
from collections.abc import Iterable

from scipy.special import nctdtr, ndtri, stdtrit

from genie_inspect.statistics.effect import check_options

USUAL_POWER = 0.8  # by convention (Cohen 1988)
MOST_PAIRS = 2**62  # a range of more has no length in Python


def minimum_population(sd: float, margin: float = 0.1, confidence: float = 0.98) -> int:
    """Documents that a population needs, so that the mean similarity to it is known to within the margin.

    Args:
        sd: Standard deviation of one document's similarities to the population's, at least 0.
        margin: Half width of the two-sided interval, in the same unit, above 0.
        confidence: Coverage of that interval, between 0 and 1.

    Returns:
        ceil((z * sd / margin)^2), at least 1.

    Source: Genie (arXiv 2606.12790); sd from 0.26 to 0.30 asks for 37 to 50.

    >>> minimum_population(0.302)  # (2.3263 * 0.302 / 0.1)^2 = 49.4
    50
    """
    if not 0 < margin < math.inf:
        raise ValueError(f"margin is {margin}, expected a number above 0")
    return max(1, math.ceil((_scaled_spread(sd, confidence) / margin) ** 2))


def margin(sd: float, n: int, confidence: float = 0.98) -> float:
    """Half width of the two-sided interval of a mean of n values, z * sd / sqrt(n).

    >>> round(margin(0.302, 50), 4)
    0.0994
    """
    if n < 1:
        raise ValueError(f"n is {n}, expected at least 1")
    return _scaled_spread(sd, confidence) / math.sqrt(n)


def _scaled_spread(sd: float, confidence: float) -> float:
    """Half width of the two-sided interval of a single value."""
    if not 0 <= sd < math.inf:
        raise ValueError(f"sd is {sd}, expected a number of at least 0")
    check_options(confidence=confidence)
    return float(ndtri((1 + confidence) / 2)) * sd


def paired_power(delta: float, sd: float, n: int, level: float = 0.05) -> float:
    """Chance that a two-sided paired t test of n pairs rejects, when the true mean delta is this one; at 0 the level.

    Source: Cohen (1988), chapter 2: noncentral t with n - 1 degrees of freedom and noncentrality sqrt(n) * delta / sd.
    """
    if not math.isfinite(delta):
        raise ValueError(f"delta is {delta}, expected a finite number")
    shift = math.sqrt(n) * delta / sd
    bound = float(stdtrit(n - 1, 1 - level / 2))
    # two-sided: a rejection in the wrong direction is one too, however rare
    right_side, wrong_side = (float(nctdtr(n - 1, sign * abs(shift), -bound)) for sign in (-1, 1))
    return right_side + (0.0 if math.isnan(wrong_side) else wrong_side)  # scipy gives NaN for values below 1e-14


def pairs_needed(delta: float, sd: float, level: float = 0.05) -> int:
    """The fewest pairs with which a paired t test finds a true mean delta four times in five; at most 2**62."""
    most = 2
    while most < MOST_PAIRS and paired_power(delta, sd, most, level) < USUAL_POWER:
        most *= 2
    # power grows with the pairs
    return bisect_left(range(most), USUAL_POWER, lo=2, key=lambda n: paired_power(delta, sd, n, level))


def chance_of_seeing(count: int, total: int, draws: int) -> float:
    """Chance that a class is among some draws without replacement, 0 to 1: rarefaction (Hurlbert 1971)."""
    # one less the share of the samples that miss the class
    return 1 - math.comb(total - count, min(draws, total)) / math.comb(total, min(draws, total))


def expected_unseen(counts: Iterable[int], total: int, draws: int) -> float:
    """How many classes beyond those seen to expect in more draws than things were seen; 0 for no more than that.

    Source: Good (1953), equation 9: each further draw is of a new class as often as classes were seen once. Deviation:
    that share is held constant, an upper bound that is near where few draws are added.
    """
    singles = sum(count == 1 for count in counts)
    return max(0, draws - total) * singles / total if total else 0.0
