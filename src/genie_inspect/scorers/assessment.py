"""The results of one document against a population, question by question."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from math import fsum, isnan, nan
from statistics import fmean, median

from genie_inspect.engines.identity import identity
from genie_inspect.graders.protocols import Answer
from genie_inspect.measures.genie import (
    FEWEST_RATINGS,
    MIN_COVERAGE,
    Tally,
    feature_novelty,
    is_used,
    mean_novelty,
    nearest_novelty,
    similarity,
    usable_ratings,
)
from genie_inspect.measures.tokens import is_like_length, word_count
from genie_inspect.populations.schema import Document, Question
from genie_inspect.prompting.answers import normalised, repeats_question
from genie_inspect.statistics.descriptive import Spread, spread_within

NOT_ANSWERED = "no answer in the population"
TOO_FEW = "too few ratings"


@dataclass(frozen=True)
class QuestionResult:
    """The ratings of one question and what novelty comes of them; each value is computed once."""

    question: Question
    answer: Answer | None
    others: tuple[Answer, ...]
    """Usable answers of the population, in the order of its documents."""
    ratings: tuple[float | None, ...]
    """One an other answer."""
    faults: tuple[str, ...]
    """Why answers or ratings are missing."""
    off_labels: float | None = None
    """Mean probability off the labels, 0 to 1, where the judge reads probabilities."""
    places: tuple[int, ...] = ()
    """Which of the compared documents gave each other answer."""
    unread: tuple[int, ...] = ()
    """Which of the compared documents may have answered, but could not be read."""
    min_coverage: float = MIN_COVERAGE
    """Least share of the ratings due with which the question is used, 0 to 1."""

    def among(self, places: Set[int]) -> "QuestionResult":
        """The same question, with the answers of these documents alone."""
        indices = [index for index, place in enumerate(self.places) if place in places]
        part = replace(
            self,
            others=tuple(self.others[index] for index in indices),
            ratings=tuple(self.ratings[index] for index in indices),
            places=tuple(self.places[index] for index in indices),
            unread=tuple(place for place in self.unread if place in places),
        )
        # every rating is known by its similarity already
        vars(part)["similarities"] = tuple(self.similarities[index] for index in indices)
        return part

    @cached_property
    def similarities(self) -> tuple[float, ...]:
        """One a rating, 0 (different) to 1 (interchangeable); NaN where the rating is not usable."""
        return tuple(map(similarity, self.ratings))

    @cached_property
    def rating_by_place(self) -> dict[int, float | None]:
        return dict(zip(self.places, self.ratings, strict=True))

    @property
    def due(self) -> tuple[float | None, ...]:
        """One rating for each that there should be: none is due to a document that does not say."""
        # a document that could not be read may have answered: its rating counts as lost, not as never due
        return (*self.ratings, *(None for _ in self.unread))

    @cached_property
    def counted(self) -> list[float]:
        return usable_ratings(self.ratings)

    @property
    def usable(self) -> int:
        return len(self.counted)

    @property
    def tally(self) -> Tally:
        return Tally(fsum(self.counted), self.usable, len(self.due))

    @cached_property
    def is_used(self) -> bool:
        """Whether enough of the ratings due could be had for the question's novelty to count."""
        return is_used(self.due, self.min_coverage)

    @cached_property
    def alike(self) -> list[float]:
        """The similarities of the ratings that are usable; none when the question is not used."""
        return [value for value in self.similarities if not isnan(value)] if self.is_used else []

    @cached_property
    def novelty(self) -> float:
        """0 (all alike) to 1 (nothing like it); NaN when the question is not used."""
        return mean_novelty(self.alike)

    @property
    def nearest(self) -> float:
        """0 (an answer is interchangeable) to 1 (even the nearest is unlike); NaN when the question is not used."""
        return nearest_novelty(self.alike)


