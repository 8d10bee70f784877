"""One score as every report reads it: values by key, and what they rest on."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from math import fsum, isnan, nan
from typing import Any, Literal, TypeVar

from inspect_ai.scorer import Score
from pydantic import TypeAdapter, ValidationError

from genie_inspect.files.values import SLACK, Number, count, number
from genie_inspect.graders.close_reader import Mark
from genie_inspect.logs.evidence import NOTHING, Evidence, Parts, evidence_of, mapping
from genie_inspect.logs.measures import Bounds
from genie_inspect.signature import Signature, comparable
from genie_inspect.statistics.descriptive import Standing

NONE = Signature("none")
NO_MEASURE = "document"  # the scorer that fills columns of Inspect View
LEFT_OUT = "left out"
UNSAID = "not said"
GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # correct, partly, incorrect and no answer, as Inspect counts them
NO_NUMBER = "a value that is out of its range"
AGAIN = re.compile(r"(.+?)-?[0-9]+")  # as Inspect calls a scorer whose name a sample has already: cosine1, cosine-1


@dataclass(frozen=True, slots=True)
class Scores:
    """The values of one scorer for one document."""

    values: Mapping[str, float]  # by key; NaN where it could not be measured, no key where nothing is known of them
    reason: str = ""  # why there is no value; empty when there is one
    out_of_range: Mapping[str, float] = field(default_factory=dict)  # by key what stands there for a value, and is none
    evidence: Evidence = NOTHING
    matched: Mapping[str, float] = field(default_factory=dict)  # values against documents of the usual length alone
    nearest: Mapping[str, float] = field(default_factory=dict)  # by key: one minus the highest similarity
    nearest_document: str = ""  # id of the population's document that comes nearest as a whole; empty where unknown
    standing: Mapping[str, Standing] = field(default_factory=dict)  # by key, where the population has reference scores
    sampling: Mapping[str, float] = field(default_factory=dict)  # by key: standard error by rating a sample of answers
    signature: Signature = NONE
    graders: Parts = field(default_factory=dict)  # empty where one grader measured
    # by key and question, the novelties of which the value is the mean, NaN where one was not used; empty where the log
    # does not keep them; of a jury each grader's are questions of their own
    questions: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    population_words: float = nan  # median length of the population's documents; NaN where the scorer does not say

    @property
    def is_unscored(self) -> bool:
        return all(map(isnan, self.values.values()))

    def left_out(self) -> "Scores":
        """The same without any value, because a comparison leaves the document out."""
        reason = self.reason if self.is_unscored else LEFT_OUT
        values = dict.fromkeys(self.values, nan)
        return replace(self, values=values, reason=reason, evidence=NOTHING, graders={}, questions={})


# a log has few signatures and thousands of scores: each is taken apart once
_comparable = lru_cache(maxsize=256)(lambda text: Signature(comparable(text)))


def signature_of(score: Score) -> Signature:
    """The signature in a score's metadata, as far as scores must share it to compare; "none" when it has none."""
    return _comparable(str((score.metadata or {}).get("signature") or NONE))


def measured(scores: Mapping[str, Score]) -> dict[str, Score]:
    """The scores that measure something: all but `document`'s, the columns of Inspect View."""
    return {name: score for name, score in scores.items() if signature_of(score).measure != NO_MEASURE}


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
        last[names.setdefault((scorer, signature), name) if signature.is_ours else name] = score
    return last


# the lowest and highest value, where they are known, of a scorer's key under a signature
Ranges = Callable[[str, Signature, str], Bounds | None]


