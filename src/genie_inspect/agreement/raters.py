"""Ratings of the same pairs by judges and by people."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from genie_inspect.agreement.targets import CalibrationError, Pair, Target
from genie_inspect.asking.gathering import gathered
from genie_inspect.errors import GraderFailedError
from genie_inspect.judges.list_judge import shuffled
from genie_inspect.judges.protocols import UNSPECIFIED, Answer, Judge, Rated

FAILED = "grader failed"
RECORDED = "recorded"
"""The signature of ratings from a file."""
Told = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Ratings:
    """What one rater says of all pairs, in the order of the targets and in each of its others."""

    name: str
    signature: str
    values: tuple[float, ...]
    """1 to 4; NaN: none."""
    faults: Mapping[int, str] = field(default_factory=dict)
    """Why a rating that was asked for could not be had, by position; a pair without either was not asked."""
    positions: tuple[float, ...] = ()
    """Where each pair stood in its list, 0 (first) to 1 (last), NaN alone; empty for a judge without lists."""
    swapped: tuple[float, ...] = ()
    """Ratings of the pairs with their sides swapped; empty where they were not asked for."""

    @property
    def levels(self) -> NDArray[np.float64]:
        """The ratings as levels of the scale, which ordinal agreement ranks.

        A judge's mean over label probabilities is the nearest whole. Recorded ratings stay: a consensus of 2.5 is a
        level between 2 and 3.
        """
        values = np.array(self.values)
        return values if self.signature == RECORDED else np.round(values)


def recorded_ratings(name: str, said: Mapping[Pair, float | None], targets: Sequence[Target]) -> Ratings:
    """What a ratings file holds of the targets' pairs."""
    found = [said.get(pair, math.nan) for target in targets for pair in target.pairs]
    faults = {index: UNSPECIFIED for index, rating in enumerate(found) if rating is None}
    return Ratings(name, RECORDED, tuple(math.nan if one is None else one for one in found), faults)


@dataclass(frozen=True, slots=True)
class Rater:
    """A judge that is held against others."""

    name: str
    judge: Judge
    chunk: int = 1
    """Most answers that it is shown in one call, as its mode says. With 1 the order of a pair may matter to it."""

    def calls(self, targets: Sequence[Target]) -> int:
        """How many ratings it is asked for, swapped ones included."""
        pairs = sum(len(target.others) for target in targets)
        return pairs if self.chunk > 1 else 2 * pairs


async def judge_ratings(
    rater: Rater, targets: Sequence[Target], told: Told = lambda count: None, *, fresh: bool = True
) -> Ratings:
    """What a judge says of the targets' pairs, and how much their order matters to it.

    A judge that sees one pair at a time is asked again with the sides swapped. For a list judge it is the position in
    the list that may matter; lists that a cache cut short would tell nothing of it.

    Args:
        rater: Who rates.
        targets: What is rated.
        told: Called with the number of ratings whenever some are done.
        fresh: Whether every rating is asked for now, so that positions are known.

    Raises:
        CalibrationError: If the model behind it never answered.
    """
    name, judge, chunk = rater.name, rater.judge, rater.chunk
    rated = await gathered(*(_rated(judge, target, told) for target in targets))
    faults, values = _joined(rated)
    if values and set(faults.values()) == {FAILED} and len(faults) == len(values):
        raise CalibrationError(f"{name} rated nothing: {_reason(rated)}")
    if chunk > 1:
        positions = [place for target in targets for place in list_positions(target, chunk)] if fresh else []
        return Ratings(name, judge.signature, values, faults, positions=tuple(positions))
    sides = [Target(target.question, other, (target.answer,)) for target in targets for other in target.others]
    _, swapped = _joined(await gathered(*(_rated(judge, target, told) for target in sides)))
    return Ratings(name, judge.signature, values, faults, swapped=swapped)


def list_positions(target: Target, chunk: int) -> list[float]:
    """Where each other answer stands in the list judge's call, 0 (first) to 1 (last); NaN in a list of one."""
    order = shuffled(target.others, target.question.text, target.answer)
    places: dict[str, float] = {}
    for start in range(0, len(order), chunk):
        listed = order[start : start + chunk]
        last = len(listed) - 1
        places |= {text: index / last if last else math.nan for index, text in enumerate(listed)}
    return [places[other] for other in target.others]


@dataclass(frozen=True, slots=True)
class _Failed:
    reason: str
    pairs: int


async def _rated(judge: Judge, target: Target, told: Told) -> Rated | _Failed:
    try:
        return await judge.rate(target.question, Answer(target.answer), [Answer(other) for other in target.others])
    except GraderFailedError as error:
        return _Failed(str(error), len(target.others))
    finally:
        told(len(target.others))


def _joined(rated: Sequence[Rated | _Failed]) -> tuple[dict[int, str], tuple[float, ...]]:
    """Faults by position, and ratings, NaN where there is none."""
    values: list[float] = []
    faults: dict[int, str] = {}
    for one in rated:
        start = len(values)
        if isinstance(one, _Failed):
            values += [math.nan] * one.pairs
            faults |= dict.fromkeys(range(start, start + one.pairs), FAILED)
        else:
            values += [math.nan if rating is None else rating for rating in one.ratings]
            faults |= {start + index: fault for index, fault in one.faults.items()}
    return faults, tuple(values)


def _reason(rated: Sequence[Rated | _Failed]) -> str:
    return next(one.reason for one in rated if isinstance(one, _Failed))
