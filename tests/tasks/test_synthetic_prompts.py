from pathlib import Path
from statistics import median

import pytest
from inspect_ai import Task
from inspect_ai.solver import chain, generate, system_message
from inspect_ai.viewer import ScoreColorScale, TaskSamplesView, ViewerConfig
from tests.scripted import OWL, Script, grading, saying, scores, small_population
from tests.tasks.runs import run

from genie_inspect.populations.population import Population, open_population
from genie_inspect.tasks.novelty import EPOCHS, HIDDEN, WIDE, feature_view, sample_id, score_view
from genie_inspect.tasks.synthetic_prompts import synthetic_prompts

FEATURES = ["agent", "perspective", "plot", "setting", "social_atmosphere", "style"]


def inputs(task: Task) -> list[str]:
    return [str(sample.input) for sample in task.dataset]


def test_the_dataset_is_the_prompts_of_the_population() -> None:
    task = synthetic_prompts(judge="embedded")
    assert inputs(task) == open_population("starter").prompts
    assert len(inputs(task)) == 8
    assert [(sample.metadata or {})["prompt"] for sample in task.dataset] == inputs(task)


def test_a_task_with_the_whole_panel_opens_its_population_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = small_population(tmp_path).folder
    opened: list[Path] = []
    open_it = Population.__init__

    def counted(population: Population, folder: Path) -> None:
        opened.append(folder)
        open_it(population, folder)

    monkeypatch.setattr(Population, "__init__", counted)
    synthetic_prompts(population=str(folder), judge="embedded", panel="all")
    assert opened == [folder]


def test_each_sample_says_how_long_the_populations_documents_are() -> None:
    task = synthetic_prompts(judge="embedded")
    starter = open_population("starter")
    for sample in task.dataset:
        counts = [len(document.text.split()) for document in starter.documents(str(sample.input))]
        assert (sample.metadata or {})["words"] == round(median(counts))
    assert len({sample.id for sample in task.dataset}) == 8


def test_without_a_population_all_25_prompts_are_generated_and_nothing_is_scored(tmp_path: Path) -> None:
    task = synthetic_prompts(population="none")
    assert len(set(inputs(task))) == 25
    assert task.scorer is None
    assert set(open_population("starter").prompts) <= set(inputs(task)), "the starter's prompts are 8 of the study's"
    writer = saying("A story.")
    log = run(task, tmp_path, writer, epochs=1, limit=3)
    assert len(writer.requests) == 3
    assert log.results is None or log.results.scores == []


def test_a_population_of_ones_own_brings_its_own_prompts_and_columns(tmp_path: Path) -> None:
    folder = small_population(tmp_path / "population").folder
    task = synthetic_prompts(population=str(folder), judge="embedded")
    assert OWL in inputs(task)
    assert len(inputs(task)) == 2
    log = run(task, tmp_path, saying("I saw an owl."), epochs=1)
    assert log.results is not None
    assert [found.name for found in log.results.scores] == ["plot", "style"]


def test_space_around_a_populations_prompts_does_not_part_documents_from_their_questions(tmp_path: Path) -> None:
    padded = {f"{OWL}\n": ("Grey owl over barns.", "White owl in snow.")}
    questions = {f" {OWL}": (("plot", "What happens?"),)}
    folder = small_population(tmp_path / "population", padded, questions).folder
    task = synthetic_prompts(population=str(folder), judge="embedded")
    log = run(task, tmp_path, saying("I saw an owl."), epochs=1)
    (score,) = scores(log)
    assert score.metadata is not None
    assert score.metadata["documents"] == 2


@pytest.mark.parametrize("judge", ["list", "pairwise"])
def test_without_a_grader_the_run_stops_before_any_generation(tmp_path: Path, judge: str) -> None:
    folder = small_population(tmp_path / "population").folder
    writer = saying("A story.")
    task = synthetic_prompts(population=str(folder), judge=judge)
    log = run(task, tmp_path, writer, status="error")
    assert log.error is not None
    assert "--model-role grader=" in log.error.message
    assert "judge=embedded" in log.error.message
    assert writer.requests == []


def test_a_grader_is_never_the_model_under_evaluation_by_accident(tmp_path: Path) -> None:
    folder = small_population(tmp_path / "population").folder
    writer, grader = saying("A story."), grading()
    run(synthetic_prompts(population=str(folder)), tmp_path, writer, grader, epochs=1)
    assert len(writer.requests) == 2, "one for each prompt, none for the grader"
    assert grader.requests


def test_generation_has_the_studys_settings(tmp_path: Path) -> None:
    writer = saying("A story.")
    task = synthetic_prompts(population="none")
    assert task.epochs == EPOCHS == 5
    run(task, tmp_path, writer, epochs=1, limit=1)
    (config,) = writer.configs
    assert (config.temperature, config.top_p, config.max_tokens) == (0.7, 0.9, 750)


