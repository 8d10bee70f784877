"""The results of one document against a population, question by question."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import repeat
from math import fsum, isnan, nan, sqrt
from operator import mul
from statistics import fmean, median

from genie_inspect.engines.identity import identity
from genie_inspect.graders.protocols import Answer
from genie_inspect.measures.genie import (
    FEWEST_RATINGS,
    MIN_COVERAGE,
    Tally,
    collapsed,
    feature_novelty,
    is_used,
    mean_novelty,
    nearest_novelty,
    similarity,
    usable_ratings,
    variances,
)
from genie_inspect.measures.tokens import is_like_length, word_count
from genie_inspect.populations.schema import Document, Question
from genie_inspect.prompting.answers import normalised
from genie_inspect.statistics.descriptive import Spread, Standing, spread_within, standing, three_digits

NOT_ANSWERED = "no answer in the population"
TOO_FEW = "too few ratings"


@dataclass(frozen=True)
class QuestionResult:
    """The ratings of one question and what novelty comes of them; each value is computed once."""

    question: Question
    answer: Answer | None
    others: tuple[Answer, ...]  # usable answers of the population, in the order of its documents
    ratings: tuple[float | None, ...]  # one an other answer
    faults: tuple[str, ...]  # why answers or ratings are missing
    off_labels: float | None = None  # mean probability off the labels, 0 to 1, where the judge reads probabilities
    places: tuple[int, ...] = ()  # which of the compared documents gave each other answer
    unread: tuple[int, ...] = ()  # which of the compared documents may have answered, but could not be read
    min_coverage: float = MIN_COVERAGE  # least share of the ratings due with which the question is used, 0 to 1
    # where ratings are a sample of the population's answers: how many answers each stands for; 0 where it was lost
    weights: tuple[int, ...] = ()

    def among(self, places: Set[int]) -> "QuestionResult":
        """The same question, with the answers of these documents alone."""
        indices = [index for index, place in enumerate(self.places) if place in places]
        part = replace(
            self,
            others=tuple(self.others[index] for index in indices),
            ratings=tuple(self.ratings[index] for index in indices),
            places=tuple(self.places[index] for index in indices),
            weights=tuple(self.weights[index] for index in indices if self.weights),
            unread=tuple(place for place in self.unread if place in places),
        )
        # every rating is known by its similarity already
        vars(part)["similarities"] = tuple(self.similarities[index] for index in indices)
        return part

    @cached_property
    def similarities(self) -> tuple[float, ...]:
        """One a rating, 0 (different) to 1 (interchangeable); NaN where the rating is not usable."""
        return tuple(map(similarity, self.ratings))

    @property
    def due(self) -> tuple[float | None, ...]:
        """One rating for each that there should be: none is due to a document that does not say."""
        # a document that could not be read may have answered: its rating counts as lost, not as never due. Of a sample
        # it would be drawn as often as the others
        answered = sum(self.weights)
        unread = round(len(self.unread) * len(self.ratings) / answered) if answered else len(self.unread)
        return (*self.ratings, *[None] * unread)

    @cached_property
    def counted(self) -> list[float]:
        return usable_ratings(self.ratings)

    @property
    def usable(self) -> int:
        return len(self.counted)

    @cached_property
    def is_used(self) -> bool:
        """Whether enough of the ratings due could be had for the question's novelty to count."""
        return is_used(self.due, self.min_coverage)

    @cached_property
    def alike(self) -> list[float]:
        """The similarities of the ratings that are usable; none when the question is not used."""
        return [value for value in self.similarities if not isnan(value)] if self.is_used else []

    @cached_property
    def stands_for(self) -> list[int]:
        """How many answers each of the usable ratings stands for; none where every answer was rated."""
        pairs = zip(self.similarities, self.weights, strict=bool(self.weights))
        return [weight for value, weight in pairs if not isnan(value)]

    @cached_property
    def novelty(self) -> float:
        """0 (all alike) to 1 (nothing like it); NaN when the question is not used."""
        return mean_novelty(self.alike, self.stands_for if self.alike else ())

    @property
    def represented(self) -> list[float]:
        """The similarities as often as each stands for an answer of the population."""
        weights = self.stands_for or repeat(1)
        return [value for value, weight in zip(self.alike, weights, strict=False) for _ in range(weight)]

    @property
    def tally(self) -> Tally:
        """Its usable ratings, each as often as it stands for an answer."""
        if not self.weights:
            return Tally(fsum(self.counted), self.usable, len(self.due))
        count = sum(self.stands_for) if self.is_used else 0
        return Tally(fsum(map(mul, self.counted, self.stands_for)) if count else 0, count, sum(self.weights))

    @property
    def nearest(self) -> float:
        """0 (an answer is interchangeable) to 1 (even the nearest is unlike); NaN when the question is not used."""
        return nearest_novelty(self.alike)


