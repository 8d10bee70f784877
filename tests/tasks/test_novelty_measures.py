"""The line before a run: what judging will ask, counted where Inspect knows the run's epochs and samples."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from inspect_ai._cli.util import parse_model_role_cli_args
from inspect_ai.model import GenerateConfig, Model, get_model
from tests.critics import blocks, comparing
from tests.scripted import Script, grading, saying, small_population
from tests.tasks.runs import run

from genie_inspect import inspect_private
from genie_inspect.prompting.templates import unfenced
from genie_inspect.tasks.leave_one_out import leave_one_out
from genie_inspect.tasks.novelty_partition import novelty_partition
from genie_inspect.tasks.synthetic_prompts import synthetic_prompts
from genie_inspect.tasks.ttcw import ttcw

STORY = "A keeper of bees counted them every night."


def judge_of_everything() -> Script:
    """A grader to whom every two texts differ."""
    genie = grading(answer=lambda document, question: f"{question} {document}"[-40:])

    def reply(request: str) -> Any:
        data = unfenced(request)
        if "aspect" in data:
            return "[]"
        if "other_replies" in data:
            return json.dumps(dict.fromkeys(data["other_replies"], "different"))
        if "story_a" in data:
            return "The better one.\n[[A]]"
        return "As it is.\nRating: 5" if "reply" in data else genie.reply(request)

    return Script(reply)


def writing() -> Script:
    texts = iter(f"Story {number} of an owl and a clock." for number in range(1000))
    return Script(lambda request: next(texts))


def judged(folder: Path, grader: Script | Model | list[Model], **options: Any) -> None:
    population = small_population(folder / "population").folder
    run(synthetic_prompts(str(population), cache=False), folder, writing(), grader, **options)


def announced(capsys: pytest.CaptureFixture[str]) -> str:
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "judging asks" in line]
    return line


def calls(line: str) -> int:
    return int(re.findall(r"about ([\d,]+) calls", line)[0].replace(",", ""))


@pytest.mark.parametrize(
    ("options", "extent"),
    [
        ({}, "2 samples x 5 epochs"),
        ({"epochs": 2}, "2 samples x 2 epochs"),
        ({"limit": 1}, "1 sample x 5 epochs"),
        ({"limit": (1, 2), "epochs": 1}, "1 sample x 1 epoch"),
    ],
)
def test_the_line_counts_the_epochs_and_samples_of_the_run(
    options: dict[str, Any], extent: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judged(tmp_path, judge_of_everything(), **options)
    assert announced(capsys).endswith(extent)


@pytest.mark.parametrize("options", [{"judge": "offline"}, {"population": "none"}])
def test_a_run_that_asks_no_model_says_nothing(
    options: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(synthetic_prompts(**options), tmp_path, writing(), grading(), limit=1, epochs=1)
    assert "judging" not in capsys.readouterr().err


def test_the_measures_of_the_panel_that_ask_a_model_are_in_the_line_and_near_what_they_ask(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, grader = small_population(tmp_path / "population").folder, judge_of_everything()
    run(synthetic_prompts(str(folder), panel="all", cache=False), tmp_path, writing(), grader, epochs=2)
    line = announced(capsys)
    # owl: 2 + 2 calls to part three stories and place two; fox: 1 + 2. Each of two meets three or two twice
    assert "partition 7, litbench 20, close_reading 8" in line
    # a judge merges what is equal, so that genie may ask less than its expected number
    assert calls(line) == pytest.approx(len(grader.requests), rel=0.15)


@pytest.mark.parametrize("options", [{}, {"limit": 1}])
def test_leaving_one_out_counts_the_populations_own_documents(
    options: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, grader = small_population(tmp_path / "population").folder, judge_of_everything()
    run(leave_one_out(str(folder)), tmp_path, writing(), grader, **options)
    line, samples = announced(capsys), options.get("limit", 5)
    assert line.endswith("5 samples x 1 epoch" if samples == 5 else "1 sample x 1 epoch")
    assert calls(line) == (len(grader.requests) if samples == 5 else 3)


def test_what_ttcw_asks_is_exact(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "stories.jsonl"
    path.write_text(json.dumps({"title": "Bees", "story": STORY}) + "\n", encoding="utf-8")
    grader = comparing(lambda a, b, aspect: 0)
    run(ttcw(str(path), cache=False), tmp_path, saying("A new story.").model(), grader, epochs=2)
    plots = sum(len(blocks(request)) == 1 for request in grader.requests)
    assert calls(announced(capsys)) == 2 * 28 + plots == len(grader.requests)


def test_novelty_partition_asks_at_most_what_its_line_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grader = judge_of_everything()
    run(novelty_partition(k=4), tmp_path, writing(), grader, limit=2)
    # each of two sets: three are compared with those before, four are rated
    assert calls(announced(capsys)) == 2 * (3 + 4) == len(grader.requests)


def test_where_inspect_does_not_tell_the_line_is_that_of_the_whole_task(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspect_private, "run_extent", lambda: None)
    judged(tmp_path, judge_of_everything(), limit=1, epochs=1)
    assert announced(capsys).endswith("2 samples x 5 epochs")


@pytest.mark.parametrize(
    ("batch", "roles", "said"),
    [
        (True, {}, "--model-role 'grader={model: mockllm/one, batch: true}'"),
        (500, {}, "--model-role 'grader={model: mockllm/one, batch: 500}'"),
        (500, {"batch": 500}, ""),
        (None, {}, ""),
    ],
)
def test_a_run_in_batches_says_the_one_option_that_batches_its_grader(
    batch: int | bool | None, roles: dict[str, Any], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grader = get_model(
        "mockllm/one", custom_outputs=judge_of_everything(), memoize=False, config=GenerateConfig(**roles)
    )
    options: dict[str, Any] = {"batch": batch} if batch else {}
    judged(tmp_path, grader, epochs=1, limit=1, **options)
    lines = [line for line in capsys.readouterr().err.splitlines() if "--batch" in line]
    assert len(lines) == bool(said)
    assert said in "".join(lines)
    for line in lines:
        role = parse_model_role_cli_args((line.partition("--model-role '")[2].removesuffix("'"),))["grader"]
        assert isinstance(role, Model), "Inspect reads it"
        assert (str(role), role.config.batch) == ("mockllm/one", batch)


def test_the_line_counts_every_grader_of_a_jury(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scripts = {name: judge_of_everything() for name in ("one", "two", "three")}
    jury = [get_model(f"mockllm/{n}", custom_outputs=script, memoize=False) for n, script in scripts.items()]
    judged(tmp_path, jury, epochs=2)
    line = announced(capsys)
    asked = [len(script.requests) for script in scripts.values()]
    assert asked[0] == asked[1] == asked[2]
    # what equals is judged once, so that they may be asked less than the expected number
    assert calls(line) == pytest.approx(sum(asked), rel=0.15)
