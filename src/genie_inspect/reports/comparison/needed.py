"""How many prompts it would take to find a difference that matters."""

import math
from collections.abc import Iterator

from genie_inspect.reports.comparison.compared import Comparison, Row
from genie_inspect.statistics.paired.differences import LEVEL, pairs_that_find

DIFFERENCE = 0.05  # on a scale from 0 to 1


def prompts_needed(comparison: Comparison) -> Iterator[tuple[Row, int]]:
    """The tested differences on a scale from 0 to 1, with the prompts that it takes to find 0.05 four times in five.

    At the level that the correction asks for at its strictest, with the spread between prompts that was seen; what has
    no spread is left out.
    """
    for row in comparison.rows:
        spread, level = row.finding.difference.spread, LEVEL / tests_of(comparison, row)
        if row.is_unit and row.tested and spread > 0:
            yield row, pairs_that_find(DIFFERENCE, spread, level)


def tests_of(comparison: Comparison, row: Row) -> int:
    """How many tests the correction of a row allows for: those of its scorer and family."""
    if comparison.options.correction == "none":
        return 1
    family = [other for other in comparison.rows if (other.scorer, other.family) == (row.scorer, row.family)]
    return sum(not math.isnan(other.finding.difference.p_value) for other in family) or 1
