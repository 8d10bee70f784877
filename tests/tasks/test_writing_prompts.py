import json
import sys
from pathlib import Path
from types import ModuleType

import pytest
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log import HeadlineMetric
from rich.text import Text
from tests.scripted import DOCUMENTS, FOX, saying, small_population
from tests.tasks.runs import run

from genie_inspect.graders.grader import RefusedError
from genie_inspect.scorers.compression import ALONE
from genie_inspect.tasks.population_prompts import population_prompts
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


def test_prompts_are_generated_and_not_scored_without_a_population(prompts: Path, tmp_path: Path) -> None:
    writer = saying("A story.")
    task = writing_prompts(dataset=str(prompts), sample=2)
    run(task, tmp_path, writer, epochs=1)
    assert len(writer.requests) == 2
    assert task.scorer is None


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


CHEAP = ["cosine", "compression", "creativity_index", "expression_novelty", "partition"]


def documents_alone(folder: Path) -> str:
    return str(small_population(folder / "population", DOCUMENTS, {}).folder)


@pytest.mark.parametrize("task", ["population_prompts", "leave_one_out"])
def test_documents_without_questions_are_scored_by_the_panel_alone_without_a_grader(
    task: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    task_args = {"population": documents_alone(tmp_path), "panel": "cheap"}
    log = run(task, tmp_path, saying("A grey owl slept."), epochs=1, task_args=task_args)
    for sample in log.samples or []:
        assert list(sample.scores or {}) == [*CHEAP, "document"]
        reasons = {name: score.reason for name, score in (sample.scores or {}).items() if score.reason}
        # of two foxes one is left out: what one document adds to one other has no zero
        assert reasons == ({"compression": ALONE} if task == "leave_one_out" and sample.input == FOX else {})
    assert {sample.input for sample in log.samples or []} == set(DOCUMENTS)
    assert log.eval.headline_metric == HeadlineMetric(scorer="cosine", metric="mean")
    (line,) = (line for line in capfd.readouterr().err.splitlines() if "genie is left out" in line)
    assert line.startswith("population small-1@")
    assert "has documents and no questions: genie is left out and the panel scores" in line


def test_without_a_panel_such_a_population_is_refused_with_the_panel_that_would_work(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match=r"has only documents\. Write questions .* -T panel=cheap, or"):
        population_prompts(population=documents_alone(tmp_path))
