import math
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean

import pytest
from tests.scripted import FOX, OWL, small_population

from genie_inspect.graders.protocols import Answer
from genie_inspect.measures.genie import Tally
from genie_inspect.populations.population import Population
from genie_inspect.populations.reference_scores import (
    REFERENCE_SCORES,
    Measured,
    ReferenceScores,
    reference_scores_of,
    with_measured,
    write_reference_scores,
)
from genie_inspect.populations.schema import Question
from genie_inspect.providers.replay import Record, starter_record
from genie_inspect.scorers.assessment import Assessment, QuestionResult, standings
from genie_inspect.signature import signature
from genie_inspect.statistics.descriptive import Standing


def signed(population: Population, judge: str = "list(m)") -> str:
    return signature("genie", judge=judge, population=population.name)


def result(question: Question, *ratings: float | None, places: Sequence[int] = ()) -> QuestionResult:
    """The ratings of a document against some of those that it is compared with, by default the first ones."""
    answers = (Answer("x"),) * len(ratings)
    return QuestionResult(question, answers[0], answers, ratings, (), places=tuple(places or range(len(ratings))))


@pytest.fixture
def population(tmp_path: Path) -> Population:
    """Three owls whose ends are rated 1, 1 and 2 in pairs; nothing is known of the foxes."""
    made = small_population(tmp_path / "population")
    happens, ends, tone = made.questions(OWL)
    ratings: dict[str, dict[str, tuple[Tally, ...]]] = {
        owl.id: {happens.id: (Tally(),), ends.id: (Tally(total, 2, 2),), tone.id: (Tally(*known),)}
        for owl, total, known in zip(made.documents(OWL), (2, 3, 3), ((4, 1, 1), (4, 1, 2), (0, 0, 2)), strict=True)
    }
    write_reference_scores(
        made.folder / REFERENCE_SCORES,
        with_measured(ReferenceScores(), Measured(signature=signed(made), ratings=ratings)),
    )
    return made


def among(
    population: Population, assessment: Assessment, prompt: str = OWL, judge: str = "list(m)"
) -> dict[str, Standing]:
    """Where a document stands among those of a prompt, by the reference scores of the judge."""
    documents = [document.id for document in population.documents(prompt)]
    measured = reference_scores_of(population.folder).under(signed(population, judge))
    return standings(assessment, documents, measured.ratings if measured else {})


def assessed(population: Population, *ratings: float | None, left_out: tuple[str, ...] = ()) -> Assessment:
    happens, ends, tone = population.questions(OWL)
    unsaid = (QuestionResult(question, None, (), (), ()) for question in (happens, tone))
    return Assessment((result(ends, *ratings), *unsaid), (), 3 - len(left_out), left_out)


@pytest.mark.parametrize(
    ("ratings", "is_member", "percentile"),
    [
        # 1, 1, 2 = 4 of 12; with it the owls have 2+1, 3+1, 3+2: one is more novel, one as novel, one less
        ((1, 1, 2), False, 50),
        # 1, 1, 1 against 2+1, 3+1, 3+1: one is as novel
        ((1, 1, 1), False, 100 * 2.5 / 3),
        # what the others have of a member they have already: 1, 1 against (3, 2) of each of the two others
        ((1, 1), True, 100),
    ],
)
def test_a_document_stands_among_others_that_are_held_against_it_too(
    ratings: tuple[float, ...], is_member: bool, percentile: float, population: Population
) -> None:
    left_out = (population.documents(OWL)[0].id,) if is_member else ()
    found = among(population, assessed(population, *ratings, left_out=left_out))["plot"]
    assert found.percentile == pytest.approx(percentile)
    # alone: ratings of 1, 3/2 and 3/2 on average
    assert is_member or found.mean == pytest.approx((1 + 5 / 6 + 5 / 6) / 3, abs=1e-3)


def test_a_member_without_enough_ratings_has_no_rank_and_a_lost_rating_may_cost_it_its_own(
    population: Population,
) -> None:
    tone = population.questions(OWL)[2]
    (standing,) = among(population, Assessment((result(tone, 4, None, 1),), (), 3)).values()
    # its own 1 - 1/2; the owls 4 + 4 of 2: 0; 4 of 1, with 1 of 3 ratings too few; 1 of 1 with 1 of 3 likewise
    assert standing.percentile == 100


def test_where_there_is_nothing_to_stand_among_nothing_is_said(population: Population) -> None:
    assert among(population, assessed(population, None, None, None)) == {}
    assert among(population, assessed(population, 1), FOX) == {}
    assert among(population, Assessment((), (), 0), "another prompt") == {}
    assert among(population, assessed(population, 1, 1, 2), judge="pairwise(m)") == {}


def ratings_of(record: Record, prompt: str) -> dict[Question, list[list[int | None]]]:
    """By question the recorded rating of every two of the twenty-four stories; None where one does not say."""
    texts = [document.text for document in record.population.documents(prompt)] + record.stories_of("ordinary", prompt)
    assert len(texts) == 24
    by_question = {}
    for question in record.population.questions(prompt):
        answers = [record.answer(text, question.text) for text in texts]
        by_question[question] = [
            [record.rating(question.text, one, other) if one and other else None for other in answers]
            for one in answers
        ]
    return by_question


def test_ordinary_stories_that_are_held_out_land_at_fifty_on_average() -> None:
    """Any two of the 24 writers leave the population, as the storyteller's two did: 276 pairs."""
    record, by_feature = starter_record(), dict[str, list[float]]()
    matrices = ratings_of(record, record.population.prompts[0])
    for pair in combinations(range(24), 2):
        members = [writer for writer in range(24) if writer not in pair]
        tallies = {
            str(writer): {q.id: [tally(m[writer], [w for w in members if w != writer])] for q, m in matrices.items()}
            for writer in members
        }
        for held_out in pair:
            results = tuple(against(q, m[held_out], members) for q, m in matrices.items())
            found = standings(Assessment(results, (), 22), list(tallies), tallies)
            for feature, standing in found.items():
                by_feature.setdefault(feature, []).append(standing.percentile)
    assert len(by_feature) == 6
    for feature, percentiles in by_feature.items():
        assert len(percentiles) == 276 * 2
        assert fmean(percentiles) == pytest.approx(50, abs=0.5), feature


def tally(row: Sequence[int | None], others: Sequence[int]) -> Tally:
    ratings = [rating for other in others if (rating := row[other]) is not None]
    return Tally(math.fsum(ratings), len(ratings), len(ratings))


def against(question: Question, row: Sequence[int | None], members: Sequence[int]) -> QuestionResult:
    rated = {place: rating for place, member in enumerate(members) if (rating := row[member]) is not None}
    return (
        result(question, *rated.values(), places=tuple(rated)) if rated else QuestionResult(question, None, (), (), ())
    )
