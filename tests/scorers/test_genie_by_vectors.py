import math
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as evaluate
from inspect_ai.scorer import Score
from tests.scripted import DOCUMENTS, OWL, evaluated, grading, saying, scores, small_population

from genie_inspect.engines.embedders import embedder
from genie_inspect.graders.vectors_judge import NO_VECTOR
from genie_inspect.scorers.genie import genie
from genie_inspect.signature import facts_of

STORY = "A blue owl flew."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of the small population."""
    return small_population(tmp_path / "population").folder


def metadata(score: Score) -> dict[str, Any]:
    assert score.metadata is not None
    return score.metadata


def values(score: Score) -> dict[str, float]:
    assert isinstance(score.value, dict)
    return {key: float(value) for key, value in score.value.items() if isinstance(value, int | float)}


def test_the_grader_reads_once_a_document_and_vectors_judge(folder: Path, tmp_path: Path) -> None:
    # the same answer to every question is interchangeable; one that is unlike has a rating between 1 and 4
    script = grading(answer=lambda document, question: "an old clock" if "clock" in document else "a barn in snow")
    log = evaluated(genie(str(folder), judge="vectors"), saying("The owl in the barn."), script, tmp_path)
    (score,) = scores(log)
    assert len(script.requests) == 1 + len(DOCUMENTS[OWL])
    assert all("questions" in data for data in script.data)
    novelty = values(score)
    # two of three are equal: at most a third is new
    assert 0 < novelty["plot"] <= 1 / 3 + 1e-9
    assert "a screen, no verdict" in str(score.explanation)
    assert metadata(score)["ratings"]["highest"] == 4
    assert facts_of(metadata(score)["signature"])["judge"].startswith(f"vectors({embedder().identity},fit=")
    assert facts_of(metadata(score)["signature"])["reader"].startswith("grader(mockllm/model@")


def test_answers_that_no_vector_stands_for_leave_the_document_unscored(folder: Path, tmp_path: Path) -> None:
    def answer(document: str, question: str) -> str:
        return "ⵣⵣ" if document == STORY else "a barn"

    (score,) = scores(evaluated(genie(str(folder), judge="vectors"), saying(STORY), grading(answer=answer), tmp_path))
    assert score.reason == f"nothing to compare: {NO_VECTOR}"
    assert all(math.isnan(value) for value in values(score).values())


def test_vectors_judge_the_bundled_stories_offline(tmp_path: Path) -> None:
    means = {}
    for storyteller in ("bundled/inventive", "bundled/conventional"):
        (log,) = evaluate(
            "genie_inspect/synthetic_prompts",
            task_args={"judge": "vectors"},
            model=storyteller,
            model_roles={"grader": "bundled/grader"},
            epochs=1,
            log_dir=str(tmp_path),
            display="none",
        )
        assert log.status == "success", log.error
        found = [values(score) for score in scores(log)]
        means[storyteller] = sum(sum(novelty.values()) for novelty in found) / len(found)
    assert means["bundled/inventive"] > means["bundled/conventional"]
