"""Votes on ordered levels, no and yes among them, by terms that are shrunk towards 0 by as much as the votes say.

P(at least level k) = 1 / (1 + exp(-(sum of the row's terms - threshold k))): with two levels a logistic model, with
more a cumulative one (McCullagh 1980). Each kind of term is normal around 0 with a variance of its own, which is the
one that makes the votes most likely (Laplace's approximation; the fixed point of MacKay 1992), as in a mixed model: a
kind that says nothing beyond chance has variance 0 and is gone. `statistics.mixed` climbs with the same engine.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from genie_inspect.errors import UnfittableError

Values = NDArray[np.float64]
Codes = NDArray[np.int64]

STEPS = 100  # Newton's; some six do
HALVINGS = 40


@dataclass(frozen=True, slots=True)
class Piece:
    """Some terms of a model, and what each row takes of them."""

    size: int  # how many terms
    codes: Codes | None = None  # the one term that each row has, shape (N,); None where rows take a share of each
    scale: float = 1.0
    columns: Any = None  # each row's share of each term, shape (N, size)

    def linear(self, terms: Values) -> Values:
        """What the terms add to each row, shape (N,)."""
        return np.asarray(self.scale * (terms[self.codes] if self.codes is not None else self.columns @ terms))

    def summed(self, rows: Values) -> Values:
        """The rows' values summed by term, shape (size,)."""
        if self.codes is not None:
            return np.asarray(self.scale * np.bincount(self.codes, rows, self.size))
        return np.asarray(self.scale * (self.columns.T @ rows))

    def crossed(self, other: "Piece", weights: Values) -> Values:
        """Second derivatives between two pieces, shape (size, other's size)."""
        if self.codes is None and other.codes is not None:
            return other.crossed(self, weights).T
        scaled = self.scale * other.scale * weights
        if self.codes is None:
            return np.asarray(self.columns.T @ (scaled[:, None] * other.columns))
        if other.codes is None:
            sums = [np.bincount(self.codes, scaled * column, self.size) for column in other.columns.T]
            return np.column_stack(sums) if sums else np.zeros((self.size, 0))
        cells = np.bincount(self.codes * other.size + other.codes, scaled, self.size * other.size)
        return np.asarray(cells.reshape(self.size, other.size))


class Curvature:
    """Second derivatives of minus the log-posterior, with the first piece's block (diagonal) apart from the others.

    `border` is between the first piece and the others, shape (Q, R); `inverse` is of what is left of the others' block
    once the first is solved for, shape (R, R). `last` is added to the block of the last piece.
    """

    def __init__(
        self, pieces: Sequence[Piece], weights: Values, precisions: Values, last: Values | None = None
    ) -> None:
        first, *rest = pieces
        own, others = precisions[: first.size], precisions[first.size :]
        # its groups never meet in a row
        self.diagonal = np.bincount(np.asarray(first.codes), first.scale**2 * weights, first.size) + own
        border, *blocks = ([row.crossed(piece, weights) for piece in rest] for row in pieces)
        self.border: Values = np.concatenate([np.zeros((first.size, 0)), *border], axis=1)
        left = np.concatenate([np.zeros((0, len(others))), *(np.concatenate(row, axis=1) for row in blocks)])
        left.flat[:: len(others) + 1] += others
        if last is not None:
            left[-len(last) :, -len(last) :] += last
        solved = left - self.border.T @ (self.border / self.diagonal[:, None])
        self.inverse = np.asarray(np.linalg.inv(solved), dtype=float)

    @property
    def log_determinant(self) -> float:
        return float(np.log(self.diagonal).sum() - np.linalg.slogdet(self.inverse).logabsdet)

    def solve(self, right: Values) -> Values:
        """The inverse times a vector, shape (Q + R,)."""
        first, rest = right[: len(self.diagonal)], right[len(self.diagonal) :]
        others = self.inverse @ (rest - self.border.T @ (first / self.diagonal))
        return np.concatenate([(first - self.border @ others) / self.diagonal, others])

    def variances(self) -> Values:
        """The inverse's diagonal: how uncertain each term is, shape (Q + R,)."""
        scaled = self.border / self.diagonal[:, None]
        own = 1 / self.diagonal + np.einsum("ij,jk,ik->i", scaled, self.inverse, scaled, optimize=True)
        return np.concatenate([own, np.diag(self.inverse)])


