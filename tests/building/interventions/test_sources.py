from pathlib import Path

import pytest
from tests.building.scripts import write_log
from tests.scripted import DOCUMENTS, FOX, OWL, small_population

from genie_inspect.building.interventions.sources import materials
from genie_inspect.errors import GenieError


def test_a_population_gives_its_documents_with_the_answers_on_record(tmp_path: Path) -> None:
    population = small_population(tmp_path / "p")
    found = materials([str(tmp_path / "p")], None, None, tmp_path)
    assert sorted(m.document.text for m in found) == sorted(DOCUMENTS[OWL] + DOCUMENTS[FOX])
    first = found[0]
    assert [question.text for question in first.questions] == [q.text for q in population.questions(OWL)]
    recorded = population.answers(population.readers[0], OWL) if population.readers else {}
    assert dict(first.answers) == {q: text for (d, q), text in recorded.items() if d == first.document.id}


def test_a_limit_takes_the_first_documents_of_each_prompt_by_their_ids(tmp_path: Path) -> None:
    small_population(tmp_path / "p")
    every = [m.document.id for m in materials([str(tmp_path / "p")], None, None, tmp_path)]
    taken = [m.document.id for m in materials([str(tmp_path / "p")], None, 1, tmp_path)]
    assert taken == [min(every[:3]), min(every[3:])]


def test_documents_of_logs_need_a_population_whose_questions_are_asked(tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.eval", "a/one", {OWL: ["An owl went out at night and came home again."]})
    with pytest.raises(GenieError, match="documents of logs need --population"):
        materials([str(log)], None, None, tmp_path)
    population = small_population(tmp_path / "p")
    (found,) = materials([str(log)], population, None, tmp_path)
    assert found.document.text == "An owl went out at night and came home again."
    assert [question.prompt for question in found.questions] == [OWL] * 3
    assert found.answers == {}


def test_logs_of_other_prompts_are_refused(tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.eval", "a/one", {"Write about a bear.": ["A bear went out at night."]})
    with pytest.raises(GenieError, match="none of the questions' prompts"):
        materials([str(log)], small_population(tmp_path / "p"), None, tmp_path)
