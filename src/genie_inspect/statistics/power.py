"""How many are enough: documents for a population, pairs for a comparison."""

import math
from bisect import bisect_left

from scipy.special import nctdtr, ndtri, stdtrit

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

    Raises:
        ValueError: If an argument is out of range.

    Source: Genie (arXiv 2606.12790); sd from 0.26 to 0.30 asks for 37 to 50.

    >>> minimum_population(0.302)  # (2.3263 * 0.302 / 0.1)^2 = 49.4
    50
    """
    _check_spread(sd)
    if not 0 < margin < math.inf:
        raise ValueError(f"margin is {margin}, expected a number above 0")
    return max(1, math.ceil((_two_sided_z(confidence) * sd / margin) ** 2))


def margin(sd: float, n: int, confidence: float = 0.98) -> float:
    """Half width of the two-sided interval of a mean, z * sd / sqrt(n).

    Args:
        sd: Standard deviation of the values, at least 0.
        n: How many values, at least 1.
        confidence: Coverage, between 0 and 1.

    Raises:
        ValueError: If an argument is out of range.

    >>> round(margin(0.302, 50), 4)
    0.0994
    """
    _check_spread(sd)
    if n < 1:
        raise ValueError(f"n is {n}, expected at least 1")
    return _two_sided_z(confidence) * sd / math.sqrt(n)


def paired_power(delta: float, sd: float, n: int, level: float = 0.05) -> float:
    """Chance that a two-sided paired t test of n pairs rejects, when the true mean delta is this one.

    0 to 1; at delta 0 the level itself.

    Source: Cohen (1988), chapter 2: noncentral t with n - 1 degrees of freedom and noncentrality sqrt(n) * delta / sd.

    >>> round(paired_power(delta=0.5, sd=1, n=34), 3)
    0.808
    """
    if not math.isfinite(delta):
        raise ValueError(f"delta is {delta}, expected a finite number")
    _check_spread(sd)
    if sd == 0:
        raise ValueError("sd is 0, expected a number above 0: deltas without spread need no test")
    if n < 2:
        raise ValueError(f"n is {n}, expected at least 2 pairs")
    if not 0 < level < 1:
        raise ValueError(f"level is {level}, expected a number between 0 and 1")
    shift = math.sqrt(n) * delta / sd
    bound = float(stdtrit(n - 1, 1 - level / 2))
    # two-sided: a rejection in the wrong direction is one too, however rare
    right_side, wrong_side = (float(nctdtr(n - 1, sign * abs(shift), -bound)) for sign in (-1, 1))
    return right_side + (0.0 if math.isnan(wrong_side) else wrong_side)  # scipy gives NaN for values below 1e-14


def pairs_needed(delta: float, sd: float, power: float = USUAL_POWER, level: float = 0.05) -> int:
    """The fewest pairs with which a paired t test finds a true mean delta so often; at most 2**62.

    >>> pairs_needed(delta=0.5, sd=1)
    34
    """
    if delta == 0 or not level < power < 1:
        raise ValueError(
            f"delta is {delta} and power {power}, expected a delta other than 0 and a power in ({level}, 1)"
        )
    most = 2
    while most < MOST_PAIRS and paired_power(delta, sd, most, level) < power:
        most *= 2
    # power grows with the pairs
    return bisect_left(range(most), power, lo=2, key=lambda n: paired_power(delta, sd, n, level))


def _two_sided_z(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}, expected a number between 0 and 1")
    return float(ndtri((1 + confidence) / 2))


def _check_spread(sd: float) -> None:
    if not 0 <= sd < math.inf:
        raise ValueError(f"sd is {sd}, expected a number of at least 0")
