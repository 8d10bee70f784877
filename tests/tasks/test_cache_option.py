"""`-T cache=false`: the grader is asked anew, and the line before the run says so."""

import re
from pathlib import Path

import pytest
from tests.scripted import grading, saying, small_population
from tests.tasks.runs import run

TASKS = ("synthetic_prompts", "writing_prompts", "population_prompts", "leave_one_out")
RECIPE = Path(__file__).parents[2] / "tasks" / "mitigation_grid.py"


@pytest.fixture
def population(tmp_path: Path) -> str:
    return str(small_population(tmp_path / "population").folder)


def requests(task: str, population: str, folder: Path, *, cache: bool) -> int:
    """How much the grader is asked in a run that writes the same two stories as any other."""
    grader = grading()
    run(task, folder, saying("A story."), grader, epochs=1, task_args={"population": population, "cache": cache})
    return len(grader.requests)


def announced(shown: str) -> list[int]:
    """The calls that each line before a run speaks of."""
    return [int(calls.replace(",", "")) for calls in re.findall(r"judging asks for about ([\d,]+) calls", shown)]


@pytest.mark.parametrize("task", TASKS)
def test_what_the_grader_has_said_is_asked_again_only_with_cache_false(
    task: str, population: str, tmp_path: Path
) -> None:
    first = requests(task, population, tmp_path, cache=True)
    assert first > 0
    assert requests(task, population, tmp_path, cache=True) == 0
    assert requests(task, population, tmp_path, cache=False) >= first


def test_the_line_before_a_run_counts_everything_when_the_cache_is_off(
    population: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for cache in (False, True, True, False):
        requests("synthetic_prompts", population, tmp_path, cache=cache)
    empty, fresh, kept, off = announced(capsys.readouterr().err)
    assert kept < fresh <= empty
    assert off == empty


@pytest.mark.skipif(not RECIPE.is_file(), reason="recipes stand in a clone, not in a wheel")
@pytest.mark.parametrize("task", ["mitigation_grid.py@grid_baseline", "mitigation_grid.py@grid_outline"])
def test_recipes_take_it_too(task: str, population: str, tmp_path: Path) -> None:
    recipe = f"{RECIPE.parent / task}"
    first = requests(recipe, population, tmp_path, cache=True)
    assert requests(recipe, population, tmp_path, cache=True) == 0
    assert requests(recipe, population, tmp_path, cache=False) >= first > 0
