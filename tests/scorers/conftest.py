"""The small population, for tests of scorers that need no other."""

from pathlib import Path

import pytest
from tests.scripted import small_population

from genie_inspect.populations.population import Population


@pytest.fixture
def population(tmp_path: Path) -> Population:
    return small_population(tmp_path / "population")


@pytest.fixture
def folder(population: Population) -> Path:
    return population.folder
