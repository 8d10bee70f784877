"""How far values lie apart within their groups, whatever the groups' means are."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spread:
    """A standard deviation within groups, and what it rests on."""

    sd: float
    """NaN without degrees of freedom."""
    degrees: int
    """Of freedom: values less groups."""

    @property
    def variance(self) -> float:
        """The square of it."""
        return self.sd**2


NO_SPREAD = Spread(math.nan, 0)


def spread_within(groups: Iterable[Sequence[float]]) -> Spread:
    """The spread of values around the mean of their own group, pooled; a group of one says nothing.

    >>> spread_within([[0, 1], [5, 6]])  # each value 0.5 from its mean: sqrt(4 * 0.25 / 2)
    Spread(sd=0.7071067811865476, degrees=2)
    """
    squares, degrees = [], 0
    for group in groups:
        if group:
            mean = math.fsum(group) / len(group)
            squares += [(value - mean) ** 2 for value in group]
            degrees += len(group) - 1
    return Spread(math.sqrt(math.fsum(squares) / degrees), degrees) if degrees else NO_SPREAD


def pooled(parts: Iterable[Spread]) -> Spread:
    """Several spreads as one, each by its degrees of freedom."""
    known = [part for part in parts if part.degrees]
    degrees = sum(part.degrees for part in known)
    if not degrees:
        return NO_SPREAD
    return Spread(math.sqrt(math.fsum(part.variance * part.degrees for part in known) / degrees), degrees)
