"""What Inspect and those who list evals expect of every task: a version, a headline, a view that trusts no text."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from inspect_ai import Task
from tests.tasks.runs import run

from genie_inspect.signature import PACKAGE, package_version
from genie_inspect.tasks.leave_one_out import leave_one_out
from genie_inspect.tasks.metric_study import metric_study
from genie_inspect.tasks.novelty_partition import novelty_partition
from genie_inspect.tasks.population_prompts import population_prompts
from genie_inspect.tasks.synthetic_prompts import synthetic_prompts
from genie_inspect.tasks.ttcw import ttcw
from genie_inspect.tasks.ttcw_stories import ttcw_stories
from genie_inspect.tasks.writing_prompts import writing_prompts
from genie_inspect.versions import TASKS

STORIES = Path(__file__).parent / "existing" / "stories.jsonl"
MADE: dict[str, Callable[[], Task]] = {
    "synthetic_prompts": lambda: synthetic_prompts(judge="embedded"),
    "writing_prompts": lambda: writing_prompts(population="starter", judge="embedded"),
    "population_prompts": lambda: population_prompts("abstracts", judge="embedded"),
    "leave_one_out": lambda: leave_one_out(judge="embedded"),
    "metric_study": lambda: metric_study(judge="embedded"),
    "novelty_partition": novelty_partition,
    "ttcw": ttcw,
    "ttcw_stories": lambda: ttcw_stories(str(STORIES)),
}
HEADLINES = {
    "synthetic_prompts": "genie",
    "writing_prompts": "genie",
    "population_prompts": "genie",
    "leave_one_out": "genie",
    "metric_study": "genie",
    "novelty_partition": "novelty_bench",
    "ttcw": "ttcw",
    "ttcw_stories": "ttcw",
}


def test_every_task_has_a_version() -> None:
    assert set(MADE) == set(TASKS)


@pytest.mark.parametrize("name", MADE)
def test_a_task_carries_its_own_version_and_the_packages_beside_it(name: str) -> None:
    task = MADE[name]()
    assert task.version == TASKS[name]
    assert re.fullmatch(r"[0-9]+-[A-Z]", str(task.version))
    assert (task.metadata or {})[PACKAGE] == package_version()


@pytest.mark.parametrize("name", MADE)
def test_no_view_of_a_task_takes_texts_for_markup(name: str) -> None:
    viewer = MADE[name]().viewer
    assert viewer is not None
    assert viewer.trust_content is False


def test_a_task_that_only_generates_trusts_no_text_either() -> None:
    task = synthetic_prompts(population="none")
    assert (task.viewer and task.viewer.trust_content) is False
    assert (task.headline_metric, task.version) == (None, TASKS["synthetic_prompts"])


@pytest.mark.parametrize("name", HEADLINES)
def test_the_headline_of_a_task_is_chosen(name: str) -> None:
    headline = MADE[name]().headline_metric
    assert headline is not None
    # no key of the score: before the first sample is scored Inspect knows none, and would warn of one that is named
    assert (headline.scorer, headline.score, headline.metric) == (HEADLINES[name], None, "mean")


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
    log = run(name, tmp_path, writer, limit=2, epochs=1, task_args={"judge": "embedded", **options})
    assert log.results is not None
    assert log.results.headline is not None
    assert (log.results.headline.score, log.results.headline.metric) == (score, "mean")
    assert "Headline" not in caplog.text