def most_probable(
    point: Values,
    loss_at: Callable[[Values], float],
    slope_at: Callable[[Values], tuple[Values, Curvature]],
    least_gain: float,
) -> tuple[Values, Values, Curvature]:
    """Where the loss is least, by Newton's method, with the step that would come next and the curvature."""
    loss = loss_at(point)
    for _ in range(STEPS):
        slope, curvature = slope_at(point)
        step = curvature.solve(slope)
        if slope @ step < least_gain * max(1.0, loss):
            return point, step, curvature
        for halving in range(HALVINGS):
            nearer = point - step / 2**halving
            if (nearer_loss := loss_at(nearer)) <= loss:
                break
        point, loss = nearer, nearer_loss
    return point, np.zeros_like(point), curvature


LEAST_VARIANCE = 1e-4  # of log-odds: what moves them by 0.01 is no difference that a vote could show
MOST_VARIANCE = 100.0  # where every vote goes with a term, its chances lie within 1e-13 of certain
PRIOR_VOTES = 0.1  # for and against each level, so that one nobody used has a threshold too
LOWEST, HIGHEST = np.log(LEAST_VARIANCE), np.log(MOST_VARIANCE)
SETTLED = 1e-3  # relative change of a variance
SMALL = 1e-2  # variance below which the change counts as if it were so large
ROUNDS = 200
FARTHEST = 32.0  # steps at once
LEAST_GAIN = 1e-9  # of a step of Newton's


@dataclass(frozen=True, slots=True)
class ShrunkenModel:
    """A fitted model: log-odds, by kind of term."""

    thresholds: Values  # of each level but the lowest, rising
    terms: dict[str, Values]  # log-odds that each group, or one unit of each column, adds; 0 where the variance is
    errors: dict[str, Values]  # how uncertain each term is, as a standard deviation; 0 where the variance is
    variances: dict[str, float]  # by kind; 0 where its terms do not differ beyond chance

    def chances(self, groups: Mapping[str, Codes], columns: Mapping[str, Values]) -> Values:
        """The chance of at least each level but the lowest, shape (N, levels - 1)."""
        parts = [np.append(self.terms[name], 0.0)[codes] for name, codes in groups.items()]
        parts += [values @ self.terms[name] for name, values in columns.items()]
        return np.asarray(expit(np.sum(parts, axis=0)[:, None] - self.thresholds))


def shrunken_ordinal(
    levels: ArrayLike, count: int, groups: Mapping[str, tuple[Codes, int]], columns: Mapping[str, Values]
) -> ShrunkenModel:
    """The model of votes, each kind of term shrunk by as much as the votes say."""
    votes = np.asarray(levels, dtype=np.int64)
    if len(np.unique(votes)) < 2:
        raise UnfittableError(f"all {len(votes)} votes are the same, expected votes that differ")
    return _Fit(votes, count, groups, columns).model()


