"""Hostile replies under every scorer of ours: scored, or unscored with a reason, and never an error of the run."""

import json
import math
import time
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score
from tests import scripted
from tests.critics import blocks
from tests.every_scorer import SCORERS, graded
from tests.scripted import Script, is_unscored, saying, small_population, values
from tests.tasks.runs import run

from genie_inspect.errors import UnreadableReplyError
from genie_inspect.populations.population import Population
from genie_inspect.prompting.replies import yes_or_no
from genie_inspect.prompting.texts import TOO_LONG
from genie_inspect.samples import no_document
from genie_inspect.solvers.generations import generations


@pytest.fixture(scope="module")
def population(tmp_path_factory: pytest.TempPathFactory) -> Population:
    return small_population(tmp_path_factory.mktemp("hostile") / "population")


def scored(name: str, population: Population, folder: Path, grader: Script, text: str) -> Score:
    """The score of a model's reply, which is there twice in the set of novelty_bench."""
    solver = generations(2) if name == "novelty_bench" else None
    return scripted.scored(SCORERS[name](str(population.folder)), saying(text), grader, folder, solver=solver)


@pytest.mark.parametrize("part", ["questions", "others"])
def test_a_grader_that_repeats_the_numbered_part_answers_nothing(
    part: str, population: Population, tmp_path: Path
) -> None:
    def repeating(request: str) -> str | ModelOutput:
        data = blocks(request)[0]
        return json.dumps(data[part]) if part in data else graded(request)

    score = scored("genie list", population, tmp_path, Script(repeating), "An owl sat.")
    assert is_unscored(score)
    assert score.reason == "invalid_response_format"


def test_a_rating_of_5000_digits_leaves_the_quality_open(population: Population, tmp_path: Path) -> None:
    def endless(request: str) -> str | ModelOutput:
        return graded(request) if "other_replies" in blocks(request)[0] else "Rating: " + "1" * 5_000

    score = scored("novelty_bench", population, tmp_path, Script(endless), "An owl sat.")
    distinct, utility = values(score).values()
    assert distinct == 1.0
    assert math.isnan(utility)


def test_replies_of_more_than_a_million_characters_are_no_verdicts_and_no_documents(
    population: Population, tmp_path: Path
) -> None:
    endless = "So it goes. " * 90_000 + "[[YES]]"
    with pytest.raises(UnreadableReplyError):
        yes_or_no(endless)
    assert no_document(endless) == TOO_LONG
    score = scored("ttcw False", population, tmp_path, Script(graded), endless)
    assert score.reason == TOO_LONG


TASKS: dict[str, tuple[str, dict[str, Any]]] = {
    "panel": ("synthetic_prompts", {"panel": "all", "judge": "list"}),
    "pairwise": ("synthetic_prompts", {"judge": "pairwise"}),
    "sets": ("novelty_partition", {"k": 2}),
    "ttcw": ("ttcw", {}),
}


@pytest.mark.parametrize("name", TASKS)
def test_ten_million_characters_are_dropped_before_anything_splits_or_logs_them(name: str, tmp_path: Path) -> None:
    task, options = TASKS[name]
    endless, short = "So it goes. " * 850_000, "An owl sat on a clock, and it struck."
    settings: dict[str, Any] = {"task_args": options, "limit": 1, "epochs": 1}
    start = time.process_time()
    asked = run(task, tmp_path / "asked", saying(short), saying(endless), **settings)
    wrote = run(task, tmp_path / "wrote", saying(endless), Script(graded), **settings)
    # without the door 3 to 15 seconds for the replies alone
    assert time.process_time() - start < 10
    with ZipFile(asked.location.removeprefix("file://")) as archive:
        assert max(info.file_size for info in archive.infolist()) < 4_000_000, "no reply of the grader's is in the log"
    (sample,) = wrote.samples or []
    left = {score.reason: score.answer for scorer, score in (sample.scores or {}).items() if scorer != "document"}
    assert left == {TOO_LONG: ""}
