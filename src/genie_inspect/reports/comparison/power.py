"""What a finished comparison could have found: its power by feature, by the pairs that survived."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from genie_inspect.reports.comparison.compared import Comparison
from genie_inspect.reports.comparison.needed import tests_of
from genie_inspect.statistics.paired.differences import LEVEL
from genie_inspect.statistics.power import paired_power

MEDIUM = 0.5  # Cohen's d, by his convention


@dataclass(frozen=True, slots=True)
class RowPower:
    """The power of one test to find an effect of a given size, whatever was observed."""

    run: str
    scorer: str
    key: str
    prompts: int
    """That either run was given."""
    pairs: int
    """Those of them that have a score on both sides: the pairs that survived."""
    power: float
    """Of a two-sided paired t test at 5%; NaN with fewer than two pairs, or where none was made."""
    corrected: float
    """The same at the strictest level that the correction asks for."""


def powers(comparison: Comparison, effect: float = MEDIUM) -> Iterator[RowPower]:
    """A row for each tested difference.

    The effect is given and not the observed one: power at the observed effect repeats the p-value.

    Args:
        comparison: One that is finished.
        effect: Cohen's d of the pairs, as mean over standard deviation of their differences.

    Source: Genie (arXiv 2606.12790), table 5: at least .9 where 44 pairs or more survive, which is that of d = 0.5.
    """
    for row in filter(lambda row: row.tested, comparison.rows):
        pairs = row.finding.difference.pairs
        by_level = [_power(effect, pairs, LEVEL / tests) for tests in (1, tests_of(comparison, row))]
        yield RowPower(row.run, row.scorer, row.key, row.prompts, pairs, *by_level)


def _power(effect: float, pairs: int, level: float) -> float:
    return paired_power(effect, 1.0, pairs, level) if pairs > 1 else math.nan
