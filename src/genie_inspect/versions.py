"""Versions of measures and tasks: what must be raised when the same texts would get other numbers.

A version is written `N-X`, as in `2-B`. The number says whether results compare: it is raised when the same texts,
asked in the same way, would get other values. The letter says what can be asked for: it goes on when options, keys or
metadata change and the values do not. A release of the package by itself changes neither. A measure's version stands
where its signature is made.
"""

import re
from collections.abc import Mapping

TASKS: Mapping[str, str] = {
    "synthetic_prompts": "1-B",
    "writing_prompts": "1-C",
    "population_prompts": "1-B",
    "leave_one_out": "1-B",
    "metric_study": "1-B",
    "novelty_partition": "1-A",
    "ttcw": "1-A",
    "ttcw_stories": "1-A",
}
"""Of a task's dataset and settings; what its scorers do has versions of its own."""
UNVERSIONED = "0-A"
"""Of a measure that names no version."""


def comparable(text: str) -> str:
    """A signature without the letters of its versions: two that differ in nothing else compare.

    >>> comparable("measure:genie|judge:list(m)|version:2-B")
    'measure:genie|judge:list(m)|version:2'
    """
    return re.sub(r"(?<![^|,])version:([0-9]+)-[A-Z](?![^|,])", r"version:\1", text)