def scores_of(scorer: str, score: Score, ranges: Ranges = lambda *of: None) -> Scores:
    """A score's values by key, and the evidence that they rest on; a number out of its range is no value."""
    signature, facts = signature_of(score), score.metadata or {}
    # a letter of a scorer of ours is none of its values
    grades = {} if signature.is_ours else GRADES
    given: Mapping[str, object] = score.value if isinstance(score.value, dict) else {scorer: score.value}
    stated = {key: grades.get(value, value) if isinstance(value, str) else value for key, value in given.items()}
    # Score.unscored has one NaN for all keys: its own name would become a key that no other sample has
    keys = stated if isinstance(score.value, dict) or not isnan(number(stated[scorer])) else ()
    values = {key: number(stated[key], *(ranges(scorer, signature, key) or ())) for key in keys}
    # what is no number at all is none of ours; only NaN is unequal to itself
    beyond = {k: v for k, v in stated.items() if isinstance(v, int | float) and v == v and isnan(values.get(k, nan))}
    length = mapping(facts.get("length"))
    graders = {grader: evidence_of(mapping(own)) for grader, own in mapping(facts.get("graders")).items()}
    by_grader: dict[str, dict[str, float]] = {}
    for grader, part in graders.items():
        for key, row in part.questions.items():
            by_grader.setdefault(key, {}).update({f"{grader} {place}": value for place, value in enumerate(row)})
    standings = {
        key: [number(mapping(raw).get(part.name)) for part in fields(Standing)]
        for key, raw in mapping(facts.get("standing")).items()
    }
    return Scores(
        values=values,
        out_of_range=beyond,
        reason=str(score.reason or (NO_NUMBER if beyond else UNSAID)) if all(map(isnan, values.values())) else "",
        evidence=evidence_of(facts),
        signature=signature,
        matched={key: number(value) for key, value in mapping(length.get("matched")).items()},
        nearest={key: number(value) for key, value in mapping(facts.get("nearest_novelty")).items()},
        nearest_document=facts["nearest"] if isinstance(facts.get("nearest"), str) else "",
        standing={key: Standing(*parts) for key, parts in standings.items() if not any(map(isnan, parts))},
        sampling={k: number(v) for k, v in mapping(mapping(facts.get("sampling")).get("standard_error")).items()},
        graders=graders,
        questions=by_grader if graders else _by_question(facts.get("questions"), values),
        population_words=number(length.get("population")),
    )


def tests_of(score: Score, what: Literal["pass", "score"]) -> dict[str, float]:
    """What a score says of each test, by the test's id; NaN where it could not be judged, nothing of other scores."""
    rows = _rows_with((score.metadata or {}).get("tests"), what)
    return {str(row["id"]): number(row[what]) for row in rows}


def _rows_with(table: object, column: str) -> list[Mapping[str, Any]]:
    """The rows that have an id and this column."""
    rows = [mapping(row) for row in table] if isinstance(table, list) else []
    return [row for row in rows if "id" in row and column in row]


def _by_question(table: object, values: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """By key and question its novelty, where the table says them and their mean is the value."""
    novelties: dict[str, dict[str, float]] = {}
    for row in _rows_with(table, "novelty"):
        novelties.setdefault(str(row.get("feature")), {})[str(row["id"])] = number(row["novelty"])
    # a value that was edited, or that is no mean of its questions, stands for itself
    return {key: own for key, own in novelties.items() if abs(known_mean(own.values()) - values.get(key, nan)) <= SLACK}


def known_mean(values: Iterable[float]) -> float:
    """The mean of those that are known; NaN without any."""
    known = [value for value in values if not isnan(value)]
    return fsum(known) / len(known) if known else nan


@dataclass(frozen=True, slots=True)
class KeptExpression:
    """One expression of a text, and how new it is to a corpus."""

    text: str
    start: int
    end: int
    log_perplexity: Number
    novel_share: Number


_MARKS, _EXPRESSIONS = TypeAdapter(list[Mark]), TypeAdapter(list[KeptExpression])
RowT = TypeVar("RowT")
PER_WORDS = "_per_100_words"


def readings(scores: Mapping[str, Score]) -> Iterator[tuple[str, list[Mark], frozenset[str], dict[str, int]]]:
    """Each close reading among the scores of a sample: its scorer, and its marks in the order of the text.

    Then the aspects that have a value, and by aspect the quotes that do not stand in the text; of an aspect without a
    value only if it has no others.
    """
    for scorer, score in scores.items():
        marks = _rows(score, "marks", _MARKS)
        if marks is None:
            continue
        values = score.value if isinstance(score.value, dict) else {}
        keys = [key for key, value in values.items() if key.endswith(PER_WORDS) and not isnan(number(value))]
        measured = frozenset(key.removesuffix(PER_WORDS) for key in keys)
        facts = _part(score, "marks")
        shares = mapping(facts.get("quoted_share"))
        absent = {aspect: count(raw) or 0 for aspect, raw in mapping(facts.get("absent")).items()}
        # who quotes too much of the text has no value either, but has not invented all of it
        invented = {name: n for name, n in absent.items() if name in measured or (n and shares.get(name) == 0)}
        yield scorer, marks, measured, invented


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
