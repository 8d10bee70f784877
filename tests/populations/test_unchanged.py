"""A population that changes while it is in use is an error that says so, and never other documents without a word."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.scripted import FOX, OWL, small_population

from genie_inspect.errors import PopulationError
from genie_inspect.populations.population import ANSWERS, DOCUMENTS, Population

CHANGED = "was changed while the population was in use"


def in_place(folder: Path) -> None:
    """Other documents of the same length, and the time of writing put back."""
    path = folder / DOCUMENTS
    before = path.stat()
    with path.open("r+b") as file:
        content = file.read()
        file.seek(0)
        file.write(content.replace(b"owl", b"cow"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def prompts_swapped(folder: Path) -> None:
    text = (folder / DOCUMENTS).read_text()
    (folder / DOCUMENTS).write_text(text.replace(OWL, "@").replace(FOX, OWL).replace("@", FOX))


def built_anew(folder: Path) -> None:
    small_population(folder, {OWL: ("A cow.", "A calf."), FOX: ("A wolf.",)})


def cut(folder: Path) -> None:
    content = (folder / DOCUMENTS).read_bytes()
    (folder / DOCUMENTS).write_bytes(content[: len(content) // 2])


@pytest.mark.parametrize("change", [in_place, prompts_swapped, built_anew, cut])
def test_documents_that_changed_after_it_was_opened_are_an_error(
    change: Callable[[Path], None], tmp_path: Path
) -> None:
    population = small_population(tmp_path / "p")
    change(population.folder)
    with pytest.raises(PopulationError, match=CHANGED) as caught:
        population.documents(OWL)
    assert str(tmp_path / "p" / DOCUMENTS) in str(caught.value)


def test_what_was_read_before_the_change_stays_what_it_was_and_the_next_prompt_is_refused(tmp_path: Path) -> None:
    population = small_population(tmp_path / "p")
    before = population.documents(OWL)
    prompts_swapped(population.folder)
    assert population.documents(OWL) == before
    with pytest.raises(PopulationError, match=CHANGED):
        population.documents(FOX)


def test_answers_that_came_later_are_an_error(tmp_path: Path) -> None:
    population = small_population(tmp_path / "p")
    (tmp_path / "p" / ANSWERS).write_text('{"document": "d", "question": "q", "reader": "r", "text": "a"}\n')
    with pytest.raises(PopulationError, match=CHANGED):
        assert population.readers


def test_a_change_while_a_file_is_read_is_an_error(tmp_path: Path) -> None:
    population = small_population(tmp_path / "p")
    with pytest.raises(PopulationError, match=CHANGED), population._files[DOCUMENTS].open():
        in_place(population.folder)


def test_a_folder_that_is_gone_is_one_line(tmp_path: Path) -> None:
    population = small_population(tmp_path / "p")
    shutil.rmtree(tmp_path / "p")
    with pytest.raises(PopulationError, match="cannot be read any more"):
        population.documents(OWL)


def test_the_same_bytes_in_another_file_are_no_change(tmp_path: Path) -> None:
    population = Population(small_population(tmp_path / "p").folder)
    shutil.copy(tmp_path / "p" / DOCUMENTS, tmp_path / "copy")
    (tmp_path / "copy").replace(tmp_path / "p" / DOCUMENTS)
    assert len(population.documents(OWL)) == 3
    (tmp_path / "p" / DOCUMENTS).touch()
    assert len(population.documents(FOX)) == 2
