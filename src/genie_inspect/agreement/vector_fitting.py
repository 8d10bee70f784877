"""The line from the cosine of two answers to their rating, fitted to ratings, and how it ranks answers it has not seen.

Every prompt is held out once: its pairs are rated by a line that was fitted to those of the other prompts, and an
answer's novelty by these ratings is compared with its novelty by the recorded ones. Equal answers are left out of both:
they count as 4 unasked with every judge, and the two novelties would agree in them whatever the vectors say.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from genie_inspect.agreement.raters import CalibrationError, Pair, Ratings, Target
from genie_inspect.engines.embedders import Embedder
from genie_inspect.graders.vectors_judge import FeatureFit, VectorFit
from genie_inspect.measures.genie import FEWEST_RATINGS, is_used, question_novelty
from genie_inspect.populations.schema import Question
from genie_inspect.statistics.descriptive import Knots, height, isotonic_knots
from genie_inspect.statistics.ranking import kendall, spearman

FEWEST_PAIRS = 30  # of a feature with fewer the line over all features is the better guess
DECIMALS = 5


@dataclass(frozen=True, slots=True)
class RatedPair:
    """Two different answers to a question, with the mean of their ratings and the cosine of their vectors."""

    question: Question
    answers: frozenset[str]  # as they count for equality
    rating: float
    cosine: float


Novelty = tuple[str, float, float]
"""Of an answer: its feature, its novelty by the recorded ratings, and by those of the line."""


def vector_fit(population: str, targets: Sequence[Target], raters: Sequence[Ratings], embedder: Embedder) -> VectorFit:
    pairs = rated_pairs(targets, raters, embedder)
    if len(pairs) < FEWEST_PAIRS:
        raise CalibrationError(
            f"{len(pairs)} rated pairs of different answers, expected at least {FEWEST_PAIRS} to fit to"
        )
    novelties, lines = held_out(pairs), _lines(pairs)

    def fit(name: str) -> FeatureFit:
        """Of a feature, or of all by an empty name."""
        own = [sides for feature, *sides in novelties if name in ("", feature)]
        sides = list(zip(*own, strict=True)) or [(), ()]
        defined = [
            None if math.isnan(value) else round(value, DECIMALS) for value in (spearman(*sides), kendall(*sides))
        ]
        return FeatureFit(
            pairs=sum(name in ("", pair.question.feature) for pair in pairs),
            knots=tuple(lines[name]),
            answers=len(own),
            spearman=defined[0],
            kendall=defined[1],
        )

    return VectorFit(
        embedder=embedder.identity,
        population=population,
        raters=tuple(rater.name for rater in raters),
        features={name: fit(name) for name in sorted(lines.keys() - {""})},
        pooled=fit(""),
    )


def rated_pairs(targets: Sequence[Target], raters: Sequence[Ratings], embedder: Embedder) -> list[RatedPair]:
    """Every pair of different answers that has a rating and two vectors; in either order it is one."""
    texts = list(dict.fromkeys(text for target in targets for text in (target.answer, *target.others)))
    vectors = dict(zip(texts, embedder.embed(texts), strict=True))
    found: dict[Pair, tuple[Question, float]] = {}
    ratings: defaultdict[Pair, list[float]] = defaultdict(list)
    keyed = [(target, other, key) for target in targets for other, key in zip(target.others, target.pairs, strict=True)]
    for place, (target, other, key) in enumerate(keyed):
        ratings[key] += [rater.values[place] for rater in raters if not math.isnan(rater.values[place])]
        here, there = vectors[target.answer], vectors[other]
        if len(key[1]) > 1 and here.any() and there.any():
            found.setdefault(key, (target.question, float(here @ there)))
    return [
        RatedPair(question, key[1], fmean(ratings[key]), cosine)
        for key, (question, cosine) in found.items()
        if ratings[key]
    ]


def held_out(pairs: Sequence[RatedPair]) -> list[Novelty]:
    """The novelty of every answer that was compared with enough others, its prompt held out."""
    novelties: list[Novelty] = []
    by_question: defaultdict[tuple[str, str], list[RatedPair]] = defaultdict(list)
    for pair in pairs:
        by_question[pair.question.prompt, pair.question.id].append(pair)
    lines_without = {
        prompt: _lines([pair for pair in pairs if pair.question.prompt != prompt]) for prompt, _ in by_question
    }
    for (prompt, _), group in by_question.items():
        lines, feature = lines_without[prompt], group[0].question.feature
        both: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
        for pair in group if lines else ():
            for answer in pair.answers:
                both[answer].append((pair.rating, height(lines.get(feature, lines[""]), pair.cosine)))
        for ratings_of_answer in both.values():
            recorded, predicted = zip(*ratings_of_answer, strict=True)
            # an answer that was rated against few of the others has no novelty among them
            missing = [None] * (len(both) - 1 - len(recorded))
            if len(recorded) >= FEWEST_RATINGS and is_used([*recorded, *missing]):
                novelties.append((feature, question_novelty(recorded), question_novelty(predicted)))
    return novelties


def _lines(pairs: Iterable[RatedPair]) -> dict[str, Knots]:
    """By feature the line fitted to its pairs, where there are enough; under "" the one over all."""
    points: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for pair in pairs:
        for name in (pair.question.feature, ""):
            points[name].append((pair.cosine, pair.rating))
    lines: dict[str, Knots] = {}
    for name, found in points.items():
        if len(found) >= FEWEST_PAIRS:
            cosines, ratings = np.array(found).T
            # rounded first, so that no two bends fall on one cosine when they are written
            knots = isotonic_knots(cosines.round(DECIMALS), ratings)
            lines[name] = [(cosine, round(rating, DECIMALS)) for cosine, rating in knots]
    return lines