@dataclass(frozen=True)
class Assessment:
    """The results of all questions about one document; of a jury those of all its graders. Each value is computed once.

    By feature, novelty and the like are those of the population's features, in their order.
    """

    results: tuple[QuestionResult, ...]
    features: tuple[str, ...]
    documents: int  # population documents that it was compared with
    left_out: tuple[str, ...] = ()  # ids of population documents with the same text, which do not count
    lengths: tuple[int, ...] = ()  # words of each compared document
    made_of: tuple[str, ...] = ()  # ids of those that are the text of which it was made, which do not count either
    # by grader of a jury its own, where one that failed has a fault for every question; empty without a jury
    parts: "Mapping[str, Assessment]" = field(default_factory=dict)

    @classmethod
    def of(cls, parts: "Mapping[str, Assessment]") -> "Assessment":
        """What a jury found."""
        # one that failed, or found no answer, compared nothing
        whole = max(parts.values(), key=lambda part: (part.documents, len(part.lengths)))
        return replace(whole, results=tuple(result for part in parts.values() for result in part.results), parts=parts)

    @property
    def by_grader(self) -> "tuple[Assessment, ...]":
        return tuple(self.parts.values()) or (self,)

    @property
    def shown(self) -> "Assessment":
        """What a person reads: of a jury the part of the first grader of whom a question could be used."""
        return next((part for part in self.by_grader if part.used), self.by_grader[0])

    @property
    def poorest(self) -> "Assessment":
        """Where to look for the reason of a document without a value: what used the fewest questions."""
        return min(self.by_grader, key=lambda part: len(part.used))

    @property
    def by_question(self) -> list[tuple[QuestionResult, ...]]:
        """For each question its results, one per grader."""
        return list(zip(*(part.results for part in self.by_grader), strict=True))

    @property
    def tallies(self) -> dict[str, tuple[Tally, ...]]:
        """By question id, one per grader."""
        return {
            of_graders[0].question.id: tuple(result.tally for result in of_graders) for of_graders in self.by_question
        }

    def within(self, words: float) -> "Assessment":
        """The same document against those documents alone that are about this long."""
        if self.parts:
            return self.of({name: part.within(words) for name, part in self.parts.items()})
        places = {place for place, length in enumerate(self.lengths) if is_like_length(length, words)}
        return replace(self, results=tuple(r.among(places) for r in self.results), documents=len(places))

    @cached_property
    def by_feature(self) -> dict[str, list[QuestionResult]]:
        return {name: [r for r in self.results if r.question.feature == name] for name in self.features}

    @cached_property
    def novelty(self) -> dict[str, float]:
        """By feature, of a jury the mean over its graders; NaN where one of them could not measure it."""
        return self._means(lambda result: result.novelty)

    @cached_property
    def nearest(self) -> dict[str, float]:
        """How near the nearest answers come, by feature: over the questions that novelty is the mean of."""
        return self._means(lambda result: result.nearest)

    def _means(self, of: Callable[[QuestionResult], float]) -> dict[str, float]:
        feature_of = {result.question.id: result.question.feature for result in self.results}
        rows = [feature_novelty({r.question.id: of(r) for r in part.results}, feature_of) for part in self.by_grader]
        # all samples of a log must have the same keys, or Inspect ends the run
        return {name: fmean(row.get(name, nan) for row in rows) for name in self.features}

    @cached_property
    def spread(self) -> dict[str, Spread]:
        spreads = {name: spread_within(r.represented for r in results) for name, results in self.by_feature.items()}
        if not self.is_sampled:
            return spreads
        # a rating that stands for many rests on one
        rated = {name: sum(max(len(r.alike) - 1, 0) for r in results) for name, results in self.by_feature.items()}
        return {name: replace(own, degrees=min(own.degrees, rated[name])) for name, own in spreads.items()}

    @property
    def is_sampled(self) -> bool:
        """Whether an answer was rated against a sample of the population's answers."""
        return any(result.weights for result in self.results)

    @cached_property
    def standard_errors(self) -> dict[str, float]:
        """By feature that of its novelty, from the sampling of ratings alone; NaN where novelty is."""
        parts = [_standard_errors(part) for part in self.by_grader]
        return {name: sqrt(fsum(part[name] ** 2 for part in parts)) / len(parts) for name in self.features}

    @cached_property
    def used(self) -> list[QuestionResult]:
        return [result for result in self.results if result.is_used]

    @cached_property
    def counted(self) -> list[float]:
        return [rating for result in self.results for rating in result.counted]

    @property
    def few_answers(self) -> int:
        return sum(result.usable < FEWEST_RATINGS for result in self.used)

    @cached_property
    def faults(self) -> dict[str, int]:
        counts = Counter(fault for result in self.results for fault in result.faults)
        # one fault a question; what it lost is among the faults of its answers already
        if few := sum(not result.is_used for result in self.results if result.usable):
            counts[TOO_FEW] = few
        return dict(counts)


