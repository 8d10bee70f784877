import json
import sys
from pathlib import Path
from types import ModuleType

import pytest
from inspect_ai._util.error import PrerequisiteError
from rich.text import Text
from tests.scripted import small_population

from genie_inspect.tasks.writing_prompts import writing_prompts


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    """Forty prompts as the hub's data set writes them, two of them the same."""
    path = tmp_path / "prompts.jsonl"
    rows = [
        {"prompt": f"[ WP ] You wake up on day {number} . <newline> Nobody is there .", "story": "..."}
        for number in range(39)
    ]
    path.write_text("\n".join(json.dumps(row) for row in [*rows, rows[0]]) + "\n\n", encoding="utf-8")
    return path


def test_a_seeded_sample_of_25_distinct_cleaned_prompts_comes_from_a_local_file(prompts: Path) -> None:
    drawn = [str(sample.input) for sample in writing_prompts(dataset=str(prompts)).dataset]
    assert len(set(drawn)) == len(drawn) == 25
    assert all(text.startswith("You wake up on day ") and text.endswith(". Nobody is there.") for text in drawn)
    assert [str(sample.input) for sample in writing_prompts(dataset=str(prompts)).dataset] == drawn
    assert [str(sample.input) for sample in writing_prompts(dataset=str(prompts), seed=1).dataset] != drawn


def test_prompts_take_the_studys_form_and_another_column_where_that_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("title,chosen_story\n[WP] A dog wakes up.,-\n[WP] A dog wakes up.,-\nA cat.,-\n", encoding="utf-8")
    task = writing_prompts(dataset=str(path), sample=2, column="title", story_where=True)
    drawn = {str(sample.input) for sample in task.dataset}
    assert drawn == {"Write a story where: A dog wakes up.", "Write a story where: A cat."}
    with pytest.raises(PrerequisiteError, match="story_where is 'yes', expected true or false"):
        writing_prompts(dataset=str(path), sample=2, story_where="yes")  # type: ignore[arg-type]


def test_with_a_population_its_prompts_are_the_dataset_and_no_other_source_is_touched(tmp_path: Path) -> None:
    population = small_population(tmp_path / "population")
    task = writing_prompts(population=str(population.folder), judge="offline", dataset="no/such-dataset")
    assert [str(sample.input) for sample in task.dataset] == population.prompts


def test_a_hub_id_without_the_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)  # as if it were not installed
    with pytest.raises(PrerequisiteError) as caught:
        writing_prompts()
    assert "needs the extra hub: pip install 'genie-inspect[hub]'" in Text.from_markup(str(caught.value.message)).plain
    assert "euclaise/writingprompts" in str(caught.value.message)
    assert "dataset=prompts.jsonl" in str(caught.value.message), "and there is a way without installing anything"


def test_a_hub_that_cannot_be_reached_says_what_to_do_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    def load_dataset(name: str, split: str) -> None:
        raise ConnectionError(f"Couldn't reach '{name}', split {split}, on the Hub")

    # a stand-in for the library, which the checks do not install: what it raises without a network
    library = ModuleType("datasets")
    monkeypatch.setattr(library, "load_dataset", load_dataset, raising=False)
    monkeypatch.setitem(sys.modules, "datasets", library)
    with pytest.raises(PrerequisiteError) as caught:
        writing_prompts(dataset="some/prompts", split="held_out")
    message = str(caught.value.message)
    assert "some/prompts cannot be loaded: Couldn't reach 'some/prompts', split held_out" in message
    assert "local JSON Lines file with a field 'prompt'" in message
    assert "{" not in message, "no blank is left open"
