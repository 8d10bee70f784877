"""The task `leave_one_out`, run as a user runs it."""

import math
from pathlib import Path

import pytest
from tests.recorded import recorded_starter
from tests.scripted import grading, scores, small_population
from tests.tasks.runs import line_of, run

from genie_inspect.graders.grader import PrerequisiteError
from genie_inspect.logs.reading import POPULATION, read_logs


def test_each_document_is_compared_with_the_others_and_no_model_writes(tmp_path: Path) -> None:
    population = small_population(tmp_path / "population")
    grader = grading(answer=lambda document, question: document, rating=lambda answer, other: 2)
    log = run("leave_one_out", tmp_path, grader=grader, task_args={"population": str(population.folder)})
    texts = {document.id: document.text for prompt in population.prompts for document in population.documents(prompt)}
    assert {sample.id: sample.output.completion for sample in log.samples or []} == texts
    facts = {str(sample.id): score.metadata or {} for sample, score in zip(log.samples or [], scores(log), strict=True)}
    assert {name: fact["left_out"] for name, fact in facts.items()} == {name: [name] for name in texts}
    # the three owls each have two others, the two foxes one
    assert sorted(fact["documents"] for fact in facts.values()) == [1, 1, 2, 2, 2]
    # rating 2: novelty 1 - 1/3
    plots = [score.value["plot"] for score in scores(log) if isinstance(score.value, dict)]
    assert plots == [0.667] * 5
    assert [own.label for own in read_logs([log.location])] == [POPULATION]


@pytest.mark.parametrize("judge", ["list", "sheet", "pairwise"])
def test_the_bundled_grader_compares_recorded_documents_whichever_way_round_a_pair_was_rated(
    judge: str, tmp_path: Path
) -> None:
    with recorded_starter(tmp_path / "population"):
        log = run("leave_one_out", tmp_path, grader="bundled/grader", task_args={"judge": judge})
    novelty = {str(s.output.completion): s.scores["genie"].value for s in log.samples or [] if s.scores}
    # first words grey, white, old and second words owl: no two alike, and 4 to both others: (1 + 0) / 2
    assert novelty["Grey owl over barns."] == {"plot": 0.5, "style": 1.0}
    # red and lame: one other, unlike it; nothing is asked about style
    assert novelty["Red fox at dawn."] == {"plot": 1.0, "style": pytest.approx(math.nan, nan_ok=True)}
    white = novelty["White owl in snow."]
    assert isinstance(white, dict)
    assert str(white["style"]) == "nan", "it does not say"


@pytest.mark.parametrize("judge", ["list", "embedding"])
def test_a_recorded_grader_that_lacks_a_reading_ends_the_run_in_one_line_before_any_sample(
    judge: str, tmp_path: Path
) -> None:
    with pytest.raises(PrerequisiteError) as caught:
        run("leave_one_out", tmp_path, grader="bundled/grader", task_args={"population": "abstracts", "judge": judge})
    said = line_of(caught.value)
    assert said.startswith("bundled/grader cannot compare the documents of abstracts-")
    assert "it has no record of an answer to 'Which effect of trees is in question?' in the document" in said
    assert said.endswith("Name a real grader, --model-role grader=<provider/model>, or use judge=offline")
    assert "\n" not in said