def test_a_name_of_inspects_registry_is_enough_to_run_it_without_any_model_to_judge(tmp_path: Path) -> None:
    log = run("synthetic_prompts", tmp_path, "bundled/inventive", limit=2, epochs=1, task_args={"judge": "embedded"})
    assert log.results is not None
    assert [found.name for found in log.results.scores] == ["plot", *(f for f in FEATURES if f != "plot")], (
        "headline first"
    )
    starter = open_population("starter")
    definitions = {feature.name: feature.definition for feature in starter.features}
    found = log.eval.metadata or {}
    assert (found["population"], found["features"]) == (starter.name, definitions)


def test_a_solver_of_the_users_takes_the_place_of_plain_generation_and_the_grader_is_still_checked(
    tmp_path: Path,
) -> None:
    folder = small_population(tmp_path / "population").folder
    writer = Script(lambda request: "A story.")
    solver = chain(system_message("Be brief."), generate())
    run(synthetic_prompts(population=str(folder)), tmp_path, writer, status="error", solver=solver)
    assert writer.requests == []


def test_the_viewer_shows_a_column_and_a_neutral_colour_scale_for_each_feature() -> None:
    task = synthetic_prompts(judge="embedded")
    assert task.viewer is not None
    view = task.viewer.task_samples_view
    assert view is not None
    assert not isinstance(view, list)
    columns = view.columns or []
    shown = [column.id for column in columns if column.visible is not False]
    assert shown[:3] == ["sampleStatus", "sampleId", "epoch"]
    behind = ("words", "coverage", "unscored")
    of_document = [f"score__document__{key}" for key in behind]
    assert shown[3:] == [*(f"score__genie__{feature}" for feature in FEATURES), *of_document]
    assert {"input", "target", "answer"} <= {column.id for column in columns if column.visible is False}
    assert view.score_color_scales is not None
    assert view.score_color_scales.keys() == set(FEATURES)
    for scale in view.score_color_scales.values():
        assert isinstance(scale, ScoreColorScale)
        assert (scale.palette, scale.min, scale.max) == ("neutral", None, None), "the range that is seen"
    assert view.score_labels == {key: key.replace("_", " ") for key in (*FEATURES, *behind)}


def test_a_sample_id_stays_the_same_whatever_else_is_in_the_dataset_and_differs_with_the_prompt() -> None:
    assert sample_id("Write a story about a castle.") == sample_id("Write a story about a castle.")
    assert sample_id("Write a story about a castle.") != sample_id("Write a story about the castle.")
    assert sample_id("写一个故事"), "a prompt without a Latin letter has an id too"


DOCUMENT = ["score__document__words", "score__document__coverage", "score__document__unscored"]


def table(view: ViewerConfig) -> TaskSamplesView:
    assert isinstance(view.task_samples_view, TaskSamplesView)
    return view.task_samples_view


def test_each_feature_has_a_column_in_words_and_a_colour_that_says_size_alone() -> None:
    shown = table(feature_view("genie", ["plot", "social_atmosphere"]))
    visible = [column.id for column in shown.columns or [] if column.visible]
    assert visible[-5:] == ["score__genie__plot", "score__genie__social_atmosphere", *DOCUMENT]
    assert shown.score_labels == {
        **{"plot": "plot", "social_atmosphere": "social atmosphere"},
        **{"words": "words", "coverage": "coverage", "unscored": "unscored"},
    }
    assert shown.score_color_scales == {
        key: ScoreColorScale(palette="neutral") for key in ("plot", "social_atmosphere")
    }


def test_of_a_measure_of_the_panel_the_first_key_shows_and_the_others_wait() -> None:
    shown = table(feature_view("genie", ["plot"], {"cosine": ("cosine", "cosine_nearest")}))
    columns = {column.id: column.visible for column in shown.columns or []}
    assert columns["score__cosine__cosine"]
    assert not columns["score__cosine__cosine_nearest"]
    assert shown.score_color_scales is not None
    assert shown.score_color_scales["cosine"] == ScoreColorScale(palette="neutral")


def test_what_models_said_is_shown_as_text_and_scores_stand_in_their_own_order() -> None:
    view = feature_view("genie", ["plot"])
    assert view.trust_content is False
    assert view.sample_score_view is not None
    assert view.sample_score_view.sort is None


def test_what_says_nothing_of_novelty_is_hidden() -> None:
    columns = {column.id: column.visible for column in table(score_view("Documents", {}, {})).columns or []}
    assert not any(columns[hidden] for hidden in HIDDEN)


def test_many_columns_are_narrow_and_heads_lose_what_they_share() -> None:
    keys = [f"ttcw_{number}" for number in range(WIDE + 1)]
    shown = table(score_view("Tests passed", {"ttcw": keys}, {}, prefix="ttcw_"))
    assert shown.compact_scores
    assert (shown.score_labels or {})["ttcw_3"] == "3"
