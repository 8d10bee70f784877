"""The task `ttcw`, run as a user runs it."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelInfo, set_model_info
from tests.critics import PLOT, better, comparing
from tests.scripted import Script, saying
from tests.tasks.runs import run

from genie_inspect.graders.grader import PrerequisiteError

STORY = " ".join(["A keeper of bees counted them every night."] * 4)  # 32 words


@pytest.fixture(autouse=True)
def _logs_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written(folder: Path, **row: Any) -> str:
    path = folder / "stories.jsonl"
    path.write_text(json.dumps({"title": "Bees", "story": STORY} | row), encoding="utf-8")
    return str(path)


def judged(critic: Script | None, writer: Script, status: str = "success", **options: Any) -> EvalLog:
    return run("ttcw", Path(), writer, critic, status, task_args=options)


def test_both_bundled_stories_are_written_anew_and_judged_offline() -> None:
    critic, writer = comparing(lambda a, b, aspect: 0), saying("A new story.")
    log = judged(critic, writer)
    assert log.results
    assert log.samples
    assert len(log.samples) == 2
    assert len(critic.requests) == 2 * 28
    first = log.results.scores[0]
    assert (first.name, first.metrics["mean"].value) == ("ttcw_total", 14)
    scores = [sample.scores["ttcw"] for sample in log.samples if sample.scores]
    assert len({(score.metadata or {})["signature"] for score in scores}) == 1


def test_without_a_plot_the_grader_draws_one_and_the_model_writes_from_it_at_the_references_length(
    tmp_path: Path,
) -> None:
    critic, writer = comparing(lambda a, b, aspect: 0), saying("A new story.")
    log = judged(critic, writer, stories=written(tmp_path))
    assert log.samples
    assert writer.data[0] == {"plot": PLOT}
    assert "about 32 words" in writer.requests[0]
    assert STORY not in writer.requests[0]
    assert log.samples[0].metadata["plot"] == PLOT
    assert len(critic.requests) == 1 + 28


def test_a_grader_that_draws_no_plot_fails_the_sample_before_anything_is_generated(tmp_path: Path) -> None:
    writer = saying("A new story.")
    log = judged(saying(" "), writer, stories=written(tmp_path), status="error")
    assert log.error
    assert "drew no plot" in log.error.message
    assert not writer.requests


def test_without_a_reference_plots_are_enough_when_the_length_is_given(tmp_path: Path) -> None:
    critic, writer = comparing(lambda a, b, aspect: 0), saying("A new story.")
    path = written(tmp_path, plot="A keeper counts.", story="")
    judged(critic, writer, stories=path, reference=False, words=900)
    assert "about 900 words" in writer.requests[0]
    assert len(critic.requests) == 14


def test_another_cutoff_asks_nothing_of_stories_that_were_judged_and_cache_false_asks_all_anew(tmp_path: Path) -> None:
    path = written(tmp_path, plot="A keeper counts.")
    critic = comparing(better(1, "keeper"))
    counts = []
    runs: list[dict[str, Any]] = [{}, {"cutoff": -1}, {"cutoff": -1, "cache": False}]
    for options in runs:
        log = judged(critic, saying("A new story."), stories=path, **options)
        assert log.results
        counts.append((len(critic.requests), log.results.scores[0].metrics["mean"].value))
    assert counts == [(28, 14), (28, 0), (56, 0)]


def test_under_inspects_own_cache_a_critic_that_babbles_first_gets_its_verdicts_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "inspect-cache"))
    times: Counter[str] = Counter()

    def babbling(request: str) -> str:
        times[request] += 1
        return "It depends." if times[request] < 3 else "[[A=B]]"

    task_args = {"stories": written(tmp_path, plot="A keeper counts.")}
    log = run("ttcw", tmp_path, saying("A new story."), Script(babbling), cache=True, task_args=task_args)
    assert log.results
    assert log.results.scores[0].metrics["mean"].value == 14
    assert set(times.values()) == {3}


def test_the_recorded_grader_is_refused_before_anything_is_generated() -> None:
    writer = saying("A new story.")
    with pytest.raises(PrerequisiteError, match="Name a real grader"):
        run("ttcw", Path(), writer, "bundled/grader")
    assert not writer.requests


def test_a_reference_that_cannot_fit_a_window_that_is_known_ends_the_run_before_anything_is_generated(
    tmp_path: Path,
) -> None:
    set_model_info("mockllm/model", ModelInfo(context_length=60))
    critic, writer = comparing(lambda a, b, aspect: 0), saying("A new story.")
    try:
        log = judged(critic, writer, "error", stories=written(tmp_path))
    finally:
        set_model_info("mockllm/model", ModelInfo(context_length=128_000))
    assert log.error
    assert "'Bees' and a story of its length need at least 64 tokens" in log.error.message
    assert not critic.requests
    assert not writer.requests
