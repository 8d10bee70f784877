"""A wrong option of any task or solver is one line that names option, value and what would work, and costs nothing."""

from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai._util.registry import (  # Inspect lists what it has registered in no public way
    registry_find,
    registry_info,
)
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.solver import SolverSpec
from tests.processes import Commands
from tests.scripted import OWL, grading, saying
from tests.tasks.runs import line_of, run

import genie_inspect._registry  # noqa: F401  # registers what is looked for
from genie_inspect.graders.grader import PrerequisiteError, RefusedError

Options = dict[str, list[Any]]
SHARED: Options = {
    "population": ["nowhere", 2024],
    "judge": ["kind", 3],
    "embedder": ["word2vec", 128],
    "templates": ["nowhere"],
    "cache": ["maybe", 0],
}
PANEL: Options = {"panel": ["cosin", "none,cosine"]}
# the options of each that accept a closed set, with values outside of it
TASKS: dict[str, Options] = {
    "synthetic_prompts": SHARED | PANEL,
    "writing_prompts": SHARED | PANEL | {"sample": [0, "ten"]},
    "population_prompts": SHARED | PANEL,
    "metric_study": SHARED | PANEL | {"population": ["nowhere", "none"], "pairs": ["nowhere"], "scorer": ["nowhere"]},
    "leave_one_out": SHARED | PANEL | {"population": ["nowhere", "none"]},
    "novelty_partition": {
        "k": [1, "ten"],
        "equivalence": ["same"],
        "quality": ["good"],
        "embedder": ["word2vec"],
        "templates": ["nowhere"],
    },
    "ttcw": {"rubric": ["nowhere"], "levels": [4], "analyse": ["before"]},
    "ttcw_stories": {"stories": [None, 3], "ways": ["best", ""], "rubric": ["nowhere"]},
}
SOLVERS: dict[str, Options] = {
    "generations": {"k": [1, 2.5, "ten", True]},
    "negative_sampling": {"rounds": [0, "two"], "templates": ["nowhere"]},
    "outline": {"stages": ["", ["plot", "plot"], 4], "words": [0, "many"], "templates": ["nowhere"]},
    "require_models": {"equivalence": ["same"], "quality": ["good"], "preference": ["yes"]},
    "trim": {"meta": ["no", None], "templates": ["nowhere"]},
    "verbalized_sampling": {
        "k": [0, "five", True],
        "threshold": [1.5, "low"],
        "words": [-3],
        "pick": ["best"],
        "templates": ["nowhere"],
    },
}
KINDS = ("scorer", "solver", "task")
WITHOUT = {
    "announce_cost",  # what a task gives it
    "recorded",  # has no options
    "require_grader",  # any name of a judge
    "plot_prompt",  # a folder
}


def cases(table: dict[str, Options]) -> list[tuple[str, str, Any]]:
    return [(name, option, value) for name, options in table.items() for option in options for value in options[option]]


def refusal(task: Any, folder: Path, **options: Any) -> PrerequisiteError:
    """The error that ends a run in which a writer and a grader stand by."""
    writer, grader = saying("A story."), grading()
    with pytest.raises(PrerequisiteError) as caught:
        run(task, folder, writer, grader, **options)
    assert writer.requests == grader.requests == []
    return caught.value


def names_option_and_value(error: PrerequisiteError, option: str, value: object) -> None:
    """Hold one line to what it must say."""
    line = line_of(error)
    assert len(line.splitlines()) == 1
    assert option in line
    assert repr(value) in line
    assert "expected" in line


@pytest.mark.parametrize(("task", "option", "value"), cases(TASKS))
def test_a_tasks_wrong_option_is_one_line(task: str, option: str, value: object, tmp_path: Path) -> None:
    names_option_and_value(refusal(task, tmp_path, task_args={option: value}), option, value)


@pytest.mark.parametrize(("solver", "option", "value"), cases(SOLVERS))
def test_a_solvers_wrong_option_is_one_line(solver: str, option: str, value: object, tmp_path: Path) -> None:
    task = Task(dataset=MemoryDataset([Sample(input=OWL)]))
    error = refusal(task, tmp_path, solver=SolverSpec(f"genie_inspect/{solver}", {option: value}, {option: value}))
    assert isinstance(error, RefusedError)
    names_option_and_value(error, option, value)


def test_no_task_and_no_solver_was_forgotten() -> None:
    ours = [registry_info(made) for made in registry_find(lambda info: info.name.startswith("genie_inspect/"))]
    for kind, table in (("task", TASKS), ("solver", SOLVERS)):
        names = {info.name.removeprefix("genie_inspect/") for info in ours if info.type == kind}
        assert names - WITHOUT == table.keys()