class _Fit:
    """A fit under way: the terms of all kinds in a line, the thresholds last."""

    def __init__(
        self, votes: Codes, count: int, groups: Mapping[str, tuple[Codes, int]], columns: Mapping[str, Values]
    ) -> None:
        # a vote for a level between others says two things: at least this one, and not the next
        above, below = np.flatnonzero(votes > 0), np.flatnonzero(votes < count - 1)
        rows = np.concatenate([above, below])
        self._outcome = np.concatenate([np.ones(len(above)), np.zeros(len(below))])
        thresholds = Piece(count - 1, np.concatenate([votes[above] - 1, votes[below]]), scale=-1.0)
        # the largest grouping first, as the curvature has it
        order = sorted(groups, key=lambda name: -groups[name][1])
        pieces = {name: Piece(groups[name][1], groups[name][0][rows]) for name in order}
        pieces |= {name: Piece(values.shape[1], columns=values[rows]) for name, values in columns.items()}
        self._names = list(pieces)
        self._pieces = [*pieces.values(), thresholds]
        ends = np.cumsum([piece.size for piece in self._pieces]).tolist()
        self._places = [slice(end - piece.size, end) for end, piece in zip(ends, self._pieces, strict=True)]
        self._between = np.bincount(votes, minlength=count)[1:-1] + PRIOR_VOTES
        self._point = np.zeros(sum(piece.size for piece in self._pieces))
        self._last: tuple[Values, Values] = np.zeros(0), np.zeros(0)
        shares = np.array([(votes >= level).mean() for level in range(1, count)])
        shares = (shares * len(votes) + PRIOR_VOTES) / (len(votes) + 2 * PRIOR_VOTES)
        # levels that nobody used would share a threshold, of which no gap has a logarithm
        self._point[self._places[-1]] = np.log((1 - shares) / shares) + np.arange(count - 1) * 1e-3

    def model(self) -> ShrunkenModel:
        """The model at the variances that make the votes most likely."""
        logs = np.zeros(len(self._names))
        for _ in range(ROUNDS):
            first = self._asked_for(logs)
            second = self._asked_for(first)
            if (np.abs(np.exp(second) - np.exp(first)) <= SETTLED * np.maximum(np.exp(first), SMALL)).all():
                break
            # a variance goes to 0 by small steps, of which two foretell the rest (SQUAREM, Varadhan and Roland 2008)
            step, bend = first - logs, second - 2 * first + logs
            ratio = float(np.linalg.norm(step)) / max(float(np.linalg.norm(bend)), LEAST_GAIN)
            length = min(FARTHEST, max(1.0, ratio))
            logs = np.clip(logs + 2 * length * step + length**2 * bend, LOWEST, HIGHEST)
        else:
            raise UnfittableError("the model did not converge: its variances do not settle; give more votes")
        variances = np.exp(second)
        # a hair more: it went through its logarithm and back
        differs = variances > LEAST_VARIANCE * 1.01
        terms, uncertain = self._climbed(variances)
        kept = list(zip(self._names, terms, uncertain, variances.tolist(), differs.tolist(), strict=True))
        return ShrunkenModel(
            self._point[self._places[-1]],
            {name: values * keep for name, values, _, _, keep in kept},
            {name: np.sqrt(values) * keep for name, _, values, _, keep in kept},
            {name: variance if keep else 0.0 for name, _, _, variance, keep in kept},
        )

    def _asked_for(self, logs: Values) -> Values:
        """The logarithms of the variances that the terms ask for that are most probable under some variances.

        The variance that terms ask for: their squares, over how many of them the votes determine.
        """
        variances, asked = np.exp(logs), []
        for terms, uncertain, variance in zip(*self._climbed(variances), variances, strict=True):
            determined = max(len(terms) - float(uncertain.sum()) / variance, 1e-9)
            asked.append(float(np.clip(terms @ terms / determined, LEAST_VARIANCE, MOST_VARIANCE)))
        return np.asarray(np.log(asked), dtype=np.float64)

    def _climbed(self, variances: Values) -> tuple[list[Values], list[Values]]:
        """Move to the most probable terms under these variances: the terms of each kind, and how uncertain each is."""
        # thresholds are not shrunk
        precisions = np.repeat(np.append(1 / variances, 0.0), [piece.size for piece in self._pieces])
        self._point, _, curvature = most_probable(
            self._point,
            lambda point: self._loss(point, precisions),
            lambda point: self._slope(point, precisions),
            LEAST_GAIN,
        )
        kinds, uncertain = self._places[:-1], curvature.variances()
        return [self._point[place] for place in kinds], [uncertain[place] for place in kinds]

    def _linear(self, point: Values) -> Values:
        # asked for twice at a point: for its loss, and for the slope there
        if point is not self._last[0]:
            parts = zip(self._pieces, self._places, strict=True)
            self._last = point, np.asarray(sum(piece.linear(point[place]) for piece, place in parts))
        return self._last[1]

    def _loss(self, point: Values, precisions: Values) -> float:
        thresholds = point[self._places[-1]]
        gaps = np.diff(thresholds)
        if (gaps <= 0).any():
            return float("inf")
        linear = self._linear(point)
        loss = np.logaddexp(0, linear).sum() - self._outcome @ linear + precisions @ point**2 / 2
        prior = PRIOR_VOTES * (np.logaddexp(0, thresholds) + np.logaddexp(0, -thresholds)).sum()
        # log(F(a) - F(b)) = log F(a) + log F(-b) + log(1 - exp(b - a)): what rows do not hold is of the gaps alone
        return float(loss + prior - self._between @ np.log(-np.expm1(-gaps)))

    def _slope(self, point: Values, precisions: Values) -> tuple[Values, Curvature]:
        expected = expit(self._linear(point))
        thresholds = point[self._places[-1]]
        prior, gaps = expit(thresholds), np.diff(thresholds)
        pull = -self._between / np.expm1(gaps)
        bend = self._between * np.exp(gaps) / np.expm1(gaps) ** 2
        extra = np.diag(2 * PRIOR_VOTES * prior * (1 - prior))
        for index, value in enumerate(bend):
            extra[index : index + 2, index : index + 2] += value * np.array([[1, -1], [-1, 1]])
        slope = np.concatenate([piece.summed(expected - self._outcome) for piece in self._pieces])
        slope += precisions * point
        slope[self._places[-1]] += PRIOR_VOTES * (2 * prior - 1) + np.append(0, pull) - np.append(pull, 0)
        return slope, Curvature(self._pieces, expected * (1 - expected), precisions, extra)
