import pytest
from tests.populations.conftest import Make

from genie_inspect.building.inspection import faults
from genie_inspect.errors import PopulationError
from genie_inspect.measures.genie import Tally
from genie_inspect.populations.population import Population, open_population
from genie_inspect.populations.reference_scores import (
    REFERENCE_SCORES,
    Measured,
    ReferenceScores,
    reference_scores_of,
    with_measured,
    write_reference_scores,
)
from genie_inspect.signature import signature


def signed(population: str = "small-2@be50", judge: str = "list(m)", **facts: str) -> str:
    return signature(
        "genie", "1-A", judge=judge, reader="grader(m)", population=population, min_coverage="0.5", **facts
    )


def measured(total: float = 2.5, **facts: str) -> Measured:
    return Measured(signature=signed(**facts), ratings={"d1": {"q1": (Tally(total, 2, 3),)}})


def kept(population: Population, *parts: Measured) -> ReferenceScores:
    """What can be read again of reference scores that was written."""
    reference_scores = ReferenceScores()
    for part in parts:
        reference_scores = with_measured(reference_scores, part)
    write_reference_scores(population.folder / REFERENCE_SCORES, reference_scores)
    return reference_scores_of(population.folder)


def test_what_was_written_is_read_again_and_the_population_is_the_one_that_it_was(make: Make) -> None:
    before = make()
    assert reference_scores_of(before.folder).under(signed()) is None
    files = {file.name: file.read_bytes() for file in before.folder.iterdir()}
    parts = measured(2.5), measured(7.0, judge="pairwise(m)")
    assert kept(before, *parts).measured == parts
    assert open_population(before.folder).name == before.name
    assert {name: (before.folder / name).read_bytes() for name in files} == files
    assert not faults(before.folder)


def test_an_instrument_is_known_by_all_that_its_numbers_depend_on_and_by_nothing_else(make: Make) -> None:
    found = kept(make(), measured())
    assert found.under(signed()) is not None
    assert found.under(signed(population="renamed-3@be50")) is not None
    assert found.under(signed().replace("version:1-A", "version:1-B")) is not None
    others = [
        signed(population="small-2@0000"),
        signed(judge="list(m,template=other)"),
        signed().replace("reader:grader(m)", "reader:grader(n)"),
        signed().replace("min_coverage:0.5", "min_coverage:0.8"),
        signed().replace("measure:genie", "measure:cosine"),
        signed().replace("version:1-A", "version:2-A"),
    ]
    assert [found.under(other) for other in others] == [None] * len(others)


def test_an_instrument_that_measured_again_replaces_its_own_numbers_and_those_of_another_population(make: Make) -> None:
    parts = measured(population="small-1@old"), measured(3), measured(4, judge="pairwise(m)"), measured(5)
    assert kept(make(), *parts).measured == (measured(4, judge="pairwise(m)"), measured(5))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (("2.5", "3.5"), "reference_scores.json was changed after it was made; remove it and make it again: genie"),
        (('"format":2', '"format":3'), "field format: 3, expected 2; remove it"),
        (("2.5", "8.5"), r"reference_scores.json, field measured.*d1, q1: 2 of 3 ratings cannot sum to 8.5"),
        (("2.5", "NaN"), "reference_scores.json"),
        (('"q1"', '"q1'), "reference_scores.json: Invalid JSON"),
        # an earlier one has other fields
        (('"format":2', '"format": 1, "novelty": {}'), "expected 2; remove it and make it again: genie population"),
    ],
)
def test_what_is_no_reference_scores_is_an_error_that_says_what_to_do(
    make: Make, changed: tuple[str, str], said: str
) -> None:
    population = make()
    kept(population, measured())
    path = population.folder / REFERENCE_SCORES
    path.write_text(path.read_text(encoding="utf-8").replace(*changed), encoding="utf-8")
    with pytest.raises(PopulationError, match=said) as caught:
        reference_scores_of(population.folder)
    assert "\n" not in str(caught.value)
    assert list(faults(population.folder)) == ["unusable reference scores"]
