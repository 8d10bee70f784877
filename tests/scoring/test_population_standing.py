import math
from pathlib import Path

import pytest
from tests.scripted import FOX, OWL, small_population

from genie_inspect.populations.population import Population
from genie_inspect.populations.yardstick import YARDSTICK, Measured, Yardstick, with_measured, write_yardstick
from genie_inspect.scoring.population_standing import PopulationStanding, standing_facts
from genie_inspect.signature import signature
from genie_inspect.statistics.descriptive.standing import Standing


@pytest.fixture
def population(tmp_path: Path) -> Population:
    """Whose owls have a plot of 1/3, 2/3 and 1, and a style that two of them lack; nothing is known of the foxes."""
    made = small_population(tmp_path / "population")
    owls = zip(made.documents(OWL), (0.333333, 0.666667, 1.0), (0.5, None, None), strict=True)
    novelty = {document.id: {"plot": plot, "style": style} for document, plot, style in owls}
    measured = Measured(signature=signed(made), novelty=novelty)
    write_yardstick(made.folder / YARDSTICK, with_measured(Yardstick(), measured))
    return made


def signed(population: Population, judge: str = "list(m)") -> str:
    return signature("genie", judge=judge, population=population.name)


def test_a_novelty_stands_among_the_documents_of_its_prompt(population: Population) -> None:
    found = PopulationStanding(population, signed(population)).of({"plot": 0.7, "style": 0.1}, OWL)
    # two of three plots are lower; of the styles one is known
    assert found["plot"].percentile == pytest.approx(200 / 3)
    assert found["plot"].mean == pytest.approx(2 / 3)
    assert found["style"] == Standing(0.0, 0.5, 0.5, 0.5)


def test_the_last_digits_of_a_mean_decide_nothing(population: Population) -> None:
    # 2/3 as a float lies below the 0.666667 that the file has
    found = PopulationStanding(population, signed(population)).of({"plot": 2 / 3}, OWL)
    assert found["plot"].percentile == 50.0


def test_where_there_is_nothing_to_stand_among_nothing_is_said(population: Population) -> None:
    standing = PopulationStanding(population, signed(population))
    assert standing.of({"plot": math.nan, "other": 0.5}, OWL) == {}
    assert standing.of({"plot": 0.5}, FOX) == {}
    assert standing.of({"plot": 0.5}, "another prompt") == {}
    assert PopulationStanding(population, signed(population, "pairwise(m)")).of({"plot": 0.5}, OWL) == {}


def test_the_log_keeps_a_standing_with_six_digits_and_nothing_where_there_is_none() -> None:
    kept = {"percentile": 66.666667, "mean": 0.5, "low": 0.25, "high": 0.75}
    assert standing_facts({"plot": Standing(200 / 3, 0.5, 0.25, 0.75)}) == {"yardstick": {"plot": kept}}
    assert standing_facts({}) == {}
