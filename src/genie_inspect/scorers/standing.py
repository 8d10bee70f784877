"""Where a document's novelty falls among the population's own documents of its prompt."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from statistics import fmean
from typing import Any

from genie_inspect.measures.genie import Tally, feature_novelty
from genie_inspect.populations.population import Population
from genie_inspect.populations.yardstick import yardstick_of
from genie_inspect.scorers.assessment import Assessment, QuestionResult
from genie_inspect.statistics.descriptive import Standing, standing, three_digits

Tallies = Mapping[str, Sequence[Tally]]  # by question id, one per grader


def yardstick_under(population: Population, signature: str) -> Mapping[str, Tallies]:
    """By document of a population its yardstick under one instrument; empty where it has none."""
    measured = yardstick_of(population.folder).under(signature)
    return measured.ratings if measured else {}


def standings(
    assessment: Assessment, documents: Sequence[str], yardstick: Mapping[str, Tallies]
) -> dict[str, Standing]:
    """By feature that was measured, where a document stands among those that it was compared with.

    Each of these is held against the rest and against the document, so that one like them lands at 50 on average
    (a conformal rank). Where one is left out, because it is the document or its original, it keeps that place itself.
    """
    if not yardstick:
        return {}
    left_out = {*assessment.left_out, *assessment.made_of}
    alone = [yardstick.get(document, {}) for document in documents if document not in left_out]
    asked = [part.results for part in assessment.by_grader]
    others = alone if left_out else [_beside(place, tallies, asked) for place, tallies in enumerate(alone)]
    own, *novelties = (_novelty(tallies, asked[0]) for tallies in (assessment.tallies, *others, *alone))
    among, apart = novelties[: len(others)], novelties[len(others) :]
    found = {
        feature: standing(value, [each[feature] for each in among], [each[feature] for each in apart])
        for feature, value in own.items()
    }
    return {feature: one for feature, one in found.items() if one}


def _beside(place: int, tallies: Tallies, asked: Sequence[Sequence[QuestionResult]]) -> Tallies:
    """The tallies of the document in one place with what the assessed one is rated against it, by each grader."""
    if not tallies:
        return {}
    return {
        results[0].question.id: [
            tally.with_rating(result.rating_by_place[place]) if place in result.rating_by_place else tally
            for tally, result in zip(tallies[results[0].question.id], results, strict=True)
        ]
        for results in zip(*asked, strict=True)
    }


def _novelty(tallies: Tallies, results: Sequence[QuestionResult]) -> dict[str, float]:
    """By feature the mean over graders, with the digits of scores: the last digits of a float decide no rank."""
    feature_of = {result.question.id: result.question.feature for result in results}
    graders = max(map(len, tallies.values()), default=1)
    rows = [
        feature_novelty(
            {
                result.question.id: by_grader[grader].novelty(result.min_coverage)
                for result in results
                if (by_grader := tallies.get(result.question.id))
            },
            feature_of,
        )
        for grader in range(graders)
    ]
    return {feature: three_digits(fmean(row[feature] for row in rows)) for feature in rows[0]} if rows else {}


def standing_facts(standings: Mapping[str, Standing]) -> dict[str, Any]:
    """What a score's metadata says of them, by feature: the percentile, and the population's mean and quartiles."""
    facts = {
        feature: {name: round(value, 6) for name, value in asdict(standing).items()}
        for feature, standing in standings.items()
    }
    return {"standing": facts} if facts else {}