def test_a_misspelt_option_stops_any_task_solver_and_scorer_and_names_the_nearest(tmp_path: Path) -> None:
    ours = registry_find(lambda info: info.name.startswith("genie_inspect/") and info.type in KINDS)
    for made in ours:
        assert callable(made)
        with pytest.raises(PrerequisiteError, match=rf"^{registry_info(made).name} has no option 'jugde': (did|It) "):
            made(jugde="list")
    for task in ("synthetic_prompts", "metric_study"):
        line = line_of(refusal(task, tmp_path, task_args={"jugde": "list"}))
        assert line.startswith(
            f"genie_inspect/{task} has no option 'jugde': did you mean judge? It has answer_length, "
        )


def test_the_options_that_there_are_stand_in_the_log_as_they_were_given(tmp_path: Path) -> None:
    task_args = {"population": "none", "judge": "embedded"}
    log = run("synthetic_prompts", tmp_path, saying("A story."), limit=1, task_args=task_args)
    assert log.eval.task_args_passed == {"population": "none", "judge": "embedded"}
    assert "unknown" not in log.eval.task_args


@pytest.mark.parametrize("population", ["starter", "none"])
def test_an_option_is_refused_whether_or_not_there_is_anything_to_score(population: str, tmp_path: Path) -> None:
    arguments = {"population": population, "judge": "kind"}
    error = refusal("synthetic_prompts", tmp_path, task_args=arguments)
    assert line_of(error) == "judge is 'kind', expected one of list, pairwise, logit, vectors, embedded, none"


@pytest.mark.parametrize("arguments", [{}, {"population": "starter", "prompts": "prompts.txt"}])
def test_a_population_and_prompts_are_given_one_or_the_other(arguments: dict[str, str], tmp_path: Path) -> None:
    line = line_of(refusal("population_prompts", tmp_path, task_args=arguments))
    assert "expected one of population=<name or folder> and prompts=<text file of a prompt a line>" in line


def test_a_panel_without_a_population_is_refused(tmp_path: Path) -> None:
    arguments = {"population": "none", "panel": "cheap"}
    line = line_of(refusal("synthetic_prompts", tmp_path, task_args=arguments))
    assert line.startswith("panel is 'cheap', expected none when there is no population")


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["-T", "cache=maybe"], "cache is 'maybe', expected true or false"),
        (["-T", "jugde=list"], "genie_inspect/synthetic_prompts has no option 'jugde': did you mean judge? It"),
        (
            ["-T", "population=none", "--solver", "genie_inspect/outline", "-S", "wrods=3"],
            "genie_inspect/outline has no option 'wrods': did you mean words? It has stages,",
        ),
        (
            ["-T", "population=none", "--solver", "genie_inspect/verbalized_sampling", "-S", "pick=best"],
            "pick is 'best', expected one of random, least, all",
        ),
    ],
)
def test_on_the_command_line_it_is_that_line_and_no_traceback(options: list[str], line: str, tmp_path: Path) -> None:
    arguments = [*options, "--model", "mockllm/model", "--display", "plain"]
    with Commands(tmp_path) as commands:
        ended = commands.run("eval", "genie_inspect/synthetic_prompts", *arguments, program="inspect")
    assert ended.code != 0
    # a terminal folds it
    assert line in " ".join(ended.stdout.split())
    assert "Traceback" not in ended.stdout + ended.stderr


@pytest.mark.parametrize(
    ("task", "options", "model", "line"),
    [
        ("synthetic_prompts", {"population": "none"}, "inventive", "bundled/inventive has no story on record for"),
        ("synthetic_prompts", {"judge": "embedded"}, "researcher", "bundled/researcher has no story on record for"),
        ("synthetic_prompts", {"judge": "embedded"}, "grader", "bundled/grader reads and judges and writes nothing"),
        ("novelty_partition", {}, "inventive", "bundled/inventive has no story on record for"),
    ],
)
def test_a_bundled_model_without_a_story_for_a_prompt_ends_the_run_before_it_begins(
    task: str, options: dict[str, str], model: str, line: str, tmp_path: Path
) -> None:
    with pytest.raises(PrerequisiteError) as caught:
        run(task, tmp_path, f"bundled/{model}", "bundled/grader", task_args=options)
    assert line_of(caught.value).startswith(line)
    assert list(tmp_path.iterdir()) == []
