import math

import numpy as np
import pytest

from genie_inspect.statistics.variance import variance_parts


def test_components_are_those_of_the_mean_squares_by_hand() -> None:
    # rows have means 1, 3, 5, columns 2 and 4; residuals are all 0 but for the corners
    table = [[0.0, 2.0], [2.0, 4.0], [3.0, 7.0], [math.nan, 9.0]]
    # grand mean 3; rows 1, 3, 5: variance 4; columns 5/3 and 13/3: variance 32/9
    # residuals: 1/3, -1/3, 1/3, -1/3, -2/3, 2/3: sum of squares 4/3, over 2 degrees 2/3
    parts = variance_parts(table)
    assert parts.rest == pytest.approx(2 / 3)
    assert parts.rows == pytest.approx(4 - (2 / 3) / 2)
    assert parts.columns == pytest.approx(32 / 9 - (2 / 3) / 3)
    assert sum(parts.shares) == pytest.approx(1)
    assert parts.shares[2] == pytest.approx((2 / 3) / (2 / 3 + 11 / 3 + 10 / 3))


def test_shares_of_made_up_tables_are_recovered() -> None:
    generator = np.random.default_rng(0)
    effects = np.array([-0.1, 0.1, 0.05, -0.05, 0.0])
    table = generator.normal(0.5, 0.2, (2_000, 1)) + effects + generator.normal(0, 0.05, (2_000, 5))
    expected = np.array([0.2**2, effects.var(ddof=1), 0.05**2])
    assert variance_parts(table).shares == pytest.approx(expected / expected.sum(), abs=0.02)


@pytest.mark.parametrize("table", [np.empty((0, 3)), [[1, 2]], [[1], [2]], [[1, math.nan], [math.nan, 2]]])
def test_less_than_two_complete_rows_or_columns_have_no_components(table: object) -> None:
    assert all(map(math.isnan, variance_parts(table).shares))  # type: ignore[arg-type]  # nan is in lists of int


def test_no_component_is_below_zero_and_of_equal_values_there_are_no_shares() -> None:
    assert variance_parts([[0, 1], [1, 0]]).rows == 0
    assert all(map(math.isnan, variance_parts([[2, 2], [2, 2]]).shares))
