"""One score as every report reads it: values by key, and what they rest on."""

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypeVar

from inspect_ai.scorer import Score
from pydantic import TypeAdapter, ValidationError

from genie_inspect.files.numbers import SLACK, Number, count, number
from genie_inspect.logs.evidence import NOTHING, Evidence, GraderPart, evidence_of, mapping, parts_of
from genie_inspect.logs.measures import Bounds
from genie_inspect.signature import facts_of
from genie_inspect.statistics.descriptive import Standing
from genie_inspect.versions import comparable

NONE = "none"
SIGNED = "measure:"  # how every signature begins
NO_MEASURE = "document"  # the scorer that fills columns of Inspect View
LEFT_OUT = "left out"
UNSAID = "not said"
NO_NUMBER = "a value that is out of its range"
AGAIN = re.compile(r"(.+?)-?[0-9]+")  # as Inspect calls a scorer whose name a sample has already: cosine1, cosine-1


@dataclass(frozen=True, slots=True)
class Scores:
    """The values of one scorer for one document."""

    values: Mapping[str, float]
    """By key; NaN where it could not be measured, no key at all where nothing is known of them."""
    reason: str = ""
    """Why there is no value; empty when there is one."""
    out_of_range: Mapping[str, float] = field(default_factory=dict)
    """By key the numbers that stand in the log for a value, and can be none."""
    evidence: Evidence = NOTHING
    matched: Mapping[str, float] = field(default_factory=dict)
    """Values against population documents of the usual length alone; empty where the scorer has no such figures."""
    nearest: Mapping[str, float] = field(default_factory=dict)
    """By key: one minus the highest similarity, as far as the scorer says."""
    nearest_document: str = ""
    """Id of the population's document that comes nearest as a whole; empty where the scorer names none."""
    standing: Mapping[str, Standing] = field(default_factory=dict)
    """By key, where the value falls among the population's own documents; only where its population has a yardstick."""
    signature: str = NONE
    graders: Mapping[str, GraderPart] = field(default_factory=dict)
    """By grader what each of a jury found; empty where one grader measured."""
    questions: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """By key and question, the novelties of which the value is the mean; NaN where one was not used. Empty where the
    log does not keep them; of a jury each grader's are questions of their own."""
    population_words: float = math.nan
    """Median length of the population's documents; NaN where the scorer does not say."""

    @property
    def is_unscored(self) -> bool:
        """Whether no key has a value."""
        return all(map(math.isnan, self.values.values()))

    def left_out(self) -> "Scores":
        """The same without any value, because a comparison leaves the document out."""
        reason = self.reason if self.is_unscored else LEFT_OUT
        values = dict.fromkeys(self.values, math.nan)
        return replace(self, values=values, reason=reason, evidence=NOTHING, graders={}, questions={})


def signature_of(score: Score) -> str:
    """The signature in a score's metadata, as far as scores must share it to compare; "none" when it has none."""
    return comparable(str((score.metadata or {}).get("signature") or NONE))


def is_signed(signature: str) -> bool:
    """Whether it is a signature, as measures of this package have, and those that are built as these."""
    return signature.startswith(SIGNED)


def measured(scores: Mapping[str, Score]) -> dict[str, Score]:
    """The scores that measure something: all but `document`'s, the columns of Inspect View."""
    return {name: score for name, score in scores.items() if facts_of(signature_of(score)).get("measure") != NO_MEASURE}


def last_of_each(scores: Mapping[str, Score]) -> dict[str, Score]:
    """Every score once: of those that a scorer of ours gave under one signature the last, by the name of the first.

    A log that is scored again with `--action append` holds the new score as `cosine1` beside the old one: that would
    be another measure in every table, and one test more for every difference.
    """
    names: dict[tuple[str, str], str] = {}
    last: dict[str, Score] = {}
    for name, score in scores.items():
        again, signature = AGAIN.fullmatch(name), signature_of(score)
        scorer = again[1] if again and again[1] in scores else name
        last[names.setdefault((scorer, signature), name) if is_signed(signature) else name] = score
    return last


Ranges = Callable[[str, str, str], Bounds | None]
"""The lowest and highest value, where they are known, of a scorer's key under a signature."""


def scores_of(scorer: str, score: Score, ranges: Ranges = lambda *of: None) -> Scores:
    """A score's values by key, and the evidence that they rest on; a number out of its range is no value."""
    raw, signature, facts = _by_key(scorer, score), signature_of(score), score.metadata or {}
    values = {key: number(value, *(ranges(scorer, signature, key) or ())) for key, value in raw.items()}
    # what is no number at all is none of ours; only NaN is unequal to itself
    stated = raw or {scorer: score.value}
    beyond = {
        k: v for k, v in stated.items() if isinstance(v, int | float) and v == v and math.isnan(values.get(k, math.nan))
    }
    length, graders = mapping(facts.get("length")), parts_of(facts)
    return Scores(
        values=values,
        out_of_range=beyond,
        reason=str(score.reason or (NO_NUMBER if beyond else UNSAID)) if all(map(math.isnan, values.values())) else "",
        evidence=evidence_of(facts),
        signature=signature,
        matched={key: number(value) for key, value in mapping(length.get("matched")).items()},
        nearest={key: number(value) for key, value in mapping(facts.get("nearest_novelty")).items()},
        nearest_document=facts["nearest"] if isinstance(facts.get("nearest"), str) else "",
        standing={key: found for key, raw in mapping(facts.get("standing")).items() if (found := _standing(raw))},
        graders=graders,
        questions=_by_grader(graders) if graders else _by_question(facts.get("questions"), values),
        population_words=number(length.get("population")),
    )


