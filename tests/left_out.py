"""What a run of the tests left out or did less often, a line a reason."""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from _pytest.mark import ParameterSet
from _pytest.reports import BaseReport
from tests.hostile import EXAMPLES, EXAMPLES_IN_FULL
from tests.processes import tries

RANDOM_EXAMPLES = tries(40, 100)
"""Of a property, where its test says nothing else."""


def with_ci(why: str) -> pytest.MarkDecorator:
    """Marks what runs with CI=1 alone; the reason is said at the end of a run without it."""
    return pytest.mark.skipif(not os.environ.get("CI"), reason=f"{why}: with CI=1")


def rest_with_ci(values: Sequence[Any], why: str, every: int = 0) -> list[ParameterSet]:
    """Parameters, or tuples of some, of which the first runs always, or each after so many, the rest with CI=1."""
    rest = with_ci(why)
    return [
        pytest.param(
            *(value if isinstance(value, tuple) else (value,)),
            marks=() if place == 0 or (every and place % every == 0) else rest,
        )
        for place, value in enumerate(values)
    ]


def reason(report: BaseReport) -> str:
    said = report.longrepr[2] if isinstance(report.longrepr, tuple | list) else str(report.longrepr)
    return str(said).removeprefix("Skipped: ")


def lines(skipped: Iterable[BaseReport], passed: Iterable[BaseReport]) -> list[str]:
    """What to say at the end of a run: skipped tests by reason, and which tests CI=1 would run more often."""
    reasons = Counter(reason(report) for report in skipped)
    said = [f"skipped {count:,}: {why}" for why, count in sorted(reasons.items(), key=lambda row: (-row[1], row[0]))]
    if os.environ.get("CI"):
        return said
    kinds = Counter(kind for report in passed for kind in ("repeated", "hypothesis") if kind in report.keywords)
    if kinds["repeated"]:
        said.append(
            f"smaller {kinds['repeated']:,}: races, kills, damage and simulations in fewer tries, all of them with CI=1"
        )
    if kinds["hypothesis"]:
        said.append(
            f"smaller {kinds['hypothesis']:,}: properties on {RANDOM_EXAMPLES} random examples and parsers on "
            f"{EXAMPLES}, 100 and {EXAMPLES_IN_FULL:,} with CI=1"
        )
    return said
