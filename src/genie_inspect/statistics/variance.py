"""How much of a table's variance is the rows', the columns' and what is left, with one value per cell."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True)
class VarianceParts:
    """Variance components of a two-way table; NaN where it has fewer than two complete rows or columns."""

    rows: float
    columns: float
    rest: float  # of row and column together, and chance: one value per cell cannot tell them apart

    @property
    def shares(self) -> tuple[float, float, float]:
        """Of the rows, the columns and the rest, 0 to 1; NaN where all values are one."""
        total = self.rows + self.columns + self.rest
        if not total > 0:
            return math.nan, math.nan, math.nan
        return self.rows / total, self.columns / total, self.rest / total


def variance_parts(table: ArrayLike) -> VarianceParts:
    """Components by the mean squares of a two-way analysis of variance, all effects random; a negative one is 0.

    Args:
        table: Shape (rows, columns); NaN = missing. A row that lacks a value is left out.

    Source: Shavelson and Webb, Generalizability Theory (1991), chapter 2, the crossed design of one facet.
    """
    values = np.asarray(table, dtype=float)
    values = values[~np.isnan(values).any(axis=1)]
    count, width = values.shape
    if count < 2 or width < 2:
        return VarianceParts(math.nan, math.nan, math.nan)
    by_row, by_column = values.mean(axis=1), values.mean(axis=0)
    residuals = values - by_row[:, None] - by_column + values.mean()
    rest = float((residuals**2).sum() / ((count - 1) * (width - 1)))
    rows, columns = float(by_row.var(ddof=1)) - rest / width, float(by_column.var(ddof=1)) - rest / count
    return VarianceParts(max(0.0, rows), max(0.0, columns), rest)
