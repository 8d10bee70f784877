"""How good are probabilities of a yes, against the yes and no that people gave."""

import math

import numpy as np
from numpy.typing import ArrayLike

from genie_inspect.statistics.forecasts import CLOSEST
from genie_inspect.statistics.paired.pairs import Values, complete_pairs


def log_loss(probabilities: ArrayLike, outcomes: ArrayLike) -> float:
    """Mean of -ln of the probability that was given to what happened, 0 (sure and right) upwards; lower is better.

    Args:
        probabilities: Of a yes, 0 to 1, shape (N,); a pair with a NaN is left out.
        outcomes: 1 for a yes, 0 for a no, same shape.

    Returns:
        NaN without a pair.

    Raises:
        ValueError: If the shapes differ, a probability is outside of 0 to 1 or an outcome is neither 0 nor 1.

    >>> round(log_loss([0.5, 0.5], [1, 0]), 3)  # ln 2
    0.693
    """
    chances, yes = _checked(probabilities, outcomes)
    bounded = np.clip(chances, CLOSEST, 1 - CLOSEST)
    return _mean(-np.log(np.where(yes == 1, bounded, 1 - bounded)))


def brier(probabilities: ArrayLike, outcomes: ArrayLike) -> float:
    """Mean squared difference between the probability of a yes and what happened, 0 to 1; lower is better.

    Args:
        probabilities: Of a yes, 0 to 1, shape (N,); a pair with a NaN is left out.
        outcomes: 1 for a yes, 0 for a no, same shape.

    Returns:
        NaN without a pair.

    Raises:
        ValueError: As for `log_loss`.

    Source: Brier (1950), the form for one of two outcomes.

    >>> brier([0.5, 1.0], [1, 1])  # (1/4 + 0) / 2
    0.125
    """
    chances, yes = _checked(probabilities, outcomes)
    return _mean((chances - yes) ** 2)


def auc(probabilities: ArrayLike, outcomes: ArrayLike) -> float:
    """Chance that a yes was given a higher probability than a no, 0 to 1, ties half; 0.5 tells nothing apart.

    Args:
        probabilities: Of a yes, 0 to 1, shape (N,); a pair with a NaN is left out.
        outcomes: 1 for a yes, 0 for a no, same shape.

    Returns:
        NaN where there is no yes or no no.

    Raises:
        ValueError: As for `log_loss`.

    >>> auc([0.9, 0.2, 0.5], [1, 1, 0])  # of two pairs one is in order
    0.5
    """
    from scipy.stats import rankdata

    chances, yes = _checked(probabilities, outcomes)
    count = yes.sum()
    pairs = count * (len(yes) - count)
    # Mann and Whitney's U: the ranks of the yes, less what they would be at the bottom
    above = rankdata(chances)[yes == 1].sum() - count * (count + 1) / 2
    return float(above / pairs) if pairs else math.nan


def pearson(probabilities: ArrayLike, outcomes: ArrayLike) -> float:
    """Pearson's correlation of probabilities with what happened, -1 to 1.

    Args:
        probabilities: Of a yes, 0 to 1, shape (N,); a pair with a NaN is left out.
        outcomes: 1 for a yes, 0 for a no, same shape.

    Returns:
        NaN where either side never varies.

    Raises:
        ValueError: As for `log_loss`.

    >>> round(pearson([0.2, 0.8, 0.4, 0.9], [0, 1, 1, 1]), 2)
    0.76
    """
    pair = _checked(probabilities, outcomes)
    return float(np.corrcoef(*pair)[0, 1]) if all(len(np.unique(side)) > 1 for side in pair) else math.nan


def precision(probabilities: ArrayLike, outcomes: ArrayLike, threshold: float = 0.5) -> float:
    """Share of true yes among those that are called yes, 0 to 1.

    Args:
        probabilities: Of a yes, 0 to 1, shape (N,); a pair with a NaN is left out.
        outcomes: 1 for a yes, 0 for a no, same shape.
        threshold: From which probability on a yes is called.

    Returns:
        NaN where nothing is called yes.

    Raises:
        ValueError: As for `log_loss`.
    """
    chances, yes = _checked(probabilities, outcomes)
    return _mean(yes[chances >= threshold])


def recall(probabilities: ArrayLike, outcomes: ArrayLike, threshold: float = 0.5) -> float:
    """Share of the true yes that are called yes, 0 to 1.

    Args:
        probabilities: Of a yes, 0 to 1, shape (N,); a pair with a NaN is left out.
        outcomes: 1 for a yes, 0 for a no, same shape.
        threshold: From which probability on a yes is called.

    Returns:
        NaN where there is no yes.

    Raises:
        ValueError: As for `log_loss`.
    """
    chances, yes = _checked(probabilities, outcomes)
    return _mean(chances[yes == 1] >= threshold)


def f1(probabilities: ArrayLike, outcomes: ArrayLike, threshold: float = 0.5) -> float:
    """Harmonic mean of precision and recall of the yes, 0 to 1.

    Args:
        probabilities: Of a yes, 0 to 1, shape (N,); a pair with a NaN is left out.
        outcomes: 1 for a yes, 0 for a no, same shape.
        threshold: From which probability on a yes is called.

    Returns:
        2 * hits / (called yes + true yes), so 0 where there are yes and none is called; NaN where there is neither.

    Raises:
        ValueError: As for `log_loss`.

    >>> f1([0.9, 0.8, 0.1], [1, 0, 1])  # one hit, two called, two true
    0.5
    """
    chances, yes = _checked(probabilities, outcomes)
    called = chances >= threshold
    either = called.sum() + yes.sum()
    return float(2 * yes[called].sum() / either) if either else math.nan


def _checked(probabilities: ArrayLike, outcomes: ArrayLike) -> tuple[Values, Values]:
    chances, yes = complete_pairs(probabilities, outcomes)
    outside = chances[(chances < 0) | (chances > 1)]
    if len(outside):
        raise ValueError(f"a probability is {outside[0]:g}, expected 0 to 1")
    others = yes[(yes != 0) & (yes != 1)]
    if len(others):
        raise ValueError(f"an outcome is {others[0]:g}, expected 0 for a no or 1 for a yes")
    return chances, yes


def _mean(values: ArrayLike) -> float:
    numbers = np.asarray(values, dtype=float)
    return float(numbers.mean()) if len(numbers) else math.nan
