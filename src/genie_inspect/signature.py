"""What makes two scores comparable, in one string that stands beside every score."""

import hashlib
import re
from functools import lru_cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version

from genie_inspect.versions import UNVERSIONED

PACKAGE = "genie-inspect"
MODEL = re.compile(r"(.+)@[0-9a-f]{12}")
"""A model with its digest, as signatures name those that are asked."""
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
    return "|".join(f"{name}:{_escaped(value)}" for name, value in pairs.items())


def facts_of(text: str) -> dict[str, str]:
    """What a signature says, by name.

    >>> facts_of("measure:genie|judge:list(vllm/a%7Cb)|population:starter-1@be50")
    {'measure': 'genie', 'judge': 'list(vllm/a|b)', 'population': 'starter-1@be50'}
    """
    return dict(_facts(text))


# a log has few signatures and thousands of scores: each is taken apart once
@lru_cache(maxsize=256)
def _facts(text: str) -> tuple[tuple[str, str], ...]:
    pairs = (pair.split(":", 1) for pair in text.split("|") if ":" in pair)
    return tuple((name, value.replace("%7C", "|").replace("%25", "%")) for name, value in pairs)


def models_in(text: str) -> list[str]:
    """The models that a fact of a signature names, without their digests; also embedders stand so.

    >>> models_in("list(vllm/a@0123456789ab,chunk=50)")
    ['vllm/a']
    """
    # apart first: one pattern for both takes the square of a hostile text's length
    return [match[1] for part in BETWEEN.split(text) if (match := MODEL.match(part))]


def judge_of(text: str) -> str:
    """The kind of judge that a signature names, without its model; empty where it names none.

    >>> judge_of("measure:genie|judge:list(vllm/a)|version:1")
    'list'
    """
    return facts_of(text).get("judge", "").partition("(")[0]


def _escaped(value: str) -> str:
    return value.replace("%", "%25").replace("|", "%7C")
