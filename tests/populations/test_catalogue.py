from collections.abc import Callable
from pathlib import Path

import pytest

from genie_inspect.errors import PopulationError
from genie_inspect.populations.catalogue import BUNDLED, open_population
from genie_inspect.populations.population import Population

Make = Callable[..., Population]


@pytest.mark.parametrize("name", BUNDLED)
def test_a_bundled_population_opens_by_name(name: str) -> None:
    assert open_population(name).manifest.name == name


def test_a_folder_opens_by_path(make: Make) -> None:
    folder = make().folder
    assert open_population(folder).name == open_population(str(folder)).name == make().name


def test_a_folder_named_like_a_bundled_one_opens_by_its_path(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path / "starter")
    monkeypatch.chdir(tmp_path)
    assert open_population("./starter").manifest.name == "small"
    assert open_population("starter").manifest.name == "starter"


@pytest.mark.parametrize("name", ["startre", "", "none"])
def test_an_unknown_name_is_refused_with_those_that_are_known(name: str) -> None:
    with pytest.raises(
        PopulationError, match=rf"population is '{name}', expected abstracts, starter or a folder that holds"
    ):
        open_population(name)


def test_a_population_is_opened_once_until_one_of_its_files_changes(make: Make) -> None:
    folder = make().folder
    first = open_population(folder)
    assert open_population(str(folder)) is open_population(folder) is first
    documents = folder / "documents.jsonl"
    documents.write_bytes(documents.read_bytes())
    assert open_population(folder) is not first
