"""What Inspect's terminal and viewer show beside a mean."""

import math
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import score
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, recompute_metrics
from inspect_ai.scorer import SampleScore, Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState
from tests.scripted import evaluated, saying

from genie_inspect.scorers.stderr import ci, per_key
from genie_inspect.statistics.descriptive import prompt_interval

VALUES = [("owl", 0.3), ("owl", 0.5), ("fox", 0.8), ("elk", 0.9)]


@scorer(metrics=per_key({"*": (0, 1)}))
def given() -> Scorer:
    async def measured(state: TaskState, target: Target) -> Score:
        return Score(value={"plot": state.metadata["value"], "style": 0.5})

    return measured


def errors(log: EvalLog) -> dict[str, float]:
    assert log.results
    return {score.name: float(score.metrics["stderr"].value) for score in log.results.scores}


def given_to(folder: Path, *samples: tuple[str, float], **options: Any) -> EvalLog:
    dataset = [Sample(input=prompt, metadata={"prompt": prompt, "value": value}) for prompt, value in samples]
    return evaluated(given(), saying("A story."), None, folder, dataset, **options)


def test_one_prompt_says_nothing_about_others_however_often_it_was_answered(tmp_path: Path) -> None:
    assert math.isnan(errors(given_to(tmp_path, ("owl", 0.2)))["plot"])
    assert math.isnan(errors(given_to(tmp_path, ("owl", 0.2), ("owl", 0.4), epochs=2))["plot"])


def test_error_and_interval_are_those_of_reports_and_end_where_the_measure_ends(tmp_path: Path) -> None:
    log = given_to(tmp_path, *VALUES)
    assert log.results
    (plot,) = [score for score in log.results.scores if score.name == "plot"]
    found = {name: metric.value for name, metric in plot.metrics.items()}
    values, prompts = [value for _, value in VALUES], [prompt for prompt, _ in VALUES]
    expected, open_ended = prompt_interval(values, prompts, bounds=(0, 1)), prompt_interval(values, prompts)
    assert (found["ci_lower"], found["ci_upper"]) == pytest.approx((expected.low, expected.high))
    # with two degrees of freedom the t interval is 4.3026527 standard errors wide, here beyond 1
    assert found["stderr"] == pytest.approx((open_ended.high - open_ended.mean) / 4.3026527)
    assert open_ended.high > 1 >= found["ci_upper"]
    assert math.isnan(errors(log)["style"]), "where no two prompts differ it says nothing either"


def test_samples_without_a_prompt_in_their_metadata_are_one_each(tmp_path: Path) -> None:
    dataset = [Sample(input="owl", metadata={"value": value}) for value in (0.2, 0.4)]
    # standard deviation 0.1414, of two
    assert errors(evaluated(given(), saying("A story."), None, tmp_path, dataset))["plot"] == pytest.approx(0.1)


def test_an_end_that_is_no_number_is_open() -> None:
    scores = [SampleScore(score=Score(value=value), sample_id=place) for place, value in enumerate((1.0, 9.0))]
    metric: Any = ci(1, "k")
    found = metric(scores)
    # 5 +- 12.7 times 4, bent where the scale begins
    assert 1 <= found["lower"] < 1.1
    assert found["upper"] > 50
    anywhere: Any = ci()
    assert anywhere(scores) == {"lower": pytest.approx(5 - 12.7062 * 4), "upper": pytest.approx(5 + 12.7062 * 4)}


def test_a_log_that_is_scored_again_keeps_ours_until_inspect_computes_its_metrics_by_itself(tmp_path: Path) -> None:
    log = given_to(tmp_path, ("owl", 0.2), epochs=2)
    again = score(log, given(), action="overwrite", display="none")
    assert math.isnan(errors(again)["plot"])
    # README warns of it: of a metric a log keeps name and options alone, and the name is Inspect's
    recompute_metrics(again)
    assert errors(again)["plot"] == 0
