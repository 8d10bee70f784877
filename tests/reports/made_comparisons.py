"""Comparisons of given differences, without logs: for what puts them into words and numbers."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from genie_inspect.reports.pairing import PROMPT, Comparison, Facts, Options, Pairs, Row
from genie_inspect.signature import Signature
from genie_inspect.statistics.differences import Difference, Finding

NAN = math.nan


def row(
    run: str = "b",
    key: str = "plot",
    *,
    scorer: str = "genie",
    delta: float = 0.1,
    pairs: int = 8,
    p: float = 0.01,
    differs: bool = False,
    equivalent: bool = False,
    tested: bool = True,
    least_p: float = 0.001,
    power: float = 0.9,
    needed: float = 10,
    spread: float = 0.1,
    is_unit: bool = True,
) -> Row:
    """A difference from the baseline `a`."""
    share = ((1, 2), (3, 4))
    difference = Difference(pairs, 0.5, 0.5 + delta, delta, NAN, NAN, 1.0, spread, p, least_p, 0.5, 0.05)
    finding = Finding(difference, p, 0.5, power, needed, differs=differs, is_equivalent=equivalent)
    return Row(run, "a", scorer, key, tested, "prompt", pairs, None, share, share, finding, is_unit, (1, 2))


def facts(label: str, words: float = 10, population: float = NAN, **other: Any) -> Facts:
    """A run with ten documents."""
    given: dict[str, Any] = {
        "model": "mock/writer",
        "strategy": "generate",
        "documents": 10,
        "scored": 10,
        "refusals": 0,
        "left_out": 0,
        "unscored": {},
    }
    given |= {"coherence": NAN, "fewer_responses": (0, 0), "cut": 0, "measures": {}} | other
    return Facts(label=label, file=f"{label}.eval", words=words, population_words=population, **given)


def comparison(
    *rows: Row,
    runs: Sequence[Facts] = (),
    options: Options | None = None,
    strays: Mapping[str, int] | None = None,
    unlike_coherence: str = "",
) -> Comparison:
    """A comparison with `a`; runs of like length unless given."""
    labels = dict.fromkeys(["a", *(one.run for one in rows)])
    none: dict[str, Any] = dict.fromkeys(("keys", "before", "after", "instances", "questions", "names"), ())
    none |= {"by": PROMPT, "documents": Counter(), "is_repeated": False, "evidence": {}, "prompts": 0}
    return Comparison(
        options=options or Options(),
        named="a",
        baselines=("a",),
        signatures=dict.fromkeys((one.scorer for one in rows), Signature("measure:genie")),
        runs=tuple(runs or map(facts, labels)),
        rows=rows,
        pairs={run: Pairs(**none, strays=count) for run, count in (strays or {}).items()},
        base_of={},
        unmatched=(),
        unlike_coherence=unlike_coherence,
    )
