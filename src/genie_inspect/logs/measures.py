"""What measures say of themselves: which key of each is tested, from where to where values can go, what they mean.

A scorer says it in its decorator, ours and anybody's: `@scorer(metrics=..., headline=..., ranges=..., meaning=...)`.
Inspect writes that into the log, so that reports need to know no scorer.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, lru_cache, partial
from typing import Any

from inspect_ai.log import EvalLog
from inspect_ai.viewer import ScoreColorScale

from genie_inspect.files.numbers import number
from genie_inspect.graders.rubrics import BUNDLED, load_rubric
from genie_inspect.inspect_private import scorer_metadata
from genie_inspect.signature import facts_of

Bounds = tuple[float, float]
"""Lowest and highest value that there can be."""

GENIE, COHERENCE = "genie", "coherence"
TOTAL = "_total"
"""How the key that counts a rubric's passed tests ends; the rubric's name begins it."""
UNIT = (0.0, 1.0)
FEW = 3  # keys that a measure may have for all of them to be tested, where it names no headline


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a measure says of itself, as its scorer's decorator has it; `*` in a key stands for anything."""

    headline: str
    """The key that answers its question; its other keys say the same at other lengths, or how far to trust it. Empty
    where it names none."""
    ranges: Mapping[str, Any]
    """By key its lowest and highest value; None for an end that is open, and a word for one that the signature says."""
    meaning: str
    """What its numbers mean, and which way is up."""

    def range_of(self, key: str, facts: Mapping[str, str]) -> Bounds | None:
        """Lowest and highest value of a key; None where it says neither."""
        patterns = sorted(self.ranges, key=lambda pattern: pattern != key)  # the key itself before any that has a `*`
        match next((self.ranges[pattern] for pattern in patterns if fnmatchcase(key, pattern)), None):
            case [low, high]:
                ends = _end(low, facts, -math.inf), _end(high, facts, math.inf)
                return ends if ends[0] < ends[1] and ends != (-math.inf, math.inf) else None
        return None


def _end(stated: object, facts: Mapping[str, str], otherwise: float) -> float:
    fact = facts.get(stated, "") if isinstance(stated, str) else ""
    end = number(float(fact) if fact.isdecimal() else stated)
    return otherwise if math.isnan(end) else end


def declared(log: EvalLog, scorer: str, signature: str) -> dict[str, Declaration]:
    """By measure, what each of those behind a score says of itself; of most scores that is one.

    For logs of before they said so, and for scores that put several of our measures into one, the scorers that are
    installed say it.
    """
    facts = facts_of(signature)
    measure = facts.get("measure", "")
    said = {own.name.split("/")[-1]: _declaration(own.metadata or {}) for own in log.eval.scorers or ()}
    if declaration := said.get(scorer) or said.get(measure) or _ours(measure):
        return {measure or scorer: declaration}
    # a score of the panel names its measures as its facts
    return {name: declaration for name in facts if (declaration := _ours(name))}


def _ours(measure: str) -> Declaration | None:
    return _declaration(scorer_metadata(f"genie_inspect/{measure}"))


def _declaration(metadata: Mapping[str, Any]) -> Declaration | None:
    """What a decorator's words say, whoever wrote them; None where they say nothing of this."""
    headline, ranges, meaning = (metadata.get(name) for name in ("headline", "ranges", "meaning"))
    declaration = Declaration(
        headline if isinstance(headline, str) else "",
        ranges if isinstance(ranges, dict) else {},
        meaning if isinstance(meaning, str) else "",
    )
    return declaration if declaration != Declaration("", {}, "") else None


def meanings(log: EvalLog, scorer: str, signature: str) -> list[str]:
    """What the numbers of a score mean, a line a measure; none of a measure that does not say it."""
    alone = (measure_of(signature), scorer)
    return [
        own.meaning if name in alone else f"{name.replace('_', ' ').capitalize()}. {own.meaning}"
        for name, own in declared(log, scorer, signature).items()
        if own.meaning
    ]


def measure_of(signature: str) -> str:
    """The measure that a signature names; empty where it is none of ours.

    >>> measure_of("measure:genie|judge:list(m)|version:0"), measure_of("none")
    ('genie', '')
    """
    return facts_of(signature).get("measure", "")


def shown_key(signature: str, key: str) -> str:
    """A key in words; of a test of a bundled rubric its number and name.

    Args:
        signature: Of the scores.
        key: One of theirs.

    >>> shown_key("measure:genie|version:0", "social_atmosphere")
    'social atmosphere'
    """
    return _test_names(facts_of(signature).get("rubric", "")).get(key, key.replace("_", " "))


@lru_cache
def _test_names(identity: str) -> Mapping[str, str]:
    """By key, the tests of a rubric that a signature names as `name@digest`; none where it is another than ours."""
    name, _, text = identity.partition("@")
    if name not in BUNDLED or (rubric := load_rubric(name)).digest != text:
        return {}
    return {rubric.key(test.id): f"{test.id} {test.name}" for test in rubric.tests}


def keys_to_test(declarations: Iterable[Declaration], keys: Sequence[str]) -> tuple[str, ...]:
    """The keys that a comparison tests; the others are shown, but a test of each would make real differences drown.

    It is the headline of each measure; every feature of `genie` is a question of its own, and so one. Of a measure
    that names none all keys are tested when there are at most three, else the first, which is Inspect's headline too.
    """
    patterns = [declaration.headline for declaration in declarations]
    headlines = tuple(key for key in keys if any(fnmatchcase(key, pattern) for pattern in patterns))
    return headlines or tuple(keys if len(keys) <= FEW else keys[:1])


def known_range(log: EvalLog, scorer: str, signature: str, key: str) -> Bounds | None:
    """Lowest and highest value by the task's own view, else by what the measure says; None where neither does."""
    return viewed_range(log, key) or declared_range(log, scorer, signature, key)


def declared_range(log: EvalLog, scorer: str, signature: str, key: str) -> Bounds | None:
    """Lowest and highest value by what the measure says; None where it does not say."""
    facts = facts_of(signature)
    # a reward model's scale has no known ends
    if facts.get("measure") == COHERENCE and not facts.get("by", "").startswith("grader("):
        return None
    ranges = (own.range_of(key, facts) for own in declared(log, scorer, signature).values())
    return next(filter(None, ranges), None)


def ranges_of(log: EvalLog) -> Callable[[str, str, str], Bounds | None]:
    """`declared_range` in one log, found once for each key."""
    return cache(partial(declared_range, log))


def viewed_range(log: EvalLog, key: str) -> Bounds | None:
    """Lowest and highest value by the task's own view; None where it does not say. The log's header is enough."""
    configured = log.eval.viewer.task_samples_view if log.eval.viewer else None
    views = configured if isinstance(configured, list) else [configured] if configured else []
    for scale in (scale for view in views if (scale := (view.score_color_scales or {}).get(key))):
        low, high = (
            (number(scale.min), number(scale.max)) if isinstance(scale, ScoreColorScale) else (math.nan, math.nan)
        )
        if low < high:
            return low, high
    return None
