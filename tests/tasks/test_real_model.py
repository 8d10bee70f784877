"""A short run end to end on a model whose words mean something.

`make test-real` with VLLM_BASE_URL, and REAL_MODEL where it is no vLLM server's; minutes on a CPU. Nothing is said of
how novel the stories are: what is seen is that a weak but real model is scored, that its readings can be compared, and
that it tells answers apart.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from click.testing import CliRunner
from inspect_ai.log import EvalLog
from tests.tasks.runs import run

from genie_inspect.cli import main as genie
from genie_inspect.populations.population import open_population
from genie_inspect.populations.writing import write_population

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif("VLLM_BASE_URL" not in os.environ, reason="VLLM_BASE_URL names no server"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # Inspect closes connections when the process ends
]
PROMPTS, DOCUMENTS, STORIES = 2, 6, 2
LEAST_SCORED, LEAST_COVERED = 0.75, 0.5


def model() -> str:
    if named := os.environ.get("REAL_MODEL"):
        return named
    key = os.environ.get("VLLM_API_KEY", "none")
    request = Request(f"{os.environ['VLLM_BASE_URL']}/models", headers={"Authorization": f"Bearer {key}"})
    with urlopen(request) as reply:
        return f"vllm/{json.load(reply)['data'][0]['id']}"


@pytest.fixture(scope="module")
def few_stories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A population of a few stories of the starter's, with its questions: a CPU reads it in minutes."""
    starter = open_population("starter")
    prompts = starter.prompts[:PROMPTS]
    population = write_population(
        tmp_path_factory.mktemp("few") / "population",
        name="few",
        version="1",
        licence=starter.manifest.licence,
        features=starter.features,
        documents=[document for prompt in prompts for document in starter.documents(prompt)[:DOCUMENTS]],
        questions=[question for prompt in prompts for question in starter.questions(prompt)],
        answers=[],
    )
    return population.folder


@pytest.fixture(scope="module")
def log(few_stories: Path, tmp_path_factory: pytest.TempPathFactory) -> EvalLog:
    name = model()
    # of a list a weak model gives every pair one rating, or none; its tokens' probabilities differ
    task_args = {"population": str(few_stories), "judge": "logit" if name.startswith("vllm/") else "list"}
    settings: dict[str, Any] = {"epochs": STORIES, "max_tokens": 400, "temperature": 0.7, "task_args": task_args}
    message = "Write a story of about 150 words."
    folder = tmp_path_factory.mktemp("logs")
    return run("synthetic_prompts", folder, name, name, system_message=message, **settings)


def evidence(log: EvalLog) -> Iterator[dict[str, Any]]:
    for sample in log.samples or []:
        score = (sample.scores or {})["genie"]
        if not score.reason and score.metadata:
            yield score.metadata


def test_most_stories_are_scored_by_most_questions_with_ratings_that_vary(log: EvalLog) -> None:
    assert len(log.samples or []) == PROMPTS * STORIES
    scored = list(evidence(log))
    assert len(scored) >= LEAST_SCORED * PROMPTS * STORIES
    shares = [tuple(map(int, share.split("/"))) for facts in scored for share in facts["coverage"].values()]
    assert sum(used for used, _ in shares) >= LEAST_COVERED * sum(asked for _, asked in shares)
    ratings = [facts["ratings"] for facts in scored]
    assert min(rating["lowest"] for rating in ratings) < max(rating["highest"] for rating in ratings)


def test_the_summary_names_the_grader_and_what_is_wrong_with_it(log: EvalLog) -> None:
    shown = CliRunner(env={"COLUMNS": "200"}).invoke(genie, ["summary", log.location])
    assert shown.exit_code == 0, shown.output
    assert model().rpartition("/")[2] in shown.output
