"""What makes two scores comparable, in one string that stands beside every score.

Its version is written `N-X`, as in `2-B`. The number says whether results compare: it is raised when the same texts,
asked in the same way, would get other values. The letter says what can be asked for: it goes on when options, keys or
metadata change and the values do not. A release of the package by itself changes neither. A measure's version stands
where its signature is made.
"""

import hashlib
import re
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from typing import Self

PACKAGE = "genie-inspect"
MODEL = re.compile(r"(.+)@[0-9a-f]{12}")  # with its digest, as signatures name the models that are asked
SAMPLED = "ratings"  # the fact that names how many answers are rated and by which embedder they are drawn
MISSING = "-"  # what a signature without a fact says of it
BETWEEN = re.compile(r"[\s(),+=|]+")


def digest(*parts: str) -> str:
    """Twelve hex digits of SHA-256 over the parts; the parts' boundaries count.

    >>> digest("ab", "c") == digest("a", "bc")
    False
    """
    whole = hashlib.sha256()
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        whole.update(f"{len(encoded)}:".encode() + encoded)
    return whole.hexdigest()[:12]


def package_version() -> str:
    """Version of the installed package; "0+unknown" when it runs from a bare source tree."""
    try:
        return installed_version(PACKAGE)
    except PackageNotFoundError:
        return "0+unknown"


def signature(measure: str, version: str = "", **facts: str) -> str:
    """One line that two comparable scores share: `measure:genie|judge:...|...|version:1-A`.

    Args:
        measure: Name of the measure, as in the log.
        version: Of the measure, `N-X`: another N, and scores no longer compare.
        facts: What the numbers depend on, in a fixed order; a `|` in a value, such as a model's name, is written %7C,
            and a `%` %25.

    >>> signature("genie", judge="list(vllm/a|b)").split("|")[:2]
    ['measure:genie', 'judge:list(vllm/a%7Cb)']
    """
    pairs = {"measure": measure, **facts, "version": version or UNVERSIONED}
    escaped = {name: value.replace("%", "%25").replace("|", "%7C") for name, value in pairs.items()}
    return "|".join(f"{name}:{value}" for name, value in escaped.items())


class Signature(str):
    """A signature as a score has it, taken apart once.

    >>> own = Signature("measure:genie|judge:list(vllm/a@0123456789ab,chunk=50)|rubric:a%7Cb")
    >>> own.measure, own.judge, own.facts["rubric"], own.models["judge"]
    ('genie', 'list', 'a|b', ['vllm/a'])
    >>> Signature("none").measure
    ''
    """

    facts: Mapping[str, str]  # what it says, by name
    models: Mapping[str, list[str]]  # by fact the models that it names, without their digests; also embedders stand so
    measure: str  # empty where it is none of ours
    judge: str  # the kind of judge, without its model; empty where it names none

    def __new__(cls, text: str) -> Self:
        signature = super().__new__(cls, text)
        pairs = (pair.split(":", 1) for pair in text.split("|") if ":" in pair)
        signature.facts = {name: value.replace("%7C", "|").replace("%25", "%") for name, value in pairs}
        # apart first: one pattern for both takes the square of a hostile text's length
        signature.models = {
            name: [match[1] for part in BETWEEN.split(fact) if (match := MODEL.match(part))]
            for name, fact in signature.facts.items()
        }
        signature.measure = signature.facts.get("measure", "")
        signature.judge = signature.facts.get("judge", "").partition("(")[0]
        return signature

    @property
    def is_ours(self) -> bool:
        """Whether it is one as measures of this package have, and those that are built as these."""
        return self.startswith("measure:")


def differing(first: str, second: str) -> list[tuple[str, str, str]]:
    """The facts in which two signatures differ: the name, and what either says; "-" where it says nothing.

    >>> differing("measure:ttcw|judge:a|cutoff:-2", "measure:ttcw|judge:b|cutoff:-2")
    [('judge', 'a', 'b')]
    """
    here, there = Signature(first).facts, Signature(second).facts
    names = [name for name in {**here, **there} if here.get(name) != there.get(name)]
    return [(name, here.get(name, MISSING), there.get(name, MISSING)) for name in names]


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
