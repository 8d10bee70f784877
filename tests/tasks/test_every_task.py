"""What holds of every task: version, headline, a view that trusts no text, options that are refused in one line."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai._util.registry import (  # Inspect lists what it has registered in no public way
    registry_find,
    registry_info,
)
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog, HeadlineMetric
from inspect_ai.solver import SolverSpec
from tests.processes import Commands
from tests.scripted import FOX, OWL, QUESTIONS, grading, saying, small_population
from tests.tasks.runs import line_of, run

import genie_inspect._registry  # noqa: F401  # registers what is looked for
from genie_inspect.graders.grader import PrerequisiteError, RefusedError
from genie_inspect.scorers.compression import ALONE
from genie_inspect.signature import PACKAGE, TASKS, package_version
from genie_inspect.tasks.leave_one_out import leave_one_out
from genie_inspect.tasks.metric_study import metric_study
from genie_inspect.tasks.novelty_partition import novelty_partition
from genie_inspect.tasks.population_prompts import population_prompts
from genie_inspect.tasks.synthetic_prompts import synthetic_prompts
from genie_inspect.tasks.ttcw import ttcw
from genie_inspect.tasks.ttcw_stories import ttcw_stories
from genie_inspect.tasks.writing_prompts import writing_prompts

STORIES = Path(__file__).parent / "stories.jsonl"
MADE: dict[str, Callable[[], Task]] = {
    "synthetic_prompts": lambda: synthetic_prompts(judge="offline"),
    "writing_prompts": lambda: writing_prompts(population="starter", judge="offline"),
    "population_prompts": lambda: population_prompts("abstracts", judge="offline"),
    "leave_one_out": lambda: leave_one_out(judge="offline"),
    "metric_study": lambda: metric_study(judge="offline"),
    "novelty_partition": novelty_partition,
    "ttcw": ttcw,
    "ttcw_stories": lambda: ttcw_stories(str(STORIES)),
}


TOLD = {
    "population_prompts": "problem",
    "novelty_partition": "distinct",
    "ttcw": "ttcw total",
    "ttcw_stories": "ttcw total",
}
OTHERS = {"novelty_partition": "novelty_bench", "ttcw": "ttcw", "ttcw_stories": "ttcw"}


@pytest.mark.parametrize("name", TASKS)
def test_a_task_carries_its_own_version_the_packages_beside_it_and_a_headline(name: str) -> None:
    task = MADE[name]()
    assert task.version == TASKS[name]
    assert re.fullmatch(r"[0-9]+-[A-Z]", str(task.version))
    metadata = task.metadata or {}
    assert metadata[PACKAGE] == package_version()
    if str(metadata.get("population")).startswith("starter-"):
        assert "by one language model" in metadata["population_description"]
    # no key of the score: before the first sample is scored Inspect knows none, and would warn of one that is named
    assert task.headline_metric == HeadlineMetric(scorer=OTHERS.get(name, "genie"), metric="mean")
    # a tag stands beside it in Inspect View's list of runs, which shows the number alone
    assert task.tags == [f"score: {TOLD.get(name, 'plot')}"]


@pytest.mark.parametrize(
    ("name", "options", "score"),
    [
        ("synthetic_prompts", {"panel": "cosine"}, "plot"),
        ("population_prompts", {"population": "abstracts"}, "problem"),
    ],
)
def test_a_run_resolves_the_headline_to_the_plot_else_to_the_first_feature_and_warns_of_nothing(
    name: str, options: dict[str, str], score: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    writer = "bundled/inventive" if name == "synthetic_prompts" else "bundled/researcher"
    log = run(name, tmp_path, writer, limit=2, epochs=1, task_args={"judge": "offline", **options})
    assert log.results is not None
    assert log.results.headline is not None
    assert (log.results.headline.score, log.results.headline.metric) == (score, "mean")
    assert log.eval.tags == [f"score: {score}"]
    assert "Headline" not in caplog.text


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
WRONG: dict[str, Options] = {
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
    "ttcw_stories": {"stories": [None, 3], "setups": ["best", ""], "rubric": ["nowhere"]},
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


@pytest.mark.parametrize(("task", "option", "value"), cases(WRONG))
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
    for kind, table in (("task", WRONG), ("solver", SOLVERS)):
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


EITHER = "expected one of population=<name or folder> and prompts=<text file with one prompt per line>"
NO_POPULATION = {"population": "none", "panel": "cheap"}


@pytest.mark.parametrize(
    ("task", "options", "said"),
    [
        ("synthetic_prompts", NO_POPULATION, "panel is 'cheap', expected none when there is no population"),
        ("population_prompts", {}, EITHER),
        ("population_prompts", {"population": "starter", "prompts": "prompts.txt"}, EITHER),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    task: str, options: dict[str, str], said: str, tmp_path: Path
) -> None:
    assert said in line_of(refusal(task, tmp_path, task_args=options))


def test_documents_without_questions_are_refused_with_the_panel_that_would_work(tmp_path: Path) -> None:
    folder = str(small_population(tmp_path / "population", questions={}).folder)
    with pytest.raises(RefusedError, match=r"has only documents\. Write questions .* -T panel=cheap, or"):
        population_prompts(population=folder)


def test_on_the_command_line_it_is_that_line_and_no_traceback(tmp_path: Path) -> None:
    options = "-T population=none --solver genie_inspect/outline -S wrods=3 --model mockllm/model --display plain"
    with Commands(tmp_path) as commands:
        ended = commands.run("eval", "genie_inspect/synthetic_prompts", *options.split(), program="inspect")
    assert ended.code != 0
    # a terminal folds it
    line = "genie_inspect/outline has no option 'wrods': did you mean words? It has stages,"
    assert line in " ".join(ended.stdout.split())
    assert "Traceback" not in ended.stdout + ended.stderr


@pytest.mark.parametrize(
    ("task", "options", "model", "line"),
    [
        ("synthetic_prompts", {"population": "none"}, "inventive", "bundled/inventive has no story on record for"),
        ("synthetic_prompts", {"judge": "offline"}, "researcher", "bundled/researcher has no story on record for"),
        ("synthetic_prompts", {"judge": "offline"}, "grader", "bundled/grader reads and judges and writes nothing"),
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


WITH_GENIE = ("synthetic_prompts", "writing_prompts", "population_prompts", "leave_one_out")


@pytest.mark.parametrize("task", WITH_GENIE)
def test_what_the_grader_has_said_is_asked_again_and_counted_before_the_run_only_with_cache_false(
    task: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    population, asked = str(small_population(tmp_path / "population").folder), []
    for cache in (True, True, False):
        grader, task_args = grading(), {"population": population, "cache": cache}
        run(task, tmp_path, saying("A story."), grader, epochs=1, task_args=task_args)
        asked.append(len(grader.requests))
    first, again, anew = asked
    assert (again, anew >= first > 0) == (0, True)
    told = re.findall(r"judging asks for about ([\d,]+) calls", capsys.readouterr().err)
    fresh, kept, off = (int(calls.replace(",", "")) for calls in told)
    assert kept < fresh <= off


CHEAP = ["cosine", "compression", "creativity_index", "expression_novelty", "partition"]


def without_grader(task: str, folder: Path, with_questions: bool = True, **options: Any) -> EvalLog:
    population = small_population(folder / "population", questions=QUESTIONS if with_questions else {}).folder
    task_args = {"population": str(population), **options}
    return run(task, folder, saying("A grey owl slept."), epochs=1, task_args=task_args)


@pytest.mark.parametrize(
    ("task", "with_questions"),
    [*((task, True) for task in WITH_GENIE), ("population_prompts", False), ("leave_one_out", False)],
)
def test_the_panel_scores_alone_and_needs_no_grader(
    task: str, with_questions: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    judge = {"judge": "none"} if with_questions else {}
    log = without_grader(task, tmp_path, with_questions, panel="cheap", **judge)
    for sample in log.samples or []:
        assert list(sample.scores or {}) == [*CHEAP, "document"]
        reasons = {name: score.reason for name, score in (sample.scores or {}).items() if score.reason}
        # of two foxes one is left out: what one document adds to one other has no zero
        assert reasons == ({"compression": ALONE} if task == "leave_one_out" and sample.input == FOX else {})
    assert {sample.input for sample in log.samples or []} == {OWL, FOX}
    assert log.eval.headline_metric == HeadlineMetric(scorer="cosine", metric="mean")
    assert log.eval.tags == ["score: cosine mean"]
    told = [line for line in capfd.readouterr().err.splitlines() if "genie" in line]
    # who left Genie out need not be told
    assert len(told) == (not with_questions)
    for line in told:
        assert line.startswith("population small-1@")
        assert "has documents and no questions: genie is left out and the panel scores" in line


@pytest.mark.parametrize("task", WITH_GENIE)
def test_beside_a_cheap_panel_a_missing_grader_is_answered_with_the_option_that_needs_none(
    task: str, tmp_path: Path
) -> None:
    with pytest.raises(PrerequisiteError) as caught:
        without_grader(task, tmp_path, panel="cheap")
    lines = [line.split()[:2] for line in line_of(caught.value).splitlines() if "judge=none" in line]
    assert lines == [["-T", "judge=none"]]
    with pytest.raises(PrerequisiteError, match=r"^judge is 'none', expected a judge, or measures in Genie's place"):
        without_grader(task, tmp_path / "alone", judge="none")
