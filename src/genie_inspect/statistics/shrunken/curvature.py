"""The second derivatives of a model with many groups: solved block by block, as most groups meet few others.

The largest grouping's own block is diagonal, because a row is of one of its groups; it is eliminated, so that ten
thousand raters cost little more than ten.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Piece:
    """Some terms of a model, and what each row takes of them."""

    size: int
    """How many terms."""
    codes: Codes | None = None
    """The one term that each row has, shape (N,); None where rows take a share of each."""
    columns: Values | None = None
    """Each row's share of each term, shape (N, size)."""
    sign: float = 1.0

    def linear(self, terms: Values) -> Values:
        """What the terms add to each row, shape (N,)."""
        if self.codes is not None:
            return np.asarray(self.sign * terms[self.codes])
        return np.asarray(self.sign * (self._columns @ terms))

    def summed(self, rows: Values) -> Values:
        """The rows' values summed by term, shape (size,)."""
        if self.codes is not None:
            return np.asarray(self.sign * np.bincount(self.codes, rows, self.size))
        return np.asarray(self.sign * (self._columns.T @ rows))

    def crossed(self, other: "Piece", weights: Values) -> Values:
        """Second derivatives between two pieces, shape (size, other's size)."""
        if self.codes is None and other.codes is not None:
            return other.crossed(self, weights).T
        scaled = self.sign * other.sign * weights
        if self.codes is None:
            return np.asarray(self._columns.T @ (scaled[:, None] * other._columns))
        if other.codes is None:
            sums = [np.bincount(self.codes, scaled * column, self.size) for column in other._columns.T]
            return np.column_stack(sums) if sums else np.zeros((self.size, 0))
        cells = np.bincount(self.codes * other.size + other.codes, scaled, self.size * other.size)
        return np.asarray(cells.reshape(self.size, other.size))

    @property
    def _columns(self) -> Values:
        assert_columns = self.columns
        if assert_columns is None:
            raise ValueError("a piece has neither codes nor columns")
        return assert_columns


@dataclass(frozen=True, slots=True)
class Curvature:
    """Second derivatives of minus the log-posterior, with the first piece's block (diagonal) apart from the others."""

    diagonal: Values
    border: Values
    """Between the first piece and the others, shape (Q, R)."""
    inverse: Values
    """Of what is left of the others' block once the first is solved for, shape (R, R)."""

    @classmethod
    def of(cls, pieces: Sequence[Piece], weights: Values, precisions: Values, extra: Values) -> "Curvature":
        """The curvature where rows weigh so much.

        Args:
            pieces: The first has codes.
            weights: Of the rows, shape (N,).
            precisions: What shrinking adds to each term, all pieces in a line.
            extra: What else the last piece's terms have of each other, shape (size, size).
        """
        first, *rest = pieces
        own, others = np.split(precisions, [first.size])
        # its groups never meet in a row
        ones = Piece(first.size, first.codes)
        diagonal = ones.summed(weights) + own
        border = np.concatenate([first.crossed(piece, weights) for piece in rest], axis=1)
        left = np.block([[piece.crossed(other, weights) for other in rest] for piece in rest])
        left[np.diag_indices_from(left)] += others
        last = rest[-1].size
        left[-last:, -last:] += extra
        inverse = np.linalg.inv(left - border.T @ (border / diagonal[:, None]))
        return cls(diagonal, border, np.asarray(inverse))

    def solve(self, right: Values) -> Values:
        """The inverse times a vector, shape (Q + R,)."""
        first, rest = np.split(right, [len(self.diagonal)])
        others = self.inverse @ (rest - self.border.T @ (first / self.diagonal))
        return np.concatenate([(first - self.border @ others) / self.diagonal, others])

    def variances(self) -> Values:
        """The inverse's diagonal: how uncertain each term is, shape (Q + R,)."""
        scaled = self.border / self.diagonal[:, None]
        own = 1 / self.diagonal + np.einsum("ij,jk,ik->i", scaled, self.inverse, scaled, optimize=True)
        return np.concatenate([own, np.diag(self.inverse)])
