"""The task `leave_one_out`, run as a user runs it."""

from pathlib import Path

import pytest
from inspect_ai import eval as evaluate
from tests.scripted import grading, scores, small_population

from genie_inspect.asking.prerequisites import PrerequisiteError
from genie_inspect.logs.labels import POPULATION
from genie_inspect.logs.reading import read_logs


def test_each_document_is_compared_with_the_others_and_no_model_writes(tmp_path: Path) -> None:
    population = small_population(tmp_path / "population")
    grader = grading(answer=lambda document, question: document, rating=lambda answer, other: 2)
    (log,) = evaluate(
        "genie_inspect/leave_one_out",
        model="mockllm/model",
        model_roles={"grader": grader.model()},
        task_args={"population": str(population.folder)},
        log_dir=str(tmp_path / "logs"),
        display="none",
    )
    assert log.status == "success", log.error
    texts = {document.id: document.text for prompt in population.prompts for document in population.documents(prompt)}
    assert {sample.id: sample.output.completion for sample in log.samples or []} == texts
    facts = {str(sample.id): score.metadata or {} for sample, score in zip(log.samples or [], scores(log), strict=True)}
    assert {name: fact["left_out"] for name, fact in facts.items()} == {name: [name] for name in texts}
    # the three owls each have two others, the two foxes one
    assert sorted(fact["documents"] for fact in facts.values()) == [1, 1, 2, 2, 2]
    # rating 2: novelty 1 - 1/3
    plots = [score.value["plot"] for score in scores(log) if isinstance(score.value, dict)]
    assert plots == [pytest.approx(2 / 3)] * 5
    assert [own.label for own in read_logs([log.location])] == [POPULATION]


def test_no_population_is_refused_before_anything_runs() -> None:
    with pytest.raises(PrerequisiteError, match="expected starter or the folder of a population"):
        evaluate("genie_inspect/leave_one_out", model="mockllm/model", task_args={"population": "none"}, display="none")
