"""The task `population_prompts` against documents that came without questions."""

from pathlib import Path

import pytest
from inspect_ai import eval as evaluate
from inspect_ai.log import EvalLog, HeadlineMetric
from tests.scripted import DOCUMENTS, FOX, OWL, grading, saying, small_population

from genie_inspect.graders.grader import RefusedError
from genie_inspect.scorers.compression import ALONE
from genie_inspect.tasks.population_prompts import population_prompts

CHEAP = ["cosine", "compression", "creativity_index", "expression_novelty", "partition"]


def documents_alone(folder: Path) -> str:
    return str(small_population(folder / "population", DOCUMENTS, {}).folder)


def run(task: str, folder: Path, **options: str) -> EvalLog:
    (log,) = evaluate(
        f"genie_inspect/{task}",
        model=saying("A grey owl slept.").model(),
        task_args={"population": documents_alone(folder), **options},
        epochs=1,
        log_dir=str(folder / "logs"),
        display="none",
    )
    assert log.status == "success", log.error
    return log


@pytest.mark.parametrize("task", ["population_prompts", "leave_one_out"])
def test_documents_without_questions_are_scored_by_the_panel_alone_without_a_grader(
    task: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log = run(task, tmp_path, panel="cheap")
    for sample in log.samples or []:
        assert list(sample.scores or {}) == [*CHEAP, "document"]
        reasons = {name: score.reason for name, score in (sample.scores or {}).items() if score.reason}
        # of two foxes one is left out: what one document adds to one other has no zero
        assert reasons == ({"compression": ALONE} if task == "leave_one_out" and sample.input == FOX else {})
    assert {sample.input for sample in log.samples or []} == set(DOCUMENTS)
    assert log.eval.headline_metric == HeadlineMetric(scorer="cosine", metric="mean")
    (line,) = (line for line in capfd.readouterr().err.splitlines() if "genie is left out" in line)
    assert line.startswith("population small-1@")
    assert "has documents and no questions: genie is left out and the panel scores" in line


def test_without_a_panel_such_a_population_is_refused_with_the_panel_that_would_work(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match=r"has only documents: write questions .* \(-T panel=cheap for a task;"):
        population_prompts(population=documents_alone(tmp_path))


def test_with_questions_the_panel_stands_beside_genie(tmp_path: Path) -> None:
    folder = small_population(tmp_path / "population").folder
    grader = grading(answer=lambda document, question: document, rating=lambda answer, other: 2)
    (log,) = evaluate(
        population_prompts(population=str(folder), panel="cosine"),
        model=saying("A grey owl slept.").model(),
        model_roles={"grader": grader.model()},
        epochs=1,
        log_dir=str(tmp_path / "logs"),
        display="none",
    )
    assert log.status == "success", log.error
    assert [list(sample.scores or {}) for sample in log.samples or [] if sample.input == OWL] == [
        ["genie", "cosine", "document"]
    ]