def tests_of(score: Score, what: Literal["pass", "score"]) -> dict[str, float]:
    """What a score says of each test, by the test's id; NaN where it could not be judged, nothing of other scores."""
    listed = (score.metadata or {}).get("tests")
    rows = [mapping(row) for row in listed] if isinstance(listed, list) else []
    return {str(row["id"]): number(row.get(what)) for row in rows if "id" in row and what in row}


def _by_question(table: object, values: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """By key and question its novelty, where the table says them and their mean is the value."""
    novelties: dict[str, dict[str, float]] = {}
    for row in map(mapping, table if isinstance(table, list) else []):
        if "id" in row and "novelty" in row:
            novelties.setdefault(str(row.get("feature")), {})[str(row["id"])] = number(row["novelty"])
    # a value that was edited, or that is no mean of its questions, stands for itself
    return {key: own for key, own in novelties.items() if abs(_mean(own) - values.get(key, math.nan)) <= SLACK}


def _by_grader(graders: Mapping[str, GraderPart]) -> dict[str, dict[str, float]]:
    rows = [(key, grader, row) for grader, part in graders.items() for key, row in part.questions.items()]
    keys = dict.fromkeys(key for key, _, _ in rows)
    return {
        key: {f"{grader} {place}": value for own, grader, row in rows if own == key for place, value in enumerate(row)}
        for key in keys
    }


def _mean(novelties: Mapping[str, float]) -> float:
    measured = [novelty for novelty in novelties.values() if not math.isnan(novelty)]
    return math.fsum(measured) / len(measured) if measured else math.nan


def _standing(raw: object) -> Standing | None:
    """Where a value stands; None where the metadata holds anything else."""
    parts = [number(mapping(raw).get(part.name)) for part in fields(Standing)]
    return None if any(map(math.isnan, parts)) else Standing(*parts)


def _by_key(scorer: str, score: Score) -> Mapping[str, Any]:
    if isinstance(score.value, dict):
        return score.value
    # Score.unscored has one NaN for all keys: its own name would become a key that no other sample has
    return {} if math.isnan(number(score.value)) else {scorer: score.value}


@dataclass(frozen=True, slots=True)
class KeptMark:
    """One mark of a close reader."""

    aspect: str
    text: str
    start: int
    end: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class KeptExpression:
    """One expression of a text, and how new it is to a corpus."""

    text: str
    start: int
    end: int
    log_perplexity: Number
    novel_share: Number


@dataclass(frozen=True, slots=True)
class KeptReading:
    """What one close reader marks in a text."""

    marks: tuple[KeptMark, ...]
    """In the order of the text."""
    measured: frozenset[str]
    """The aspects that have a value."""
    invented: Mapping[str, int] = field(default_factory=dict)
    """By aspect the quotes that do not stand in the text; of an aspect without a value only if it has no others."""


_MARKS, _EXPRESSIONS = TypeAdapter(list[KeptMark]), TypeAdapter(list[KeptExpression])
RowT = TypeVar("RowT")
PER_WORDS = "_per_100_words"


def readings(scores: Mapping[str, Score]) -> Iterator[tuple[str, KeptReading]]:
    """By scorer, each close reading among the scores of a sample."""
    for scorer, score in scores.items():
        rows = _rows(score, "marks", _MARKS)
        values = score.value if isinstance(score.value, dict) else {}
        measured = {key for key, value in values.items() if number(value) == number(value)}
        if rows is not None:
            aspects = frozenset(key.removesuffix(PER_WORDS) for key in measured if key.endswith(PER_WORDS))
            yield scorer, KeptReading(tuple(rows), aspects, _invented(_part(score, "marks"), aspects))


def _invented(facts: Mapping[str, Any], measured: Collection[str]) -> dict[str, int]:
    shares = mapping(facts.get("quoted_share"))
    counts = {aspect: count(raw) or 0 for aspect, raw in mapping(facts.get("absent")).items()}
    # who quotes too much of the text has no value either, but has not invented all of it
    return {
        name: invented for name, invented in counts.items() if name in measured or (invented and shares.get(name) == 0)
    }


def expressions(scores: Mapping[str, Score]) -> list[KeptExpression]:
    """The expressions of a sample's text by the first score that keeps them; empty where none does."""
    kept = (_rows(score, "expressions", _EXPRESSIONS) for score in scores.values())
    return next((rows for rows in kept if rows), [])


def _rows(score: Score, name: str, kind: TypeAdapter[list[RowT]]) -> list[RowT] | None:
    """The rows of that name; None where there are none."""
    try:
        return kind.validate_python(_part(score, name).get(name))
    except ValidationError:
        return None


def _part(score: Score, name: str) -> Mapping[str, Any]:
    """The metadata that has the name, also inside a score that several measures share; empty where none has."""
    metadata: Mapping[str, Any] = score.metadata or {}
    return next((part for part in (metadata, *map(mapping, metadata.values())) if name in part), {})