@dataclass(frozen=True)
class Assessment:
    """The results of all questions about one document."""

    results: tuple[QuestionResult, ...]
    documents: int
    """Population documents that it was compared with."""
    left_out: tuple[str, ...]
    """Ids of population documents with the same text, which do not count."""
    lengths: tuple[int, ...] = ()
    """Words of each compared document."""
    made_of: tuple[str, ...] = ()
    """Ids of population documents that are the text of which it was made, which do not count either."""

    @property
    def shown(self) -> tuple[QuestionResult, ...]:
        """The results that a person reads; of a jury those of one of its graders."""
        return self.results

    @property
    def by_grader(self) -> tuple["Assessment", ...]:
        return (self,)

    @property
    def tallies(self) -> dict[str, tuple[Tally, ...]]:
        """By question id, one per grader."""
        asked = zip(*(part.results for part in self.by_grader), strict=True)
        return {results[0].question.id: tuple(result.tally for result in results) for results in asked}

    @property
    def poorest(self) -> "Assessment":
        """Where to look for the reason of a document without a value; of a jury one grader's part."""
        return self

    def within(self, words: float) -> "Assessment":
        """The same document against those documents alone that are about this long."""
        places = {place for place, length in enumerate(self.lengths) if is_like_length(length, words)}
        return replace(self, results=tuple(r.among(places) for r in self.results), documents=len(places))

    def by_feature(self, features: Iterable[str]) -> dict[str, list[QuestionResult]]:
        return {name: [r for r in self.results if r.question.feature == name] for name in features}

    def novelty(self, features: Sequence[str]) -> dict[str, float]:
        """Novelty by feature: every feature has a value, NaN where nothing was usable."""
        return self._means({result.question.id: result.novelty for result in self.results}, features)

    def nearest(self, features: Sequence[str]) -> dict[str, float]:
        """How near the nearest answers come, by feature: over the questions that novelty is the mean of."""
        return self._means({result.question.id: result.nearest for result in self.results}, features)

    def spread(self, features: Iterable[str]) -> dict[str, Spread]:
        return {
            name: spread_within(result.alike for result in results)
            for name, results in self.by_feature(features).items()
        }

    def _means(self, by_question: Mapping[str, float], features: Sequence[str]) -> dict[str, float]:
        feature_of = {result.question.id: result.question.feature for result in self.results}
        means = feature_novelty(by_question, feature_of)
        # all samples of a log must have the same keys, or Inspect ends the run
        return {name: means.get(name, nan) for name in features}

    @cached_property
    def used(self) -> list[QuestionResult]:
        return [result for result in self.results if result.is_used]

    @cached_property
    def counted(self) -> list[float]:
        return [rating for result in self.results for rating in result.counted]

    @property
    def few_answers(self) -> int:
        return sum(result.usable < FEWEST_RATINGS for result in self.used)

    @property
    def repeated(self) -> tuple[int, int]:
        """How many of the answers say nothing but words of their question, and how many answers there are."""
        said = [(result.answer.text, result.question.text) for result in self.results if result.answer]
        return sum(repeats_question(*pair) for pair in said), len(said)

    def off_labels(self) -> float | None:
        """Mean probability off the labels, 0 to 1, over the questions; None where the judge reads no probabilities."""
        masses = [result.off_labels for result in self.results if result.off_labels is not None]
        return fmean(masses) if masses else None

    def faults(self) -> dict[str, int]:
        counts = Counter(fault for result in self.results for fault in result.faults)
        # one fault a question; what it lost is among the faults of its answers already
        if few := sum(not result.is_used for result in self.results if result.usable):
            counts[TOO_FEW] = few
        return dict(counts)


@dataclass(frozen=True, slots=True)
class Neighbour:
    text: str
    """As the first document that gave it has it."""
    rating: float
    """How alike the document's answer is, 1 to 4: the highest that it was given."""
    documents: int
    """How many population documents gave it."""


def neighbours(result: QuestionResult, most: int = 3) -> tuple[Neighbour, ...]:
    """The answers rated most alike, at most so many, nearest first; of equals the more common, then the first."""
    by_wording: dict[str, Neighbour] = {}
    for rating, other in zip(result.ratings, result.others, strict=True):
        # lost, or 0 for no answer
        if not rating:
            continue
        neighbour = by_wording.get(normalised(other.text), Neighbour(other.text, rating, 0))
        by_wording[normalised(other.text)] = Neighbour(
            neighbour.text, max(neighbour.rating, rating), neighbour.documents + 1
        )
    return tuple(sorted(by_wording.values(), key=lambda other: (-other.rating, -other.documents))[:most])


KEPT = 64  # prompts whose preparation is kept


@dataclass(frozen=True)
class Compared:
    """What a document is compared with."""

    documents: tuple[Document, ...]
    """In the order in which they were given."""
    same: tuple[str, ...] = ()
    """Ids of documents with the same text, which do not count."""
    made_of: tuple[str, ...] = ()
    """Ids of documents that are the text of which it was made, which do not count either."""

    @property
    def left_out(self) -> tuple[str, ...]:
        return (*self.same, *self.made_of)

    @cached_property
    def words(self) -> float:
        """Median words of the documents; NaN without any."""
        return median(word_count(document.text) for document in self.documents) if self.documents else nan


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
        left_out = {*same, *origin}
        return Compared(tuple(document for document in self.documents if document.id not in left_out), same, origin)
