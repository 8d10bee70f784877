from pathlib import Path
from statistics import median

import pytest
from inspect_ai import Task
from inspect_ai.viewer import TaskSamplesView
from tests.scripted import OWL, saying, small_population
from tests.tasks.runs import run

from genie_inspect.populations.population import open_population
from genie_inspect.tasks.novelty import EPOCHS, feature_view
from genie_inspect.tasks.synthetic_prompts import synthetic_prompts

FEATURES = ["agent", "perspective", "plot", "setting", "social_atmosphere", "style"]


def inputs(task: Task) -> list[str]:
    return [str(sample.input) for sample in task.dataset]


def test_the_dataset_is_the_prompts_of_the_population_each_with_how_long_its_documents_are() -> None:
    task, starter = synthetic_prompts(judge="offline"), open_population("starter")
    assert inputs(task) == starter.prompts
    assert len({sample.id for sample in task.dataset}) == 8
    for sample in task.dataset:
        counts = [len(document.text.split()) for document in starter.documents(str(sample.input))]
        assert sample.metadata == {"prompt": sample.input, "words": round(median(counts))}


def test_without_a_population_all_25_prompts_are_generated_with_the_studys_settings_and_nothing_is_scored(
    tmp_path: Path,
) -> None:
    task = synthetic_prompts(population="none")
    assert len(set(inputs(task))) == 25
    assert task.scorer is None
    assert set(open_population("starter").prompts) <= set(inputs(task)), "the starter's prompts are 8 of the study's"
    writer = saying("A story.")
    assert task.epochs == EPOCHS == 5
    log = run(task, tmp_path, writer, epochs=1, limit=3)
    assert [(one.temperature, one.top_p, one.max_tokens) for one in writer.configs] == [(0.7, 0.9, 750)] * 3
    assert log.results is None or log.results.scores == []


def test_a_population_of_ones_own_brings_its_own_prompts_and_columns(tmp_path: Path) -> None:
    folder = small_population(tmp_path / "population").folder
    task = synthetic_prompts(population=str(folder), judge="offline")
    assert OWL in inputs(task)
    assert len(inputs(task)) == 2
    log = run(task, tmp_path, saying("I saw an owl."), epochs=1)
    assert log.results is not None
    assert [found.name for found in log.results.scores] == ["plot", "style"]


@pytest.mark.parametrize("judge", ["list", "pairwise"])
def test_without_a_grader_the_run_stops_before_any_generation(tmp_path: Path, judge: str) -> None:
    folder = small_population(tmp_path / "population").folder
    writer = saying("A story.")
    task = synthetic_prompts(population=str(folder), judge=judge)
    log = run(task, tmp_path, writer, status="error")
    assert log.error is not None
    assert "--model-role grader=" in log.error.message
    assert "judge=offline" in log.error.message
    assert writer.requests == []


def test_a_name_of_inspects_registry_is_enough_to_run_it_without_any_model_to_judge(tmp_path: Path) -> None:
    log = run("synthetic_prompts", tmp_path, "bundled/inventive", limit=2, epochs=1, task_args={"judge": "offline"})
    assert log.results is not None
    assert [found.name for found in log.results.scores] == ["plot", *(f for f in FEATURES if f != "plot")], (
        "headline first"
    )
    starter = open_population("starter")
    definitions = {feature.name: feature.definition for feature in starter.features}
    found = log.eval.metadata or {}
    assert (found["population"], found["features"]) == (starter.name, definitions)


def test_what_models_said_is_shown_as_text_and_scores_stand_in_their_own_order() -> None:
    view = feature_view(["plot"], {"cosine": ("cosine", "cosine_nearest")})
    assert isinstance(view.task_samples_view, TaskSamplesView)
    visible = {column.id: column.visible for column in view.task_samples_view.columns or []}
    assert (visible["score__cosine__cosine"], visible["score__cosine__cosine_nearest"]) == (True, False)
    assert view.trust_content is False
    assert view.sample_score_view is not None
    assert view.sample_score_view.sort is None
