"""How alike the documents of one run are to each other, as a judge rates their answers: variety within the run."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from genie_inspect.agreement.raters import Pair, Ratings, Target, pair
from genie_inspect.measures.genie import similarity
from genie_inspect.populations.schema import Question
from genie_inspect.reports.repeats import Repeated, Repeats, Shared
from genie_inspect.statistics.descriptive import Interval, prompt_interval


@dataclass(frozen=True, slots=True)
class Variety:
    """By feature the similarity of two documents for a prompt, 0 to 1; of the run and of the population."""

    judge: str  # its signature
    pairs: int  # pairs of different answers that it was to rate
    unusable: int  # of them those without a usable rating
    features: Mapping[str, tuple[Interval, Interval]]


def answer_targets(own: Repeats) -> list[Target]:
    """Each pair of different answers to a question, once: those of the run, and those of the population."""
    targets = []
    for row in own.rows:
        question = Question(id=_id(row), prompt=row.prompt, feature=row.feature, text=row.question)
        for side in filter(None, (row.own, row.population)):
            texts = [text for text, _ in side.answers]
            targets += [Target(question, text, tuple(texts[place:])) for place, text in enumerate(texts[:-1], start=1)]
    return list(dict.fromkeys(targets))


def variety(own: Repeats, targets: Sequence[Target], ratings: Ratings) -> Variety:
    """The mean similarity among a run's documents, and among the population's.

    Equal answers count 1, without a rating; pairs without a usable rating do not count.
    """
    values = zip((each for target in targets for each in target.pairs), ratings.values, strict=True)
    rated = {each: similarity(rating) for each, rating in values}
    features = {}
    for feature in own.features:
        rows = [row for row in own.rows if row.feature == feature]
        prompts = [row.prompt for row in rows]
        here = [_mean_similarity(row, row.own, rated) for row in rows]
        there = [_mean_similarity(row, row.population, rated) if row.population else math.nan for row in rows]
        own_interval, other = (prompt_interval(side, prompts, bounds=(0.0, 1.0)) for side in (here, there))
        features[feature] = own_interval, other
    return Variety(ratings.signature, len(rated), sum(map(math.isnan, rated.values())), features)


def why_none(own: Repeats, feature: str) -> str:
    """Why there is no similarity of two documents of a run by a feature."""
    if not own.rows:
        return "its scores keep no answers"
    if own.documents <= len({row.prompt for row in own.rows}):
        return "one document per prompt, expected two or more, as --epochs 2 writes"
    if all(row.own.documents < 2 for row in own.rows if row.feature == feature):
        return "no two documents for a prompt answer the same question"
    return "no usable rating"


def _mean_similarity(row: Repeated, shared: Shared, rated: Mapping[Pair, float]) -> float:
    """Over all pairs of documents; NaN without a usable one."""
    # equal answers count 1
    pairs = sum(count * (count - 1) // 2 for _, count in shared.answers)
    total = float(pairs)
    for (one, count), (other, other_count) in combinations(shared.answers, 2):
        if not math.isnan(value := rated.get(pair(_id(row), one, other), math.nan)):
            pairs += count * other_count
            total += count * other_count * value
    return total / pairs if pairs else math.nan


def _id(row: Repeated) -> str:
    return f"{row.prompt}\n{row.question}"  # a log of an older population may have no ids
