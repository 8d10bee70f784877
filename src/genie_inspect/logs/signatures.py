"""Whether scores compare: they do under one signature."""

from collections.abc import Iterable
from pathlib import Path

from genie_inspect.logs.files import LogError
from genie_inspect.logs.scored_log import ScoredLog
from genie_inspect.logs.scores import NONE
from genie_inspect.signature import facts_of


def one_signature(logs: Iterable[ScoredLog], scorer: str) -> str:
    """The signature that all scores by a scorer share; "none" where there are none.

    Raises:
        LogError: If they have several; it names the scorer, what differs and two of the logs.
    """
    first: tuple[str, str] | None = None
    for log in logs:
        for signature in log.signatures.get(scorer, ()):
            first = first or (signature, log.file)
            if first[0] != signature:
                raise LogError(do_not_compare(scorer, first, (signature, log.file)))
    return first[0] if first else NONE


def do_not_compare(scorer: str, first: tuple[str, str], second: tuple[str, str]) -> str:
    """What two signatures differ in, each given with the log that it stands in."""
    shown = ", ".join(f"{name} is {here} and {there}" for name, here, there in differing(first[0], second[0]))
    files = " and ".join(dict.fromkeys(Path(file).name for _, file in (first, second)))
    return f"scores by {scorer!r} do not compare, their signatures differ: {shown} ({files})"


def differing(first: str, second: str) -> list[tuple[str, str, str]]:
    """The facts in which two signatures differ: the name, and what either says; "-" where it says nothing.

    >>> differing("measure:ttcw|judge:a|cutoff:-2", "measure:ttcw|judge:b|cutoff:-2")
    [('judge', 'a', 'b')]
    """
    here, there = facts_of(first), facts_of(second)
    names = [name for name in here | there if here.get(name) != there.get(name)]
    return [(name, here.get(name, "-"), there.get(name, "-")) for name in names]
