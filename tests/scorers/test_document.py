"""The scorer that fills columns of Inspect View: length, Genie's coverage, what is unscored."""

import math
from pathlib import Path
from typing import Any

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.scorer import Scorer
from tests.scripted import OWL, Script, grading, saying, small_population

from genie_inspect.scorers.cosine import cosine
from genie_inspect.scorers.document import document
from genie_inspect.scorers.genie import genie

STORY = "A brown owl counted the trains."
REFUSAL = "I'm sorry, but I can't help with that request."


def run(folder: Path, *scorers: Scorer, text: str = STORY, grader: Script | None = None) -> EvalLog:
    (log,) = evaluate(
        Task(dataset=[Sample(input=OWL)], scorer=[*scorers, document()]),
        model=saying(text).model(),
        model_roles={"grader": (grader or grading()).model()},
        log_dir=str(folder / "logs"),
        display="none",
    )
    assert log.status == "success", log.error
    return log


def columns(log: EvalLog) -> dict[str, Any]:
    """What it says of the only sample."""
    (sample,) = log.samples or []
    score = (sample.scores or {})["document"]
    assert (score.metadata or {})["signature"].startswith("measure:document|")
    assert score.reason is None
    assert isinstance(score.value, dict)
    return dict(score.value)


def population(folder: Path) -> str:
    return str(small_population(folder / "population").folder)


def test_a_document_has_its_words_and_the_share_of_questions_that_genie_could_use(tmp_path: Path) -> None:
    folder = population(tmp_path)
    assert columns(run(tmp_path, genie(folder), cosine(folder))) == {"words": 6, "coverage": 1.0, "unscored": 0}


def test_a_question_that_genie_could_not_use_lowers_the_coverage(tmp_path: Path) -> None:
    # one of three questions is not answered
    grader = grading(answer=lambda text, question: "" if "tone" in question else f"{question} {text}")
    found = columns(run(tmp_path, genie(population(tmp_path)), grader=grader))
    assert found == {"words": 6, "coverage": 0.667, "unscored": 0}


def test_a_refused_document_has_the_words_of_the_refusal_no_coverage_and_no_score(tmp_path: Path) -> None:
    folder = population(tmp_path)
    found = columns(run(tmp_path, genie(folder), cosine(folder), text=REFUSAL))
    assert (found["words"], found["unscored"]) == (9, 2)
    assert math.isnan(found["coverage"])


def test_where_genie_has_a_reason_and_no_value_its_coverage_is_not_known(tmp_path: Path) -> None:
    folder = population(tmp_path)
    found = columns(run(tmp_path, genie(folder), cosine(folder), grader=Script(lambda request: request)))
    assert (found["words"], found["unscored"]) == (6, 1)
    assert math.isnan(found["coverage"])


def test_without_genie_there_is_no_coverage(tmp_path: Path) -> None:
    found = columns(run(tmp_path, cosine(population(tmp_path))))
    assert (found["words"], found["unscored"]) == (6, 0)
    assert math.isnan(found["coverage"])


def test_it_has_no_means_in_the_table_at_the_end_of_a_run(tmp_path: Path) -> None:
    log = run(tmp_path, cosine(population(tmp_path)))
    assert log.results
    assert [score.name for score in log.results.scores] == ["cosine_mean", "cosine_nearest"]
