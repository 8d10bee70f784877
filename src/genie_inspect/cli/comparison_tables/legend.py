"""What stands below the tables of a comparison: how they are read, and what is missing in them."""

import math
from collections import Counter

from genie_inspect.cli.tables import counted
from genie_inspect.reports.comparison.compared import Comparison
from genie_inspect.statistics.equivalence import METHODS
from genie_inspect.statistics.paired.differences import LEVEL, TEST


def legend(comparison: Comparison) -> str:
    """The legend of the tables: tests, correction, and what each column shows."""
    tests = Counter((row.scorer, row.family) for row in comparison.rows if not math.isnan(row.finding.p_value))
    each = "each measure and run" if any(family for _, family in tests) else "each measure"
    several = ", ".join(f"{' '.join(filter(None, family))} {count}" for family, count in tests.items())
    over = f"the tests of {each} ({several})" if len(tests) > 1 else f"{tests.total()} tests"
    rated = any(due for row in comparison.rows for _, due in row.ratings)
    by_instance = any(row.instances is not None for row in comparison.rows)
    return (
        f"p raw: {TEST}; p: corrected ({comparison.options.correction}) over {over}. equivalence p: of a difference "
        f"beyond the margin, two one-sided {METHODS[comparison.options.equivalence]}, corrected likewise; small where "
        "both are equivalent. *: holds."
        + (f" -: not tested; {_tested(comparison)}." if any(not row.tested for row in comparison.rows) else "")
        + " power: a paired t test's chance of finding a difference as large as the margin; 0% where no p of so few "
        "pairs could hold. pairs: prompts"
        + (" (pairs of documents in them)" if by_instance else "")
        + f". used: share of questions{' / of the ratings due that count' if rated else ''}, baseline → run."
        " Means are over the prompts that both have, and of these over the questions that both answered (common: how"
        f" many of those asked, prompt by prompt). Intervals are of the same test, uncorrected: 0 is outside where "
        f"its p is below {LEVEL:.0%} by itself; [-, -]: too few pairs."
    )


def _tested(comparison: Comparison) -> str:
    keys = comparison.options.keys
    return f"tests were named beforehand ({', '.join(keys)})" if keys else "of a measure its headline is"


def missing_lines(comparison: Comparison) -> list[str]:
    """Why documents have no score, and why answers and ratings are missing: lines for each run and measure."""
    lines = []
    for run in comparison.runs:
        for scorer, results in run.measures.items():
            where = f"{run.label}, {scorer}" if len(run.measures) > 1 else run.label
            lines += [f"{where} not scored: {counted(results.unscored)}"] if results.unscored else []
            lines += [f"Missing in {where}: {counted(results.faults)}."] if results.faults else []
    return lines