def _standard_errors(assessment: Assessment) -> dict[str, float]:
    used = assessment.used
    found = variances([collapsed(r.alike, r.stands_for) for r in used], [r.question.feature for r in used])
    errors = dict(zip(map(id, used), found, strict=True))
    rows = {name: [errors[id(r)] for r in results if r.is_used] for name, results in assessment.by_feature.items()}
    return {name: sqrt(fsum(row)) / len(row) if row else nan for name, row in rows.items()}


def neighbours(result: QuestionResult, most: int = 3) -> list[tuple[str, float, int]]:
    """The answers rated most alike, at most so many, nearest first; of equals the more common, then the first.

    Each with the highest rating that it was given, 1 to 4, and how many population documents gave it.
    """
    by_wording: dict[str, tuple[str, float, int]] = {}
    for rating, other in zip(result.ratings, result.others, strict=True):
        # lost, or 0 for no answer
        if rating:
            first, highest, documents = by_wording.get(normalised(other.text), (other.text, rating, 0))
            by_wording[normalised(other.text)] = (first, max(highest, rating), documents + 1)
    return sorted(by_wording.values(), key=lambda other: (-other[1], -other[2]))[:most]


Tallies = Mapping[str, Sequence[Tally]]  # by question id, one per grader


def standings(
    assessment: Assessment, documents: Sequence[str], reference_scores: Mapping[str, Tallies]
) -> dict[str, Standing]:
    """By feature that was measured, where a document stands among those that it was compared with.

    Each of these is held against the rest and against the document, so that one like them lands at 50 on average
    (a conformal rank). Where one is left out, because it is the document or its original, it keeps that place itself.
    """
    if not reference_scores:
        return {}
    left_out = {*assessment.left_out, *assessment.made_of}
    alone = [reference_scores.get(document, {}) for document in documents if document not in left_out]
    rated = {
        graders[0].question.id: [dict(zip(result.places, result.ratings, strict=True)) for result in graders]
        for graders in assessment.by_question
    }

    def beside(place: int, tallies: Tallies) -> Tallies:
        """The tallies of the document in one place with what the assessed one is rated against it, by each grader."""
        return {
            question: [
                tally.with_rating(by_place[place]) if place in by_place else tally
                for tally, by_place in zip(tallies[question], graders, strict=True)
            ]
            for question, graders in (rated if tallies else {}).items()
        }

    results = assessment.by_grader[0].results
    others = apart = [_novelty(tallies, results) for tallies in alone]
    # what was not drawn has no rating of the document to be held against: of a sample they stand among themselves
    if not left_out and not assessment.is_sampled:
        others = [_novelty(beside(place, tallies), results) for place, tallies in enumerate(alone)]
    found = {
        feature: standing(value, [each[feature] for each in others], [each[feature] for each in apart])
        for feature, value in _novelty(assessment.tallies, results).items()
    }
    return {feature: one for feature, one in found.items() if one}


def _novelty(tallies: Tallies, results: Sequence[QuestionResult]) -> dict[str, float]:
    """By feature the mean over graders, with the digits of scores: the last digits of a float decide no rank."""
    feature_of = {result.question.id: result.question.feature for result in results}
    known = [(result, tallies[result.question.id]) for result in results if result.question.id in tallies]
    rows = [
        feature_novelty({r.question.id: graders[place].novelty(r.min_coverage) for r, graders in known}, feature_of)
        for place in range(max(map(len, tallies.values()), default=1))
    ]
    return {feature: three_digits(fmean(row[feature] for row in rows)) for feature in rows[0]}


KEPT = 64  # prompts whose preparation is kept


@dataclass(frozen=True)
class Compared:
    """What a document is compared with."""

    documents: tuple[Document, ...]  # in the order in which they were given
    same: tuple[str, ...] = ()  # ids of documents with the same text, which do not count
    made_of: tuple[str, ...] = ()  # ids of documents that are the text of which it was made, which do not count either

    @property
    def left_out(self) -> tuple[str, ...]:
        return (*self.same, *self.made_of)

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        return tuple(word_count(document.text) for document in self.documents)

    @cached_property
    def words(self) -> float:
        """Median words of the documents; NaN without any."""
        return median(self.lengths) if self.documents else nan


class Others:
    """Documents of one prompt, which any number of texts are compared with."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.documents = tuple(documents)
        self._all = Compared(self.documents)
        self._ids: dict[str, list[str]] = {}
        for document in self.documents:
            self._ids.setdefault(identity(document.text), []).append(document.id)

    def than(self, text: str, made_of: str = "") -> Compared:
        """The documents without those that have the same text but for spacing."""
        # a document of the population must not be its own neighbour at distance 0
        same = tuple(self._ids.get(identity(text), ()))
        # an edit would else stand beside its original, and the original not beside itself
        origin = tuple(name for name in self._ids.get(identity(made_of), ()) if name not in same)
        # most texts are none of them: what is counted for one of these stands for all
        if not same and not origin:
            return self._all
        kept = tuple(document for document in self.documents if document.id not in (*same, *origin))
        return Compared(kept, same, origin)
