"""`judge=none`: Genie is left out of a task, and its panel scores alone."""

import json
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as evaluate
from inspect_ai.log import EvalLog, HeadlineMetric
from rich.text import Text
from tests.scripted import FOX, saying, small_population

from genie_inspect.graders.grader import PrerequisiteError, RefusedError
from genie_inspect.scorers.compression import ALONE

CHEAP = ["cosine", "compression", "creativity_index", "expression_novelty", "partition"]
TASKS = ["synthetic_prompts", "writing_prompts", "population_prompts", "leave_one_out"]


def run(task: str, folder: Path, **options: Any) -> EvalLog:
    """The log of a run in which no grader is named."""
    population = small_population(folder / "population").folder
    (log,) = evaluate(
        f"genie_inspect/{task}",
        model=saying("A grey owl slept.").model(),
        task_args={"population": str(population), **options},
        epochs=1,
        log_dir=str(folder / "logs"),
        display="none",
    )
    return log


def refused(task: str, folder: Path, **options: Any) -> str:
    """What a run says that ends before anything is written."""
    with pytest.raises(PrerequisiteError) as caught:
        run(task, folder, **options)
    return Text.from_markup(str(caught.value.message)).plain


@pytest.mark.parametrize("task", TASKS)
def test_the_panel_scores_alone_and_needs_no_grader(
    task: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log = run(task, tmp_path, panel="cheap", judge="none")
    assert log.status == "success", log.error
    for sample in log.samples or []:
        assert list(sample.scores or {}) == [*CHEAP, "document"]
        reasons = {name: score.reason for name, score in (sample.scores or {}).items() if score.reason}
        # of two foxes one is left out: what one document adds to one other has no zero
        assert reasons == ({"compression": ALONE} if task == "leave_one_out" and sample.input == FOX else {})
    assert log.eval.headline_metric == HeadlineMetric(scorer="cosine", metric="mean")
    # who left Genie out need not be told
    assert "genie" not in capfd.readouterr().err


@pytest.mark.parametrize("task", TASKS)
def test_beside_a_cheap_panel_a_missing_grader_is_answered_with_the_option_that_needs_none(
    task: str, tmp_path: Path
) -> None:
    lines = refused(task, tmp_path, panel="cheap").splitlines()
    assert [line.split()[:2] for line in lines if "judge=none" in line] == [["-T", "judge=none"]]


@pytest.mark.parametrize("panel", ["none", "partition", "cheap,litbench", "all"])
def test_where_leaving_genie_out_would_not_do_it_is_not_named(panel: str, tmp_path: Path) -> None:
    said = refused("synthetic_prompts", tmp_path, panel=panel)
    assert "--model-role grader=" in said
    assert "judge=none" not in said


@pytest.mark.parametrize("task", TASKS)
def test_without_genie_and_without_a_panel_there_is_nothing_to_score_with(task: str, tmp_path: Path) -> None:
    said = refused(task, tmp_path, judge="none")
    assert said == "judge is 'none', expected a judge, or measures in Genie's place (-T panel=cheap asks no model)"


def test_a_measure_that_asks_the_grader_asks_it_without_genie_too(tmp_path: Path) -> None:
    said = refused("synthetic_prompts", tmp_path, judge="none", panel="partition")
    assert said.startswith("equivalence=grader asks a model, and no grader is named")
    assert "-T panel=cheap" in said


def test_the_scorer_genie_has_no_such_judge(tmp_path: Path) -> None:
    from genie_inspect.scorers.genie import genie

    with pytest.raises(RefusedError, match="judge is 'none', expected one of list, pairwise, logit, vectors, embedded"):
        genie(judge="none")


def test_the_view_has_a_column_a_measure_and_none_of_genie(tmp_path: Path) -> None:
    log = run("synthetic_prompts", tmp_path, panel="cosine,compression", judge="none")
    assert "score__genie" not in json.dumps(log.eval.viewer.model_dump() if log.eval.viewer else {})
    assert [score.name for score in log.results.scores if log.results][:2] == ["cosine_mean", "cosine_nearest"]  # type: ignore[union-attr]
