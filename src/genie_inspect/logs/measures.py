"""What measures say of themselves: which key of each is tested, from where to where values can go, what they mean.

A scorer says it in its decorator, ours and anybody's: `@scorer(metrics=..., headline=..., ranges=..., meaning=...)`.
Inspect writes that into the log, so that reports need to know no scorer.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple

from inspect_ai.log import EvalLog
from inspect_ai.viewer import ScoreColorScale

from genie_inspect.files.values import number
from genie_inspect.graders.rubrics import BUNDLED, load_rubric
from genie_inspect.inspect_private import scorer_metadata
from genie_inspect.signature import Signature

Bounds = tuple[float, float]  # lowest and highest value that there can be

GENIE, COHERENCE = "genie", "coherence"
TOTAL = "_total"  # how the key that counts a rubric's passed tests ends; the rubric's name begins it
UNIT = (0.0, 1.0)
FEW = 3  # keys that a measure may have for all of them to be tested, where it names no headline


class Declaration(NamedTuple):
    """What a measure says of itself, as its scorer's decorator has it; `*` in a key stands for anything."""

    headline: str  # the key that answers its question; empty where it names none
    ranges: Mapping[str, Any]  # by key its ends; None for one that is open, and a word for one that the signature says
    meaning: str  # what its numbers mean, and which way is up

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


def declared(log: EvalLog, scorer: str, signature: Signature) -> dict[str, Declaration]:
    """By measure, what each of those behind a score says of itself; of most scores that is one.

    For logs of before they said so, and for scores that put several of our measures into one, the scorers that are
    installed say it.
    """
    said = {own.name.split("/")[-1]: _declaration(own.metadata or {}) for own in log.eval.scorers or ()}
    if declaration := said.get(scorer) or said.get(signature.measure) or _ours(signature.measure):
        return {signature.measure or scorer: declaration}
    # a score of the panel names its measures as its facts
    return {name: declaration for name in signature.facts if (declaration := _ours(name))}


def _ours(measure: str) -> Declaration | None:
    return _declaration(scorer_metadata(f"genie_inspect/{measure}"))


def _declaration(metadata: Mapping[str, Any]) -> Declaration | None:
    """What a decorator's words say, whoever wrote them; None where they say nothing of this."""
    kinds = {"headline": str, "ranges": dict, "meaning": str}
    said = [own if isinstance(own := metadata.get(name), kind) else kind() for name, kind in kinds.items()]
    return Declaration(*said) if any(said) else None


def shown_key(signature: Signature, key: str) -> str:
    """A key in words; of a test of a bundled rubric its number and name.

    >>> shown_key(Signature("measure:genie|version:0"), "social_atmosphere")
    'social atmosphere'
    """
    return _test_names(signature.facts.get("rubric", "")).get(key, key.replace("_", " "))


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


def declared_range(log: EvalLog, scorer: str, signature: Signature, key: str) -> Bounds | None:
    # a reward model's scale has no known ends
    if signature.measure == COHERENCE and not signature.facts.get("by", "").startswith("grader("):
        return None
    ranges = (own.range_of(key, signature.facts) for own in declared(log, scorer, signature).values())
    return next(filter(None, ranges), None)


def ranges_of(log: EvalLog) -> Callable[[str, Signature, str], Bounds | None]:
    return cache(partial(declared_range, log))


def viewed_range(log: EvalLog, key: str) -> Bounds | None:
    """Lowest and highest value by the task's own view; None where it does not say. The log's header is enough."""
    configured = log.eval.viewer.task_samples_view if log.eval.viewer else None
    for view in configured if isinstance(configured, list) else filter(None, [configured]):
        scale = (view.score_color_scales or {}).get(key)
        if isinstance(scale, ScoreColorScale) and (low := number(scale.min)) < (high := number(scale.max)):
            return low, high
    return None
